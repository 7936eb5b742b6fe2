/* SPDX-License-Identifier: Apache-2.0 */
/* threaded.c - the owner's half: memory in, memory out, and whom to wake (io_thread.h). */
#include "shim/threaded.h"

#include "base/container.h"
#include "shim/clock.h"
#include "shim/io_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct threaded {
    struct io_thread io;
    alignas(RING_LINE) struct shim shim;
    struct io_slot *spare[IO_THREAD_OUT_MOST]; /* to send in */
    unsigned spare_count;
    bool wants_room;      /* wake is owed when there is some */
    bool started, failed; /* the thread */
    struct shim_counters counters;
};

static struct threaded *threaded_of(struct shim *s)
{
    return container_of(s, struct threaded, shim);
}

static const struct threaded *threaded_of_const(const struct shim *s)
{
    return container_of_const(s, struct threaded, shim);
}

/* False: there is no thread, and no carrier. */
static bool start(struct threaded *t)
{
    if (!t->started && !t->failed) {
        t->started = io_thread_start(&t->io) == 0;
        t->failed = !t->started;
    }
    return t->started;
}

static bool threaded_carrier(const struct shim *s)
{
    return atomic_load_explicit(&threaded_of_const(s)->io.carrier, memory_order_acquire);
}

static void take_back_sent(struct threaded *t)
{
    t->spare_count +=
        ring_pop_batch(&t->io.out_back, (void **)(t->spare + t->spare_count), t->io.depth - t->spare_count);
}

static unsigned threaded_room(struct shim *s)
{
    struct threaded *t = threaded_of(s);
    if (!start(t) || !threaded_carrier(s)) {
        return 0;
    }
    take_back_sent(t);
    return t->spare_count;
}

static bool is_sound(const struct threaded *t, const struct shim_frame *frame)
{
    return 1 <= frame->length && frame->length <= t->io.mtu;
}

static int threaded_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct threaded *t = threaded_of(s);
    if (!start(t) || !threaded_carrier(s)) {
        return -ENETDOWN;
    }
    if (!is_sound(t, &frames[0])) {
        return -EMSGSIZE;
    }
    if (t->spare_count < count) {
        take_back_sent(t);
    }
    void *filled[SHIM_BATCH];
    unsigned taken = 0;
    while (taken < count && t->spare_count > 0 && is_sound(t, &frames[taken])) {
        struct io_slot *slot = t->spare[--t->spare_count];
        memcpy(slot->bytes, frames[taken].bytes, frames[taken].length);
        slot->length = frames[taken].length;
        t->counters.tx_bytes += slot->length;
        filled[taken++] = slot;
    }
    t->counters.tx_frames += taken;
    if (taken > 0) {
        uint32_t pushed = ring_push_batch(&t->io.out, filled, taken);
        CHECK(pushed == taken);
        io_thread_tell(&t->io.asleep, t->io.kick);
    }
    return (int)taken;
}

static bool has_room(const struct threaded *t)
{
    return t->spare_count + ring_count(&t->io.out_back) > 0;
}

static enum shim_wait threaded_wait(struct shim *s, cw_time *until)
{
    struct threaded *t = threaded_of(s);
    t->wants_room = true;
    io_thread_raise(&t->io.waits);
    if (threaded_carrier(s) && has_room(t)) {
        *until = clock_now();
        return SHIM_WAIT_TIME;
    }
    return SHIM_WAIT_WAKE;
}

/* The owner has taken all there is: he is told when there is more. was: frames that he has just been given. */
static void listen_again(struct threaded *t, unsigned was)
{
    /* A signal that was under way when we looked last is found here, when nothing had come. */
    if (was == 0 || !atomic_load_explicit(&t->io.listens, memory_order_acquire)) {
        io_thread_clear(t->io.data);
    }
    io_thread_raise(&t->io.listens);
    if (ring_count(&t->io.in) > 0) {
        io_thread_tell(&t->io.listens, t->io.data);
    }
}

/*
 * The signal may be about room that we have used since: the thread gives back, looks how much is under way, and tells;
 * in between we may have taken that, sent, and begun to wait. Then the flag is down though we wait: it is raised again.
 */
static void tell_room(struct threaded *t)
{
    if (t->wants_room && !has_room(t)) {
        io_thread_raise(&t->io.waits);
    }
    if (t->wants_room && has_room(t)) {
        t->wants_room = false;
        if (t->shim.wake != NULL) {
            t->shim.wake(t->shim.wake_context);
        }
    }
}

static int threaded_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct threaded *t = threaded_of(s);
    struct shim_counters *c = &t->counters;
    void *filled[SHIM_BATCH];
    unsigned given = 0;
    if (!start(t)) {
        return 0;
    }
    uint32_t got = ring_pop_batch(&t->io.in, filled, count);
    for (uint32_t i = 0; i < got; i++) {
        const struct io_slot *slot = filled[i];
        if (slot->length > frames[given].room) {
            c->rx_strange++;
            continue;
        }
        memcpy(frames[given].bytes, slot->bytes, slot->length);
        frames[given++].length = slot->length;
        c->rx_bytes += slot->length;
    }
    c->rx_frames += given;
    if (got > 0) {
        uint32_t pushed = ring_push_batch(&t->io.in_back, filled, got);
        CHECK(pushed == got);
        io_thread_tell(&t->io.starves, t->io.kick);
    }
    if (got < count) {
        listen_again(t, got);
    }
    tell_room(t);
    return (int)given;
}

static int threaded_data_fd(const struct shim *s)
{
    return threaded_of_const(s)->io.data;
}

static int threaded_event_fd(const struct shim *s)
{
    return threaded_of_const(s)->io.event;
}

static void threaded_service_events(struct shim *s)
{
    struct threaded *t = threaded_of(s);
    (void)start(t);
    io_thread_clear(t->io.event);
}

static void threaded_info(const struct shim *s, struct shim_info *out)
{
    const struct threaded *t = threaded_of_const(s);
    static const char suffix[] = ", on a thread";
    pthread_mutex_lock(t->io.lock);
    shim_info(t->io.inside, out);
    pthread_mutex_unlock(t->io.lock);
    if (t->failed) {
        snprintf(out->state, sizeof out->state, "no thread can be had for this link");
    }
    size_t length = strnlen(out->name, sizeof out->name - sizeof suffix);
    memcpy(out->name + length, suffix, sizeof suffix);
}

static void threaded_counters(struct shim *s, struct shim_counters *out)
{
    struct threaded *t = threaded_of(s);
    const struct shim_counters *mine = &t->counters;
    pthread_mutex_lock(t->io.lock);
    shim_counters(t->io.inside, out);
    out->tx_errors += t->io.errors;
    pthread_mutex_unlock(t->io.lock);
    out->tx_frames = mine->tx_frames;
    out->tx_bytes = mine->tx_bytes;
    out->rx_frames = mine->rx_frames;
    out->rx_bytes = mine->rx_bytes;
    out->rx_strange += mine->rx_strange;
}

static int threaded_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    return shim_last_words(threaded_of_const(s)->io.inside, bytes, length);
}

static void threaded_close(struct shim *s)
{
    struct threaded *t = threaded_of(s);
    if (t->started) {
        io_thread_end(&t->io);
    }
    shim_close(t->io.inside);
    io_thread_free(&t->io);
    free(t);
}

static const struct shim_ops threaded_ops = {
    .send = threaded_send,
    .receive = threaded_receive,
    .room = threaded_room,
    .carrier = threaded_carrier,
    .data_fd = threaded_data_fd,
    .event_fd = threaded_event_fd,
    .service_events = threaded_service_events,
    .wait = threaded_wait,
    .info = threaded_info,
    .counters = threaded_counters,
    .last_words = threaded_last_words,
    .close = threaded_close,
};

int threaded_open(struct shim **out, struct shim *inside, char why[static SHIM_WHY_BYTES])
{
    struct threaded *t = aligned_alloc(RING_LINE, sizeof *t);
    int rc = -ENOMEM;
    if (t != NULL) {
        memset(t, 0, sizeof *t);
        t->shim.ops = &threaded_ops;
        rc = io_thread_open(&t->io, inside);
    }
    if (rc < 0) {
        struct shim_info info;
        shim_info(inside, &info);
        snprintf(why, SHIM_WHY_BYTES, "a thread for %s: %s", info.name, strerror(-rc));
        if (t != NULL) {
            io_thread_free(&t->io);
        }
        free(t);
        return rc;
    }
    *out = &t->shim;
    return 0;
}
