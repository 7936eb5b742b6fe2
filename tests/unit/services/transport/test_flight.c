/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/flight.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct flight f;
static unsigned told, lost;
static uint32_t last_index;

static void note(void *context, const struct flight_packet *p, bool was_lost)
{
    (void)context;
    told++;
    lost += was_lost;
    last_index = p->index;
}

static void setup(uint32_t first, unsigned packets)
{
    memset(&f, 0, sizeof f);
    flight_restart(&f, first);
    told = 0;
    lost = 0;
    for (unsigned i = 0; i < packets; i++) {
        ck_assert_int_eq(flight_reserve(&f), 0);
        ck_assert_uint_eq(flight_add(&f, (cw_time){(int64_t)i * 10}, 1, i, 100), first + i);
    }
}

START_TEST(packets_come)
{
    struct flight_packet sent = {.sent = CW_NEVER};
    setup(UINT32_MAX - 2, 6);
    ck_assert_uint_eq(f.out, 6);
    ck_assert_uint_eq(f.out_bytes, 600);
    ck_assert(!flight_ack(&f, 3, NULL, 0, note, NULL, &sent)); /* was never sent */
    uint64_t word = 1;                                         /* the one before */
    ck_assert(flight_ack(&f, 0, &word, 1, note, NULL, &sent));
    ck_assert_uint_eq(told, 2);
    ck_assert_int_eq(sent.sent.ns, 30);
    ck_assert_uint_eq(f.out, 4);
    sent.sent = CW_NEVER;
    ck_assert(flight_ack(&f, 0, &word, 1, note, NULL, &sent));
    ck_assert_uint_eq(told, 2);
    ck_assert_int_eq(sent.sent.ns, CW_NEVER.ns);
    flight_close(&f);
}
END_TEST

START_TEST(time_says_what_is_lost)
{
    setup(1, 5); /* left at 0, 10, 20, 30, 40 */
    ck_assert_int_eq(flight_detect(&f, CW_NS(5), (cw_time){1000}, note, NULL).ns, CW_NEVER.ns); /* nothing has come */
    ck_assert(flight_ack(&f, 3, NULL, 0, note, NULL, NULL));
    ck_assert_int_eq(flight_detect(&f, CW_NS(100), (cw_time){105}, note, NULL).ns, 110); /* 1 is, 2 not yet */
    ck_assert_uint_eq(lost, 1);
    ck_assert_uint_eq(last_index, 0);
    ck_assert_int_eq(flight_detect(&f, CW_NS(100), (cw_time){110}, note, NULL).ns, CW_NEVER.ns);
    ck_assert_uint_eq(lost, 2);
    ck_assert_uint_eq(f.out, 2); /* those behind 3 may be on their way */
    uint64_t word = 1;
    ck_assert(flight_ack(&f, 3, &word, 1, note, NULL, NULL)); /* 2 comes after all */
    ck_assert_uint_eq(lost, 3);
    flight_lose_all(&f, note, NULL);
    ck_assert_uint_eq(f.out, 0);
    ck_assert_uint_eq(f.out_bytes, 0);
    ck_assert_uint_eq(lost, 5);
    flight_close(&f);
}
END_TEST

/* Words that name what was never sent, or is forgotten, say nothing of it. */
START_TEST(words_reach_as_far_as_packets_do)
{
    static const uint64_t all[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (unsigned reach = 0; reach < 200; reach += 7) {
        setup(UINT32_MAX - 50, 220);
        ck_assert(flight_ack(&f, UINT32_MAX - 50 + reach, all, 4, note, NULL, NULL));
        ck_assert_uint_eq(told, reach + 1);
        ck_assert_uint_eq(f.out, 220 - reach - 1);
        ck_assert_uint_eq(f.first, UINT32_MAX - 50 + reach + 1);
        ck_assert(flight_ack(&f, UINT32_MAX - 50 + reach, all, 4, note, NULL, NULL)); /* doubled */
        ck_assert(flight_ack(&f, UINT32_MAX - 60, all, 4, note, NULL, NULL));         /* of another time */
        ck_assert_uint_eq(told, reach + 1);
        flight_close(&f);
    }
}
END_TEST

START_TEST(room)
{
    setup(1, FLIGHT_MOST);
    ck_assert_int_eq(flight_reserve(&f), -EAGAIN);
    ck_assert(flight_ack(&f, 1, NULL, 0, note, NULL, NULL));
    ck_assert_int_eq(flight_reserve(&f), 0);
    flight_rest(&f); /* some are out */
    ck_assert_uint_eq(f.capacity, FLIGHT_MOST);
    flight_lose_all(&f, note, NULL);
    uint32_t next = f.next;
    flight_rest(&f);
    ck_assert_uint_eq(f.capacity, 0);
    ck_assert_int_eq(flight_reserve(&f), 0);
    ck_assert_uint_eq(flight_add(&f, (cw_time){0}, 1, 0, 1), next);
    flight_close(&f);
}
END_TEST

/* Lost ones are remembered as long as an acknowledgement may name them, and no longer. */
START_TEST(old_losses_are_forgotten)
{
    setup(1, 20);
    flight_lose_all(&f, note, NULL);
    for (unsigned i = 0; i < 1000; i++) {
        ck_assert_int_eq(flight_reserve(&f), 0);
        uint32_t packet = flight_add(&f, (cw_time){1000 + (int64_t)i}, 2, i, 100);
        ck_assert(flight_ack(&f, packet, NULL, 0, note, NULL, NULL));
    }
    ck_assert_uint_le(f.next - f.first, 256);
    ck_assert_uint_le(f.capacity, 512);
    flight_close(&f);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(packets_come), SUITE_TEST(time_says_what_is_lost),   SUITE_TEST(words_reach_as_far_as_packets_do),
    SUITE_TEST(room),         SUITE_TEST(old_losses_are_forgotten),
};
SUITE_MAIN("services.transport.flight", tests)
