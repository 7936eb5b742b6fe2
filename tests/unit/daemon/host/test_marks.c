/* SPDX-License-Identifier: Apache-2.0 */
/* test_marks.c - servers are marked once each and in order; what links hold is released. */
#include "daemon/host/internal.h"

#include "daemon_town.h"
#include "suite.h"

START_TEST(marked_once_and_in_order)
{
    struct host h = {.count = 0};
    struct pump_server s[3];
    memset(s, 0, sizeof s);
    for (unsigned i = 0; i < 3; i++) {
        s[i].face.host = &h;
        ck_assert_ptr_eq(host_pump_server(&s[i].face), &s[i]);
    }
    host_activate(&s[1]);
    host_after(&s[2].face, cw_links_of(3));
    host_activate(&s[1]);
    host_after(&s[0].face, CW_LINKS_NONE);
    host_after(&s[2].face, cw_links_of(0));
    ck_assert_ptr_eq(h.active_first, &s[1]);
    ck_assert_ptr_eq(s[1].next_active, &s[2]);
    ck_assert_ptr_eq(s[2].next_active, &s[0]);
    ck_assert_ptr_null(s[0].next_active);
    ck_assert_ptr_eq(h.active_last, &s[0]);
    ck_assert_uint_eq(s[2].owed, (cw_links_of(3) | cw_links_of(0)));
}
END_TEST

START_TEST(held_frames_are_released)
{
    struct pkt_home_config config = {.small_bytes = 256, .large_bytes = 2048, .packets_max = 8};
    struct pkt_home *home;
    static struct pump_server s;
    struct pump_link *l = &s.pump[2];
    ck_assert_int_eq(pkt_home_open(&home, &config), 0);
    l->server = &s;
    l->link = 2;
    for (l->held_count = 0; l->held_count < 2; l->held_count++) {
        l->held[l->held_count] = pkt_take(home, 100);
        ck_assert_ptr_nonnull(l->held[l->held_count]);
    }
    s.holding = CW_LINKS_ALL;
    ck_assert_uint_eq(pkt_home_out(home), 2);
    host_drop_held(l);
    ck_assert_uint_eq(pkt_home_out(home), 0);
    ck_assert_uint_eq(l->held_count, 0);
    ck_assert_uint_eq(s.holding, CW_LINKS_ALL & ~cw_links_of(2));
    pkt_home_close(home);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(marked_once_and_in_order), SUITE_TEST(held_frames_are_released)};
SUITE_MAIN("marks", tests)
