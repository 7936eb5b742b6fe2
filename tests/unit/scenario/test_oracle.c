/* SPDX-License-Identifier: Apache-2.0 */
/* Who is connected in truth, against a transitive closure; and planted misdeliveries are found. */
#include "scenario/oracle.h"

#include "base/prng.h"
#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "suite.h"

enum { SERVERS_MAX = 64 };

struct place {
    struct torus torus;
    cw_server neighbours[SERVERS_MAX * CW_LINK_COUNT];
    struct oracle oracle;
};

static void open_place(struct place *p, cw_dims dims)
{
    ck_assert_int_eq(torus_init(&p->torus, dims), 0);
    torus_neighbours_fill(&p->torus, p->neighbours);
    ck_assert_int_eq(oracle_open(&p->oracle, &p->torus, p->neighbours), 0);
}

static void claim_truth(struct place *p, cw_server s)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (torus_links(&p->torus) & cw_links_of(link)) {
            oracle_claims(&p->oracle, s, link, p->oracle.incarnation[p->neighbours[s * CW_LINK_COUNT + link]]);
        }
    }
}

/* Everybody runs with incarnation 100 + id, is active, and calls all its links up. */
static void all_well(struct place *p)
{
    for (cw_server s = 0; s < p->torus.servers; s++) {
        oracle_runs(&p->oracle, s, 100 + s);
        oracle_active(&p->oracle, s, true);
    }
    for (cw_server s = 0; s < p->torus.servers; s++) {
        claim_truth(p, s);
    }
}

/* The definition, word by word. */
static bool naive_up(const struct place *p, cw_server s, cw_link link, bool believed)
{
    const struct oracle *o = &p->oracle;
    if (!(torus_links(&p->torus) & cw_links_of(link))) {
        return false;
    }
    cw_server far = p->neighbours[s * CW_LINK_COUNT + link];
    cw_link back = cw_link_opposite(link);
    bool cable = (o->cable[s] & cw_links_of(link)) && (o->cable[far] & cw_links_of(back));
    bool live = o->incarnation[s] != 0 && o->incarnation[far] != 0;
    bool both = o->claim[s * CW_LINK_COUNT + link] == o->incarnation[far] &&
                o->claim[far * CW_LINK_COUNT + back] == o->incarnation[s];
    return cable && live && (both || !believed);
}

static void closure(const struct place *p, bool believed, bool near[SERVERS_MAX][SERVERS_MAX])
{
    uint32_t n = p->torus.servers;
    for (cw_server s = 0; s < n; s++) {
        for (cw_server t = 0; t < n; t++) {
            near[s][t] = s == t && p->oracle.incarnation[s] != 0;
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (naive_up(p, s, link, believed)) {
                near[s][p->neighbours[s * CW_LINK_COUNT + link]] = true;
            }
        }
    }
    for (cw_server k = 0; k < n; k++) {
        for (cw_server i = 0; i < n; i++) {
            for (cw_server j = 0; j < n; j++) {
                near[i][j] |= near[i][k] && near[k][j];
            }
        }
    }
}

static void compare(struct place *p)
{
    static bool near[SERVERS_MAX][SERVERS_MAX], wired[SERVERS_MAX][SERVERS_MAX];
    uint32_t n = p->torus.servers;
    closure(p, true, near);
    closure(p, false, wired);
    for (cw_server s = 0; s < n; s++) {
        bool runs = p->oracle.incarnation[s] != 0;
        cw_server component = oracle_component(&p->oracle, s), island = oracle_island(&p->oracle, s);
        if ((component != CW_SERVER_NONE) != runs || (island != CW_SERVER_NONE) != runs) {
            ck_abort_msg("server %u has component %u and island %u", s, component, island);
        }
        for (cw_server t = 0; t < n && runs; t++) {
            bool same = component == oracle_component(&p->oracle, t), joined = island == oracle_island(&p->oracle, t);
            if (same != near[s][t] || joined != wired[s][t]) {
                ck_abort_msg("servers %u and %u", s, t);
            }
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (((oracle_links(&p->oracle, s) & cw_links_of(link)) != 0) != naive_up(p, s, link, true)) {
                ck_abort_msg("server %u, link %u", s, link);
            }
        }
    }
}

static void change(struct place *p, struct prng *random)
{
    cw_server s = (cw_server)prng_below(random, p->torus.servers);
    cw_link link = (cw_link)prng_below(random, CW_LINK_COUNT);
    bool cabled = torus_links(&p->torus) & cw_links_of(link);
    switch (prng_below(random, 6)) {
    case 0:
        oracle_runs(&p->oracle, s, 0);
        break;
    case 1:
        oracle_runs(&p->oracle, s, 100 + prng_below(random, 100));
        break;
    case 2:
        oracle_claims(&p->oracle, s, link, 0);
        break;
    case 3:
        if (cabled) {
            oracle_cable(&p->oracle, s, link, prng_chance(random, 1, 2));
        }
        break;
    default:
        claim_truth(p, s);
        break;
    }
}

START_TEST(components_are_those_of_a_closure)
{
    static const cw_dims dims[] = {{2, 2, 2}, {3, 3, 3}, {1, 2, 4}, {1, 1, 5}, {1, 1, 1}, {2, 3, 4}};
    struct place p;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct prng random = prng_stream(i, 0, 1);
        open_place(&p, dims[i]);
        compare(&p);
        all_well(&p);
        compare(&p);
        for (int step = 0; step < 200; step++) {
            change(&p, &random);
            compare(&p);
        }
        oracle_close(&p.oracle);
    }
}
END_TEST

/* Without a change nothing is searched again; a write of what is there already is no change. */
START_TEST(what_does_not_change_costs_nothing)
{
    struct place p;
    open_place(&p, (cw_dims){3, 3, 3});
    all_well(&p);
    (void)oracle_component(&p.oracle, 0);
    uint64_t changes = p.oracle.changes;
    all_well(&p);
    oracle_cable(&p.oracle, 4, CW_LINK_XP, true);
    ck_assert_uint_eq(p.oracle.changes, changes);
    oracle_active(&p.oracle, 4, false);
    ck_assert_uint_gt(p.oracle.changes, changes);
    ck_assert_uint_gt(oracle_bytes(&p.oracle), 27 * 60);
    oracle_close(&p.oracle);
}
END_TEST

START_TEST(a_planted_misdelivery_is_found)
{
    struct place p;
    open_place(&p, (cw_dims){3, 3, 3});
    all_well(&p);
    struct prng random = prng_stream(1, 0, 2);
    for (int i = 0; i < 2000; i++) {
        uint64_t route = prng_next(&random);
        cw_server home = key_home(&p.torus, route), other = (home + 1 + (cw_server)prng_below(&random, 26)) % 27;
        ck_assert_uint_eq(oracle_precedes(&p.oracle, route, home), CW_SERVER_NONE);
        ck_assert_uint_eq(oracle_precedes(&p.oracle, route, other), home);
    }
    oracle_close(&p.oracle);
}
END_TEST

/* A home that is dead, inactive or cut off precedes nobody; as soon as one of them is none of these, it does. */
START_TEST(who_is_not_there_precedes_nobody)
{
    struct place p;
    open_place(&p, (cw_dims){3, 3, 3});
    all_well(&p);
    const cw_server home = 13;
    uint64_t route = key_first(&p.torus, home);
    cw_server next = CW_SERVER_NONE;
    oracle_active(&p.oracle, home, false);
    for (cw_server s = 0; s < 27; s++) {
        if (s != home && oracle_precedes(&p.oracle, route, s) == CW_SERVER_NONE) {
            ck_assert_uint_eq(next, CW_SERVER_NONE); /* exactly one is the root */
            next = s;
        }
    }
    ck_assert_uint_ne(next, CW_SERVER_NONE);
    ck_assert_uint_eq(torus_distance(&p.torus, home, next), 1);
    oracle_active(&p.oracle, home, true);
    ck_assert_uint_eq(oracle_precedes(&p.oracle, route, next), home);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        oracle_cable(&p.oracle, home, link, false);
    }
    ck_assert_uint_eq(oracle_precedes(&p.oracle, route, next), CW_SERVER_NONE);
    oracle_cable(&p.oracle, home, CW_LINK_YP, true);
    ck_assert_uint_eq(oracle_precedes(&p.oracle, route, next), home);
    oracle_runs(&p.oracle, home, 0);
    ck_assert_uint_eq(oracle_precedes(&p.oracle, route, next), CW_SERVER_NONE);
    ck_assert(!p.oracle.active[home]);
    oracle_close(&p.oracle);
}
END_TEST

/* Against the sequence itself, of every key's offset and every two servers. */
START_TEST(whom_a_delivery_passes_over)
{
    enum { KEYS = 96 };
    struct place p;
    open_place(&p, (cw_dims){3, 2, 2});
    for (uint32_t k = 0; k < KEYS; k++) {
        uint64_t route = key_first(&p.torus, (cw_server)(k % p.torus.servers)) + k;
        cw_server order[SERVERS_MAX];
        ck_assert_uint_eq(owner_sequence(&p.torus, route, p.torus.servers, order), p.torus.servers);
        for (uint32_t i = 0; i < p.torus.servers * p.torus.servers; i++) {
            uint32_t a = i / p.torus.servers, b = i % p.torus.servers;
            ck_assert_int_eq(oracle_passes_over(&p.oracle, route, order[a], order[b]), a < b);
        }
    }
    oracle_close(&p.oracle);
}
END_TEST

START_TEST(given_up_is_who_believes_in_links_that_are_none)
{
    struct place p;
    open_place(&p, (cw_dims){1, 1, 5});
    all_well(&p);
    ck_assert(!oracle_given_up(&p.oracle, 2));
    oracle_claims(&p.oracle, 1, CW_LINK_ZP, 0); /* its neighbours give it up, one after the other */
    ck_assert(!oracle_given_up(&p.oracle, 2));
    oracle_claims(&p.oracle, 3, CW_LINK_ZM, 0);
    ck_assert(oracle_given_up(&p.oracle, 2));
    ck_assert_uint_ne(oracle_component(&p.oracle, 2), oracle_component(&p.oracle, 1));
    ck_assert_uint_eq(oracle_island(&p.oracle, 2), oracle_island(&p.oracle, 1));
    oracle_claims(&p.oracle, 2, CW_LINK_ZP, 0);
    oracle_claims(&p.oracle, 2, CW_LINK_ZM, 0);
    ck_assert(!oracle_given_up(&p.oracle, 2)); /* alone, and knows it */
    oracle_close(&p.oracle);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(components_are_those_of_a_closure), SUITE_TEST(what_does_not_change_costs_nothing),
    SUITE_TEST(a_planted_misdelivery_is_found),    SUITE_TEST(who_is_not_there_precedes_nobody),
    SUITE_TEST(whom_a_delivery_passes_over),       SUITE_TEST(given_up_is_who_believes_in_links_that_are_none),
};
SUITE_MAIN("scenario/oracle", tests)
