/* SPDX-License-Identifier: Apache-2.0 */
/* test_questions.c - what can be known of a host, and taps on its links. */
#include "daemon_town.h"
#include "suite.h"

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

static void run_until(struct host *h, const char *state)
{
    for (unsigned i = 0; i < 20000 && strcmp(host_state_of(host_server(h, 0), 1), state) != 0; i++) {
        host_turn(h, CW_MS(1));
    }
    ck_assert_str_eq(host_state_of(host_server(h, 0), 1), state);
}

START_TEST(what_has_become_of_a_server)
{
    struct host *h = town_open("torus { dims = 3x1x1; coordinate = all }");
    struct host_server *here = host_server(h, 0), *other = host_server(h, 1);
    town_settle(h, 3);
    ck_assert_str_eq(host_state_of(here, 1), "up");
    ck_assert_int_eq(host_fail(other), 0);
    run_until(h, "down");
    ck_assert_uint_eq(host_left_us(here, 1), 0);
    ck_assert_int_eq(host_restore(other), 0);
    town_settle(h, 3);
    node_leave(other->node, host_now(h));
    host_after(other, CW_LINKS_ALL);
    run_until(h, "leaving");
    for (unsigned i = 0; i < 20000 && !node_left(other->node, host_now(h)); i++) {
        host_turn(h, CW_MS(1));
    }
    ck_assert_int_eq(host_fail(other), 0);
    run_until(h, "left");
    ck_assert_uint_ne(host_left_us(here, 1), 0);
    ck_assert_int_eq(host_restore(other), 0);
    town_settle(h, 3);
    ck_assert_str_eq(host_state_of(here, 1), "up");
    ck_assert_uint_eq(host_left_us(here, 1), 0);
    char text[TORUS_TEXT];
    ck_assert_str_eq(host_events_of(h, text), "all");
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(questions),
    SUITE_TEST(taps_see_both_ways),
    SUITE_TEST(what_has_become_of_a_server),
};
SUITE_MAIN("questions", tests)
