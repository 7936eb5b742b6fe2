/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/longer.h"

#include "fake_host.h"
#include "keyspace/torus.h"
#include "suite.h"

#include <string.h>

enum { SERVERS_MOST = 216 };

static const cw_service nothing = {CW_SERVICE_INIT, .name = "nothing", .version = "1", .job = 1300};
static struct torus torus;
static cw_svc *host;
static struct longer *longer;
/* Which links were taken, of all paths to one server: [server][link]. */
static uint8_t taken[SERVERS_MOST][CW_LINK_COUNT];

static void open_at(cw_dims dims, cw_coord self)
{
    int rc;
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    host = fake_open_with(&nothing, dims, self, NULL, &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(longer_open(&longer, host), 0);
}

static void close_all(void)
{
    longer_close(longer);
    fake_close(host);
}

static cw_server self_id(void)
{
    return torus_id(&torus, cw_self(host));
}

/* Takes the links of the one shortest path between two servers; of an axis of length 2 the first cable that is free. */
static unsigned take_leg(cw_server from, cw_server to, cw_links only)
{
    unsigned hops = 0;
    for (; from != to; hops++) {
        cw_links links = torus_minimal_links(&torus, from, to) & (hops == 0 ? only : CW_LINKS_ALL);
        cw_link link = 0;
        while (!(links >> link & 1) || (taken[from][link] && (links >> (link + 1)) != 0)) {
            link++;
        }
        bool two_cables = torus.dim[link / 2] == 2;
        SUITE_HOLDS((links & (links - 1)) == 0 || two_cables, "between %u and %u there is a choice", from, to);
        SUITE_HOLDS(!taken[from][link] || two_cables, "link %u of server %u is taken twice", link, from);
        taken[from][link] = 1;
        from = torus_neighbour(&torus, from, link);
    }
    return hops;
}

static void take_shortest(cw_server from, cw_server to)
{
    for (cw_server s = 0; s < torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            cw_server next = torus_neighbour(&torus, s, link);
            taken[s][link] = next != s && torus_distance(&torus, from, s) + 1 + torus_distance(&torus, next, to) ==
                                              torus_distance(&torus, from, to);
        }
    }
}

/* Gives the links that have a longer path; *more: how many hops the longest one has more than a shortest path. */
static cw_links try_to(cw_server to, unsigned *more)
{
    cw_links links = CW_LINKS_NONE;
    *more = 0;
    take_shortest(self_id(), to);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct longer_way way;
        if (!longer_way(longer, host, to, link, &way)) {
            continue;
        }
        SUITE_HOLDS(way.waypoints <= LONGER_WAYPOINTS && longer_bytes(&way) <= LONGER_BYTES);
        cw_server at = self_id();
        unsigned hops = 0;
        for (unsigned i = 0; i < way.waypoints; i++) {
            cw_server next = torus_id(&torus, way.waypoint[i]);
            hops += take_leg(at, next, at == self_id() ? cw_links_of(link) : CW_LINKS_ALL);
            at = next;
        }
        hops += take_leg(at, to, CW_LINKS_ALL);
        unsigned longer_by = hops - torus_distance(&torus, self_id(), to);
        *more = longer_by > *more ? longer_by : *more;
        links |= cw_links_of(link);
    }
    ck_assert_uint_eq(longer_links(longer, host, to), links);
    return links;
}

START_TEST(paths_share_no_link)
{
    static const cw_dims all[] = {{3, 3, 3}, {4, 4, 4}, {5, 4, 3}, {6, 6, 6},
                                  {2, 2, 2}, {3, 1, 1}, {4, 4, 1}, {5, 2, 1}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        unsigned more, found = 0;
        open_at(all[i], (cw_coord){(uint8_t)(all[i].x - 1), 0, (uint8_t)(all[i].z / 2)});
        for (cw_server to = 0; to < torus.servers; to++) {
            cw_links links = try_to(to, &more), shortest = torus_minimal_links(&torus, self_id(), to);
            SUITE_HOLDS((links & shortest) == 0);
            found += links != CW_LINKS_NONE;
            if (i == 0 && to != self_id()) {
                SUITE_HOLDS((links | shortest) == CW_LINKS_ALL && more <= 2);
            }
        }
        ck_assert_uint_gt(found, 0);
        ck_assert_uint_eq(longer_links(longer, host, self_id()), CW_LINKS_NONE);
        ck_assert_uint_eq(longer_links(longer, host, torus.servers), CW_LINKS_NONE);
        close_all();
    }
}
END_TEST

/* To a neighbour in 3x3x3, by the link that leads away: the way goes round by one server. */
START_TEST(goes_round_nobody_who_is_gone)
{
    struct longer_way way;
    open_at((cw_dims){3, 3, 3}, (cw_coord){0, 0, 0});
    const cw_server to = torus_id(&torus, (cw_coord){1, 0, 0}), behind = torus_id(&torus, (cw_coord){2, 0, 0});
    ck_assert(longer_way(longer, host, to, CW_LINK_XM, &way));
    ck_assert_uint_eq(way.waypoints, 1);
    ck_assert_uint_eq(torus_id(&torus, way.waypoint[0]), behind);
    ck_assert(!longer_way(longer, host, to, CW_LINK_XP, &way)); /* that is the shortest one */
    host->down[behind] = true;
    ck_assert(!longer_way(longer, host, to, CW_LINK_XM, &way));
    host->down[behind] = false;
    host->down[to] = true;
    ck_assert_uint_eq(longer_links(longer, host, to), CW_LINKS_NONE);
    close_all();
}
END_TEST

START_TEST(what_waypoints_take)
{
    ck_assert_uint_eq(longer_bytes(&(struct longer_way){.waypoints = 0}), 0);
    ck_assert_uint_eq(longer_bytes(&(struct longer_way){.waypoints = 1}), 8);
    ck_assert_uint_eq(longer_bytes(&(struct longer_way){.waypoints = LONGER_WAYPOINTS}), LONGER_BYTES);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(paths_share_no_link),
    SUITE_TEST(goes_round_nobody_who_is_gone),
    SUITE_TEST(what_waypoints_take),
};
SUITE_MAIN("longer", tests)
