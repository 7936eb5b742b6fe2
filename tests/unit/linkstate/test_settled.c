/* SPDX-License-Identifier: Apache-2.0 */
/* Eight link states that begin at rest, and go on by what they say to one another. */
#include "ls_bench.h"
#include "suite.h"

/* All of a torus of two by two by two, at rest at 100 ms. */
static void settle_all(struct ls_bench *b, struct record records[LS_BENCH_SERVERS])
{
    ls_bench_open(b, (cw_dims){2, 2, 2});
    b->now = ls_bench_ms(100);
    for (cw_server s = 0; s < LS_BENCH_SERVERS; s++) {
        struct ls_config config = ls_bench_config(b, s, 10 + s);
        ck_assert_int_eq(ls_open(&b->ls[s], &config), 0);
    }
    for (cw_server s = 0; s < LS_BENCH_SERVERS; s++) {
        uint64_t incarnation[CW_LINK_COUNT] = {0};
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            incarnation[link] = 10 + b->neighbours[s * CW_LINK_COUNT + link];
        }
        records[s] = ls_settled_record(b->ls[s], incarnation);
    }
    for (cw_server s = 0; s < LS_BENCH_SERVERS; s++) {
        struct ls_settled_link links[CW_LINK_COUNT] = {{0}};
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            const struct linkstate *far = b->ls[b->neighbours[s * CW_LINK_COUNT + link]];
            links[link] = (struct ls_settled_link){ls_link_session(far, cw_link_opposite(link)), b->now};
        }
        ls_start_settled(b->ls[s], records, links, b->now);
    }
}

START_TEST(all_serve_and_have_nothing_to_tell)
{
    struct ls_bench b;
    struct record records[LS_BENCH_SERVERS];
    settle_all(&b, records);
    cw_links cabled = torus_links(&b.torus);
    for (cw_server s = 0; s < LS_BENCH_SERVERS; s++) {
        struct linkstate *ls = b.ls[s];
        ck_assert(ls_active(ls) && ls_serving(ls, b.now));
        ck_assert_uint_eq(ls_live_links(ls), cabled);
        ck_assert_uint_eq(ls_up_links(ls), cabled);
        ck_assert_uint_eq(ls_owed_links(ls), CW_LINKS_NONE);
        ck_assert_uint_eq(ls_committed(ls)->members, LS_BENCH_SERVERS);
        ck_assert(reach_equal(ls_committed(ls), ls_optimistic(ls)));
        ck_assert_uint_eq(ls_digest(ls), ls_digest(b.ls[0]));
        ck_assert_uint_eq(ls_hops(ls, 7 - s), 3);
        ck_assert(linkstate_noted(ls) && linkstate_walk(ls));
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(hellos_keep_it_so)
{
    struct ls_bench b;
    struct record records[LS_BENCH_SERVERS];
    settle_all(&b, records);
    ls_bench_run_for(&b, CW_SEC(1));
    for (cw_server s = 0; s < LS_BENCH_SERVERS; s++) {
        ck_assert_uint_eq(ls_live_links(b.ls[s]), torus_links(&b.torus));
        ck_assert_uint_eq(linkstate_own(b.ls[s])->seq, records[s].seq);
        ck_assert_uint_eq(ls_count(b.ls[s], LS_TEARDOWNS), 0);
        ck_assert_uint_eq(ls_count(b.ls[s], LS_REPAIRS), 0);
        ck_assert_uint_eq(ls_count(b.ls[s], LS_STRAYS), 0);
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_cable_that_goes_is_told_and_comes_back)
{
    struct ls_bench b;
    struct record records[LS_BENCH_SERVERS];
    settle_all(&b, records);
    ls_bench_light(&b, 0, CW_LINK_YP, false);
    ls_bench_run_for(&b, CW_MS(20));
    ck_assert_uint_eq(ls_live_links(b.ls[0]), torus_links(&b.torus) & (cw_links)~cw_links_of(CW_LINK_YP));
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[7]));
    ls_bench_light(&b, 0, CW_LINK_YP, true);
    ls_bench_run_for(&b, CW_SEC(1));
    ck_assert_uint_eq(ls_live_links(b.ls[0]), torus_links(&b.torus));
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[7]));
    ls_bench_close(&b);
}
END_TEST

/* Whoever falls silent is missed as soon as in any other cluster. */
START_TEST(a_lease_that_is_not_renewed_ends)
{
    struct ls_bench b;
    struct record records[LS_BENCH_SERVERS];
    settle_all(&b, records);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (torus_links(&b.torus) & cw_links_of(link)) {
            ls_bench_cut(&b, 5, link, true);
        }
    }
    ls_bench_run_for(&b, cw_span_add(b.timers.dead, CW_MS(1)));
    ck_assert(!ls_serving(b.ls[5], b.now));
    ls_bench_run_for(&b, cw_span_add(b.timers.hold, b.timers.flood_bound));
    ck_assert_uint_eq(ls_committed(b.ls[0])->members, LS_BENCH_SERVERS - 1);
    ls_bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(all_serve_and_have_nothing_to_tell),
    SUITE_TEST(hellos_keep_it_so),
    SUITE_TEST(a_cable_that_goes_is_told_and_comes_back),
    SUITE_TEST(a_lease_that_is_not_renewed_ends),
};
SUITE_MAIN("linkstate/settled", tests)
