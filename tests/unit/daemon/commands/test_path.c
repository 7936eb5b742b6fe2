/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/commands/path.h"

#include "daemon_operator.h"
#include "suite.h"

#include <errno.h>

struct walk {
    const struct torus *t;
    cw_server at[64];
    unsigned count;
    cw_link out;
};

static void note(void *context, const struct path_step *step)
{
    struct walk *w = context;
    if (w->count > 0) {
        ck_assert_uint_eq(step->server, torus_neighbour(w->t, w->at[w->count - 1], w->out));
    }
    ck_assert(step->out == CW_LINK_SELF || (step->choices & cw_links_of(step->out)));
    w->at[w->count++] = step->server;
    w->out = step->out;
}

/* In a whole torus every path is as long as the distance; around dead servers none passes through them. */
START_TEST(shortest_and_around)
{
    struct operator d;
    operator_open(&d, "torus { dims = 4x3x2; coordinate = all }");
    town_settle(d.host, 24);
    const struct torus *t = host_torus(d.host);
    const struct linkstate *ls = node_linkstate(host_server(d.host, 0)->node);
    const struct reach *all = ls_committed(ls);
    for (cw_server from = 0; from < t->servers; from++) {
        for (cw_server to = 0; to < t->servers; to++) {
            struct walk w = {.t = t};
            ck_assert_int_eq(path_walk(ls, t, all, from, to, note, &w), (int)torus_distance(t, from, to));
            ck_assert_uint_eq(w.count, torus_distance(t, from, to) + 1);
            ck_assert_uint_eq(w.at[w.count - 1], to);
        }
    }
    uint64_t memory[1];
    struct reach some;
    reach_init(&some, t->servers, memory);
    reach_copy(&some, all);
    cw_server dead = torus_neighbour(t, 0, CW_LINK_YP);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (link != CW_LINK_XP) {
            reach_remove(&some, torus_neighbour(t, 0, link)); /* one way out is left */
        }
    }
    struct walk w = {.t = t};
    cw_server to = torus_neighbour(t, dead, CW_LINK_XM);
    int length = path_walk(ls, t, &some, 0, to, note, &w);
    ck_assert_int_ge(length, (int)torus_distance(t, 0, to));
    ck_assert_uint_eq(w.at[1], torus_neighbour(t, 0, CW_LINK_XP));
    reach_remove(&some, torus_neighbour(t, 0, CW_LINK_XP));
    w.count = 0;
    ck_assert_int_eq(path_walk(ls, t, &some, 0, to, note, &w), -ENETUNREACH);
    ck_assert_uint_eq(w.count, 0);
    operator_close(&d);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(shortest_and_around)};
SUITE_MAIN("path", tests)
