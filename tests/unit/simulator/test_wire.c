/* SPDX-License-Identifier: Apache-2.0 */
/* One direction of a link: exact times, order, and as many faults as were asked for. */
#include "simulator/wire.h"

#include "suite.h"

static struct wire_config at_rate(uint64_t bits_per_second)
{
    struct wire_config c = wire_config_default();
    c.bits_per_second = bits_per_second;
    return c;
}

/* Sends when there is room and not before `now`; moves now there. */
static struct wire_flight send(struct wire *w, const struct wire_config *c, uint32_t size, cw_time *now,
                               const struct wire_harm *harm, struct prng *random)
{
    *now = cw_time_max(*now, wire_room_at(w));
    return wire_send(w, c, wire_ps_per_byte(c), size, *now, harm, random);
}

START_TEST(bytes_on_the_wire)
{
    for (uint32_t size = 0; size <= 9000; size++) {
        uint32_t frame = 14 + size + 4;
        uint32_t want = (frame < 64 ? 64 : frame) + 8 + 12;
        if (wire_bytes(size) != want) {
            ck_abort_msg("%u bytes make %u on the wire, expected %u", size, wire_bytes(size), want);
        }
    }
    ck_assert_uint_eq(wire_bytes(WIRE_PAYLOAD_LEAST), 84);
    ck_assert_uint_eq(wire_bytes(WIRE_PAYLOAD_LEAST + 1), 85);
    ck_assert_uint_eq(wire_bytes(9000), 9038);
}
END_TEST

START_TEST(rates_in_picoseconds_per_byte)
{
    static const struct {
        uint64_t rate;
        uint32_t ps;
    } want[] = {{1000000000, 8000}, {10000000000, 800}, {100000000, 80000}, {100000000000, 80}, {3000000000, 2667}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct wire_config c = at_rate(want[i].rate);
        ck_assert_uint_eq(wire_ps_per_byte(&c), want[i].ps);
    }
}
END_TEST

START_TEST(an_idle_wire_takes_the_frames_time_and_the_propagation)
{
    struct wire_config c = wire_config_default();
    struct wire w = {.frames = 0};
    struct wire_flight f = wire_send(&w, &c, 8000, 1000, (cw_time){123456}, NULL, NULL);
    ck_assert_int_eq(f.arrives.ns, 123456 + 1038 * 8 + 1000);
    ck_assert_int_eq(f.again.ns, CW_NEVER.ns);
    ck_assert_int_eq(f.fate, WIRE_ARRIVES);
    ck_assert_int_eq(wire_room_at(&w).ns, 123456 + 1038 * 8);
    ck_assert_uint_eq(w.frames, 1);
    ck_assert_uint_eq(w.bytes, 1038);
    ck_assert_uint_le(sizeof w, 64);
}
END_TEST

START_TEST(the_far_host_adds_its_own_time)
{
    struct wire_config c = wire_config_default();
    c.hop_delay = CW_US(7);
    c.hop_ps_per_byte = 1500;
    struct wire w = {.frames = 0};
    struct wire_flight f = wire_send(&w, &c, 8000, 1000, (cw_time){0}, NULL, NULL);
    ck_assert_int_eq(f.arrives.ns, 1038 * 8 + 1000 + 7000 + 1018 * 1500 / 1000);
    ck_assert_int_eq(wire_room_at(&w).ns, 1038 * 8); /* which the link does not wait for */
}
END_TEST

/* Backlogged, a link sends exactly its rate, though a frame is no whole number of ns. */
START_TEST(a_backlog_loses_no_picosecond)
{
    static const uint64_t rates[] = {1000000000, 3000000000, 7000000000, 10000000000, 40000000000};
    for (unsigned ring = 1; ring <= WIRE_RING_MAX; ring *= 2) {
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
            struct wire_config c = at_rate(rates[i]);
            c.ring = (uint8_t)ring;
            struct wire w = {.frames = 0};
            struct prng random = prng_stream(i, ring, 1);
            cw_time now = {0};
            int64_t bytes = 0;
            for (int k = 0; k < 20000; k++) {
                uint32_t size = (uint32_t)prng_below(&random, 1500);
                bytes += wire_bytes(size);
                struct wire_flight f = send(&w, &c, size, &now, NULL, NULL);
                int64_t left = (bytes * wire_ps_per_byte(&c) + 999) / 1000;
                if (f.arrives.ns != left + 1000) {
                    ck_abort_msg("frame %d arrives at %lld, expected %lld", k, (long long)f.arrives.ns,
                                 (long long)left + 1000);
                }
            }
            ck_assert_uint_eq(w.bytes, (uint64_t)bytes);
        }
    }
}
END_TEST

START_TEST(the_card_keeps_as_many_frames_as_its_ring)
{
    struct wire_config c = wire_config_default();
    c.ring = 4;
    struct wire w = {.frames = 0};
    for (int i = 0; i < 4; i++) {
        ck_assert_int_le(wire_room_at(&w).ns, 0);
        (void)wire_send(&w, &c, 8000, 980, (cw_time){0}, NULL, NULL);
    }
    ck_assert_int_eq(wire_room_at(&w).ns, wire_bytes(980) * 8);
}
END_TEST

/* As a relay sends: it waits behind those before it, and there is room when it has left. */
START_TEST(a_frame_for_a_full_card_waits)
{
    struct wire w = {.room_ns = 0};
    struct wire_config c = wire_config_default();
    struct wire_flight first = wire_send(&w, &c, 8000, 1000, (cw_time){0}, NULL, NULL);
    struct wire_flight second = wire_send(&w, &c, 8000, 1000, (cw_time){10}, NULL, NULL);
    ck_assert_int_eq(second.arrives.ns, 2 * first.arrives.ns - c.propagation.ns);
    ck_assert_int_eq(wire_room_at(&w).ns, second.arrives.ns - c.propagation.ns);
}
END_TEST

static bool close_to(uint32_t count, uint32_t frames, uint32_t ppm)
{
    double mean = (double)frames * ppm / WIRE_MILLION;
    return count > mean * 0.9 && count < mean * 1.1;
}

START_TEST(faults_are_as_many_as_asked_for)
{
    enum { FRAMES = 100000 };
    struct wire_config c = wire_config_default();
    struct wire_harm harm = {.loss = 50000, .duplicate = 100000, .corrupt = 20000};
    struct wire w = {.state = WIRE_HARMED};
    struct prng random = prng_stream(1, 2, 3);
    uint32_t fates[WIRE_FATES] = {0}, again = 0;
    cw_time now = {0};
    for (int i = 0; i < FRAMES; i++) {
        struct wire_flight f = send(&w, &c, 1000, &now, &harm, &random);
        fates[f.fate]++;
        again += f.again.ns != CW_NEVER.ns;
    }
    ck_assert(close_to(fates[WIRE_LOST], FRAMES, 50000));
    ck_assert(close_to(fates[WIRE_CORRUPTED], FRAMES, 19000)); /* of those not lost */
    ck_assert(close_to(again, FRAMES, 100000));
    ck_assert_uint_eq(fates[WIRE_CUT], 0);
    ck_assert_uint_eq(w.frames, FRAMES);
}
END_TEST

START_TEST(certain_and_impossible_faults)
{
    struct wire_config c = wire_config_default();
    struct prng random = prng_stream(1, 2, 3);
    struct wire_harm all = {.loss = WIRE_MILLION}, none = {.loss = 0};
    struct wire w = {.state = WIRE_HARMED};
    cw_time now = {0};
    ck_assert(wire_harm_none(&none) && !wire_harm_none(&all));
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(send(&w, &c, 100, &now, &all, &random).fate, WIRE_LOST);
        ck_assert_int_eq(send(&w, &c, 100, &now, &none, &random).fate, WIRE_ARRIVES);
    }
    w.state = WIRE_DOWN;
    ck_assert_int_eq(send(&w, &c, 100, &now, NULL, NULL).fate, WIRE_CUT);
    ck_assert_str_eq(wire_fate_name(WIRE_CUT), "cut");
    ck_assert_str_eq(wire_fate_name(WIRE_FATES), "?");
}
END_TEST

/* Delay never lets a frame overtake, duplicates stay between, and the sender's time is not touched. */
START_TEST(delayed_and_doubled_frames_stay_in_order)
{
    struct wire_config c = wire_config_default();
    struct wire_harm harm = {.duplicate = 200000, .delayed = 300000, .delay_most = CW_US(500)};
    struct wire w = {.state = WIRE_HARMED}, sound = {.state = 0};
    struct prng random = prng_stream(1, 2, 4);
    cw_time now = {0}, last = {0}, sound_now = {0};
    int late = 0;
    for (int i = 0; i < 20000; i++) {
        struct wire_flight f = send(&w, &c, 500, &now, &harm, &random);
        struct wire_flight g = send(&sound, &c, 500, &sound_now, NULL, NULL);
        if (now.ns != sound_now.ns || f.arrives.ns < g.arrives.ns || cw_time_before(f.arrives, last)) {
            ck_abort_msg("frame %d arrives at %lld, the one before at %lld", i, (long long)f.arrives.ns,
                         (long long)last.ns);
        }
        last = f.again.ns != CW_NEVER.ns ? f.again : f.arrives;
        if (cw_time_before(last, f.arrives)) {
            ck_abort_msg("frame %d: the double comes first", i);
        }
        late += f.arrives.ns > g.arrives.ns;
    }
    ck_assert_int_gt(late, 6000);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(bytes_on_the_wire),
    SUITE_TEST(rates_in_picoseconds_per_byte),
    SUITE_TEST(an_idle_wire_takes_the_frames_time_and_the_propagation),
    SUITE_TEST(the_far_host_adds_its_own_time),
    SUITE_TEST(a_backlog_loses_no_picosecond),
    SUITE_TEST(the_card_keeps_as_many_frames_as_its_ring),
    SUITE_TEST(a_frame_for_a_full_card_waits),
    SUITE_TEST(faults_are_as_many_as_asked_for),
    SUITE_TEST(certain_and_impossible_faults),
    SUITE_TEST(delayed_and_doubled_frames_stay_in_order),
};
SUITE_MAIN("simulator/wire", tests)
