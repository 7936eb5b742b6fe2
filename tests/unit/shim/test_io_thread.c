/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/io_thread.h"

#include "shim/pair.h"
#include "suite.h"

#include <poll.h>
#include <string.h>

enum { MTU = 1500, BYTES = 2000 };

/* A thread on one end of a cable inside the process. The other end is touched only while the thread does not run. */
struct bench {
    struct shim *near, *far;
    struct io_thread *thread;
};

static struct bench bench_open(uint32_t mtu)
{
    struct shim *ends[2];
    struct bench b = {.thread = aligned_alloc(RING_LINE, sizeof *b.thread)};
    ck_assert_int_eq(pair_open(ends, "memory", mtu, IO_THREAD_OUT_MOST), 0);
    ck_assert_int_eq(io_thread_open(b.thread, ends[0]), 0);
    b.near = ends[0];
    b.far = ends[1];
    return b;
}

static void bench_close(struct bench *b)
{
    io_thread_free(b->thread);
    free(b->thread);
    shim_close(b->near);
    shim_close(b->far);
}

static void run(struct bench *b)
{
    ck_assert_int_eq(io_thread_start(b->thread), 0);
    io_thread_end(b->thread);
}

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, 0) > 0;
}

static void give(struct bench *b, uint8_t number)
{
    struct io_slot *slot = ring_pop(&b->thread->out_back);
    ck_assert_ptr_nonnull(slot);
    slot->length = 100;
    memset(slot->bytes, number, slot->length);
    ck_assert(ring_push(&b->thread->out, slot));
}

START_TEST(what_was_given_leaves_before_the_end)
{
    struct bench b = bench_open(MTU);
    uint8_t memory[SHIM_HEADROOM + BYTES];
    unsigned all = ring_count(&b.thread->out_back);
    ck_assert_uint_eq(all, b.thread->depth);
    for (uint8_t i = 0; i < 5; i++) {
        give(&b, i);
    }
    io_thread_raise(&b.thread->waits);
    run(&b);
    for (unsigned i = 0; i < 5; i++) {
        struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .room = BYTES};
        ck_assert_int_eq(shim_receive(b.far, &frame, 1), 1);
        ck_assert_uint_eq(frame.length, 100);
        ck_assert_uint_eq(frame.bytes[99], i);
    }
    ck_assert_uint_eq(ring_count(&b.thread->out_back), all);
    ck_assert(is_readable(b.thread->data)); /* there is room again */
    bench_close(&b);
}
END_TEST

START_TEST(what_came_is_told_once)
{
    struct bench b = bench_open(MTU);
    uint8_t memory[SHIM_HEADROOM + 100] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 100};
    unsigned all = ring_count(&b.thread->in_back);
    for (uint8_t i = 0; i < 3; i++) {
        frame.bytes[0] = i;
        ck_assert_int_eq(shim_send(b.far, &frame, 1), 1);
    }
    io_thread_raise(&b.thread->listens);
    run(&b);
    ck_assert(is_readable(b.thread->data));
    ck_assert(!atomic_load(&b.thread->listens));
    for (unsigned i = 0; i < 3; i++) {
        struct io_slot *slot = ring_pop(&b.thread->in);
        ck_assert_ptr_nonnull(slot);
        ck_assert_uint_eq(slot->length, 100);
        ck_assert_uint_eq(slot->bytes[0], i);
        ck_assert(ring_push(&b.thread->in_back, slot));
    }
    ck_assert_ptr_null(ring_pop(&b.thread->in));
    ck_assert_uint_le(ring_count(&b.thread->in_back), all);
    bench_close(&b);
}
END_TEST

START_TEST(without_a_carrier_frames_are_errors)
{
    struct bench b = bench_open(MTU);
    give(&b, 1);
    give(&b, 2);
    pair_cut(b.far, true);
    run(&b);
    ck_assert_uint_eq(b.thread->errors, 2);
    ck_assert_uint_eq(ring_count(&b.thread->out_back), b.thread->depth);
    ck_assert(!atomic_load(&b.thread->carrier));
    ck_assert(is_readable(b.thread->event));
    bench_close(&b);
}
END_TEST

/* A cable that takes nothing does not hold the end up for ever. */
START_TEST(what_cannot_leave_is_left)
{
    struct bench b = bench_open(MTU);
    uint8_t memory[SHIM_HEADROOM + 100] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 100};
    while (shim_send(b.near, &frame, 1) == 1) {
        /* until it is full */
    }
    give(&b, 1);
    run(&b);
    ck_assert_uint_eq(ring_count(&b.thread->out_back), b.thread->depth - 1);
    bench_close(&b);
}
END_TEST

START_TEST(the_queue_is_short)
{
    static const struct {
        uint32_t mtu;
        unsigned depth;
    } some[] = {{1500, 32}, {9000, 8}, {4000, 18}, {60000, 8}};
    for (unsigned i = 0; i < 4; i++) {
        struct bench b = bench_open(some[i].mtu);
        ck_assert_uint_eq(b.thread->depth, some[i].depth);
        bench_close(&b);
    }
}
END_TEST

START_TEST(a_flag_is_told_once)
{
    struct bench b = bench_open(MTU);
    int fd = b.thread->data;
    io_thread_tell(&b.thread->waits, fd);
    ck_assert(!is_readable(fd));
    io_thread_raise(&b.thread->waits);
    io_thread_tell(&b.thread->waits, fd);
    ck_assert(is_readable(fd));
    io_thread_clear(fd);
    io_thread_tell(&b.thread->waits, fd);
    ck_assert(!is_readable(fd));
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_was_given_leaves_before_the_end),
    SUITE_TEST(what_came_is_told_once),
    SUITE_TEST(without_a_carrier_frames_are_errors),
    SUITE_TEST(what_cannot_leave_is_left),
    SUITE_TEST(the_queue_is_short),
    SUITE_TEST(a_flag_is_told_once),
};
SUITE_MAIN("io_thread", tests)
