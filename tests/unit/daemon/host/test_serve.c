/* SPDX-License-Identifier: Apache-2.0 */
/* test_serve.c - one server's turn: what a shim refuses goes first, in order; frames are heard before time passes. */
#include "daemon_town.h"
#include "suite.h"

#include "base/bytes.h"
#include "shim/pair.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdlib.h>

/* A cable that promises room for many and takes one, or none. */
struct narrow {
    struct shim shim;
    struct shim *inside;
    unsigned calls, refusals, frames, gaps;
    unsigned deaf; /* so many receptions end in an error */
    uint16_t next; /* sequence that the next frame should have */
};

static struct narrow *narrow_of(struct shim *s)
{
    return (struct narrow *)(void *)s;
}

static const struct narrow *narrow_of_const(const struct shim *s)
{
    return (const struct narrow *)(const void *)s;
}

static int narrow_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct narrow *n = narrow_of(s);
    ck_assert_uint_le(count, SHIM_BATCH);
    if (n->calls++ % 3 != 0) {
        n->refusals++;
        return 0;
    }
    uint16_t sequence = get_be16(frames[0].bytes + FRAME_AT_SEQUENCE);
    n->gaps += n->frames > 0 && sequence != n->next;
    n->next = (uint16_t)(sequence + 1);
    n->frames++;
    return shim_send(n->inside, frames, 1);
}

static int narrow_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct narrow *n = narrow_of(s);
    if (n->deaf > 0) {
        n->deaf--;
        return -EIO;
    }
    return shim_receive(n->inside, frames, count);
}

static unsigned narrow_room(struct shim *s)
{
    return shim_carrier(s) ? 5 : 0;
}

static bool narrow_carrier(const struct shim *s)
{
    return shim_carrier(narrow_of_const(s)->inside);
}

static int narrow_fd(const struct shim *s)
{
    (void)s;
    return -1;
}

static void narrow_service(struct shim *s)
{
    (void)s;
}

static enum shim_wait narrow_wait(struct shim *s, cw_time *until)
{
    (void)s;
    *until = cw_time_add(clock_now(), CW_US(100));
    return SHIM_WAIT_TIME;
}

static void narrow_info(const struct shim *s, struct shim_info *out)
{
    shim_info(narrow_of_const(s)->inside, out);
}

static void narrow_close(struct shim *s)
{
    shim_close(narrow_of(s)->inside);
}

static const struct shim_ops narrow_ops = {
    .send = narrow_send,
    .receive = narrow_receive,
    .room = narrow_room,
    .carrier = narrow_carrier,
    .data_fd = narrow_fd,
    .event_fd = narrow_fd,
    .service_events = narrow_service,
    .wait = narrow_wait,
    .info = narrow_info,
    .close = narrow_close,
};

static struct host *open_one(const char *text, struct shim *xp, struct shim *xm)
{
    struct daemon_config config = town_config(text);
    struct shim *shims[CW_LINK_COUNT] = {xp, xm};
    struct host_options options = {.config = &config, .incarnation = 1000, .shim = shims};
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_msg(host_open(&h, &options, why) == 0, "%s", why);
    ck_assert_msg(host_load_configured(h, why) == 0, "%s", why);
    return h;
}

/*
 * Each time that the machine keeps this process waiting for longer than `dead` costs the link. By the default timers
 * that happens beside a few busy processes, and a link that has gone down seven times rests for longer than settle()
 * waits. So timers are longer here, and links do not rest.
 */
#define TIMERS "timers { hello = 40ms; dead = 200ms; hold = 250ms; damp = 1ms; damp_max = 1ms }"
static const char left_text[] = "torus { dims = 3x1x1; coordinate = '0,0,0' } " TIMERS;
static const char right_text[] = "torus { dims = 3x1x1; coordinate = '1,0,0' } " TIMERS;

/* Wakes of the pair inside reach the narrow one's owner. */
static void wake_outer(void *context)
{
    struct narrow *n = context;
    n->shim.wake(n->shim.wake_context);
}

static void settle(struct host *left, struct host *right)
{
    cw_time end = cw_time_add(clock_now(), CW_SEC(10));
    while (!town_is_whole(left, 2) || !town_is_whole(right, 2)) {
        ck_assert_msg(cw_time_before(clock_now(), end), "not whole after 10 s");
        host_turn(left, CW_NS(0));
        host_turn(right, CW_NS(0));
    }
}

START_TEST(what_is_refused_goes_first)
{
    struct shim *cable[2];
    static struct narrow n;
    ck_assert_int_eq(pair_open(cable, "cable", 1500, PAIR_DEPTH), 0);
    n = (struct narrow){.shim.ops = &narrow_ops, .inside = cable[0]};
    struct host *left = open_one(left_text, &n.shim, NULL), *right = open_one(right_text, NULL, cable[1]);
    cable[0]->wake = wake_outer;
    cable[0]->wake_context = &n;
    settle(left, right);
    cw_time end = cw_time_add(clock_now(), CW_MS(200));
    while (cw_time_before(clock_now(), end)) {
        host_turn(left, CW_NS(0));
        host_turn(right, CW_NS(0));
    }
    ck_assert_uint_gt(n.refusals, 10);
    ck_assert_uint_eq(n.gaps, 0);
    ck_assert_uint_eq(host_server(left, 0)->link[0].tally.sent, n.frames);
    ck_assert_uint_eq(host_server(right, 0)->link[1].tally.received, n.frames);
    host_close(left);
    host_close(right);
}
END_TEST

START_TEST(frames_are_heard_before_time)
{
    struct shim *cable[2];
    ck_assert_int_eq(pair_open(cable, "cable", 1500, PAIR_DEPTH), 0);
    struct host *left = open_one(left_text, cable[0], NULL), *right = open_one(right_text, NULL, cable[1]);
    settle(left, right);
    for (int i = 0; i < 3; i++) {
        /* The right one stands still for longer than `dead`; the left one has just said hello. */
        cw_time end = cw_time_add(clock_now(), CW_MS(180));
        while (cw_time_before(clock_now(), end)) {
            host_turn(left, CW_MS(1));
        }
        nanosleep(&(struct timespec){.tv_nsec = 32000000}, NULL);
        host_turn(right, CW_NS(0));
        ck_assert_uint_eq(ls_count(node_linkstate(host_server(right, 0)->node), LS_SILENCES), 0);
        settle(left, right);
    }
    host_close(left);
    host_close(right);
}
END_TEST

START_TEST(a_light_that_goes_out_loses_what_is_held)
{
    struct shim *cable[2];
    static struct narrow n;
    ck_assert_int_eq(pair_open(cable, "cable", 1500, PAIR_DEPTH), 0);
    n = (struct narrow){.shim.ops = &narrow_ops, .inside = cable[0], .calls = 1};
    struct host *left = open_one(left_text, &n.shim, NULL);
    cable[0]->wake = wake_outer;
    cable[0]->wake_context = &n;
    host_turn(left, CW_NS(0)); /* its first hello is refused and kept */
    size_t out = host_packets_out(left);
    pair_cut(cable[1], true);
    host_turn(left, CW_NS(0));
    host_turn(left, CW_NS(0));
    ck_assert(!host_server(left, 0)->link[0].carrier);
    ck_assert_uint_eq(host_server(left, 0)->link[0].tally.lost_carrier, 1);
    ck_assert_uint_lt(host_packets_out(left), out);
    host_close(left);
    shim_close(cable[1]);
}
END_TEST

START_TEST(an_error_is_counted_and_passes)
{
    struct shim *cable[2];
    static struct narrow n;
    ck_assert_int_eq(pair_open(cable, "cable", 1500, PAIR_DEPTH), 0);
    n = (struct narrow){.shim.ops = &narrow_ops, .inside = cable[0], .deaf = 3};
    struct host *left = open_one(left_text, &n.shim, NULL), *right = open_one(right_text, NULL, cable[1]);
    cable[0]->wake = wake_outer;
    cable[0]->wake_context = &n;
    settle(left, right);
    ck_assert_uint_eq(host_server(left, 0)->link[0].tally.failed, 3);
    ck_assert_uint_eq(host_server(right, 0)->link[1].tally.failed, 0);
    host_close(left);
    host_close(right);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(an_error_is_counted_and_passes),
    SUITE_TEST(what_is_refused_goes_first),
    SUITE_TEST(frames_are_heard_before_time),
    SUITE_TEST(a_light_that_goes_out_loses_what_is_held),
};
SUITE_MAIN("serve", tests)
