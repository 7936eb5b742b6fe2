/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "node_bench.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static struct bench *torus_of(cw_dims dims)
{
    struct bench *b = bench_open(dims);
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

START_TEST(place)
{
    struct bench *b = torus_of((cw_dims){2, 1, 4});
    cw_svc *s = bench_svc(b, 6);
    cw_coord self = cw_self(s), outside = {2, 0, 0};
    ck_assert(self.x == 1 && self.y == 0 && self.z == 2);
    ck_assert(cw_torus(s).x == 2 && cw_torus(s).y == 1 && cw_torus(s).z == 4);
    ck_assert_uint_eq(cw_job_of(s), PROBE_JOB);
    ck_assert(cw_server_valid(s, self) && !cw_server_valid(s, outside));
    for (cw_server id = 0; id < 8; id++) {
        cw_coord c = cw_server_coord(s, id);
        ck_assert_uint_eq(cw_server_id(s, c), id);
        ck_assert_uint_eq(cw_distance(s, self, c), torus_distance(&b->torus, 6, id));
        ck_assert_uint_eq(cw_links_to(s, c), torus_minimal_links(&b->torus, 6, id));
        ck_assert(cw_reachable(s, c));
    }
    cw_coord none = cw_server_coord(s, 8);
    ck_assert(none.x == 0 && none.y == 0 && none.z == 0);
    ck_assert_uint_eq(cw_server_id(s, outside), CW_SERVER_NONE);
    ck_assert_uint_eq(cw_distance(s, outside, self), UINT_MAX);
    ck_assert_uint_eq(cw_links_to(s, outside), CW_LINKS_NONE);
    ck_assert(!cw_reachable(s, outside));
    bench_close(b);
}
END_TEST

START_TEST(who_is_there)
{
    struct bench *b = torus_of((cw_dims){1, 1, 5});
    cw_svc *s = bench_svc(b, 0);
    ck_assert_uint_eq(cw_servers_reachable(s), 5);
    ck_assert(cw_in_majority(s));
    ck_assert_int_eq(cw_hold(s).ns, b->config.timers.hold.ns);
    uint64_t epoch = cw_epoch(s);
    bench_kill(b, 2, true);
    bench_settle(b);
    ck_assert_uint_gt(cw_epoch(s), epoch);
    ck_assert(!cw_reachable(s, (cw_coord){0, 0, 2}));
    ck_assert_uint_eq(cw_servers_reachable(s), 4);
    ck_assert_uint_eq(cw_links_to(s, (cw_coord){0, 0, 2}), CW_LINKS_NONE);
    bench_kill(b, 3, true);
    bench_settle(b);
    ck_assert_uint_eq(cw_servers_reachable(s), 3);
    ck_assert(cw_in_majority(s)); /* 3 of 5 */
    ck_assert_uint_eq(cw_servers_within(s, 0), 1);
    ck_assert_uint_eq(cw_servers_within(s, 1), 3);
    bench_kill(b, 1, true);
    bench_settle(b);
    ck_assert(!cw_in_majority(s));
    bench_close(b);
}
END_TEST

START_TEST(links)
{
    struct bench *b = torus_of((cw_dims){1, 2, 3});
    b->node[0]->config.bits_per_second = 12345;
    cw_svc *s = bench_svc(b, 0);
    cw_link_info info = {.size = sizeof info};
    ck_assert_int_eq(cw_link_get(s, CW_LINK_XP, &info), -ENODEV);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_COUNT, &info), -EINVAL);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_ZP, NULL), -EINVAL);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_ZM, &info), 0);
    ck_assert(info.up && info.bits_per_second == 12345 && info.queued_packets == 0);
    ck_assert(info.neighbour.x == 0 && info.neighbour.y == 0 && info.neighbour.z == 2);
    info.size--;
    ck_assert_int_eq(cw_link_get(s, CW_LINK_ZM, &info), -EINVAL);
    info.size = sizeof info;
    /* Four that may leave by -z only, four by both links along y. */
    cw_to to[] = {to_server(b, 2), to_server(b, 3)};
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_int_eq(cw_send(s, packet_of(b, 0, "x", 0), &to[i % 2], NULL), 0);
    }
    static const unsigned queued[] = {0, 0, 4, 4, 0, 4};
    for (cw_link link = CW_LINK_YP; link < CW_LINK_COUNT; link++) {
        ck_assert_int_eq(cw_link_get(s, link, &info), 0);
        ck_assert_uint_eq(info.queued_packets, queued[link]);
    }
    bench_cut(b, 0, CW_LINK_ZM, true);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_ZM, &info), 0);
    ck_assert(!info.up);
    bench_close(b);
}
END_TEST

START_TEST(keys)
{
    struct bench *b = torus_of((cw_dims){3, 3, 3});
    cw_svc *s = bench_svc(b, 5);
    struct rng rng = {1};
    bench_kill(b, 13, true);
    bench_settle(b);
    cw_key name = cw_key_of(s, "name", 4), same = key_of_name(PROBE_JOB, "name", 4);
    ck_assert_int_eq(memcmp(&name, &same, sizeof name), 0);
    same = cw_key_of(s, NULL, 4);
    name = key_of_name(PROBE_JOB, NULL, 0);
    ck_assert_int_eq(memcmp(&name, &same, sizeof name), 0);
    for (unsigned i = 0; i < 500; i++) {
        cw_server home = (cw_server)rng_below(&rng, 27), list[27];
        uint64_t w = rng_next(&rng);
        cw_key key = cw_key_at(s, torus_coord(&b->torus, home), w);
        uint64_t route = key_route64(&key), places = key_last(&b->torus, home) - key_first(&b->torus, home) + 1;
        ck_assert_uint_eq(key_home(&b->torus, route), home);
        ck_assert_uint_eq(key_offset(&b->torus, route), w % places);
        cw_coord found[30];
        unsigned r = (unsigned)rng_below(&rng, 30);
        unsigned expect = owner_servers_for_key(&b->torus, route, &b->node[5]->told, r, list);
        ck_assert_int_eq(cw_servers_for_key(s, &key, r, found), (int)expect);
        for (unsigned k = 0; k < expect; k++) {
            ck_assert_uint_eq(torus_id(&b->torus, found[k]), list[k]);
        }
        cw_server root = owner_root(&b->torus, route, &b->node[5]->told);
        unsigned roots = 0;
        for (cw_server at = 0; at < 27; at++) {
            roots += b->node[at] != NULL && cw_is_root(bench_svc(b, at), &key);
        }
        ck_assert_uint_eq(roots, 1);
        ck_assert(cw_is_root(bench_svc(b, root), &key));
    }
    cw_key key = cw_key_at(s, (cw_coord){3, 0, 0}, 1), zero = {{0}};
    ck_assert_int_eq(memcmp(&key, &zero, sizeof key), 0);
    cw_coord out;
    ck_assert_int_eq(cw_servers_for_key(s, NULL, 1, &out), -EINVAL);
    ck_assert_int_eq(cw_servers_for_key(s, &key, 1, NULL), -EINVAL);
    ck_assert_int_eq(cw_servers_for_key(s, &key, 0, &out), 0);
    ck_assert(!cw_is_root(s, NULL));
    bench_close(b);
}
END_TEST

/* Against the roots of many keys, kept at every epoch the service was told of. */
START_TEST(moved_keys)
{
    enum { KEYS = 200, STEPS = 24 };
    struct bench *b = torus_of((cw_dims){2, 3, 3});
    struct rng rng = {4};
    cw_key key[KEYS];
    cw_server root[STEPS + 1][KEYS];
    uint64_t epoch[STEPS + 1];
    for (unsigned step = 0; step <= STEPS; step++) {
        cw_svc *s = bench_svc(b, 0);
        epoch[step] = cw_epoch(s);
        for (unsigned k = 0; k < KEYS; k++) {
            key[k] = step == 0 ? to_route(rng_next(&rng)).key : key[k];
            root[step][k] = owner_root(&b->torus, key_route64(&key[k]), &b->node[0]->told);
            for (unsigned since = 0; since <= step; since++) {
                bool moved = false;
                for (unsigned e = since; e < step; e++) {
                    moved |= root[e][k] != root[e + 1][k];
                }
                ck_assert_int_eq(cw_key_moved(s, &key[k], epoch[since]), moved);
            }
        }
        cw_server other = 1 + (cw_server)rng_below(&rng, 17);
        if (b->node[other] != NULL) {
            bench_kill(b, other, true);
        } else {
            bench_start(b, other);
        }
        bench_settle(b);
        bench_forget_notes(b);
    }
    ck_assert(cw_key_moved(bench_svc(b, 0), NULL, UINT64_MAX));
    bench_close(b);
}
END_TEST

static cw_verdict drop(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

static const char *only_option(void *context, const char *service, const char *name)
{
    return strcmp(service, "probe") == 0 && strcmp(name, "depth") == 0 ? context : NULL;
}

static bool steady(struct bench *b, cw_server at, const cw_key *key, uint64_t since)
{
    return cw_key_steady(bench_svc(b, at), key, since);
}

/*
 * As long as the root is the same in the same life, and our lease holds; what happens behind it in the sequence does
 * not matter.
 */
START_TEST(steady_keys)
{
    struct bench *b = torus_of((cw_dims){1, 3, 3});
    cw_svc *s = bench_svc(b, 0);
    cw_key key = cw_key_at(s, (cw_coord){0, 1, 1}, 1), own = cw_key_at(s, cw_self(s), 1);
    uint64_t first = cw_epoch(s);
    ck_assert(steady(b, 0, &key, first) && steady(b, 0, &own, first));
    ck_assert(!cw_key_steady(s, NULL, first));
    bench_kill(b, 8, true);
    ck_assert(steady(b, 0, &key, first) && steady(b, 0, &own, first));
    bench_settle(b);
    ck_assert(steady(b, 0, &key, first) && steady(b, 0, &own, first));
    bench_kill(b, 4, true);
    bench_run(b, CW_MS(10)); /* its neighbours have seen the carrier go; nobody has its keys yet */
    ck_assert(!steady(b, 0, &key, first) && !steady(b, 0, &key, cw_epoch(s)));
    ck_assert(steady(b, 0, &own, first));
    bench_settle(b);
    uint64_t second = cw_epoch(s);
    ck_assert(steady(b, 0, &key, second) && !steady(b, 0, &key, first)); /* its heir's */
    bench_start(b, 4);
    bench_settle(b);
    ck_assert(!steady(b, 0, &key, first) && !steady(b, 0, &key, second)); /* it is another life */
    ck_assert(steady(b, 0, &key, cw_epoch(s)) && steady(b, 0, &own, first));
    bench_close(b);
}
END_TEST

/* Who hears nothing any more relies on nothing, before anybody could take its place. */
START_TEST(nothing_is_steady_without_a_lease)
{
    struct bench *b = torus_of((cw_dims){1, 1, 4});
    cw_svc *s = bench_svc(b, 0);
    cw_key own = cw_key_at(s, cw_self(s), 1), other = cw_key_at(s, (cw_coord){0, 0, 2}, 1);
    uint64_t since = cw_epoch(s);
    ck_assert(steady(b, 0, &own, since) && steady(b, 0, &other, since));
    b->link[0][CW_LINK_ZP].cut = b->link[0][CW_LINK_ZM].cut = true; /* nothing leaves it, and nobody is told */
    b->link[1][CW_LINK_ZM].cut = b->link[3][CW_LINK_ZP].cut = true;
    bench_run(b, b->config.timers.hold);
    ck_assert(!steady(b, 0, &own, since) && !steady(b, 0, &own, cw_epoch(s)));
    ck_assert(!steady(b, 0, &other, since));
    bench_close(b);
}
END_TEST

START_TEST(options_are_the_hosts)
{
    struct bench *b = torus_of((cw_dims){1, 1, 2});
    cw_svc *s = bench_svc(b, 0);
    char seven[] = "7";
    ck_assert_ptr_null(cw_option(s, "depth")); /* this host gives none */
    b->node[0]->env.option = only_option;
    b->node[0]->env.option_context = seven;
    ck_assert_ptr_eq(cw_option(s, "depth"), seven);
    ck_assert_ptr_null(cw_option(s, "colour"));
    ck_assert_ptr_null(cw_option(s, NULL));
    bench_close(b);
}
END_TEST

START_TEST(peers_and_counters)
{
    struct bench *b = torus_of((cw_dims){1, 1, 2});
    static const int functions = 3;
    const cw_service peer = {CW_SERVICE_INIT,       .name = "peer",       .job = 5,       .on_packet = drop,
                             .exports = &functions, .exports_version = 2, .state_size = 4};
    ck_assert_int_eq(node_service_add(b->node[0], &peer, b->now), 0);
    cw_svc *s = bench_svc(b, 0), *found = NULL;
    ck_assert_ptr_null(node_service_user(b->node[0], 5));
    ck_assert_ptr_eq(cw_find(s, "peer", 2, &found), &functions);
    ck_assert_str_eq(node_service_user(b->node[0], 5), "probe");
    ck_assert_ptr_null(node_service_user(b->node[0], 77));
    ck_assert_uint_eq(cw_job_of(found), 5);
    ck_assert_ptr_nonnull(cw_find(found, "peer", 2, NULL)); /* its own functions are no use by another */
    ck_assert_ptr_eq(cw_find(s, "peer", 2, NULL), &functions);
    ck_assert_ptr_null(cw_find(s, "peer", 1, &found));
    ck_assert_ptr_null(cw_find(s, "probe", 0, &found)); /* exports nothing */
    ck_assert_ptr_null(cw_find(s, "nobody", 2, &found));
    ck_assert_ptr_null(cw_find(s, NULL, 2, &found));
    cw_counter *c = cw_counter_new(s, "hits", "what hit");
    cw_counter_add(c, 3);
    cw_counter_add(cw_counter_new(s, "hits", NULL), 4);
    cw_counter_add(NULL, 1);
    ck_assert_uint_eq(c->value, 7);
    ck_assert_ptr_nonnull(cw_counter_new(s, NULL, NULL));
    cw_histogram *h = cw_histogram_new(s, "took", "how long");
    ck_assert_ptr_eq(cw_histogram_new(s, "took", NULL), h);
    cw_histogram_note(h, CW_MS(5));
    cw_histogram_note(NULL, CW_MS(5));
    ck_assert_uint_eq(cw_histogram_count(h), 1);
    ck_assert_uint_eq(cw_histogram_count(NULL), 0);
    int64_t median = cw_histogram_quantile(h, 500).ns;
    ck_assert(median > CW_US(4300).ns && median < CW_US(5700).ns);
    ck_assert_int_eq(cw_histogram_quantile(NULL, 500).ns, 0);
    unsigned logs = b->logs;
    cw_log(s, CW_LOG_INFO, "text");
    cw_log(s, CW_LOG_INFO, NULL);
    cw_log(s, (cw_level)99, "text");
    ck_assert_uint_eq(b->logs, logs + 1);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(place),
    SUITE_TEST(who_is_there),
    SUITE_TEST(links),
    SUITE_TEST(keys),
    SUITE_TEST(moved_keys),
    SUITE_TEST(steady_keys),
    SUITE_TEST(nothing_is_steady_without_a_lease),
    SUITE_TEST(options_are_the_hosts),
    SUITE_TEST(peers_and_counters),
};
SUITE_MAIN("svc_info", tests)
