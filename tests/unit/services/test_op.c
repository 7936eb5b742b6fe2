/* SPDX-License-Identifier: Apache-2.0 */
/* What operations make of values: memcached's rules, one row each. */
#include "services/kvcache/op.h"

#include "suite.h"

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

static const struct suite_test tests[] = {SUITE_TEST(every_rule), SUITE_TEST(a_missing_number_is_made),
                                          SUITE_TEST(what_stays_and_what_is_told), SUITE_TEST(too_large_by_joining),
                                          SUITE_TEST(kinds)};
SUITE_MAIN("op", tests)
