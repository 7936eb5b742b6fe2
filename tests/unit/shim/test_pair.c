/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pair.h"

#include "conformance.h"

#include <errno.h>

static void open_pair(struct cable *c, uint32_t mtu)
{
    ck_assert_int_eq(pair_open(c->end, "memory", mtu, PAIR_DEPTH), 0);
}

static void cut(struct cable *c, bool is_cut)
{
    pair_cut(c->end[0], is_cut);
}

static const struct conformance_kind kind = {.name = "pair", .mtu = 9000, .open = open_pair, .cut = cut, .shortest = 1};

START_TEST(the_queue_holds_depth_frames)
{
    struct shim *end[2];
    uint8_t memory[SHIM_HEADROOM + 100] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 1, .room = 100};
    for (uint32_t depth = 1; depth < 10; depth++) {
        ck_assert_int_eq(pair_open(end, "memory", 100, depth), 0);
        for (uint32_t i = 0; i < depth; i++) {
            ck_assert_uint_eq(shim_room(end[0]), depth - i);
            ck_assert_int_eq(shim_send(end[0], &frame, 1), 1);
        }
        ck_assert_uint_eq(shim_room(end[0]), 0);
        ck_assert_int_eq(shim_send(end[0], &frame, 1), 0);
        ck_assert_uint_eq(shim_room(end[1]), depth); /* the other way is another queue */
        ck_assert_int_eq(shim_receive(end[1], &frame, 1), 1);
        ck_assert_uint_eq(shim_room(end[0]), 1);
        shim_close(end[0]);
        shim_close(end[1]);
    }
}
END_TEST

static void count(void *context)
{
    ++*(unsigned *)context;
}

START_TEST(who_was_refused_is_woken_by_room)
{
    struct shim *end[2];
    unsigned woken = 0;
    uint8_t memory[SHIM_HEADROOM + 100] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 1, .room = 100};
    cw_time until;
    ck_assert_int_eq(pair_open(end, "memory", 100, 2), 0);
    end[0]->wake = count;
    end[0]->wake_context = &woken;
    ck_assert_int_eq(shim_send(end[0], &frame, 1), 1);
    ck_assert_int_eq(shim_receive(end[1], &frame, 1), 1);
    ck_assert_uint_eq(woken, 0); /* nobody waits */
    while (shim_send(end[0], &frame, 1) == 1) {
    }
    ck_assert_int_eq(shim_wait(end[0], &until), SHIM_WAIT_WAKE);
    ck_assert_int_eq(shim_receive(end[1], &frame, 1), 1);
    ck_assert_uint_eq(woken, 1);
    ck_assert_int_eq(shim_receive(end[1], &frame, 1), 1);
    ck_assert_uint_eq(woken, 1); /* once is enough */
    while (shim_send(end[0], &frame, 1) == 1) {
    }
    ck_assert_uint_eq(shim_room(end[0]), 0); /* asking is waiting too */
    ck_assert_int_eq(shim_receive(end[1], &frame, 1), 1);
    ck_assert_uint_eq(woken, 2);
    shim_close(end[1]);
    ck_assert_uint_eq(woken, 3); /* the carrier went */
    shim_close(end[0]);
}
END_TEST

START_TEST(a_cut_loses_what_was_under_way)
{
    struct shim *end[2];
    unsigned woken = 0;
    uint8_t memory[SHIM_HEADROOM + 100] = {0};
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 1, .room = 100};
    ck_assert_int_eq(pair_open(end, "memory", 100, 4), 0);
    end[1]->wake = count;
    end[1]->wake_context = &woken;
    ck_assert_int_eq(shim_send(end[0], &frame, 1), 1);
    pair_cut(end[0], true);
    ck_assert_uint_eq(woken, 2);
    pair_cut(end[1], true);
    ck_assert_uint_eq(woken, 2);
    ck_assert_int_eq(shim_receive(end[1], &frame, 1), 0);
    pair_cut(end[1], false);
    ck_assert_int_eq(shim_receive(end[1], &frame, 1), 0);
    ck_assert_uint_eq(shim_room(end[0]), 4);
    shim_close(end[0]);
    shim_close(end[1]);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_queue_holds_depth_frames),
    SUITE_TEST(who_was_refused_is_woken_by_room),
    SUITE_TEST(a_cut_loses_what_was_under_way),
};

int main(void)
{
    return conformance_run(&kind, tests, sizeof tests / sizeof *tests);
}
