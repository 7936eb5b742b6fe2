/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/verdict.h"

#include "store_town.h"
#include "suite.h"

#include <string.h>

static uint64_t n;

static struct store_order order(cw_store_op op, const char *value)
{
    struct store_order o = {
        .op = op, .name = {STORE_JOB, (const uint8_t *)"x", 1}, .asker = 1, .number = 1, .since = 1};
    o.value = (const uint8_t *)value;
    o.value_length = strlen(value);
    return o;
}

static struct store_order conditional(cw_store_op op, uint64_t version)
{
    struct store_order o = order(op, "");
    o.conditional = true;
    o.version = version;
    return o;
}

static struct store_tag next(void)
{
    return (struct store_tag){{1, 1}, ++n};
}

/* Does what the order asks for, under that number, and gives what is there then. */
static struct store_register *done(struct store_register *have, struct store_order o, uint64_t number)
{
    o.number = number;
    o.since = n > 0 ? n : 1;
    struct store_verdict v = store_verdict_of(have, &o);
    ck_assert_int_eq(v.kind, STORE_VERDICT_WRITE);
    struct store_register *r = store_verdict_write(have, &o, next(), &v);
    ck_assert_uint_eq(v.version, n);
    free(have);
    return r;
}

static void expect(const struct store_register *have, const struct store_order *o, enum store_verdict_kind kind,
                   cw_store_status status, uint64_t version)
{
    struct store_verdict v = store_verdict_of(have, o);
    ck_assert_int_eq(v.kind, kind);
    ck_assert_int_eq(v.status, status);
    ck_assert_uint_eq(v.version, version);
}

START_TEST(operations)
{
    struct store_order get = order(CW_STORE_GET, ""), delete = order(CW_STORE_DELETE, "");
    expect(NULL, &get, STORE_VERDICT_SAY, CW_STORE_NOT_FOUND, 0);
    expect(NULL, &delete, STORE_VERDICT_SAY, CW_STORE_NOT_FOUND, 0);
    struct store_register *r = done(NULL, order(CW_STORE_PUT, "one"), 1);
    expect(r, &get, STORE_VERDICT_SAY, CW_STORE_OK, n);
    ck_assert_int_eq(memcmp(store_register_value(r), "one", 3), 0);
    r = done(r, delete, 2);
    ck_assert(r->deleted);
    expect(r, &get, STORE_VERDICT_SAY, CW_STORE_NOT_FOUND, n);
    free(r);
}
END_TEST

START_TEST(conditions)
{
    struct store_order insert = conditional(CW_STORE_PUT, 0), cas = conditional(CW_STORE_PUT, 77);
    insert.number = cas.number = 99;
    expect(NULL, &insert, STORE_VERDICT_WRITE, CW_STORE_OK, 0);
    expect(NULL, &cas, STORE_VERDICT_SAY, CW_STORE_CONFLICT, 0);
    struct store_register *r = done(NULL, order(CW_STORE_PUT, "one"), 1);
    expect(r, &insert, STORE_VERDICT_SAY, CW_STORE_CONFLICT, n);
    cas.version = n;
    expect(r, &cas, STORE_VERDICT_WRITE, CW_STORE_OK, 0);
    free(r);
}
END_TEST

/* Store rule 23. */
START_TEST(what_was_done_is_told_again)
{
    struct store_register *r = done(NULL, order(CW_STORE_PUT, "one"), 1);
    struct store_order again = order(CW_STORE_PUT, "one");
    again.again = true;
    again.since = 0; /* who has heard of no n is told what was done as well, and begins nothing else */
    expect(r, &again, STORE_VERDICT_TOLD, CW_STORE_OK, 1);
    expect(NULL, &again, STORE_VERDICT_STALE, CW_STORE_OK, 0);
    again.since = 1;
    for (unsigned i = 0; i < STORE_OPS; i++) {
        expect(r, &again, STORE_VERDICT_TOLD, CW_STORE_OK, 1);
        r = done(r, order(CW_STORE_PUT, "other"), 10 + i);
    }
    expect(r, &again, STORE_VERDICT_TOLD, CW_STORE_UNKNOWN, 0); /* six others came behind it */
    again.again = false;
    expect(r, &again, STORE_VERDICT_STALE, CW_STORE_OK, 0);
    again.since = n;
    expect(r, &again, STORE_VERDICT_WRITE, CW_STORE_OK, 0);
    free(r);
    n = 0;
}
END_TEST

/* Store rule 24: otherwise an earlier attempt that is still on its way could be done after the refusal was told. */
START_TEST(refusals_of_repetitions_are_noted)
{
    struct store_order cas = conditional(CW_STORE_PUT, 5);
    cas.again = true;
    expect(NULL, &cas, STORE_VERDICT_NOTE, CW_STORE_CONFLICT, 0);
    struct store_verdict v = store_verdict_of(NULL, &cas);
    struct store_register *r = store_verdict_write(NULL, &cas, next(), &v);
    ck_assert(r->deleted && r->version == 0);
    cas.version = 0; /* now it could be done */
    expect(r, &cas, STORE_VERDICT_TOLD, CW_STORE_CONFLICT, 0);
    struct store_register *moved = store_register_again(r, next());
    expect(moved, &cas, STORE_VERDICT_TOLD, CW_STORE_CONFLICT, 0);
    free(moved);
    r = done(r, order(CW_STORE_PUT, "value"), 7);
    cas = conditional(CW_STORE_DELETE, 1000);
    cas.again = true;
    cas.number = 8;
    v = store_verdict_of(r, &cas);
    ck_assert_int_eq(v.kind, STORE_VERDICT_NOTE);
    struct store_register *noted = store_verdict_write(r, &cas, next(), &v);
    ck_assert_uint_eq(noted->version, r->version);
    ck_assert_int_eq(memcmp(store_register_value(noted), "value", 5), 0);
    free(noted);
    free(r);
}
END_TEST

/* What goes by itself leaves a deleted register that knows the same operations. */
START_TEST(values_with_a_ttl)
{
    struct store_order o = order(CW_STORE_PUT, "v");
    o.ttl_ms = 500;
    struct store_register *have = done(NULL, o, 1);
    ck_assert_uint_eq(have->ttl_ms, 500);
    have->expires = 12345;
    struct store_register *again = store_register_again(have, next());
    ck_assert_uint_eq(again->ttl_ms, 500);
    ck_assert_int_eq(again->expires, 12345);
    free(again);
    struct store_register *gone = store_verdict_expire(have, next());
    ck_assert(gone->deleted);
    ck_assert_uint_eq(gone->version, n);
    ck_assert_uint_eq(gone->ttl_ms, 0);
    ck_assert_uint_eq(gone->ops, 1);
    o.number = 1;
    o.again = true;
    expect(gone, &o, STORE_VERDICT_TOLD, CW_STORE_OK, have->version);
    free(gone);
    have = done(have, o, 2); /* a new value begins anew */
    ck_assert_int_eq(have->expires, 0);
    have = done(have, order(CW_STORE_PUT, "v"), 3);
    ck_assert_uint_eq(have->ttl_ms, 0);
    free(have);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(operations),
    SUITE_TEST(conditions),
    SUITE_TEST(what_was_done_is_told_again),
    SUITE_TEST(refusals_of_repetitions_are_noted),
    SUITE_TEST(values_with_a_ttl),
};
SUITE_MAIN("store verdict", tests)
