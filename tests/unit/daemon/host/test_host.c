/* SPDX-License-Identifier: Apache-2.0 */
/* test_host.c - opening in all its ways and failures, questions, taps; a ping from one server to all through node commands. */
#include "shim/pair.h"
#include "suite.h"
#include "daemon_town.h"

#include <errno.h>

START_TEST(questions)
{
    struct host *h = town_open("torus { dims = 2x3x1; coordinate = all } mtu = 4000");
    ck_assert_uint_eq(host_count(h), 6);
    ck_assert_uint_eq(host_mtu(h), 4000);
    struct host_server *s = host_find(h, (cw_coord){1, 2, 0});
    ck_assert(s == host_server(h, 5) && s->index == 5 && s->self.y == 2);
    ck_assert_ptr_null(host_find(h, (cw_coord){2, 0, 0}));
    ck_assert_ptr_null(s->link[CW_LINK_ZP].shim);
    ck_assert_ptr_nonnull(s->link[CW_LINK_YP].shim);
    ck_assert_int_eq(host_config(h)->place, CONFIG_WHOLE);
    ck_assert_uint_gt(host_packets_bytes(h), 0);
    ck_assert(!cw_time_before(host_now(h), host_started(h)));
    ck_assert_int_eq(host_cut(s, CW_LINK_ZP, true), -ENODEV);
    host_close(h);
}
END_TEST

/* Two hosts of one server each, joined by cables inside this process, as two daemons are by real ones. */
static struct host *open_one(const char *text, struct shim *xp, struct shim *xm)
{
    struct daemon_config config = town_config(text);
    struct shim *shims[CW_LINK_COUNT] = {xp, xm};
    struct host_options options = {.config = &config, .incarnation = 1000, .shim = shims};
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_msg(host_open(&h, &options, why) == 0, "%s", why);
    return h;
}

START_TEST(two_hosts_on_given_links)
{
    struct shim *a[2], *b[2];
    ck_assert_int_eq(pair_open(a, "a", 3000, PAIR_DEPTH), 0);
    ck_assert_int_eq(pair_open(b, "b", 2000, PAIR_DEPTH), 0);
    struct host *left = open_one("torus { dims = 2x1x1; coordinate = '0,0,0' }", a[0], b[0]);
    struct host *right = open_one("torus { dims = 2x1x1; coordinate = '1,0,0' }", b[1], a[1]);
    ck_assert_uint_eq(host_mtu(left), 2000); /* of the narrower */
    cw_time end = cw_time_add(clock_now(), CW_SEC(10));
    while (!town_is_whole(left, 2) || !town_is_whole(right, 2)) {
        ck_assert(cw_time_before(clock_now(), end));
        host_turn(left, CW_NS(0));
        host_turn(right, CW_NS(0));
    }
    ck_assert_int_eq(host_fail(host_server(left, 0)), -EOPNOTSUPP);
    ck_assert_int_eq(host_cut(host_server(left, 0), CW_LINK_XP, true), -EOPNOTSUPP);
    ck_assert_ptr_eq(host_find(left, (cw_coord){0, 0, 0}), host_server(left, 0));
    ck_assert_ptr_null(host_find(left, (cw_coord){1, 0, 0}));
    host_close(left);
    host_close(right);
}
END_TEST

START_TEST(a_link_that_is_too_narrow)
{
    struct shim *ends[2];
    struct daemon_config config = town_config("torus { dims = 2x1x1; coordinate = '0,0,0' } mtu = 5000");
    ck_assert_int_eq(pair_open(ends, "thin", 1500, PAIR_DEPTH), 0);
    struct shim *shims[CW_LINK_COUNT] = {ends[0]};
    struct host_options options = {.config = &config, .incarnation = 1, .shim = shims};
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_int_eq(host_open(&h, &options, why), -EMSGSIZE);
    ck_assert_str_eq(why, "thin: its mtu is 1500, at least 5000 is needed");
    shim_close(ends[0]); /* still the caller's */
    shim_close(ends[1]);
}
END_TEST

struct tapped {
    unsigned in, out;
    bool once;
    struct host_server *s;
};

static void tap(void *context, bool out, const uint8_t *bytes, uint32_t length, cw_time now)
{
    struct tapped *t = context;
    (void)now;
    ck_assert(bytes != NULL && length > 8);
    *(out ? &t->out : &t->in) += 1;
    if (t->once) {
        ck_assert_int_eq(host_tap(t->s, CW_LINK_XP, NULL, NULL), 0);
    }
}

START_TEST(taps_see_both_ways)
{
    struct host *h = town_open("torus { dims = 3x1x1; coordinate = all }");
    struct tapped t = {.s = host_server(h, 0)};
    ck_assert_int_eq(host_tap(t.s, CW_LINK_XP, tap, &t), 0);
    ck_assert_int_eq(host_tap(t.s, CW_LINK_XP, tap, &t), -EBUSY);
    town_run(h, CW_MS(100));
    ck_assert(t.in > 3 && t.out > 3);
    unsigned before = t.in + t.out;
    t.once = true; /* a tap may end itself */
    town_run(h, CW_MS(100));
    ck_assert_uint_eq(t.in + t.out, before + 1);
    host_close(h);
}
END_TEST

struct answer {
    bool done;
    int rc;
    int64_t received, lost, miscounted;
};

static void on_row(void *context)
{
    (void)context;
}

static void on_integer(void *context, const char *name, int64_t value)
{
    struct answer *a = context;
    a->received = strcmp(name, "received") == 0 ? value : a->received;
    a->lost = strcmp(name, "lost") == 0 ? value : a->lost;
    a->miscounted = strcmp(name, "miscounted") == 0 ? value : a->miscounted;
}

static void on_text(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}

static void on_done(void *context, int rc)
{
    struct answer *a = context;
    a->done = true;
    a->rc = rc;
}

START_TEST(a_ping_to_everybody)
{
    struct host *h = town_open("torus { dims = 3x3x3; coordinate = all }");
    town_settle(h, 27);
    for (unsigned from = 0; from < 27; from++) {
        struct host_server *s = host_server(h, from);
        struct answer a = {.done = false};
        struct node_request_sink sink = {&a, on_row, on_integer, on_text, on_done};
        const char *words[] = {"all"};
        host_after(s, node_command(s->node, "ping", 1, words, &sink, host_now(h)));
        cw_time end = cw_time_add(clock_now(), CW_SEC(10));
        while (!a.done) {
            ck_assert_msg(cw_time_before(clock_now(), end), "no answer to %u", from);
            host_turn(h, CW_MS(1));
        }
        ck_assert_int_eq(a.rc, 0);
        ck_assert_int_ge(a.received, 26);
        ck_assert_int_eq(a.lost + a.miscounted, 0);
    }
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(questions),          SUITE_TEST(two_hosts_on_given_links), SUITE_TEST(a_link_that_is_too_narrow),
    SUITE_TEST(taps_see_both_ways), SUITE_TEST(a_ping_to_everybody),
};
SUITE_MAIN("host", tests)
