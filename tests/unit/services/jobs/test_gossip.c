/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

/* Signed records that only s has, as if it had been alone. */
static void give(cw_server s, cw_job first, unsigned count, uint64_t version)
{
    for (cw_job job = first; job < first + count; job++) {
        size_t size = kit_version(job, version, town_room);
        jobs_take_kept(town_jobs(s), town_room, size);
    }
}

static void link_up(cw_server s, cw_link link)
{
    const cw_event event = {.size = sizeof event, .kind = CW_EVENT_LINK_UP, .link = link};
    jobs_service.on_event(town.net->server[s], town.net->server[s]->state, &event);
}

static unsigned hellos(cw_server s, int64_t ms)
{
    unsigned n = 0;
    fake_run(town.net->server[s], CW_MS(ms));
    for (struct fake_send send; fake_take(town.net->server[s], &send);) {
        size_t length;
        struct jobs_frame frame;
        const uint8_t *bytes = cw_packet_data(send.packet, &length);
        ck_assert_int_eq(jobs_decode(bytes, length, KIT_CLUSTER, &frame), JOBS_GOOD);
        n += frame.kind == JOBS_HELLO;
        fake_free(send.packet);
    }
    return n;
}

START_TEST(equals_say_no_more_than_hello)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    give(0, 100, 5, 1);
    give(1, 100, 5, 1);
    give(2, 100, 5, 1);
    town_run(1);
    uint64_t before = town.net->crossed;
    link_up(0, 0);
    town_run(1);
    ck_assert_uint_le(town.net->crossed - before, 4);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Both sides of a link that came up have what the other lacks. */
START_TEST(a_link_that_comes_up_brings_what_is_missing)
{
    town_prepare();
    town_open((cw_dims){4, 1, 1});
    give(0, 100, 300, 2);
    give(0, 700, 1, 1);
    give(1, 250, 300, 1);
    give(1, 700, 1, 9);
    link_up(0, 0);
    town_run(500);
    for (cw_server s = 0; s < 2; s++) {
        ck_assert_uint_eq(town_jobs(s)->records.count, 451);
        ck_assert_uint_eq(town_item(s, 250)->mark.version, 2);
        ck_assert_uint_eq(town_item(s, 549)->mark.version, 1);
        ck_assert_uint_eq(town_item(s, 700)->mark.version, 9);
    }
    ck_assert_uint_eq(town_jobs(0)->records.sum.value, town_jobs(1)->records.sum.value);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_UNSIGNED) + town_count(0, JOBS_COUNT_MALFORMED), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* A flood that was lost: rounds find out. */
START_TEST(rounds_repair_what_was_lost)
{
    town_prepare();
    town_open((cw_dims){4, 2, 1});
    town.net->lose = 2;
    town_record(0, 1, kit_version(9, 5, town_room), CW_SERVER_NONE, 0);
    town_run(20);
    town.net->lose = 5;
    town_run(30000);
    for (cw_server s = 0; s < town.servers; s++) {
        ck_assert_msg(town_item(s, 9) != NULL, "%u", s);
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(at_rest_a_hello_every_two_seconds)
{
    town_prepare();
    town_open((cw_dims){4, 2, 2});
    hellos(0, 0);
    unsigned n = 0;
    for (unsigned i = 0; i < 6000; i++) {
        n += hellos(0, 10);
    }
    ck_assert_uint_ge(n, 25);
    ck_assert_uint_le(n, 36);
    town.net->server[0]->up = CW_LINKS_NONE;
    ck_assert_uint_eq(hellos(0, 60000), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* On an axis of two both links lead to one neighbour: it is told once. */
START_TEST(two_links_to_one_neighbour)
{
    town_prepare();
    town_open((cw_dims){2, 1, 1});
    town_record(0, 1, kit_version(9, 5, town_room), CW_SERVER_NONE, 0);
    fake_run(town.net->server[0], CW_US(500));
    unsigned records = 0;
    for (struct fake_send send; fake_take(town.net->server[0], &send);) {
        records += cw_packet_data(send.packet, NULL)[1] == JOBS_RECORD;
        fake_free(send.packet);
    }
    ck_assert_uint_eq(records, 0); /* the one it came from */
    town_record(0, 0, kit_version(9, 6, town_room), CW_SERVER_NONE, 0);
    fake_run(town.net->server[0], CW_US(500));
    for (struct fake_send send; fake_take(town.net->server[0], &send);) {
        records += cw_packet_data(send.packet, NULL)[1] == JOBS_RECORD;
        fake_free(send.packet);
    }
    ck_assert_uint_eq(records, 1);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(equals_say_no_more_than_hello), SUITE_TEST(a_link_that_comes_up_brings_what_is_missing),
    SUITE_TEST(rounds_repair_what_was_lost),   SUITE_TEST(at_rest_a_hello_every_two_seconds),
    SUITE_TEST(two_links_to_one_neighbour),
};
SUITE_MAIN("gossip", tests)
