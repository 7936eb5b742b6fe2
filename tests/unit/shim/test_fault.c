/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/fault.h"

#include "conformance.h"
#include "shim/pair.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum { MTU = 2000, FRAMES = 20000 };

static const struct fault_options none;
static const struct fault_options delayed = {.delay = {300000}};
static const struct fault_options paced = {.bits_per_second = UINT64_C(2000000000)};

static void wrap(struct cable *c, const struct fault_options *options, uint32_t mtu)
{
    struct shim *inside[2];
    char why[SHIM_WHY_BYTES];
    ck_assert_int_eq(pair_open(inside, "memory", mtu, PAIR_DEPTH), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fault_open(&c->end[i], inside[i], options, 0, NULL, why), 0);
    }
    c->more = inside[0];
}

static void open_plain(struct cable *c, uint32_t mtu)
{
    wrap(c, &none, mtu);
}

static void open_delayed(struct cable *c, uint32_t mtu)
{
    wrap(c, &delayed, mtu);
}

static void open_paced(struct cable *c, uint32_t mtu)
{
    wrap(c, &paced, mtu);
}

static void cut(struct cable *c, bool is_cut)
{
    pair_cut(c->more, is_cut);
}

static const struct conformance_kind plain_kind = {
    .name = "pair", .mtu = 9000, .open = open_plain, .cut = cut, .shortest = 1};
static const struct conformance_kind delayed_kind = {
    .name = "pair", .mtu = 9000, .open = open_delayed, .cut = cut, .shortest = 1};
static const struct conformance_kind paced_kind = {
    .name = "pair", .mtu = 9000, .open = open_paced, .cut = cut, .shortest = 1};

/* A cable whose end 0 has faults, at times that the test gives. */
struct bench {
    struct shim *in, *out;
    cw_time now;
};

static cw_time now_of(void *context)
{
    return ((const struct bench *)context)->now;
}

static void bench_open(struct bench *b, const struct fault_options *options, uint32_t queue)
{
    struct shim *inside[2];
    char why[SHIM_WHY_BYTES];
    b->now = (cw_time){1000000};
    ck_assert_int_eq(pair_open(inside, "memory", MTU, 64), 0);
    ck_assert_int_eq(fault_open(&b->in, inside[0], options, queue, &(struct fault_clock){now_of, b}, why), 0);
    b->out = inside[1];
}

static void bench_close(struct bench *b)
{
    shim_close(b->in);
    shim_close(b->out);
}

static int send_number(struct bench *b, uint32_t number, uint32_t length)
{
    uint8_t memory[SHIM_HEADROOM + MTU];
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = length};
    frame_fill(frame.bytes, 0, length);
    memcpy(frame.bytes, &number, sizeof number);
    return shim_send(b->in, &frame, 1);
}

/* The next frame that has come; false: none. */
static bool next_number(struct bench *b, uint32_t *number, struct shim_frame *frame)
{
    static uint8_t memory[SHIM_HEADROOM + MTU];
    *frame = (struct shim_frame){.bytes = memory + SHIM_HEADROOM, .room = MTU};
    (void)shim_room(b->in); /* what is due goes */
    if (shim_receive(b->out, frame, 1) != 1) {
        return false;
    }
    memcpy(number, frame->bytes, sizeof *number);
    return true;
}

/* How often each number came, and in what order, as one digest. */
static uint64_t run(const struct fault_options *options, struct fault_counters *counters, uint32_t times[FRAMES])
{
    struct bench b;
    uint64_t digest = 0;
    uint32_t number;
    struct shim_frame frame;
    bench_open(&b, options, 0);
    memset(times, 0, FRAMES * sizeof *times);
    for (uint32_t i = 0; i < FRAMES + 1000; i++) {
        if (i < FRAMES) {
            ck_assert_int_eq(send_number(&b, i, 100), 1);
        }
        b.now.ns += 10000;
        while (next_number(&b, &number, &frame)) {
            if (options->corrupt == 0) {
                ck_assert_uint_lt(number, FRAMES);
                times[number]++;
            }
            for (uint32_t j = 0; j < frame.length; j++) {
                digest = digest * 1099511628211u + frame.bytes[j];
            }
        }
    }
    fault_counters(b.in, counters);
    ck_assert_int_eq(fault_due(b.in).ns, CW_NEVER.ns);
    bench_close(&b);
    return digest;
}

START_TEST(loss_is_as_often_as_ordered)
{
    static uint32_t times[FRAMES];
    struct fault_counters counters;
    run(&(struct fault_options){.loss = 100000, .seed = 1}, &counters, times);
    uint32_t lost = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        ck_assert_uint_le(times[i], 1);
        lost += times[i] == 0;
    }
    ck_assert_uint_eq(lost, counters.lost);
    ck_assert_uint_gt(lost, FRAMES / 10 - 200); /* 4.7 standard deviations */
    ck_assert_uint_lt(lost, FRAMES / 10 + 200);
    run(&(struct fault_options){.loss = FAULT_ONE, .seed = 1}, &counters, times);
    ck_assert_uint_eq(counters.lost, FRAMES);
}
END_TEST

START_TEST(duplicates_are_as_often_as_ordered)
{
    static uint32_t times[FRAMES];
    struct fault_counters counters;
    run(&(struct fault_options){.duplicate = 100000, .seed = 1}, &counters, times);
    uint32_t twice = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        ck_assert(times[i] == 1 || times[i] == 2);
        twice += times[i] == 2;
    }
    ck_assert_uint_eq(twice, counters.duplicated);
    ck_assert_uint_gt(twice, FRAMES / 10 - 200);
    ck_assert_uint_lt(twice, FRAMES / 10 + 200);
}
END_TEST

START_TEST(the_same_seed_is_the_same_fate)
{
    static uint32_t times[FRAMES];
    static uint32_t again[FRAMES];
    struct fault_counters counters;
    struct fault_options o = {.loss = 50000,
                              .duplicate = 50000,
                              .reorder = 50000,
                              .corrupt = 50000,
                              .delay = CW_MS(1),
                              .jitter = CW_US(500),
                              .seed = 7};
    uint64_t digest = run(&o, &counters, times);
    ck_assert_uint_eq(run(&o, &counters, times), digest);
    o.seed = 8;
    ck_assert_uint_ne(run(&o, &counters, times), digest);
    /* Other faults do not change which frames are lost. */
    run(&(struct fault_options){.loss = 50000, .seed = 9}, &counters, times);
    run(&(struct fault_options){.loss = 50000, .duplicate = 300000, .reorder = 1000, .delay = CW_US(50), .seed = 9},
        &counters, again);
    for (uint32_t i = 0; i < FRAMES; i++) {
        ck_assert_uint_eq(times[i] > 0, again[i] > 0);
    }
}
END_TEST

START_TEST(corruption_turns_one_bit)
{
    struct bench b;
    uint32_t number;
    struct shim_frame frame;
    uint8_t want[100];
    uint32_t zero = 0;
    frame_fill(want, 0, sizeof want);
    memcpy(want, &zero, sizeof zero);
    bench_open(&b, &(struct fault_options){.corrupt = FAULT_ONE, .seed = 3}, 0);
    unsigned at[100] = {0};
    for (int i = 0; i < 10000; i++) {
        ck_assert_int_eq(send_number(&b, 0, sizeof want), 1);
        ck_assert(next_number(&b, &number, &frame));
        unsigned bits = 0;
        for (unsigned j = 0; j < sizeof want; j++) {
            unsigned turned = (unsigned)__builtin_popcount(frame.bytes[j] ^ want[j]);
            bits += turned;
            at[j] += turned;
        }
        ck_assert_uint_eq(bits, 1);
    }
    for (unsigned j = 0; j < sizeof want; j++) {
        ck_assert_uint_gt(at[j], 40); /* 100 each: anywhere in the frame */
    }
    bench_close(&b);
}
END_TEST

START_TEST(delay_is_kept_to_the_nanosecond)
{
    struct bench b;
    uint32_t number;
    struct shim_frame frame;
    bench_open(&b, &(struct fault_options){.delay = CW_MS(2)}, 0);
    ck_assert_int_eq(send_number(&b, 1, 100), 1);
    b.now.ns += 1000000;
    ck_assert_int_eq(send_number(&b, 2, 100), 1);
    ck_assert_int_eq(fault_due(b.in).ns, b.now.ns + 1000000);
    b.now.ns += 999999;
    ck_assert(!next_number(&b, &number, &frame));
    b.now.ns += 1;
    ck_assert(next_number(&b, &number, &frame));
    ck_assert_uint_eq(number, 1);
    ck_assert(!next_number(&b, &number, &frame));
    b.now.ns += 1000000;
    ck_assert(next_number(&b, &number, &frame));
    ck_assert_uint_eq(number, 2);
    bench_close(&b);
}
END_TEST

START_TEST(jitter_keeps_the_order_and_reorder_does_not)
{
    for (int reorder = 0; reorder < 2; reorder++) {
        struct bench b;
        uint32_t number;
        uint32_t last = 0;
        unsigned overtaken = 0;
        unsigned seen = 0;
        struct shim_frame frame;
        struct fault_options o = {.delay = CW_MS(1), .jitter = CW_MS(1), .reorder = reorder ? 100000 : 0, .seed = 4};
        bench_open(&b, &o, 0);
        for (uint32_t i = 1; i < 1000 + 500; i++) {
            if (i <= 1000) {
                ck_assert_int_eq(send_number(&b, i, 100), 1);
            }
            b.now.ns += 10000;
            while (next_number(&b, &number, &frame)) {
                overtaken += number < last;
                last = number > last ? number : last;
                seen++;
            }
        }
        ck_assert_uint_eq(seen, 1000);
        ck_assert(reorder ? overtaken > 50 && overtaken < 150 : overtaken == 0);
        bench_close(&b);
    }
}
END_TEST

START_TEST(the_rate_is_kept_and_room_is_told)
{
    enum { RATE = 100000000, LENGTH = 1000, MS = 200 };
    struct bench b;
    uint32_t number;
    struct shim_frame frame;
    uint64_t sent = 0;
    uint64_t seen = 0;
    cw_time until;
    bench_open(&b, &(struct fault_options){.bits_per_second = RATE}, 0);
    cw_time end = cw_time_add(b.now, CW_MS(MS));
    while (cw_time_before(b.now, end)) {
        unsigned room = shim_room(b.in);
        ck_assert_uint_le(room, 2); /* frames of mtu bytes: 200 us hold 1.25, and two always find room */
        for (unsigned i = 0; i < room; i++) {
            ck_assert_int_eq(send_number(&b, (uint32_t)sent, LENGTH), 1);
            sent++;
        }
        while (send_number(&b, (uint32_t)sent, LENGTH) == 1) {
            sent++;
        }
        ck_assert_int_eq(shim_wait(b.in, &until), SHIM_WAIT_TIME);
        ck_assert(cw_time_before(b.now, until));
        b.now = until;
        while (next_number(&b, &number, &frame)) {
            ck_assert_uint_eq(number, seen);
            seen++;
        }
    }
    uint64_t want = (uint64_t)RATE / 8 / LENGTH * MS / 1000;
    ck_assert_uint_gt(seen, want - want / 50);
    ck_assert_uint_le(seen, want + 5);
    ck_assert_uint_le(sent - seen, 5);
    bench_close(&b);
}
END_TEST

START_TEST(a_full_delay_line_refuses)
{
    struct bench b;
    uint32_t number;
    struct shim_frame frame;
    cw_time until;
    bench_open(&b, &(struct fault_options){.delay = CW_MS(1)}, 8);
    unsigned room = shim_room(b.in);
    ck_assert_uint_eq(room, 8);
    uint32_t sent = 0;
    while (send_number(&b, sent, 100) == 1) {
        sent++;
    }
    ck_assert_uint_ge(sent, room);
    ck_assert_uint_le(sent, 2 * room);
    ck_assert_uint_eq(shim_room(b.in), 0);
    ck_assert_int_eq(shim_wait(b.in, &until), SHIM_WAIT_TIME);
    ck_assert_int_eq(until.ns, b.now.ns + 1000000);
    b.now = until;
    for (uint32_t i = 0; i < sent; i++) {
        ck_assert(next_number(&b, &number, &frame));
        ck_assert_uint_eq(number, i);
    }
    ck_assert_uint_eq(shim_room(b.in), 8);
    bench_close(&b);
}
END_TEST

/* The shim inside is slower than the line: what is due waits, nothing is lost, and room is none. */
START_TEST(a_full_shim_inside_is_waited_for)
{
    struct bench b;
    uint32_t number;
    struct shim_frame frame;
    bench_open(&b, &(struct fault_options){.delay = CW_US(10)}, 0);
    for (uint32_t i = 0; i < 100; i++) { /* the pair holds 64 */
        ck_assert_int_eq(send_number(&b, i, 100), 1);
    }
    b.now.ns += 20000;
    ck_assert_uint_eq(shim_room(b.in), 0);
    for (uint32_t i = 0; i < 100; i++) {
        ck_assert(next_number(&b, &number, &frame));
        ck_assert_uint_eq(number, i);
        b.now.ns += 1000;
    }
    b.now.ns += 100000;
    ck_assert_uint_gt(shim_room(b.in), 0);
    bench_close(&b);
}
END_TEST

START_TEST(a_cable_that_is_cut_loses_what_was_under_way)
{
    struct bench b;
    struct shim_counters counters;
    uint32_t number;
    struct shim_frame frame;
    bench_open(&b, &(struct fault_options){.delay = CW_MS(1)}, 0);
    ck_assert_int_eq(send_number(&b, 1, 100), 1);
    pair_cut(b.out, true);
    b.now.ns += 1000000;
    ck_assert_int_eq(send_number(&b, 2, 100), -ENETDOWN);
    ck_assert_int_eq(shim_receive(b.in, &(struct shim_frame){.bytes = (uint8_t[32]){0} + 16, .room = 16}, 1), 0);
    pair_cut(b.out, false);
    ck_assert(!next_number(&b, &number, &frame));
    shim_counters(b.in, &counters);
    ck_assert_uint_eq(counters.tx_frames, 1);
    ck_assert_uint_eq(counters.tx_errors, 1);
    bench_close(&b);
}
END_TEST

START_TEST(faults_can_be_set_while_it_runs)
{
    struct bench b;
    uint32_t number;
    struct shim_frame frame;
    bench_open(&b, &none, 0);
    ck_assert_int_eq(send_number(&b, 1, 100), 1);
    ck_assert(next_number(&b, &number, &frame));
    fault_set(b.in, &(struct fault_options){.loss = FAULT_ONE});
    ck_assert_int_eq(send_number(&b, 2, 100), 1);
    ck_assert(!next_number(&b, &number, &frame));
    fault_set(b.in, &none);
    ck_assert_int_eq(send_number(&b, 3, 100), 1);
    ck_assert(next_number(&b, &number, &frame));
    ck_assert_uint_eq(number, 3);
    bench_close(&b);
}
END_TEST

/* With the real clock: data_fd says when something is due, and is silent before and after. */
START_TEST(the_descriptor_tells_when_something_is_due)
{
    struct shim *inside[2];
    struct shim *s;
    char why[SHIM_WHY_BYTES];
    uint8_t memory[MEMORY_BYTES];
    struct fault_options o = {.delay = CW_MS(200)};
    ck_assert_int_eq(pair_open(inside, "memory", MTU, 64), 0);
    ck_assert_int_eq(fault_open(&s, inside[0], &o, 0, NULL, why), 0);
    struct pollfd one = {.fd = shim_data_fd(s), .events = POLLIN};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(poll(&one, 1, 0), 0);
        cable_send(s, 1, 100);
        ck_assert_int_eq(poll(&one, 1, 1), 0);
        ck_assert_uint_eq(cable_receive(inside[1], memory, 0), 0);
        ck_assert_int_eq(poll(&one, 1, 2000), 1);
        ck_assert_uint_eq(cable_receive(s, memory, 0), 0);
        ck_assert_uint_eq(cable_receive(inside[1], memory, 0), 100);
    }
    struct shim_info info;
    shim_info(s, &info);
    ck_assert_str_eq(info.name, "memory, with faults");
    shim_close(s);
    shim_close(inside[1]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(loss_is_as_often_as_ordered),       SUITE_TEST(duplicates_are_as_often_as_ordered),
    SUITE_TEST(the_same_seed_is_the_same_fate),    SUITE_TEST(corruption_turns_one_bit),
    SUITE_TEST(delay_is_kept_to_the_nanosecond),   SUITE_TEST(jitter_keeps_the_order_and_reorder_does_not),
    SUITE_TEST(the_rate_is_kept_and_room_is_told), SUITE_TEST(a_full_delay_line_refuses),
    SUITE_TEST(a_full_shim_inside_is_waited_for),  SUITE_TEST(a_cable_that_is_cut_loses_what_was_under_way),
    SUITE_TEST(faults_can_be_set_while_it_runs),   SUITE_TEST(the_descriptor_tells_when_something_is_due),
};

int main(void)
{
    int plain = conformance_run(&plain_kind, tests, sizeof tests / sizeof *tests);
    int slow = conformance_run(&delayed_kind, NULL, 0);
    int shaped = conformance_run(&paced_kind, NULL, 0);
    return plain != 0 ? plain : slow != 0 ? slow : shaped;
}
