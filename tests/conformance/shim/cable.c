/* SPDX-License-Identifier: Apache-2.0 */
#include "cable.h"

#include "shim/clock.h"

#include <poll.h>
#include <string.h>
#include <time.h>

static const struct conformance_kind *kind;
static struct shim *served[2]; /* the ends of the cable that is open */

void cable_kind(const struct conformance_kind *of)
{
    kind = of;
}

void cable_forget(int end)
{
    served[end] = NULL;
}

void frame_fill(uint8_t *bytes, uint32_t number, uint32_t length)
{
    uint32_t x = number * 2654435761u + length;
    for (uint32_t i = 0; i < length; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = (uint8_t)(x >> 24);
    }
}

bool frame_is(const uint8_t *bytes, uint32_t number, uint32_t length)
{
    uint8_t want[MEMORY_BYTES];
    frame_fill(want, number, length);
    return memcmp(bytes, want, length) == 0;
}

static void woken(void *context)
{
    ++*(unsigned *)context;
}

void cable_open(struct cable *c)
{
    static bool is_set_up;
    if (!is_set_up && kind->set_up != NULL) {
        kind->set_up();
    }
    is_set_up = true;
    *c = (struct cable){.more = NULL};
    kind->open(c, kind->mtu);
    for (int i = 0; i < 2; i++) {
        c->end[i]->wake = woken;
        c->end[i]->wake_context = &c->woken[i];
        served[i] = c->end[i];
    }
    for (int i = 0; i < 2; i++) {
        ck_assert(cable_carrier(c->end[i], true, PATIENCE_MS));
    }
}

void cable_serve(void)
{
    for (int i = 0; i < 2; i++) {
        if (served[i] != NULL) {
            (void)shim_room(served[i]);
        }
    }
}

void cable_close(struct cable *c)
{
    served[0] = served[1] = NULL;
    shim_close(c->end[0]);
    shim_close(c->end[1]);
}

void cable_pause(long us)
{
    struct timespec span = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&span, NULL);
}

bool cable_poll(int fd, short events, int ms)
{
    struct pollfd one = {.fd = fd, .events = events};
    return poll(&one, 1, ms) > 0;
}

bool cable_await(struct shim *s, int ms)
{
    struct pollfd both[] = {{.fd = shim_data_fd(s), .events = POLLIN}, {.fd = shim_urgent_fd(s), .events = POLLIN}};
    return both[0].fd < 0 || poll(both, 2, ms) > 0;
}

bool cable_carrier(struct shim *s, bool carrier, int ms)
{
    cw_time end = cw_time_add(clock_now(), CW_MS(ms));
    shim_service_events(s);
    while (shim_carrier(s) != carrier) {
        if (cw_time_due(end, clock_now())) {
            return false;
        }
        if (shim_event_fd(s) >= 0 && cable_poll(shim_event_fd(s), POLLIN, 10)) {
            shim_service_events(s);
        }
    }
    return true;
}

void cable_wait_for_room(struct shim *s)
{
    cw_time until = CW_NEVER;
    enum shim_wait what = shim_wait(s, &until);
    if (what == SHIM_WAIT_WRITABLE) {
        ck_assert(cable_poll(shim_room_fd(s), POLLOUT, PATIENCE_MS));
    } else if (what == SHIM_WAIT_TIME) {
        int64_t ns = cw_time_since(until, clock_now()).ns;
        ck_assert(ns < (int64_t)PATIENCE_MS * 1000000);
        cable_pause(ns > 0 ? (long)(ns / 1000) + 1 : 0);
    } else {
        cable_pause(10);
    }
}

void cable_send(struct shim *s, uint32_t number, uint32_t length)
{
    uint8_t memory[SHIM_HEADROOM + MEMORY_BYTES];
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = length};
    frame_fill(frame.bytes, number, length);
    int sent;
    while ((sent = shim_send(s, &frame, 1)) == 0) {
        cable_wait_for_room(s);
    }
    ck_assert_int_eq(sent, 1);
}

uint32_t cable_receive(struct shim *s, uint8_t memory[static MEMORY_BYTES], int ms)
{
    static uint8_t room[SHIM_HEADROOM + MEMORY_BYTES];
    struct shim_frame frame = {.bytes = room + SHIM_HEADROOM, .room = MEMORY_BYTES};
    cw_time end = cw_time_add(clock_now(), CW_MS(ms));
    do {
        int got = shim_receive(s, &frame, 1);
        ck_assert_int_ge(got, 0);
        if (got == 1) {
            memcpy(memory, frame.bytes, frame.length);
            return frame.length;
        }
        cable_serve();
        cable_await(s, 1);
    } while (!cw_time_due(end, clock_now()));
    return 0;
}
