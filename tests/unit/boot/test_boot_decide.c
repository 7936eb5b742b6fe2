/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

static const struct boot_place place = {{3, 3, 3}, {1, 1, 1}, {0, 1, 2, 3, 4, 5}};

/* The test plays the six neighbours of a replaced server: each has a place, and says so in a probe and in a advert. */
static void neighbours_speak(struct boot *b, unsigned first, unsigned wrong, uint8_t extra_flags, cw_time now)
{
    static const cw_coord at[CW_LINK_COUNT] = {{2, 1, 1}, {0, 1, 1}, {1, 2, 1}, {1, 0, 1}, {1, 1, 2}, {1, 1, 0}};
    for (unsigned port = first; port < CW_LINK_COUNT; port++) {
        boot_tick(b, now);
        struct pair_sent sent = pair_pull(b, port, now);
        struct probe probe = pair_neighbour(port, sent.probe.session);
        if (sent.probe.id == 0) {
            continue;
        }
        probe.flags = PROBE_PLACED | extra_flags;
        probe.dims = place.dims;
        probe.at = at[port == wrong ? port ^ 1 : port];
        pair_probe(b, port, &probe, now);
        struct cabling advert = {
            .id = probe.id, .version = 1, .flags = CABLING_PLACED, .dims = place.dims, .at = probe.at};
        for (uint8_t i = 0; i < CW_LINK_COUNT; i++) {
            advert.port[i].label = i;
        }
        advert.port[port ^ 1].far_id = PAIR_ID;
        advert.port[port ^ 1].far_port = (uint8_t)port;
        uint8_t packet[CABLING_HEAD_BYTES + CABLING_ENTRY_BYTES];
        cabling_put(&advert, packet, 0);
        pair_put(b, port, packet, cabling_finish(probe.session, sent.probe.session, 1, packet), now);
    }
}

static struct boot *hear(unsigned first, unsigned wrong, uint8_t extra_flags)
{
    cw_time now = {1};
    struct boot *b = pair_open(NULL, now);
    for (unsigned i = 0; i < 40; i++) {
        neighbours_speak(b, first, wrong, extra_flags, now);
        now = cw_time_add(now, CW_MS(100));
        boot_tick(b, now);
    }
    return b;
}

START_TEST(a_replaced_server_takes_the_place_of_the_dead)
{
    struct boot *b = hear(0, 9, 0);
    ck_assert_int_eq(boot_state(b), BOOT_AGREED);
    ck_assert_mem_eq(boot_place(b), &place, sizeof place);
    ck_assert_uint_ne(boot_stored(b, (cw_time){CW_SEC(5).ns}), 0);
    boot_close(b);
}
END_TEST

START_TEST(two_neighbours_in_each_others_place)
{
    struct boot *b = hear(0, 4, 0);
    ck_assert_int_eq(boot_state(b), BOOT_REFUSED);
    ck_assert(boot_place(b) == NULL);
    ck_assert_uint_gt(boot_fault_count(b), 0);
    boot_close(b);
}
END_TEST

START_TEST(a_place_that_is_held_is_not_taken)
{
    struct boot *b = hear(0, 9, PROBE_TAKEN);
    ck_assert_int_eq(boot_state(b), BOOT_REFUSED);
    ck_assert_uint_eq(boot_fault(b, 0)->kind, BOOT_FAULT_TAKEN);
    ck_assert_uint_eq(boot_fault(b, 0)->expected.at.x, 1);
    boot_close(b);
}
END_TEST

START_TEST(half_of_the_neighbours_are_not_enough)
{
    struct boot *b = hear(3, 9, 0);
    ck_assert_int_ne(boot_state(b), BOOT_AGREED);
    boot_close(b);
    b = hear(2, 9, 0);
    ck_assert_int_eq(boot_state(b), BOOT_AGREED);
    boot_close(b);
}
END_TEST

/* Nobody is heard at all: it says so, and takes no torus of one for granted. */
START_TEST(a_lone_server_waits)
{
    struct boot *b = hear(6, 9, 0);
    ck_assert_int_eq(boot_state(b), BOOT_REFUSED);
    ck_assert_uint_eq(boot_fault_count(b), 6);
    ck_assert_uint_eq(boot_fault(b, 0)->kind, BOOT_FAULT_SILENT);
    boot_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_replaced_server_takes_the_place_of_the_dead),
    SUITE_TEST(two_neighbours_in_each_others_place),
    SUITE_TEST(a_place_that_is_held_is_not_taken),
    SUITE_TEST(half_of_the_neighbours_are_not_enough),
    SUITE_TEST(a_lone_server_waits),
};
SUITE_MAIN("boot_decide", tests)
