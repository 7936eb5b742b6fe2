/* SPDX-License-Identifier: Apache-2.0 */
/* test_threaded.c - the whole contract over memory, udp and raw inside, and what is the thread's own. */
#include "shim/threaded.h"

#include "base/container.h"
#include "conformance.h"
#include "netns.h"
#include "shim/fault.h"
#include "shim/pair.h"
#include "shim/raw.h"
#include "shim/udp.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { MTU = 9000, UDP_MTU = 1472, RAW_MTU = 1500 };

static void wrap(struct cable *c, unsigned end, struct shim *inside)
{
    char why[SHIM_WHY_BYTES] = "";
    ck_assert_msg(threaded_open(&c->end[end], inside, why) == 0, "%s", why);
}

/* ---- Memory. Both ends of a pair belong to one thread; here two threads share them, one at a time. --------------- */

struct locked {
    struct shim shim;
    struct shim *inside;
};

static pthread_mutex_t pair_lock = PTHREAD_MUTEX_INITIALIZER;

static struct shim *enter(const struct shim *s)
{
    pthread_mutex_lock(&pair_lock);
    return container_of_const(s, struct locked, shim)->inside;
}

static int leave(int rc)
{
    pthread_mutex_unlock(&pair_lock);
    return rc;
}

static int locked_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    return leave(shim_send(enter(s), frames, count));
}

static int locked_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    return leave(shim_receive(enter(s), frames, count));
}

static unsigned locked_room(struct shim *s)
{
    return (unsigned)leave((int)shim_room(enter(s)));
}

static bool locked_carrier(const struct shim *s)
{
    return leave(shim_carrier(enter(s)));
}

static int locked_fd(const struct shim *s)
{
    (void)s;
    return -1;
}

static void locked_service_events(struct shim *s)
{
    shim_service_events(enter(s));
    leave(0);
}

static enum shim_wait locked_wait(struct shim *s, cw_time *until)
{
    return (enum shim_wait)leave((int)shim_wait(enter(s), until));
}

static void locked_info(const struct shim *s, struct shim_info *out)
{
    shim_info(enter(s), out);
    leave(0);
}

static void locked_counters(struct shim *s, struct shim_counters *out)
{
    shim_counters(enter(s), out);
    leave(0);
}

static int locked_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    return leave(shim_last_words(enter(s), bytes, length));
}

static void locked_close(struct shim *s)
{
    shim_close(enter(s));
    leave(0);
    free(container_of(s, struct locked, shim));
}

static void pass_wake(void *context)
{
    const struct locked *l = context;
    if (l->shim.wake != NULL) {
        l->shim.wake(l->shim.wake_context);
    }
}

static const struct shim_ops locked_ops = {
    .send = locked_send,
    .receive = locked_receive,
    .room = locked_room,
    .carrier = locked_carrier,
    .data_fd = locked_fd,
    .event_fd = locked_fd,
    .service_events = locked_service_events,
    .wait = locked_wait,
    .info = locked_info,
    .counters = locked_counters,
    .last_words = locked_last_words,
    .close = locked_close,
};

static void open_pair(struct cable *c, uint32_t mtu)
{
    struct shim *ends[2];
    ck_assert_int_eq(pair_open(ends, "memory", mtu, PAIR_DEPTH), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct locked *l = calloc(1, sizeof *l);
        ck_assert_ptr_nonnull(l);
        *l = (struct locked){.shim.ops = &locked_ops, .inside = ends[i]};
        ends[i]->wake = pass_wake;
        ends[i]->wake_context = l;
        wrap(c, i, &l->shim);
    }
    c->more = ends[0];
}

static void cut_pair(struct cable *c, bool is_cut)
{
    pthread_mutex_lock(&pair_lock);
    pair_cut(c->more, is_cut);
    pthread_mutex_unlock(&pair_lock);
}

static const struct conformance_kind over_pair = {
    .name = "pair", .mtu = MTU, .open = open_pair, .cut = cut_pair, .shortest = 1};

/* ---- UDP, bare and with a delay inside --------------------------------------------------------------------------- */

static void open_udp_inside(struct shim *ends[2], uint32_t mtu)
{
    static const char *const address[] = {"127.0.0.1:46471", "127.0.0.1:46472"};
    char why[SHIM_WHY_BYTES];
    for (unsigned i = 0; i < 2; i++) {
        struct udp_options options = {.local = address[i], .remote = address[1 - i], .mtu = mtu};
        ck_assert_msg(udp_open(&ends[i], &options, why) == 0, "%s", why);
    }
}

static void open_udp(struct cable *c, uint32_t mtu)
{
    struct shim *ends[2];
    open_udp_inside(ends, mtu);
    wrap(c, 0, ends[0]);
    wrap(c, 1, ends[1]);
}

static void open_delayed(struct cable *c, uint32_t mtu)
{
    struct shim *ends[2], *slow;
    char why[SHIM_WHY_BYTES];
    open_udp_inside(ends, mtu);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(fault_open(&slow, ends[i], &(struct fault_options){.delay = CW_US(300)}, 0, NULL, why), 0);
        wrap(c, i, slow);
    }
}

static const struct conformance_kind over_udp = {.name = "udp",
                                                 .mtu = UDP_MTU,
                                                 .set_up = netns_enter,
                                                 .open = open_udp,
                                                 .has_last_words = true,
                                                 .needs_namespace = true,
                                                 .shortest = 1};
static const struct conformance_kind over_delay = {.name = "udp",
                                                   .mtu = UDP_MTU,
                                                   .set_up = netns_enter,
                                                   .open = open_delayed,
                                                   .has_last_words = true,
                                                   .needs_namespace = true,
                                                   .shortest = 1};

/* ---- Cables ------------------------------------------------------------------------------------------------------ */

static void set_up_raw(void)
{
    netns_enter();
    netns_veth("left", "right", RAW_MTU, -1);
}

static void open_raw(struct cable *c, uint32_t mtu)
{
    static const char *const name[] = {"left", "right"};
    struct shim *inside;
    char why[SHIM_WHY_BYTES];
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_msg(raw_open(&inside, &(struct port_options){.interface = name[i], .mtu = mtu}, why) == 0, "%s", why);
        wrap(c, i, inside);
    }
}

static void cut_raw(struct cable *c, bool is_cut)
{
    (void)c;
    netns_up("right", !is_cut);
}

static const struct conformance_kind over_raw = {.name = "raw",
                                                 .mtu = RAW_MTU,
                                                 .set_up = set_up_raw,
                                                 .open = open_raw,
                                                 .cut = cut_raw,
                                                 .has_last_words = true,
                                                 .needs_namespace = true,
                                                 .shortest = 1};

/* ---- What is its own --------------------------------------------------------------------------------------------- */

/*
 * A pump that only does what it is told: watches the descriptors, heeds wake, and loses nothing though the other side
 * stops and goes on.
 */
START_TEST(a_pump_that_only_listens_is_enough)
{
    enum { FRAMES = 20000, UNDER_WAY = 500 }; /* a medium that never pushes back would lose more */
    struct cable c;
    uint8_t memory[SHIM_BATCH][SHIM_HEADROOM + MEMORY_BYTES];
    struct shim_frame frames[SHIM_BATCH];
    cable_open(&c);
    uint32_t sent = 0, seen = 0;
    bool blocked = false;
    while (seen < FRAMES) {
        struct pollfd fds[] = {{.fd = shim_data_fd(c.end[0]), .events = POLLIN},
                               {.fd = shim_data_fd(c.end[1]), .events = POLLIN}};
        bool can_send = !blocked && sent < FRAMES && sent - seen < UNDER_WAY;
        int ready = poll(fds, 2, can_send ? 0 : PATIENCE_MS);
        ck_assert_msg(ready >= (can_send ? 0 : 1), "stuck: %u sent, %u seen, %s room, woken %u times", sent, seen,
                      blocked ? "no" : "with", c.woken[0]);
        unsigned woken = c.woken[0];
        for (unsigned end = 0; end < 2; end++) {
            for (unsigned i = 0; i < SHIM_BATCH; i++) {
                frames[i] = (struct shim_frame){.bytes = memory[i] + SHIM_HEADROOM, .room = MEMORY_BYTES};
            }
            int got = fds[end].revents != 0
                          ? shim_receive(c.end[end], frames, end == 0 ? SHIM_BATCH : 1 + seen % SHIM_BATCH)
                          : 0;
            ck_assert_int_ge(got, 0);
            for (int i = 0; i < got; i++, seen++) {
                ck_assert_uint_eq(end, 1);
                ck_assert(frame_is(frames[i].bytes, seen, 60 + seen % 1000));
            }
        }
        blocked = blocked && c.woken[0] == woken;
        if (!blocked && sent < FRAMES && sent - seen < UNDER_WAY) {
            unsigned count = 0;
            for (; count < 1 + sent % SHIM_BATCH && sent + count < FRAMES; count++) {
                frames[count] =
                    (struct shim_frame){.bytes = memory[count] + SHIM_HEADROOM, .length = 60 + (sent + count) % 1000};
                frame_fill(frames[count].bytes, sent + count, frames[count].length);
            }
            int taken = shim_send(c.end[0], frames, count);
            ck_assert_int_ge(taken, 0);
            sent += (unsigned)taken;
            cw_time until;
            blocked = taken < (int)count && shim_wait(c.end[0], &until) == SHIM_WAIT_WAKE;
        }
    }
    cable_close(&c);
}
END_TEST

/* Frames go both ways while others ask about the shim. For the thread sanitizer. */
START_TEST(counters_and_state_are_for_the_asking)
{
    struct cable c;
    struct shim_info info;
    struct shim_counters counters;
    uint8_t memory[MEMORY_BYTES];
    cable_open(&c);
    for (uint32_t i = 0; i < 500; i++) {
        cable_send(c.end[0], i, 100);
        shim_info(c.end[1], &info);
        shim_counters(c.end[1], &counters);
        shim_counters(c.end[0], &counters);
        ck_assert_uint_eq(counters.tx_frames, i + 1);
        ck_assert_uint_eq(cable_receive(c.end[1], memory, PATIENCE_MS), 100);
    }
    ck_assert_ptr_nonnull(strstr(info.name, ", on a thread"));
    cable_close(&c);
}
END_TEST

/* The last thing said before the end is heard. */
START_TEST(what_was_sent_leaves_before_the_end)
{
    struct cable c;
    uint8_t memory[MEMORY_BYTES];
    cable_open(&c);
    for (uint32_t i = 0; i < 8; i++) {
        cable_send(c.end[0], i, 200);
    }
    cable_forget(0);
    shim_close(c.end[0]);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(cable_receive(c.end[1], memory, PATIENCE_MS), 200);
        ck_assert(frame_is(memory, i, 200));
    }
    cable_forget(1);
    shim_close(c.end[1]);
}
END_TEST

START_TEST(nothing_runs_before_it_is_used)
{
    struct cable c;
    struct shim_info info;
    netns_enter();
    open_udp(&c, UDP_MTU);
    shim_info(c.end[0], &info);
    ck_assert(shim_carrier(c.end[0]));
    ck_assert(cable_poll(shim_event_fd(c.end[0]), POLLIN, 0)); /* whoever watches it will start the thread */
    shim_close(c.end[0]);
    shim_close(c.end[1]);
}
END_TEST

static const struct suite_test pump_tests[] = {
    SUITE_TEST(a_pump_that_only_listens_is_enough),
    SUITE_TEST(counters_and_state_are_for_the_asking),
};
static const struct suite_test udp_tests[] = {
    SUITE_TEST(a_pump_that_only_listens_is_enough),
    SUITE_TEST(counters_and_state_are_for_the_asking),
    SUITE_TEST(what_was_sent_leaves_before_the_end),
    SUITE_TEST(nothing_runs_before_it_is_used),
};

int main(void)
{
    int rc = conformance_run(&over_pair, pump_tests, 2);
    int udp = conformance_run(&over_udp, udp_tests, 4);
    int delay = conformance_run(&over_delay, NULL, 0);
    int raw = conformance_run(&over_raw, pump_tests, 2);
    return rc != 0 ? rc : udp != 0 ? udp : delay != 0 ? delay : raw;
}
