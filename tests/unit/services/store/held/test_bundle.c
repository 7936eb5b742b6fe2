/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/bundle.h"

#include "suite.h"

#include <string.h>

enum { JOB = 10 };

static const struct store_name tag = {JOB, (const uint8_t *)"{a}", 3};

static struct store_name named(const char *text)
{
    return (struct store_name){JOB, (const uint8_t *)text, strlen(text)};
}

/* if {a}x = 7, if {a}y absent; put {a}x one, get {a}z, delete {a}y */
static struct store_bundle example(void)
{
    return (struct store_bundle){
        .guards = 2,
        .steps = 3,
        .guard = {{CW_STORE_IF_VERSION, 7, named("{a}x")}, {CW_STORE_IF_ABSENT, 0, named("{a}y")}},
        .step = {{.op = CW_STORE_PUT, .name = named("{a}x"), .value = (const uint8_t *)"one", .value_length = 3},
                 {.op = CW_STORE_GET, .name = named("{a}z")},
                 {.op = CW_STORE_DELETE, .name = named("{a}y")}},
    };
}

START_TEST(there_and_back)
{
    static uint8_t bytes[STORE_BUNDLE_MOST], again[STORE_BUNDLE_MOST];
    struct store_bundle b = example(), out;
    size_t size = store_bundle_size(&b);
    b.step[0].ttl_ms = 70000;
    store_bundle_encode(&b, bytes);
    ck_assert(store_bundle_decode(bytes, size, &tag, &out));
    ck_assert_uint_eq(out.guard[0].version, 7);
    ck_assert_uint_eq(out.step[0].ttl_ms, 70000);
    ck_assert_uint_eq(store_bundle_size(&out), size);
    store_bundle_encode(&out, again);
    ck_assert_int_eq(memcmp(bytes, again, size), 0);
    for (size_t shorter = 0; shorter < size; shorter++) {
        ck_assert(!store_bundle_decode(bytes, shorter, &tag, &out));
    }
}
END_TEST

START_TEST(what_is_none)
{
    struct store_bundle b = example();
    ck_assert(store_bundle_valid(&b, &tag));
    b.step[2].name = b.step[0].name; /* written twice */
    ck_assert(!store_bundle_valid(&b, &tag));
    b.step[2].op = CW_STORE_GET; /* and now it is got as well */
    ck_assert(store_bundle_valid(&b, &tag));
    b.step[1].name = named("{b}z"); /* of another tag */
    ck_assert(!store_bundle_valid(&b, &tag));
    b = example();
    b.guard[1].version = 1; /* absent, of a version */
    ck_assert(!store_bundle_valid(&b, &tag));
    b = example();
    b.step[0].value_length = CW_STORE_TXN_VALUE_MAX + 1;
    ck_assert(!store_bundle_valid(&b, &tag));
    b = example();
    b.steps = 0;
    ck_assert(!store_bundle_valid(&b, &tag));
}
END_TEST

START_TEST(tags)
{
    static uint8_t bytes[CW_STORE_NAME_MAX];
    struct store_name found, name = named("{a}{b}c");
    ck_assert(store_bundle_tag(&name, &found));
    ck_assert_uint_eq(found.length, 3);
    name = named("{}x");
    ck_assert(!store_bundle_tag(&name, &found));
    name = named("x{a}");
    ck_assert(!store_bundle_tag(&name, &found));
    memset(bytes, 't', sizeof bytes);
    bytes[0] = '{';
    bytes[CW_STORE_TAG_MAX + 1] = '}';
    name = (struct store_name){JOB, bytes, CW_STORE_TAG_MAX + 2};
    ck_assert(store_bundle_tag(&name, &found));
    bytes[CW_STORE_TAG_MAX + 1] = 't';
    bytes[CW_STORE_TAG_MAX + 2] = '}';
    name.length++;
    ck_assert(!store_bundle_tag(&name, &found));
}
END_TEST

static void put(struct store_table *t, const char *name, uint64_t version, bool deleted)
{
    struct store_name n = named(name);
    struct store_register *r = store_register_new(&n, deleted ? 0 : 5);
    r->version = version;
    r->deleted = deleted;
    memcpy(r->bytes + r->name_length, "value", deleted ? 0 : 5);
    ck_assert_int_eq(store_table_put(t, r), 0);
}

START_TEST(guards)
{
    struct store_table t;
    struct store_bundle b = example();
    struct store_order o = {.op = STORE_OP_TXN, .name = tag, .asker = 1, .number = 1, .since = 1};
    store_table_open(&t, 1);
    struct store_verdict v = store_bundle_verdict(&t, &o, &b);
    ck_assert(v.kind == STORE_VERDICT_SAY && v.status == CW_STORE_CONFLICT && v.which == 0 && v.version == 0);
    put(&t, "{a}x", 7, false);
    ck_assert_int_eq(store_bundle_verdict(&t, &o, &b).kind, STORE_VERDICT_WRITE);
    put(&t, "{a}y", 8, false);
    o.again = true;
    v = store_bundle_verdict(&t, &o, &b);
    ck_assert(v.kind == STORE_VERDICT_NOTE && v.status == CW_STORE_CONFLICT && v.which == 1 && v.version == 8);
    put(&t, "{a}y", 9, true);
    ck_assert_int_eq(store_bundle_verdict(&t, &o, &b).kind, STORE_VERDICT_WRITE);
    b.guard[1].kind = CW_STORE_IF_EXISTS;
    ck_assert_uint_eq(store_bundle_verdict(&t, &o, &b).which, 1);
    b.guards = 1; /* what only reads is told, and not noted */
    b.step[0].op = b.step[2].op = CW_STORE_GET;
    b.step[0].value_length = 0;
    ck_assert_int_eq(store_bundle_verdict(&t, &o, &b).kind, STORE_VERDICT_SAY);
    store_table_close(&t);
}
END_TEST

START_TEST(what_steps_are_told)
{
    uint8_t bytes[200];
    struct store_table t;
    struct store_bundle b = example();
    struct store_told told;
    size_t at = 0;
    store_table_open(&t, 1);
    put(&t, "{a}z", 5, false);
    size_t size = store_bundle_tell(&t, &b, 20, false, bytes);
    ck_assert_uint_eq(size, store_bundle_tell(&t, &b, 20, false, NULL));
    ck_assert(store_told_next(bytes, size, &at, &told) && told.status == CW_STORE_OK && told.version == 20);
    ck_assert(store_told_next(bytes, size, &at, &told) && told.version == 5 && told.value_length == 5);
    ck_assert_int_eq(memcmp(told.value, "value", 5), 0);
    ck_assert(store_told_next(bytes, size, &at, &told) && told.status == CW_STORE_OK && told.version == 0);
    ck_assert(!store_told_next(bytes, size, &at, &told));
    /* Asked for again, when the name has been written since: nobody knows what it was. */
    at = 0;
    size = store_bundle_tell(&t, &b, 5, true, bytes);
    ck_assert(store_told_next(bytes, size, &at, &told) && store_told_next(bytes, size, &at, &told));
    ck_assert_int_eq(told.status, CW_STORE_UNKNOWN);
    store_table_close(&t);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(there_and_back), SUITE_TEST(what_is_none),        SUITE_TEST(tags),
    SUITE_TEST(guards),         SUITE_TEST(what_steps_are_told),
};
SUITE_MAIN("store bundle", tests)
