/* SPDX-License-Identifier: Apache-2.0 */
/* What operations make of values: memcached's rules, one row each. */
#include "services/kvcache/data/op.h"

#include "suite.h"

#include <inttypes.h>
#include <string.h>

static struct kv_request request(enum kv_op op, const char *value)
{
    return (struct kv_request){
        KV_REQUEST_INIT, .op = op,     .value = (const uint8_t *)value, .value_length = strlen(value), .flags = 7,
        .delta = 5,      .initial = 42};
}

static struct op_value value(const char *text)
{
    return text == NULL
               ? (struct op_value){.there = false}
               : (struct op_value){
                     .there = true, .bytes = (const uint8_t *)text, .length = strlen(text), .flags = 3, .cas = 9};
}

struct row {
    enum kv_op op;
    const char *now; /* NULL: none */
    uint64_t cas;
    enum kv_status status;
    enum op_change change;
    const char *stored;
    uint32_t flags;
};

static const struct row rows[] = {
    {KV_GET, NULL, 0, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_GET, "a", 0, KV_OK, OP_KEEPS, NULL, 3},
    {KV_GET, "a", 8, KV_OK, OP_KEEPS, NULL, 3}, /* a cas says nothing to a read */
    {KV_GAT, NULL, 0, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_GAT, "a", 0, KV_OK, OP_RENEWS, NULL, 3},
    {KV_TOUCH, NULL, 0, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_TOUCH, "a", 0, KV_OK, OP_RENEWS, NULL, 3},
    {KV_DELETE, NULL, 0, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_DELETE, "a", 0, KV_OK, OP_REMOVES, NULL, 3},
    {KV_DELETE, "a", 9, KV_OK, OP_REMOVES, NULL, 3},
    {KV_DELETE, "a", 8, KV_EXISTS, OP_KEEPS, NULL, 0},
    {KV_SET, NULL, 0, KV_OK, OP_STORES, "new", 7},
    {KV_SET, "a", 0, KV_OK, OP_STORES, "new", 7},
    {KV_SET, NULL, 9, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_ADD, NULL, 0, KV_OK, OP_STORES, "new", 7},
    {KV_ADD, "a", 0, KV_NOT_STORED, OP_KEEPS, NULL, 0},
    {KV_REPLACE, NULL, 0, KV_NOT_STORED, OP_KEEPS, NULL, 0},
    {KV_REPLACE, "a", 0, KV_OK, OP_STORES, "new", 7},
    {KV_APPEND, NULL, 0, KV_NOT_STORED, OP_KEEPS, NULL, 0},
    {KV_APPEND, "a", 0, KV_OK, OP_STORES, "anew", 3},
    {KV_PREPEND, NULL, 0, KV_NOT_STORED, OP_KEEPS, NULL, 0},
    {KV_PREPEND, "a", 0, KV_OK, OP_STORES, "newa", 3},
    {KV_CAS, NULL, 9, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_CAS, "a", 9, KV_OK, OP_STORES, "new", 7},
    {KV_CAS, "a", 8, KV_EXISTS, OP_KEEPS, NULL, 0},
    {KV_CAS, "a", 0, KV_EXISTS, OP_KEEPS, NULL, 0},
    {KV_INCR, NULL, 0, KV_MISS, OP_KEEPS, NULL, 0},
    {KV_INCR, "10", 0, KV_OK, OP_STORES, "15", 3},
    {KV_INCR, "18446744073709551615", 0, KV_OK, OP_STORES, "4", 3},
    {KV_INCR, "18446744073709551616", 0, KV_NOT_NUMBER, OP_KEEPS, NULL, 0},
    {KV_INCR, "99999999999999999999", 0, KV_NOT_NUMBER, OP_KEEPS, NULL, 0},
    {KV_INCR, "000000000000000000001", 0, KV_NOT_NUMBER, OP_KEEPS, NULL, 0},
    {KV_INCR, "", 0, KV_NOT_NUMBER, OP_KEEPS, NULL, 0},
    {KV_INCR, "1x", 0, KV_NOT_NUMBER, OP_KEEPS, NULL, 0},
    {KV_INCR, "-1", 0, KV_NOT_NUMBER, OP_KEEPS, NULL, 0},
    {KV_DECR, "10", 0, KV_OK, OP_STORES, "5", 3},
    {KV_DECR, "3", 0, KV_OK, OP_STORES, "0", 3},
    {KV_DECR, "3", 4, KV_EXISTS, OP_KEEPS, NULL, 0},
    {KV_OPS, "3", 0, KV_NOT_STORED, OP_KEEPS, NULL, 0},
};

START_TEST(every_rule)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct row *row = &rows[i];
        struct kv_request r = request(row->op, "new");
        r.cas = row->cas;
        struct op_value now = value(row->now);
        struct op_outcome o = op_decide(&r, &now);
        ck_assert_msg(o.status == row->status && o.change == row->change, "row %zu: status %d, change %d", i, o.status,
                      o.change);
        if (row->stored != NULL) {
            uint8_t out[64];
            ck_assert_uint_eq(o.length, strlen(row->stored));
            op_write(&r, &now, &o, out);
            ck_assert_int_eq(memcmp(out, row->stored, o.length), 0);
        }
        if (row->status == KV_OK) {
            ck_assert_uint_eq(o.flags, row->flags);
        }
    }
}
END_TEST

START_TEST(a_missing_number_is_made)
{
    struct kv_request r = request(KV_DECR, "");
    r.create = true;
    struct op_value now = value(NULL);
    struct op_outcome o = op_decide(&r, &now);
    ck_assert_int_eq(o.status, KV_OK);
    ck_assert_uint_eq(o.digits, 2);
    ck_assert_int_eq(memcmp(o.number, "42", 2), 0);
    ck_assert_uint_eq(o.flags, 7);
    ck_assert(!o.expiry_stays);
    r.initial = UINT64_MAX;
    o = op_decide(&r, &now);
    ck_assert_uint_eq(o.digits, OP_NUMBER_MAX);
}
END_TEST

START_TEST(what_stays_and_what_is_told)
{
    struct op_value now = value("1");
    static const struct {
        enum kv_op op;
        bool stays, answers;
    } rules[] = {{KV_SET, false, false}, {KV_APPEND, true, false}, {KV_PREPEND, true, false},
                 {KV_INCR, true, true},  {KV_DECR, true, true},    {KV_GET, false, true},
                 {KV_GAT, false, true},  {KV_TOUCH, false, false}, {KV_DELETE, false, false}};
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        struct kv_request r = request(rules[i].op, "");
        struct op_outcome o = op_decide(&r, &now);
        ck_assert_int_eq(o.status, KV_OK);
        ck_assert(o.expiry_stays == rules[i].stays);
        ck_assert(o.answers == rules[i].answers);
    }
}
END_TEST

START_TEST(too_large_by_joining)
{
    static uint8_t big[KV_VALUE_MAX];
    struct op_value now = {.there = true, .bytes = big, .length = KV_VALUE_MAX - 1};
    struct kv_request r = request(KV_APPEND, "x");
    ck_assert_int_eq(op_decide(&r, &now).status, KV_OK);
    r = request(KV_PREPEND, "xy");
    ck_assert_int_eq(op_decide(&r, &now).status, KV_TOO_LARGE);
    ck_assert_int_eq(op_decide(&r, &now).change, OP_KEEPS);
}
END_TEST

START_TEST(kinds)
{
    ck_assert(op_reads(KV_GET) && !op_reads(KV_GAT) && !op_reads(KV_SET));
    ck_assert(op_carries(KV_CAS) && !op_carries(KV_GET) && !op_carries(KV_INCR));
}
END_TEST

/* ---- Marks: rows of what is there, what is asked, what becomes of it --------------------------------------------- */

struct mark_row {
    unsigned marks; /* of what is there; MISSING: nothing */
    int64_t left_s; /* 0: for ever */
    enum kv_op op;
    unsigned steps, meta;
    enum op_change change;
    unsigned after;
    int64_t after_s; /* -1: as it was */
    bool won;
    int64_t told_s;
};

enum {
    MISSING = 64,
    STALE = KV_MARK_STALE,
    SENT = KV_MARK_SENT,
    FETCHED = KV_MARK_FETCHED,
    T = KV_STEP_RENEW,
    N = KV_STEP_VIVIFY,
    R = KV_STEP_RECACHE,
    LEFT = KV_STEP_LEFT,
};

/* T says 10 s, N 20 s, R 50 s. */
static const struct mark_row mark_rows[] = {
    {MISSING, 0, KV_LOOK, R, 0, OP_KEEPS, 0, 0, false, 0},
    {MISSING, 0, KV_LOOK, N | R << 4, 0, OP_STORES, SENT, 20, true, 20},
    {MISSING, 0, KV_GAT, N | T << 4, 0, OP_STORES, SENT, 10, true, 10},
    {MISSING, 0, KV_GAT, T | LEFT << 4 | N << 8, 0, OP_STORES, SENT, 20, true, 10},
    {MISSING, 0, KV_GAT, T, 0, OP_KEEPS, 0, 0, false, 0},
    {0, 40, KV_LOOK, R, 0, OP_RENEWS, SENT, -1, true, 40},
    {SENT, 40, KV_LOOK, R, 0, OP_KEEPS, SENT, -1, false, 40},
    {0, 60, KV_LOOK, R, 0, OP_KEEPS, 0, -1, false, 60},
    {0, 0, KV_LOOK, R, 0, OP_KEEPS, 0, -1, false, 0},
    {0, 60, KV_GAT, T | R << 4, 0, OP_RENEWS, SENT, 10, true, 10},
    {0, 60, KV_GAT, R | LEFT << 4 | T << 8, 0, OP_RENEWS, 0, 10, false, 60},
    {STALE, 60, KV_LOOK, N, 0, OP_RENEWS, STALE | SENT, -1, true, 60},
    {STALE | SENT, 60, KV_LOOK, N | R << 4, 0, OP_KEEPS, STALE | SENT, -1, false, 60},
    {STALE | FETCHED, 60, KV_GAT, 0, 0, OP_RENEWS, STALE | FETCHED, 10, false, 10},
    {STALE, 60, KV_TOUCH, 0, 0, OP_RENEWS, STALE, 10, false, 10},
    {SENT | FETCHED, 60, KV_DELETE, 0, KV_META_STALE, OP_RENEWS, STALE | FETCHED, -1, false, 60},
    {0, 60, KV_DELETE, T, KV_META_STALE, OP_RENEWS, STALE, 10, false, 60},
    {MISSING, 0, KV_DELETE, 0, KV_META_STALE, OP_KEEPS, 0, 0, false, 0},
    {STALE | SENT, 60, KV_SET, 0, KV_META_STALE, OP_STORES, 0, 10, false, 0},
    {STALE, 60, KV_INCR, LEFT | T << 4, 0, OP_STORES, STALE, 10, false, 60},
    {MISSING, 0, KV_INCR, N | LEFT << 4, 0, OP_STORES, 0, 20, false, 20},
};

static struct op_value marked(const struct mark_row *row)
{
    struct op_value now = value(row->marks == MISSING ? NULL : "1");
    now.marks = row->marks & ~(unsigned)MISSING;
    now.left = CW_SEC(row->left_s);
    return now;
}

START_TEST(every_mark)
{
    for (size_t i = 0; i < sizeof mark_rows / sizeof *mark_rows; i++) {
        const struct mark_row *row = &mark_rows[i];
        struct op_value now = marked(row);
        struct kv_request r = request(row->op, "");
        r.steps = (uint16_t)row->steps;
        r.meta = (uint8_t)row->meta;
        r.expiry = CW_SEC(10);
        r.vivify = CW_SEC(20);
        r.recache = CW_SEC(50);
        struct op_outcome o = op_decide(&r, &now);
        ck_assert_msg(o.change == row->change && o.won == row->won, "row %zu", i);
        if (o.change == OP_STORES || o.change == OP_RENEWS) {
            ck_assert_msg(o.marks == row->after, "row %zu: marks %u", i, o.marks);
            ck_assert_msg(o.expiry_stays == (row->after_s < 0), "row %zu", i);
            ck_assert_msg(row->after_s < 0 || o.expiry.ns == CW_SEC(row->after_s).ns, "row %zu", i);
        }
        ck_assert_msg(o.left.ns == CW_SEC(row->told_s).ns, "row %zu: left %" PRId64, i, o.left.ns);
    }
}
END_TEST

START_TEST(who_only_looks_is_told_to_win)
{
    struct op_value now = value("1");
    now.marks = KV_MARK_STALE;
    struct kv_request r = request(KV_GET, "");
    ck_assert(!op_decide(&r, &now).win_due);
    r.meta = KV_META;
    ck_assert(op_decide(&r, &now).win_due);
    now.marks |= KV_MARK_SENT;
    ck_assert(!op_decide(&r, &now).win_due);
}
END_TEST

START_TEST(late_values_are_stored_as_stale)
{
    struct op_value now = value("1");
    now.marks = KV_MARK_SENT;
    now.left = CW_SEC(5);
    static const enum kv_op ops[] = {KV_CAS, KV_SET, KV_REPLACE};
    for (size_t i = 0; i < 3; i++) {
        struct kv_request r = request(ops[i], "new");
        r.cas = 8;
        ck_assert_int_eq(op_decide(&r, &now).status, KV_EXISTS);
        r.meta = KV_META_STALE;
        struct op_outcome o = op_decide(&r, &now);
        ck_assert(o.change == OP_STORES && o.expiry_stays && o.marks == (KV_MARK_STALE | KV_MARK_SENT));
        r.cas = 10; /* newer than what is there: not from here */
        ck_assert_int_eq(op_decide(&r, &now).status, KV_EXISTS);
        r.cas = 9;
        ck_assert_uint_eq(op_decide(&r, &now).marks, 0);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_rule),
                                          SUITE_TEST(a_missing_number_is_made),
                                          SUITE_TEST(what_stays_and_what_is_told),
                                          SUITE_TEST(too_large_by_joining),
                                          SUITE_TEST(kinds),
                                          SUITE_TEST(every_mark),
                                          SUITE_TEST(who_only_looks_is_told_to_win),
                                          SUITE_TEST(late_values_are_stored_as_stale)};
SUITE_MAIN("op", tests)
