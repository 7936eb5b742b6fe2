/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/intent.h"

#include "services/store/held/places.h"
#include "suite.h"

#include <string.h>

enum { JOB = 10 };

static const struct store_name tag = {JOB, (const uint8_t *)"{a}", 3};
static struct store_table t;
static uint64_t n;

static struct store_name named(const char *text)
{
    return (struct store_name){JOB, (const uint8_t *)text, strlen(text)};
}

/* if {a}g exists; put {a}x new, delete {a}y, get {a}z */
static struct store_bundle example(void)
{
    return (struct store_bundle){
        .guards = 1,
        .steps = 3,
        .guard = {{CW_STORE_IF_EXISTS, 0, named("{a}g")}},
        .step = {{.op = CW_STORE_PUT, .name = named("{a}x"), .value = (const uint8_t *)"new", .value_length = 3},
                 {.op = CW_STORE_DELETE, .name = named("{a}y")},
                 {.op = CW_STORE_GET, .name = named("{a}z")}},
    };
}

static struct store_order order(uint64_t number)
{
    return (struct store_order){.op = STORE_OP_TXN, .name = tag, .asker = 1, .number = number, .since = 1};
}

static struct store_tag next(unsigned count)
{
    n += count;
    return (struct store_tag){{1, 1}, n};
}

/* Somebody writes the name. */
static void put(const char *name)
{
    struct store_order o = {.op = CW_STORE_PUT, .name = named(name), .asker = 2, .number = n, .since = 1};
    struct store_verdict v = {.kind = STORE_VERDICT_WRITE};
    struct store_register *r = store_verdict_write(store_table_find(&t, &o.name), &o, next(1), &v);
    ck_assert_int_eq(store_table_put(&t, r), 0);
}

static void change(const struct store_intent *in, unsigned i)
{
    ck_assert_int_eq(store_table_put(&t, store_intent_write(&t, in, i, next(1))), 0);
}

static void open_table(void)
{
    store_table_open(&t, 1);
    put("{a}g");
    put("{a}x");
    put("{a}y");
    put("{a}z");
}

static struct store_register *begun(struct store_intent *in)
{
    const struct store_bundle b = example();
    const struct store_order o = order(77);
    struct store_register *r = store_intent_new(&t, &o, &b, next(3));
    ck_assert(store_intent_read(r, in));
    ck_assert(store_name_equal(&in->tag, &tag));
    ck_assert_uint_eq(in->base, n - 2);
    ck_assert_uint_eq(in->number, 77);
    return r;
}

START_TEST(it_stands_in_the_shard_of_its_names)
{
    uint8_t bytes[CW_STORE_NAME_MAX];
    const struct store_name name = store_intent_name(&tag, bytes), x = named("{a}x");
    const cw_key one = store_places_key(&name), other = store_places_key(&x);
    ck_assert_uint_eq(name.job, STORE_INTENT_JOB);
    ck_assert_int_eq(memcmp(one.b, other.b, sizeof one.b), 0);
}
END_TEST

START_TEST(its_changes)
{
    struct store_intent in;
    open_table();
    struct store_register *r = begun(&in);
    ck_assert(store_intent_holds(&t, &in));
    ck_assert(store_intent_lacks(&t, &in, 0) && store_intent_lacks(&t, &in, 1) && !store_intent_lacks(&t, &in, 2));
    change(&in, 0);
    ck_assert(store_intent_holds(&t, &in)); /* it has come so far */
    ck_assert(!store_intent_lacks(&t, &in, 0) && store_intent_lacks(&t, &in, 1));
    const struct store_name x = named("{a}x"), y = named("{a}y");
    const struct store_register *made = store_table_find(&t, &x);
    ck_assert_uint_eq(made->version, in.base);
    ck_assert_int_eq(memcmp(store_register_value(made), "new", 3), 0);
    change(&in, 1);
    ck_assert(store_table_find(&t, &y)->deleted);
    ck_assert_uint_eq(store_table_find(&t, &y)->version, in.base + 1);
    ck_assert(!store_intent_lacks(&t, &in, 1));
    /* Whoever asks again is told by the first name that was written. */
    const struct store_bundle b = example();
    struct store_order o = order(77);
    o.again = true;
    struct store_verdict v = store_bundle_verdict(&t, &o, &b);
    ck_assert(v.kind == STORE_VERDICT_TOLD && v.status == CW_STORE_OK && v.version == in.base);
    free(r);
    store_table_close(&t);
}
END_TEST

/* Store rule 38. */
START_TEST(it_is_void_when_a_name_has_changed)
{
    static const char *const names[] = {"{a}g", "{a}x", "{a}y"};
    struct store_intent in;
    for (unsigned i = 0; i < 3; i++) {
        open_table();
        struct store_register *r = begun(&in);
        put("{a}z"); /* only read: what is told of it does not matter any more */
        ck_assert(store_intent_holds(&t, &in));
        put(names[i]);
        ck_assert(!store_intent_holds(&t, &in));
        free(r);
        store_table_close(&t);
    }
}
END_TEST

/* The refusal of its repetition was told: the version is the same, and it must not come any more. */
START_TEST(it_is_void_when_it_was_refused)
{
    struct store_intent in;
    open_table();
    struct store_register *r = begun(&in);
    struct store_order o = order(77);
    o.name = named("{a}x");
    struct store_verdict v = {.kind = STORE_VERDICT_NOTE, .status = CW_STORE_CONFLICT};
    const struct store_register *have = store_table_find(&t, &o.name);
    ck_assert_int_eq(store_table_put(&t, store_verdict_write(have, &o, next(1), &v)), 0);
    ck_assert(!store_intent_holds(&t, &in));
    free(r);
    store_table_close(&t);
}
END_TEST

/* A register written again, by another leader, is as it was. */
START_TEST(what_is_written_again_is_the_same)
{
    struct store_intent in;
    open_table();
    struct store_register *r = begun(&in);
    const struct store_name x = named("{a}x");
    struct store_register *again = store_register_again(store_table_find(&t, &x), next(1));
    ck_assert_int_eq(store_table_put(&t, again), 0);
    ck_assert(store_intent_holds(&t, &in));
    struct store_register *moved = store_register_again(r, next(1));
    ck_assert(store_intent_read(moved, &in));
    ck_assert_uint_eq(in.base, r->version);
    free(moved);
    free(r);
    store_table_close(&t);
}
END_TEST

START_TEST(what_is_none)
{
    struct store_intent in;
    open_table();
    struct store_register *r = begun(&in);
    r->job = JOB;
    ck_assert(!store_intent_read(r, &in));
    r->job = STORE_INTENT_JOB;
    for (uint32_t length = r->value_length; length-- > 0;) {
        r->value_length = length;
        ck_assert(!store_intent_read(r, &in));
    }
    free(r);
    store_table_close(&t);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_stands_in_the_shard_of_its_names), SUITE_TEST(its_changes),
    SUITE_TEST(it_is_void_when_a_name_has_changed),  SUITE_TEST(it_is_void_when_it_was_refused),
    SUITE_TEST(what_is_written_again_is_the_same),   SUITE_TEST(what_is_none),
};
SUITE_MAIN("store intent", tests)
