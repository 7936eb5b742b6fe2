/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/tunnel.h"

#include "services/tunnel/packet/limits.h"
#include "suite.h"
#include "tunnel_town.h"

#include <errno.h>
#include <string.h>

static struct fake_result r;

START_TEST(place)
{
    struct tunnel_place p;
    char text[ADDRESS_TEXT_BYTES];
    town_open(NULL);
    town_api()->place(town[2].s, &p);
    ck_assert_str_eq(address_text(&p.own4, text), "10.64.2.1");
    ck_assert_uint_eq(p.own6.b[0], 0xfd);
    ck_assert_uint_eq(p.own6.b[7], 2);
    ck_assert_uint_eq(p.length4, 12);
    ck_assert_uint_eq(p.mtu, FAKE_MTU - TUNNEL_HEAD_BYTES);
    town_close();
}
END_TEST

START_TEST(options)
{
    static const char *const good[] = {"subnet=172.16.0.0/16",
                                       "subnet6=fd12:3456:789a::/48",
                                       "mtu=1500",
                                       "device=cw7",
                                       "cluster=7",
                                       "force=yes",
                                       NULL};
    struct tunnel_place p;
    char text[ADDRESS_TEXT_BYTES];
    town_open(good);
    town_api()->place(town[1].s, &p);
    ck_assert_str_eq(address_text(&p.own4, text), "172.16.1.1");
    ck_assert_str_eq(address_text(&p.own6, text), "fd12:3456:789a:1::1");
    ck_assert_uint_eq(p.mtu, 1500);
    town_close();
    static const char *const bad[][2] = {
        {"mtu=1279", NULL},
        {"mtu=8945", NULL},
        {"mtu=1500x", NULL},
        {"mtu=", NULL},
        {"subnet=10.64.0.0", NULL},
        {"subnet6=::/48", NULL},
        {"nonsense=1", NULL},
        {"force=perhaps", NULL},
        {"cluster=-1", NULL},
        {"cluster=7x", NULL},
        {"cluster=4294967296", NULL},
        {"spread=all", NULL},
        {"multicast=some", NULL},
        {"spread=disjointed", NULL},
        {"spread=disjoint ", NULL},
        {"spread=", NULL},
        {"spread=disjoint 70000", NULL},
        {"spread=disjoint http", NULL},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rc = 0;
        cw_svc *s = fake_open_with(&tunnel_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0}, bad[i], &rc);
        SUITE_HOLDS(s == NULL && rc == -EINVAL, "%s", bad[i][0]);
    }
}
END_TEST

/* Without a door nothing is kept: packets in either direction are dropped, and closing finds nothing. */
START_TEST(without_a_door)
{
    struct rng rng = {3};
    struct ip_kit_packet *p = malloc(sizeof *p);
    struct town_piece piece;
    town_open(NULL);
    ip_kit_draw(&rng, &(struct ip_kit_wish){.version = 4, .payload_most = 5000, .from = 0, .to = 1}, p);
    town_read(0, p);
    ck_assert(town_pull(0, &piece));
    ck_assert_int_eq(town_api()->attach(town[1].s, NULL), 0);
    town_bring(0, 1, &piece, false);
    ck_assert_uint_eq(town_count(1, "pieces_came"), 0);
    town_read(0, p);
    ck_assert_int_eq(town_api()->attach(town[0].s, NULL), 0); /* with packets that wait */
    ck_assert(!town_pull(0, &piece));
    town_read(0, p);
    ck_assert(!town_pull(0, &piece));
    ck_assert_int_eq(town_api()->attach(town[0].s, &town[0].door), 0);
    town_read(0, p);
    ck_assert(town_pull(0, &piece));
    fake_command(town[1].s, "status", &r);
    ck_assert_str_eq(fake_text(&r, 0, "door"), "none");
    town_close();
    free(p);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(place), SUITE_TEST(options), SUITE_TEST(without_a_door)};
SUITE_MAIN("tunnel", tests)
