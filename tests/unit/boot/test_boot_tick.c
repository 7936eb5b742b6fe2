/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

/* Runs on its own wakes until end; gives how many probes left port 0. */
static unsigned probes_until(struct boot *b, cw_time end)
{
    unsigned probes = 0;
    for (unsigned wakes = 0; cw_time_before(boot_next_wake(b), end); wakes++) {
        cw_time now = boot_next_wake(b);
        boot_tick(b, now);
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            struct pair_sent sent = pair_pull(b, port, now);
            probes += port == 0 && sent.probe.id != 0;
        }
        ck_assert_msg(wakes < 10000, "it wakes and has nothing to do");
    }
    return probes;
}

START_TEST(probes_fast_while_it_searches_and_slowly_at_rest)
{
    const struct boot_place place = {{3, 3, 3}, {0, 1, 2}, {0, 1, 2, 3, 4, 5}};
    struct boot *searching = pair_open(NULL, (cw_time){1}), *placed = pair_open(&place, (cw_time){1});
    unsigned fast = probes_until(searching, (cw_time){CW_SEC(20).ns}),
             slow = probes_until(placed, (cw_time){CW_SEC(20).ns});
    ck_assert(fast > 180);
    ck_assert(fast < 220);
    ck_assert(slow > 17);
    ck_assert(slow < 24);
    boot_close(searching);
    boot_close(placed);
}
END_TEST

START_TEST(a_silent_neighbour_is_gone_after_a_while)
{
    struct boot *b = pair_open(NULL, (cw_time){1});
    struct probe probe = pair_neighbour(2, 0);
    struct boot_plug plug;
    pair_probe(b, 2, &probe, (cw_time){1});
    probes_until(b, (cw_time){CW_MS(900).ns});
    boot_plug(b, 2, &plug);
    ck_assert(plug.heard);
    probes_until(b, (cw_time){CW_MS(1100).ns});
    boot_plug(b, 2, &plug);
    ck_assert(!plug.heard);
    boot_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(probes_fast_while_it_searches_and_slowly_at_rest),
    SUITE_TEST(a_silent_neighbour_is_gone_after_a_while),
};
SUITE_MAIN("boot_tick", tests)
