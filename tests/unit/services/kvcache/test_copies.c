/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "services/kvcache/copies.h"
#include "services/kvcache/data/op.h"
#include "services/kvcache/root.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static struct fake_net *net;
static const char *key;
static cw_server reader;

/* A row of nine with a key at server 0 that somebody reads from a copy. */
static void open_hot(void)
{
    net = kv_town_open(9, 8);
    key = kv_town_key(net, 0, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "one"), KV_OK);
    for (reader = 1; reader < 9; reader++) {
        unsigned copies = 0;
        for (unsigned i = 0; i < 9; i++) {
            ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
            copies += kv_town_answer.source == KV_FROM_COPY;
        }
        if (copies == 8) { /* the first one fetched it; no other place is as near */
            return;
        }
    }
    ck_abort_msg("nobody is nearer to a copy than to the root");
}

START_TEST(reads_come_from_a_copy_until_a_write)
{
    open_hot();
    uint64_t reads = kv_town_cache(net, 0)->count[KV_COUNT_ROOT_GETS];
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
        ck_assert_str_eq(kv_town_answer.value, "one");
    }
    ck_assert_uint_eq(kv_town_cache(net, 0)->count[KV_COUNT_ROOT_GETS], reads);
    ck_assert_int_eq(kv_town_do(net, (reader + 1) % 9, KV_SET, key, "two"), KV_OK);
    ck_assert_uint_gt(kv_town_cache(net, 0)->count[KV_COUNT_DROPS], 0);
    for (cw_server s = 0; s < 9; s++) {
        ck_assert_uint_eq(kv_town_cache(net, s)->copies.count, 0);
    }
    ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
    ck_assert_str_eq(kv_town_answer.value, "two");
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* What fits no packet is read from copies as everything else. */
START_TEST(large_values_come_from_a_copy_too)
{
    static char large[20001];
    memset(large, 'x', sizeof large - 1);
    open_hot();
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, large), KV_OK);
    ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
    ck_assert_uint_eq(kv_town_answer.length, sizeof large - 1);
    struct kvcache *root = kv_town_cache(net, 0);
    uint64_t reads = root->count[KV_COUNT_ROOT_GETS], served = 0;
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
        ck_assert_int_eq(kv_town_answer.source, KV_FROM_COPY);
        ck_assert_str_eq(kv_town_answer.value, large);
    }
    ck_assert_uint_eq(root->count[KV_COUNT_ROOT_GETS], reads);
    for (cw_server s = 0; s < 9; s++) {
        served += kv_town_cache(net, s)->count[KV_COUNT_SERVED_COPY] + kv_town_cache(net, s)->count[KV_COUNT_HITS_COPY];
    }
    ck_assert_uint_ge(served, 10);
    unsigned copies = 0;
    for (unsigned i = 0; i < 90; i++) { /* also those who have none, and are nearer to one than to the root */
        ck_assert_int_eq(kv_town_do(net, i % 9, KV_GET, key, NULL), KV_OK);
        ck_assert_str_eq(kv_town_answer.value, large);
        copies += i >= 45 && kv_town_answer.source == KV_FROM_COPY;
    }
    served = 0;
    for (cw_server s = 0; s < 9; s++) {
        served += kv_town_cache(net, s)->count[KV_COUNT_SERVED_COPY];
    }
    ck_assert_uint_gt(served, 0);
    ck_assert_uint_gt(copies, 32); /* of 45; when the root was asked by the transport it were 26 */
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_copy_ends_with_its_age_its_root_and_the_lease)
{
    open_hot();
    for (cw_server s = 0; s < 9; s++) {
        net->server[s]->steady_since = 7;
    }
    ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_MISS);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "two"), KV_OK);
    ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
    ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
    ck_assert_int_eq(kv_town_answer.source, KV_FROM_COPY);
    fake_net_run(net, CW_SEC(11));
    uint64_t fetches = 0, again = 0;
    for (cw_server s = 0; s < 9; s++) {
        fetches += kv_town_cache(net, s)->count[KV_COUNT_FETCHES];
    }
    ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
    for (cw_server s = 0; s < 9; s++) {
        again += kv_town_cache(net, s)->count[KV_COUNT_FETCHES];
    }
    ck_assert_uint_eq(again, fetches + 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_write_waits_for_a_holder_until_it_is_gone)
{
    open_hot();
    cw_server holder = CW_SERVER_NONE;
    for (cw_server s = 1; s < 9; s++) {
        holder = kv_town_cache(net, s)->copies.count > 0 ? s : holder;
    }
    ck_assert_uint_ne(holder, CW_SERVER_NONE);
    struct kv_request r = kv_town_request(KV_SET, key, "two");
    net->lose = 1; /* every packet */
    ck_assert_int_eq(kv_town_ask(net, 0, &r), 0);
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(kv_town_answer.times, 0);
    for (cw_server s = 1; s < 9; s++) {
        net->server[0]->down[s] = s % 2 == 0; /* somebody else */
    }
    net->server[0]->down[holder] = false;
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(kv_town_answer.times, 0);
    net->server[0]->down[holder] = true;
    for (cw_server s = 1; s < 9; s++) {
        net->server[0]->down[s] = kv_town_cache(net, s)->copies.count > 0;
    }
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(kv_town_answer.times, 1);
    ck_assert_int_eq(kv_town_answer.status, KV_OK);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/*
 * Copies outlive a value that is evicted. Who is told that there is none, by a write, does not read it afterwards; what
 * changes nothing leaves them.
 */
START_TEST(a_write_that_finds_nothing_takes_copies_back)
{
    static const enum kv_op ops[] = {KV_DELETE, KV_REPLACE, KV_APPEND, KV_INCR, KV_TOUCH, KV_CAS};
    static const enum kv_status said[] = {KV_MISS, KV_NOT_STORED, KV_NOT_STORED, KV_MISS, KV_MISS, KV_MISS};
    open_hot();
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct kvcache *root = kv_town_cache(net, 0);
        ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, "one"), KV_OK);
        ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
        ck_assert_int_eq(kv_town_do(net, 0, KV_ADD, key, "two"), KV_NOT_STORED);
        ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
        ck_assert_int_eq(kv_town_answer.source, KV_FROM_COPY);
        cw_key id = kv_mem_id(root, KVCACHE_JOB, (const uint8_t *)key, strlen(key));
        struct kv_request r = kv_town_request(KV_GET, key, NULL);
        struct item_name name = kv_name(&id, &r);
        items_remove(&root->values, root_value(root, &name)); /* as eviction does */
        ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_OK);
        ck_assert_int_eq(kv_town_answer.source, KV_FROM_COPY);
        ck_assert_int_eq(kv_town_do(net, 0, ops[i], key, op_carries(ops[i]) ? "x" : NULL), said[i]);
        ck_assert_int_eq(kv_town_do(net, reader, KV_GET, key, NULL), KV_MISS);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* A read goes to one of the places that are nearest; where there are several, none of them has all reads. */
START_TEST(readers_share_the_nearest_places)
{
    net = kv_town_open(9, 2);
    unsigned as_near = 0, to_root = 0, again = 0;
    for (unsigned n = 0; n < 900; n++) {
        struct kvcache *k = kv_town_cache(net, n % 9);
        char name[24];
        cw_coord root;
        cw_key id = cw_key_of(k->svc, name, (size_t)snprintf(name, sizeof name, "key %u", n)), chosen[2];
        cw_server at[2], best;
        unsigned number = copies_choose(k, &id, &chosen[0], &at[0]);
        again += copies_choose(k, &id, &chosen[1], &at[1]) == number && at[0] == at[1];
        ck_assert_int_eq(cw_servers_for_key(k->svc, &id, 1, &root), 1);
        ck_assert(number != 0 || at[0] == cw_server_id(k->svc, root));
        unsigned far = cw_distance(k->svc, cw_self(k->svc), root);
        unsigned near = cw_distance(k->svc, cw_self(k->svc), cw_server_coord(k->svc, at[0]));
        ck_assert_uint_le(near, far);
        k->limits.extras = 1; /* fewer places are not nearer */
        (void)copies_choose(k, &id, &chosen[1], &best);
        k->limits.extras = 2;
        ck_assert_uint_le(near, cw_distance(k->svc, cw_self(k->svc), cw_server_coord(k->svc, best)));
        as_near += near == far && number > 0;
        to_root += near == far && far > 0 && number == 0;
    }
    ck_assert_uint_gt(again, 450);
    ck_assert_uint_lt(again, 900);
    ck_assert_uint_gt(as_near, 10); /* the root was as near, and had to share */
    ck_assert_uint_gt(to_root, 10);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reads_come_from_a_copy_until_a_write),
                                          SUITE_TEST(large_values_come_from_a_copy_too),
                                          SUITE_TEST(a_copy_ends_with_its_age_its_root_and_the_lease),
                                          SUITE_TEST(a_write_waits_for_a_holder_until_it_is_gone),
                                          SUITE_TEST(a_write_that_finds_nothing_takes_copies_back),
                                          SUITE_TEST(readers_share_the_nearest_places)};
SUITE_MAIN("copies", tests)
