/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kv_ledger.c - do answers become the right history? Questions made by hand, answered as a cache does, and as one
 * does not.
 */
#include "kv_ledger.h"

#include "suite.h"

#include <string.h>

static struct kv_ledger *l;
static char why[300];
static uint8_t bytes[4096];

static void begin(void)
{
    free(l);
    l = calloc(1, sizeof *l);
    ck_assert_ptr_nonnull(l);
}

static struct kv_entry *ask(enum kv_op op, int64_t at)
{
    struct kv_entry *e = kv_ledger_new(l);
    e->op = op;
    e->key = 1;
    e->begun = at;
    return e;
}

static void told(struct kv_entry *e, enum kv_status status, uint64_t cas, const void *value, size_t length, int64_t at)
{
    const struct kv_result r = {.size = sizeof r, .status = status, .cas = cas, .value = value, .value_length = length};
    kv_ledger_answer(l, e, &r, at);
}

/* A word that is written and acknowledged. */
static struct kv_entry *set(enum kv_op op, int64_t at, uint64_t cas)
{
    struct kv_entry *e = ask(op, at);
    told(e, KV_OK, cas, NULL, 0, at + 1);
    return e;
}

/* A hit of these records, ended by NULL. */
static struct kv_entry *hit(int64_t at, uint64_t cas, struct kv_entry *const *records)
{
    size_t length = 0;
    for (; *records != NULL; records++) {
        length += kv_record_write(l, *records, 5, bytes + length);
    }
    struct kv_entry *e = ask(KV_GET, at);
    told(e, KV_OK, cas, bytes, length, at + 1);
    return e;
}
#define HIT(at, cas, ...) hit(at, cas, (struct kv_entry *const[]){__VA_ARGS__, NULL})

static void check(const char *words)
{
    bool good = kv_ledger_check(l, why, sizeof why);
    if (words == NULL) {
        ck_assert_msg(good, "%s", why);
    } else {
        ck_assert(!good);
        ck_assert_msg(strstr(why, words) != NULL, "%s", why);
    }
}

START_TEST(what_words_are_made_of)
{
    begin();
    struct kv_entry *a = set(KV_SET, 0, 10), *b = set(KV_APPEND, 2, 11);
    HIT(4, 11, a, b);
    struct kv_entry *c = set(KV_APPEND, 6, 12), *d = set(KV_APPEND, 8, 13);
    HIT(10, 13, a, b, c, d);
    ck_assert_uint_eq(b->before, 1);
    ck_assert_uint_eq(d->before, kv_ledger_value(l, c));
    check(NULL);
    begin(); /* stale: the one between is gone again */
    a = set(KV_SET, 0, 10);
    b = set(KV_APPEND, 2, 11);
    HIT(4, 11, a, b);
    HIT(6, 10, a);
    check("before something that it needs");
    begin(); /* done twice */
    a = set(KV_SET, 0, 10);
    b = set(KV_APPEND, 2, 11);
    HIT(4, 11, a, b);
    c = set(KV_SET, 6, 12);
    HIT(8, 13, c, b);
    check("appended twice");
    begin(); /* done twice, to the same */
    a = set(KV_SET, 0, 10);
    b = set(KV_APPEND, 2, 11);
    HIT(4, 11, a, b, b);
    check("appended twice");
    begin(); /* a lost update */
    a = set(KV_SET, 0, 10);
    b = set(KV_APPEND, 2, 11);
    c = set(KV_APPEND, 4, 12);
    HIT(3, 11, a, b);
    HIT(6, 12, a, c);
    check("both took the place");
}
END_TEST

START_TEST(bytes_that_cannot_be)
{
    begin();
    struct kv_entry *a = set(KV_SET, 0, 10);
    size_t length = kv_record_write(l, a, 5, bytes);
    bytes[length - 1] ^= 1;
    told(ask(KV_GET, 2), KV_OK, 10, bytes, length, 3);
    check("wrong byte");
    begin();
    a = set(KV_SET, 0, 10);
    length = kv_record_write(l, a, 5, bytes);
    told(ask(KV_GET, 2), KV_OK, 10, bytes, length - 1, 3);
    check("no record");
    begin();
    a = set(KV_SET, 0, 10);
    told(ask(KV_GET, 2), KV_OK, 10, bytes, 0, 3);
    check("without a byte");
    begin();
    a = set(KV_SET, 0, 10);
    a->key = 2;
    HIT(2, 10, a);
    check("not for it");
    begin();
    a = set(KV_APPEND, 0, 10);
    HIT(2, 10, a);
    check("not for it");
    begin();
    HIT(2, 10, ask(KV_SET, 0));
    check(NULL);
    begin();
    a = set(KV_SET, 0, 10);
    length = kv_record_write(l, a, 5, bytes);
    memset(bytes, 0xff, 6);
    told(ask(KV_GET, 2), KV_OK, 10, bytes, length, 3);
    check("no record");
}
END_TEST

START_TEST(answers_that_cannot_be)
{
    begin();
    struct kv_entry *a = set(KV_SET, 0, 10);
    told(a, KV_OK, 10, NULL, 0, 5);
    check("answered twice");
    begin();
    told(ask(KV_SET, 0), KV_MISS, 0, NULL, 0, 1);
    check("was told");
    begin();
    told(ask(KV_GET, 0), KV_NOT_STORED, 0, NULL, 0, 1);
    check("was told");
    begin();
    set(KV_SET, 0, 10);
    a = ask(KV_CAS, 2);
    a->want = 10;
    told(a, KV_EXISTS, 10, NULL, 0, 3);
    check("the one it meant");
}
END_TEST

/* What an operation that was not done says of the value that is there. */
START_TEST(what_is_told_of_the_present)
{
    static const struct {
        enum kv_op op;
        enum kv_status status;
        uint64_t cas;
        bool good; /* between a SET of cas 10 and a hit of it */
    } rows[] = {
        {KV_ADD, KV_NOT_STORED, 10, true}, {KV_ADD, KV_OK, 11, false},           {KV_REPLACE, KV_NOT_STORED, 0, false},
        {KV_REPLACE, KV_OK, 11, false},    {KV_APPEND, KV_NOT_STORED, 0, false}, {KV_CAS, KV_EXISTS, 10, true},
        {KV_CAS, KV_MISS, 0, false},       {KV_CAS, KV_OK, 11, false},           {KV_TOUCH, KV_OK, 10, true},
        {KV_TOUCH, KV_MISS, 0, false},     {KV_DELETE, KV_OK, 10, false},        {KV_DELETE, KV_MISS, 0, false},
        {KV_GET, KV_MISS, 0, true},        {KV_GAT, KV_MISS, 0, true},           {KV_SET, KV_OK, 11, false},
        {KV_SET, KV_UNKNOWN, 0, true},     {KV_DELETE, KV_TIMED_OUT, 0, true},   {KV_SET, KV_NO_MAJORITY, 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin();
        struct kv_entry *a = set(KV_SET, 0, 10), *e = ask(rows[i].op, 2);
        e->want = rows[i].op == KV_CAS ? 9 : 0;
        told(e, rows[i].status, rows[i].cas, NULL, 0, 3);
        HIT(4, 10, a);
        bool good = kv_ledger_check(l, why, sizeof why);
        ck_assert_msg(good == rows[i].good, "row %zu: %s", i, why);
    }
}
END_TEST

START_TEST(a_cas_comes_right_behind)
{
    for (int between = 0; between < 2; between++) {
        begin();
        set(KV_SET, 0, 10);
        if (between) {
            set(KV_SET, 2, 11);
        }
        struct kv_entry *c = ask(KV_CAS, 4);
        c->want = 10;
        told(c, KV_OK, 12, NULL, 0, 5);
        check(between ? "before and after" : NULL);
    }
}
END_TEST

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

enum { LOST = KV_STATUSES };

static struct kv_entry *count(enum kv_op op, uint64_t number, int status, uint64_t seen, int64_t at)
{
    char text[24];
    struct kv_entry *e = ask(op, at);
    e->counter = true;
    e->number = number;
    if (status == LOST) {
        told(e, KV_UNKNOWN, 0, NULL, 0, at + 1);
    } else {
        told(e, (enum kv_status)status, 0, text, kv_number_write(seen, text), at + 1);
    }
    return e;
}

START_TEST(counters)
{
    begin();
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_INCR, 7, KV_OK, 1007, 2);
    count(KV_DECR, 10, KV_OK, 997, 4);
    count(KV_GET, 0, KV_OK, 997, 6);
    check(NULL);
    begin(); /* stale */
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_INCR, 7, KV_OK, 1007, 2);
    count(KV_GET, 0, KV_OK, 1000, 6);
    check("before something that it needs");
    begin(); /* a lost update */
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_INCR, 7, KV_OK, 1007, 2);
    count(KV_INCR, 9, KV_OK, 1009, 4);
    check("both took the place");
    begin(); /* done twice */
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_INCR, 7, KV_OK, 1007, 2);
    count(KV_GET, 0, KV_OK, 1014, 6);
    check("which nobody made");
    begin();
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_INCR, 7, KV_OK, 1007, 2);
    count(KV_SET, 1007, KV_OK, 0, 4);
    check("both made it");
}
END_TEST

START_TEST(steps_without_an_answer_are_found_out)
{
    for (unsigned lost = 0; lost < 5; lost++) {
        static const uint64_t step[] = {100003, 1000033, 10000019, 100000007};
        uint64_t at = 5000000000;
        begin();
        count(KV_SET, at, KV_OK, 0, 0);
        for (unsigned i = 0; i < 4; i++) {
            count(i % 2 ? KV_DECR : KV_INCR, step[i], LOST, 0, 2 + i);
            at += i < lost ? (i % 2 ? -step[i] : step[i]) : 0;
        }
        count(KV_GET, 0, KV_OK, at, 20);
        count(KV_INCR, 1, KV_OK, at + 1, 22);
        unsigned done = 0;
        check(NULL);
        for (size_t i = 1; i < 5; i++) {
            done += l->entry[i].seen != 0;
        }
        ck_assert_uint_eq(done, lost);
        ck_assert_uint_eq(l->entry[6].before, l->entry[5].value);
    }
    begin(); /* undone again */
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_INCR, 7, LOST, 0, 2);
    count(KV_GET, 0, KV_OK, 1007, 4);
    count(KV_GET, 0, KV_OK, 1000, 6);
    check("before something that it needs");
    begin(); /* done before it was asked for */
    count(KV_SET, 1000, KV_OK, 0, 0);
    count(KV_GET, 0, KV_OK, 1007, 4);
    count(KV_INCR, 7, LOST, 0, 6);
    check("before something that it needs");
}
END_TEST

START_TEST(counters_begin_with_their_first)
{
    begin();
    struct kv_entry *e = count(KV_INCR, 7, LOST, 0, 0);
    e->initial = 4000;
    count(KV_GET, 0, KV_OK, 4000, 2);
    check(NULL);
    ck_assert_uint_eq(e->before, 0);
    begin();
    e = count(KV_INCR, 7, KV_OK, 4000, 0);
    e->initial = 4000;
    e = count(KV_INCR, 9, KV_OK, 4009, 2);
    e->initial = 6000;
    count(KV_DELETE, 0, KV_OK, 0, 4);
    check(NULL);
    begin();
    count(KV_INCR, 9, KV_OK, 4009, 2);
    check("which nobody made");
}
END_TEST

/* ---- Expiry ------------------------------------------------------------------------------------------------------ */

#define MS(n) ((int64_t)(n)*1000000)

static void expiring(struct kv_entry *e, unsigned ms)
{
    e->expiry = CW_MS(ms);
}

START_TEST(what_expires)
{
    for (int late = 0; late < 2; late++) {
        const char *words = late ? "was to expire" : NULL;
        begin();
        struct kv_entry *a = set(KV_SET, 0, 10);
        expiring(a, 100);
        HIT(MS(late ? 106 : 104) - 100000, 10, a);
        check(words);
        begin(); /* renewed */
        a = set(KV_SET, 0, 10);
        expiring(a, 100);
        expiring(set(KV_TOUCH, MS(50), 10), 100);
        HIT(MS(late ? 156 : 154) - 100000, 10, a);
        check(words);
        begin(); /* another one was */
        a = set(KV_SET, 0, 10);
        expiring(a, 100);
        expiring(set(KV_TOUCH, MS(50), late ? 9 : 10), 100);
        HIT(MS(120), 10, a);
        check(words);
        begin(); /* renewed, but told of nothing when the value had gone */
        a = set(KV_SET, 0, 10);
        expiring(a, 100);
        struct kv_entry *gat = ask(KV_GAT, MS(50));
        told(gat, KV_MISS, late ? 0 : 10, NULL, 0, MS(150));
        expiring(gat, 100);
        HIT(MS(120), 10, a);
        check(words);
        begin(); /* what is appended changes nothing */
        a = set(KV_SET, 0, 10);
        expiring(a, 100);
        struct kv_entry *b = set(KV_APPEND, MS(50), 11);
        expiring(b, 1000);
        HIT(MS(late ? 106 : 104) - 100000, 11, a, b);
        check(words);
    }
    begin(); /* an answer that did not come may have renewed it */
    struct kv_entry *a = set(KV_SET, 0, 10);
    expiring(a, 100);
    told(ask(KV_TOUCH, MS(50)), KV_UNKNOWN, 0, NULL, 0, MS(60));
    HIT(MS(200), 10, a);
    check(NULL);
    begin();
    a = set(KV_SET, 0, 10);
    HIT(MS(2000), 10, a);
    check(NULL);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_words_are_made_of),
    SUITE_TEST(bytes_that_cannot_be),
    SUITE_TEST(answers_that_cannot_be),
    SUITE_TEST(what_is_told_of_the_present),
    SUITE_TEST(a_cas_comes_right_behind),
    SUITE_TEST(counters),
    SUITE_TEST(steps_without_an_answer_are_found_out),
    SUITE_TEST(counters_begin_with_their_first),
    SUITE_TEST(what_expires),
};
SUITE_MAIN("kv_ledger", tests)
