/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/holders.h"
#include "suite.h"

#include <string.h>

static struct holders h;

static struct item_name name(const char *key, cw_job job)
{
    return (struct item_name){
        .id = {{(uint8_t)key[0]}}, .job = job, .key = (const uint8_t *)key, .key_length = (uint8_t)strlen(key)};
}

static cw_time at(int64_t second)
{
    return (cw_time){CW_SEC(second).ns};
}

START_TEST(who_holds_what)
{
    struct item_name a = name("ab", 1), b = name("ab", 2), c = name("abc", 1);
    holders_open(&h, 2);
    struct held_key *k = holders_get(&h, &a);
    for (cw_server s = 0; s < 20; s++) {
        ck_assert(holders_register(&h, k, s % 10, at(1)));
    }
    ck_assert_uint_eq(k->count, 10);
    uint64_t stamp = holders_at(k, 3)->stamp;
    ck_assert(holders_register(&h, k, 3, at(1)));
    ck_assert_uint_ne(holders_at(k, 3)->stamp, stamp);
    holders_drop(k, holders_at(k, 3));
    ck_assert_ptr_null(holders_at(k, 3));
    ck_assert_ptr_null(holders_find(&h, &b));
    ck_assert_ptr_nonnull(holders_get(&h, &b));
    ck_assert_ptr_null(holders_get(&h, &c)); /* two at most */
    ck_assert_ptr_eq(holders_get(&h, &a), k);
    holders_close(&h);
}
END_TEST

START_TEST(what_is_nobodys_goes)
{
    struct item_name a = name("a", 1), b = name("b", 1);
    struct list_node write = {NULL, NULL};
    holders_open(&h, 9);
    struct held_key *k = holders_get(&h, &a), *l = holders_get(&h, &b);
    ck_assert(holders_register(&h, k, 1, at(1)));
    ck_assert(holders_register(&h, l, 1, at(2)));
    holders_put(&h, k);
    ck_assert_uint_eq(h.count, 2);
    holders_expire(&h, at(2));
    ck_assert_ptr_null(holders_find(&h, &a));
    list_push_back(&l->writes, &write);
    holders_expire(&h, at(9));
    ck_assert_ptr_eq(holders_find(&h, &b), l); /* a write waits */
    list_remove(&write);
    l->count = 0;
    holders_put(&h, l);
    ck_assert_uint_eq(h.count, 0);
    holders_close(&h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(who_holds_what), SUITE_TEST(what_is_nobodys_goes)};
SUITE_MAIN("holders", tests)
