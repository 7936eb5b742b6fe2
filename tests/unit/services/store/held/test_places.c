/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/places.h"

#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "services/store/entry/store.h"
#include "suite.h"

#include <string.h>

static struct store_name name(const char *text)
{
    return (struct store_name){STORE_JOB, (const uint8_t *)text, strlen(text)};
}

static bool together(const char *a, const char *b)
{
    struct store_name x = name(a), y = name(b);
    cw_key k = store_places_key(&x), l = store_places_key(&y);
    return memcmp(&k, &l, sizeof k) == 0;
}

START_TEST(names_of_one_tag_are_together)
{
    ck_assert(together("{user 7}name", "{user 7}mail"));
    ck_assert(!together("{user 7}name", "{user 8}name"));
    ck_assert(!together("{}a", "{}b"));
    ck_assert(!together("{a", "{b"));
    ck_assert(!together("{a}", "a"));
    struct store_name other = name("a"), mine = other;
    other.job = 5001;
    cw_key k = store_places_key(&other), l = store_places_key(&mine);
    ck_assert_int_ne(memcmp(&k, &l, sizeof k), 0);
}
END_TEST

START_TEST(a_prefix_with_a_whole_tag_is_in_one_shard)
{
    struct torus t;
    uint32_t shard;
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 3, 3}), 0);
    const struct store_name no[] = {name(""), name("{"), name("{user"), name("{}"), name("a{user}")};
    for (unsigned i = 0; i < sizeof no / sizeof *no; i++) {
        ck_assert(!store_places_prefix(&t, &no[i], &shard));
    }
    const struct store_name prefix = name("{user}"), one = name("{user}mail");
    const struct store_order get = {.op = CW_STORE_GET, .name = one};
    ck_assert(store_places_prefix(&t, &prefix, &shard));
    ck_assert_uint_eq(shard, store_order_shard(&t, &get));
    const struct store_order list = {.op = STORE_OP_LIST, .name = one, .shard = 5};
    ck_assert_uint_eq(store_order_shard(&t, &list), 5);
}
END_TEST

/* The members are the first servers of the key's sequence, and share shards with servers within reach alone. */
START_TEST(members_of_every_shape)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {3, 1, 1}, {2, 2, 1}, {4, 3, 2}, {5, 1, 4}, {2, 2, 2}};
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct torus t;
        cw_server member[STORE_COPIES_MOST], right[STORE_COPIES_MOST];
        char text[16];
        ck_assert_int_eq(torus_init(&t, shapes[s]), 0);
        for (unsigned i = 0; i < 300; i++) {
            unsigned r = i % 2 == 0 || t.servers < 4 ? 3 : 4;
            snprintf(text, sizeof text, "n%u", i);
            struct store_name n = name(text);
            cw_key key = store_places_key(&n);
            uint32_t shard = store_places_shard(&t, &key);
            ck_assert_uint_eq(store_places_members(&t, shard, r, member), r);
            ck_assert_uint_eq(owner_sequence(&t, key_route64(&key), r, right), r);
            ck_assert_int_eq(memcmp(member, right, r * sizeof *member), 0);
            ck_assert_uint_eq(store_places_home(shard), member[0]);
            for (unsigned a = 0; a < r; a++) {
                SUITE_HOLDS(torus_distance(&t, member[0], member[a]) < r);
                SUITE_HOLDS(torus_distance(&t, member[a], member[r - 1]) <= store_places_reach(&t, r));
            }
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names_of_one_tag_are_together),
    SUITE_TEST(a_prefix_with_a_whole_tag_is_in_one_shard),
    SUITE_TEST(members_of_every_shape),
};
SUITE_MAIN("store places", tests)
