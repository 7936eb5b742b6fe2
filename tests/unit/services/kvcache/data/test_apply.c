/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on values in memory. */
#include "services/kvcache/data/apply.h"

#include "suite.h"

#include <string.h>

static struct items items;
static uint64_t cas;
static cw_time now;

static void setup(void)
{
    ck_assert_int_eq(items_open(&items, (size_t)1 << 20), 0);
    cas = 100;
    now = (cw_time){CW_SEC(1000).ns};
}

static struct applied ask(const struct kv_request *r)
{
    struct item_name name = {.id = {{1}}, .job = 6, .key = (const uint8_t *)"key", .key_length = 3};
    return apply_op(&items, items_find(&items, &name, now), &name, r, now, &cas);
}

static struct applied ask_for(enum kv_op op, const char *value)
{
    struct kv_request r = {KV_REQUEST_INIT, .op = op, .value = (const uint8_t *)value, .value_length = strlen(value)};
    return ask(&r);
}

static void is_now(struct applied p, const char *value)
{
    ck_assert_int_eq(p.status, KV_OK);
    ck_assert_ptr_nonnull(p.item);
    ck_assert_uint_eq(p.item->length, strlen(value));
    ck_assert(memcmp(item_value(p.item), value, strlen(value)) == 0);
}

START_TEST(values_change)
{
    setup();
    ck_assert_int_eq(ask_for(KV_GET, "").status, KV_MISS);
    struct applied p = ask_for(KV_SET, "7");
    ck_assert(p.stored && p.cas == 101);
    is_now(p, "7");
    is_now(ask_for(KV_APPEND, "00"), "700");
    is_now(ask_for(KV_PREPEND, "1"), "1700");
    struct kv_request r = {KV_REQUEST_INIT, .op = KV_DECR, .delta = 800};
    p = ask(&r);
    is_now(p, "900");
    ck_assert(p.answers && p.cas == 104);
    p = ask_for(KV_GET, "");
    ck_assert(!p.stored && p.answers && p.cas == 104);
    p = ask_for(KV_DELETE, "");
    ck_assert(p.status == KV_OK && p.item == NULL);
    ck_assert_uint_eq(items.count, 0);
    items_close(&items);
}
END_TEST

/*
 * A value that was given may be what is stored: its own key's, shorter or as long, and one that has to make room for
 * it.
 */
START_TEST(a_value_of_here_is_stored)
{
    setup();
    struct applied p = ask_for(KV_SET, "0123456789");
    struct kv_request r = {KV_REQUEST_INIT, .op = KV_SET, .value = item_value(p.item) + 3, .value_length = 5};
    p = ask(&r);
    is_now(p, "34567");
    r.value = item_value(p.item);
    p = ask(&r);
    is_now(p, "34567");
    r = (struct kv_request){KV_REQUEST_INIT, .op = KV_APPEND, .value = item_value(p.item), .value_length = 5};
    is_now(ask(&r), "3456734567");
    static uint8_t big[200 * 1024];
    for (unsigned i = 0; i < sizeof big; i++) {
        big[i] = (uint8_t)(i % 251);
    }
    struct item_name from = {.id = {{2}}, .job = 6, .key = (const uint8_t *)"0", .key_length = 1};
    r = (struct kv_request){KV_REQUEST_INIT, .op = KV_SET, .value = big, .value_length = sizeof big};
    p = apply_op(&items, NULL, &from, &r, now, &cas);
    for (unsigned i = 1; i < 20; i++) { /* of one after the other, until there is no room for more */
        char text[4] = {(char)('0' + i), 'x', 0};
        struct item_name to = {.id = {{(uint8_t)(2 + i)}}, .job = 6, .key = (const uint8_t *)text, .key_length = 2};
        r.value = item_value(p.item);
        p = apply_op(&items, NULL, &to, &r, now, &cas);
        ck_assert_int_eq(p.status, KV_OK);
        ck_assert(memcmp(item_value(p.item), big, sizeof big) == 0);
    }
    ck_assert_uint_gt(items.evicted, 0);
    items_close(&items);
}
END_TEST

START_TEST(no_room_changes_nothing)
{
    setup();
    static char big[800 * 1024];
    memset(big, 'x', sizeof big - 1);
    is_now(ask_for(KV_SET, "small"), "small");
    struct applied p = ask_for(KV_SET, big);
    ck_assert(p.status == KV_NO_MEMORY && p.item == NULL);
    is_now(ask_for(KV_GET, ""), "small");
    items_close(&items);
}
END_TEST

START_TEST(uses_are_noted)
{
    setup();
    ask_for(KV_SET, "v");
    now.ns += CW_SEC(5).ns;
    struct kv_request r = {KV_REQUEST_INIT, .op = KV_GET, .meta = KV_META_TIMES | KV_META_UNUSED};
    struct applied p = ask(&r);
    ck_assert(p.idle_s == 5 && p.marks == 0 && p.left.ns == 0);
    ck_assert(ask_for(KV_GET, "").marks == 0); /* as it was before */
    now.ns += CW_SEC(2).ns;
    p = ask(&r);
    ck_assert(p.idle_s == 2 && p.marks == KV_MARK_FETCHED);
    ask_for(KV_SET, "w");
    ck_assert_uint_eq(ask(&r).marks, 0);
    items_close(&items);
}
END_TEST

START_TEST(times_are_told)
{
    setup();
    struct kv_request r = {KV_REQUEST_INIT, .op = KV_SET, .expiry = CW_SEC(9)};
    ask(&r);
    r = (struct kv_request){KV_REQUEST_INIT, .op = KV_GET, .meta = KV_META_TIMES};
    now.ns += CW_SEC(4).ns;
    ck_assert_int_eq(ask(&r).left.ns, CW_SEC(5).ns);
    r = (struct kv_request){KV_REQUEST_INIT, .op = KV_GAT, .expiry = KV_AT_ONCE, .steps = KV_STEP_RENEW};
    ck_assert_int_eq(ask(&r).left.ns, 1);
    ck_assert_int_eq(ask_for(KV_GET, "").status, KV_MISS);
    items_close(&items);
}
END_TEST

START_TEST(one_wins_what_is_stale)
{
    setup();
    ask_for(KV_SET, "old");
    struct kv_request stale = {KV_REQUEST_INIT, .op = KV_DELETE, .meta = KV_META_STALE};
    ck_assert_uint_eq(ask(&stale).cas, 102);
    struct kv_request get = {KV_REQUEST_INIT, .op = KV_GET, .meta = KV_META};
    struct applied p = ask(&get);
    ck_assert(p.win_due && !(p.marks & KV_MARK_WON));
    get.op = KV_LOOK;
    p = ask(&get);
    ck_assert_uint_eq(p.marks, KV_MARK_STALE | KV_MARK_WON); /* and the first look was none */
    get.op = KV_GET;
    ck_assert_uint_eq(ask(&get).marks, KV_MARK_STALE | KV_MARK_SENT | KV_MARK_FETCHED);
    ask_for(KV_SET, "new");
    ck_assert_uint_eq(ask(&get).marks, 0);
    items_close(&items);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(values_change),           SUITE_TEST(a_value_of_here_is_stored),
                                          SUITE_TEST(no_room_changes_nothing), SUITE_TEST(uses_are_noted),
                                          SUITE_TEST(times_are_told),          SUITE_TEST(one_wins_what_is_stale)};
SUITE_MAIN("apply", tests)
