/* SPDX-License-Identifier: Apache-2.0 */
/* test_outside.c - descriptors and libevent are heard, by epoll sets of our own and without them. */
#define _GNU_SOURCE /* unshare */
#include "suite.h"

#include "daemon/machine/outside.h"
#include "shim/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

struct heard {
    unsigned calls;
};

static void on_watch(void *context)
{
    ((struct heard *)context)->calls++;
}

static void on_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    ((struct heard *)context)->calls++;
}

/* As a turn of the loop does. */
static void look(struct outside *o, cw_span limit)
{
    outside_look(o, WAITS_ALL, limit);
    cw_time now = clock_now();
    outside_ask(o, &now);
}

static void look_until(struct outside *o, const struct heard *h, unsigned calls)
{
    for (unsigned i = 0; h->calls < calls; i++) {
        SUITE_HOLDS(i < 3000, "%u of %u calls", h->calls, calls);
        look(o, CW_MS(2));
    }
}

static void descriptors_are_heard(struct outside *o)
{
    struct heard calm = {0}, data = {0};
    int bell = eventfd(0, EFD_NONBLOCK), frames = eventfd(0, EFD_NONBLOCK);
    struct outside_watch *a = outside_watch(o, bell, OUTSIDE_CALM, on_watch, &calm);
    struct outside_watch *b = outside_watch(o, frames, OUTSIDE_DATA, on_watch, &data);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    look(o, CW_MS(1));
    ck_assert_uint_eq(calm.calls + data.calls, 0);
    ck_assert_int_eq(eventfd_write(bell, 1), 0);
    look(o, WAITS_FOR_EVER);
    ck_assert_uint_eq(calm.calls, 1);
    ck_assert_int_eq(eventfd_write(frames, 1), 0);
    look(o, CW_NS(0));
    ck_assert_uint_eq(calm.calls, 2);
    ck_assert_uint_eq(data.calls, 1);
    outside_unwatch(a);
    outside_unwatch(b);
    outside_unwatch(NULL);
    look(o, CW_NS(0));
    ck_assert_uint_eq(calm.calls + data.calls, 3);
}

/* One descriptor for frames and for room, as UDP has; room is told once, each time that it is asked for. */
static void room_is_told_once(struct outside *o)
{
    struct heard data = {0}, room = {0};
    int pair[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair), 0);
    struct outside_watch *b = outside_watch(o, pair[0], OUTSIDE_DATA, on_watch, &data);
    struct outside_watch *w = outside_watch(o, pair[0], OUTSIDE_ROOM, on_watch, &room);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_nonnull(w);
    look(o, CW_MS(1));
    ck_assert_uint_eq(room.calls, 0);
    for (unsigned round = 1; round <= 3; round++) {
        ck_assert_int_eq(outside_again(w), 0);
        ck_assert_int_eq(outside_again(w), 0);
        look(o, WAITS_FOR_EVER);
        look(o, CW_NS(0));
        ck_assert_uint_eq(room.calls, round);
    }
    ck_assert_int_eq(outside_again(w), 0);
    ck_assert_int_eq((int)send(pair[1], "x", 1, 0), 1);
    look(o, CW_NS(0));
    ck_assert_uint_eq(data.calls, 1);
    ck_assert_uint_eq(room.calls, 4);
    ck_assert_int_eq(outside_again(w), 0);
    outside_unwatch(w);
    outside_unwatch(b);
    close(pair[0]);
    close(pair[1]);
}

static void libevent_is_asked(struct outside *o)
{
    struct heard timed = {0}, told = {0}, signalled = {0}, late = {0};
    int bell = eventfd(0, EFD_NONBLOCK);
    struct event *timer = event_new(o->base, -1, EV_TIMEOUT, on_event, &timed);
    struct event *reader = event_new(o->base, bell, EV_READ, on_event, &told);
    struct event *signal = event_new(o->base, SIGUSR1, EV_SIGNAL | EV_PERSIST, on_event, &signalled);
    struct event *now = event_new(o->base, -1, EV_TIMEOUT, on_event, &late);
    ck_assert_int_eq(event_add(timer, &(struct timeval){.tv_usec = 3000}), 0);
    look_until(o, &timed, 1);
    ck_assert_int_eq(event_add(reader, NULL), 0);
    ck_assert_int_eq(eventfd_write(bell, 1), 0);
    look(o, WAITS_FOR_EVER);
    ck_assert_uint_eq(told.calls, 1);
    ck_assert_int_eq(event_add(signal, NULL), 0);
    ck_assert_int_eq(raise(SIGUSR1), 0);
    look_until(o, &signalled, 1);
    /* Nothing but libevent knows of this one, so a wait for descriptors would not end. */
    event_active(now, EV_TIMEOUT, 0);
    look(o, WAITS_FOR_EVER);
    ck_assert_uint_eq(late.calls, 1);
    ck_assert_int_eq(event_add(now, &(struct timeval){0, 0}), 0);
    outside_ask_soon(o);
    ck_assert(!o->own || cw_time_due(o->ask_at, clock_now()));
    look(o, CW_NS(0));
    ck_assert_uint_eq(late.calls, 2);
    event_free(timer);
    event_free(reader);
    event_free(signal);
    event_free(now);
}

static void everything(bool own)
{
    struct outside o;
    int probe = eventfd(0, 0);
    ck_assert_int_eq(outside_open(&o, probe), 0);
    ck_assert(o.own == own);
    ck_assert(own == (o.ask_at.ns != CW_NEVER.ns));
    descriptors_are_heard(&o);
    room_is_told_once(&o);
    libevent_is_asked(&o);
    outside_close(&o);
}

START_TEST(by_sets_of_our_own)
{
    everything(true);
}
END_TEST

/* Two of one process do not take each other's libevent for their own. */
START_TEST(beside_another)
{
    struct outside o;
    int probe = eventfd(0, 0);
    ck_assert_int_eq(outside_open(&o, probe), 0);
    ck_assert(o.own);
    everything(true);
    descriptors_are_heard(&o);
    outside_close(&o);
    outside_close(&(struct outside){0});
}
END_TEST

/* What watches the probe already could be anybody's. */
START_TEST(not_confirmed)
{
    struct outside o;
    struct waits others;
    int probe = eventfd(0, 0);
    struct waits_item item = {.fn = on_watch, .calm = false};
    ck_assert_int_eq(waits_open(&others), 0);
    ck_assert_int_eq(waits_add(&others, &item, probe, 1), 0);
    ck_assert_int_eq(outside_open(&o, probe), 0);
    ck_assert(!o.own);
    descriptors_are_heard(&o);
    outside_close(&o);
    waits_close(&others);
}
END_TEST

START_TEST(without_proc)
{
    bool hidden = (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                  mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                  mount("none", "/proc", "tmpfs", 0, NULL) == 0;
    if (!hidden) {
        printf("a part is left out: /proc cannot be hidden here (%s)\n", strerror(errno));
        return;
    }
    everything(false);
    ck_assert_int_eq(umount("/proc"), 0); /* sanitizers read it at the end */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(by_sets_of_our_own),
    SUITE_TEST(beside_another),
    SUITE_TEST(not_confirmed),
    SUITE_TEST(without_proc),
};
SUITE_MAIN("outside", tests)
