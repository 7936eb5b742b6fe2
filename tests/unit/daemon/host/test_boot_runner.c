/* SPDX-License-Identifier: Apache-2.0 */
/* test_boot_runner.c - three servers on a ring find out that they are one, keep their places, and turn their ports. */
#include "daemon_town.h"
#include "suite.h"

#include "boot/boot.h"
#include "shim/pair.h"

#include <errno.h>

enum { SERVERS = 3 };

struct found {
    unsigned times;
    struct boot_place place;
    int rc;
};

static int keep(void *context, const struct boot_place *place)
{
    struct found *f = context;
    f->times++;
    f->place = *place;
    return f->rc;
}

/* Ports a and b of a server with that id are cabled; no other is there. */
static struct host *open_unplaced(const char *text, uint64_t id, struct found *found, struct shim *shims[CW_LINK_COUNT],
                                  const struct boot_place *place)
{
    struct daemon_config config = town_config(text);
    struct host_options options = {
        .config = &config,
        .incarnation = 1000,
        .id = id,
        .place = place,
        .shim = shims,
        .placed = keep,
        .placed_context = found,
    };
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_msg(host_open(&h, &options, why) == 0, "%s", why);
    ck_assert_msg(host_load_configured(h, why) == 0, "%s", why);
    return h;
}

static bool all_whole(struct host *const h[SERVERS])
{
    for (unsigned i = 0; i < SERVERS; i++) {
        if (host_server(h[i], 0)->node == NULL || !town_is_whole(h[i], SERVERS)) {
            return false;
        }
    }
    return true;
}

static void settle(struct host *const h[SERVERS])
{
    cw_time end = cw_time_add(clock_now(), CW_SEC(30));
    while (!all_whole(h)) {
        ck_assert_msg(cw_time_before(clock_now(), end), "no torus after 30 s");
        for (unsigned i = 0; i < SERVERS; i++) {
            host_turn(h[i], CW_US(200));
        }
    }
}

/* Port up[i] of server i leads to port down[i + 1] of the next. */
static void try_ring(const char *text, const cw_link up[SERVERS], const cw_link down[SERVERS])
{
    struct shim *shims[SERVERS][CW_LINK_COUNT] = {{NULL}};
    struct host *h[SERVERS];
    struct found found[SERVERS] = {{0}};
    for (unsigned i = 0; i < SERVERS; i++) {
        struct shim *cable[2];
        unsigned next = (i + 1) % SERVERS;
        ck_assert_int_eq(pair_open(cable, "cable", 1500, PAIR_DEPTH), 0);
        shims[i][up[i]] = cable[0];
        shims[next][down[next]] = cable[1];
    }
    for (unsigned i = 0; i < SERVERS; i++) {
        h[i] = open_unplaced(text, 100 + i, &found[i], shims[i], NULL);
        ck_assert_ptr_null(host_server(h[i], 0)->node);
        ck_assert_ptr_nonnull(host_boot(h[i]));
    }
    settle(h);
    for (unsigned i = 0; i < SERVERS; i++) {
        ck_assert_uint_eq(found[i].times, 1);
        ck_assert_uint_eq(found[i].place.dims.x * found[i].place.dims.y * found[i].place.dims.z, SERVERS);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            struct shim *shim = host_server(h[i], 0)->link[link].shim;
            ck_assert_ptr_eq(shim, shims[i][host_port(h[i], link)]);
            ck_assert(shim == NULL || found[i].place.direction[host_port(h[i], link)] == link);
        }
    }
    for (unsigned i = 0; i < SERVERS; i++) {
        host_close(h[i]);
    }
}

START_TEST(a_labelled_ring)
{
    static const cw_link up[SERVERS] = {0, 0, 0}, down[SERVERS] = {1, 1, 1};
    try_ring("torus { coordinate = auto }", up, down);
}
END_TEST

START_TEST(an_unlabelled_ring)
{
    static const cw_link up[SERVERS] = {0, 5, 2}, down[SERVERS] = {3, 1, 4};
    struct daemon_config config =
        town_config("torus { coordinate = auto } links { port0 { shim = raw; interface = a } }");
    ck_assert(!config.labelled);
    try_ring("torus { coordinate = auto } links { port0 { shim = raw; interface = a } }", up, down);
}
END_TEST

/* A stored place is where the server is at once, its ports turned. */
START_TEST(a_stored_place)
{
    struct boot_place place = {
        .dims = {3, 1, 1},
        .self = {2, 0, 0},
        .direction = {BOOT_ABSENT, CW_LINK_XM, BOOT_ABSENT, BOOT_ABSENT, CW_LINK_XP, BOOT_ABSENT}};
    struct shim *cable[2];
    struct found found = {0};
    ck_assert_int_eq(pair_open(cable, "cable", 1500, PAIR_DEPTH), 0);
    struct shim *shims[CW_LINK_COUNT] = {[4] = cable[0]};
    struct host *h = open_unplaced("torus { coordinate = auto } links { port4 { shim = raw; interface = a } }", 7,
                                   &found, shims, &place);
    ck_assert_ptr_nonnull(host_server(h, 0)->node);
    ck_assert_uint_eq(host_server(h, 0)->self.x, 2);
    ck_assert_ptr_eq(host_server(h, 0)->link[CW_LINK_XP].shim, cable[0]);
    ck_assert_uint_eq(host_port(h, CW_LINK_XP), 4);
    ck_assert_uint_eq(found.times, 0);
    town_run(h, CW_MS(20));
    host_close(h);
    shim_close(cable[1]);
}
END_TEST

START_TEST(no_way_to_find_a_place)
{
    struct daemon_config config = town_config("torus { coordinate = auto }");
    struct shim *shims[CW_LINK_COUNT] = {NULL};
    struct host_options options = {.config = &config, .incarnation = 1, .shim = shims};
    struct host *h;
    char why[HOST_WHY];
    ck_assert_int_eq(host_open(&h, &options, why), -EINVAL);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_labelled_ring),
    SUITE_TEST(an_unlabelled_ring),
    SUITE_TEST(a_stored_place),
    SUITE_TEST(no_way_to_find_a_place),
};
SUITE_MAIN("boot_runner", tests)
