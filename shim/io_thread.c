/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* ppoll */
#include "shim/io_thread.h"

#include "shim/clock.h"
#include "shim/outq.h"
#include "shim/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    OUT_LEAST = 8,
    IN_LEAST = 32,
    IN_BYTES = 512 * 1024,
    ALIGN = 16,
    LINGER_LOOK_NS = CW_NS_PER_MS,
};

void io_thread_signal(int fd)
{
    (void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

void io_thread_clear(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
}

void io_thread_raise(_Atomic bool *flag)
{
    atomic_exchange_explicit(flag, true, memory_order_acq_rel);
}

void io_thread_tell(_Atomic bool *flag, int fd)
{
    if (atomic_exchange_explicit(flag, false, memory_order_acq_rel)) {
        io_thread_signal(fd);
    }
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void give_back_sent(struct io_thread *t, unsigned count)
{
    struct io_worker *w = &t->worker;
    ring_push_batch(&t->out_back, (void *const *)w->held, count);
    w->held_count -= count;
    memmove(w->held, w->held + count, w->held_count * sizeof *w->held);
    /* Whoever is woken for every frame that leaves wakes too often. */
    if (w->held_count + ring_count(&t->out) <= t->depth / 2) {
        io_thread_tell(&t->waits, t->data);
    }
}

static void block(struct io_thread *t)
{
    struct io_worker *w = &t->worker;
    w->until = CW_NEVER;
    w->why_blocked = shim_wait(t->inside, &w->until);
    w->blocked = true;
}

/* True: something went, or was given up. */
static bool send_some(struct io_thread *t)
{
    struct io_worker *w = &t->worker;
    struct shim_frame frames[SHIM_BATCH];
    w->held_count += ring_pop_batch(&t->out, (void **)(w->held + w->held_count), SHIM_BATCH - w->held_count);
    if (w->held_count == 0 || w->blocked) {
        return false;
    }
    unsigned room = shim_room(t->inside);
    unsigned count = w->held_count < room ? w->held_count : room;
    if (!shim_carrier(t->inside)) {
        t->errors += w->held_count;
        give_back_sent(t, w->held_count);
        return true;
    }
    for (unsigned i = 0; i < count; i++) {
        frames[i] = (struct shim_frame){.bytes = w->held[i]->bytes, .length = w->held[i]->length};
    }
    int sent = count > 0 ? shim_send(t->inside, frames, count) : 0;
    if (sent == 0) {
        block(t);
        return false;
    }
    if (sent < 0) {
        sent = sent == -ENETDOWN ? (int)count : 1; /* else this one will never go */
        t->errors += (unsigned)sent;
    }
    give_back_sent(t, (unsigned)sent);
    return true;
}

static bool receive_some(struct io_thread *t)
{
    struct io_worker *w = &t->worker;
    struct shim_frame frames[SHIM_BATCH];
    if (!w->readable) {
        return false;
    }
    w->room_count += ring_pop_batch(&t->in_back, (void **)(w->room + w->room_count), SHIM_BATCH - w->room_count);
    if (w->room_count == 0) {
        return false; /* the owner is behind: what waits, waits in the shim inside */
    }
    for (unsigned i = 0; i < w->room_count; i++) {
        frames[i] = (struct shim_frame){.bytes = w->room[i]->bytes, .room = t->mtu};
    }
    int got = shim_receive(t->inside, frames, w->room_count);
    w->readable = got == (int)w->room_count;
    if (got <= 0) {
        return false;
    }
    for (int i = 0; i < got; i++) {
        w->room[i]->length = frames[i].length;
    }
    ring_push_batch(&t->in, (void *const *)w->room, (uint32_t)got);
    w->room_count -= (unsigned)got;
    memmove(w->room, w->room + got, w->room_count * sizeof *w->room);
    io_thread_tell(&t->listens, t->data);
    return true;
}

static void look_at_carrier(struct io_thread *t)
{
    struct io_worker *w = &t->worker;
    if (w->changed) {
        w->changed = false;
        shim_service_events(t->inside);
    }
    bool carrier = shim_carrier(t->inside);
    if (carrier != atomic_load_explicit(&t->carrier, memory_order_relaxed)) {
        w->blocked = false;
        w->readable = true;
        atomic_store_explicit(&t->carrier, carrier, memory_order_release);
        io_thread_signal(t->event);
    }
}

/* Is there something to do after all? Asked after the flags were raised. */
static bool has_more(const struct io_thread *t)
{
    const struct io_worker *w = &t->worker;
    return atomic_load_explicit(&t->ending, memory_order_acquire) ||
           atomic_load_explicit(&t->woken, memory_order_acquire) ||
           (!w->blocked && w->held_count + ring_count(&t->out) > 0) ||
           (w->readable && w->room_count + ring_count(&t->in_back) > 0);
}

/*
 * Until the shim inside or the owner has something for us; most_ns < 0: however long. A wait for an instant is made a
 * span, which does not count suspension: such waits are of microseconds, and a late one only sends later.
 */
static void doze(struct io_thread *t, int64_t most_ns)
{
    struct io_worker *w = &t->worker;
    bool takes = w->room_count + ring_count(&t->in_back) > 0;
    bool writes = w->blocked && w->why_blocked == SHIM_WAIT_WRITABLE;
    int data = shim_data_fd(t->inside), urgent = shim_urgent_fd(t->inside), room = shim_room_fd(t->inside);
    struct pollfd fds[] = {
        {.fd = t->kick, .events = POLLIN},
        {.fd = shim_event_fd(t->inside), .events = POLLIN},
        {.fd = takes ? data : -1, .events = POLLIN},
        {.fd = takes ? urgent : -1, .events = POLLIN},
        {.fd = writes ? room : -1, .events = POLLOUT},
    };
    if (w->blocked && w->why_blocked == SHIM_WAIT_TIME) {
        int64_t left = cw_time_since(w->until, clock_now()).ns;
        left = left > 0 ? left : 0;
        most_ns = most_ns < 0 || left < most_ns ? left : most_ns;
    }
    struct timespec span = {most_ns / 1000000000, most_ns % 1000000000};
    (void)ppoll(fds, sizeof fds / sizeof *fds, most_ns >= 0 ? &span : NULL, NULL);
    if (fds[0].revents != 0) {
        io_thread_clear(t->kick);
    }
    w->changed = w->changed || fds[1].revents != 0;
    w->readable = w->readable || fds[2].revents != 0 || fds[3].revents != 0;
    if (fds[4].revents != 0) {
        w->blocked = false;
    }
}

static void rest(struct io_thread *t)
{
    struct io_worker *w = &t->worker;
    io_thread_raise(&t->asleep);
    if (w->room_count == 0) {
        io_thread_raise(&t->starves);
    }
    if (!has_more(t)) {
        doze(t, -1);
    }
    /* An exchange too: what was pushed by whoever took the flag down before is seen from here on. */
    atomic_exchange_explicit(&t->asleep, false, memory_order_acq_rel);
}

static bool turn(struct io_thread *t)
{
    struct io_worker *w = &t->worker;
    if (atomic_exchange_explicit(&t->woken, false, memory_order_acq_rel)) {
        w->changed = w->readable = true;
        w->blocked = false;
    }
    if (w->blocked && w->why_blocked == SHIM_WAIT_TIME && cw_time_due(w->until, clock_now())) {
        w->blocked = false;
    }
    pthread_mutex_lock(t->lock);
    bool some = receive_some(t);
    some = send_some(t) || some;
    look_at_carrier(t);
    pthread_mutex_unlock(t->lock);
    return some;
}

/* What was sent before the end leaves, if it can within a moment. */
static void linger(struct io_thread *t)
{
    cw_time end = cw_time_add(clock_now(), CW_MS(IO_THREAD_LINGER_MS));
    while ((turn(t) || t->worker.held_count > 0) && !cw_time_due(end, clock_now())) {
        if (t->worker.blocked) {
            doze(t, LINGER_LOOK_NS);
        }
    }
}

static void *work(void *context)
{
    struct io_thread *t = context;
    t->worker.readable = t->worker.changed = true;
    while (!atomic_load_explicit(&t->ending, memory_order_acquire)) {
        if (!turn(t)) {
            rest(t);
        }
    }
    linger(t);
    return NULL;
}

int io_thread_start(struct io_thread *t)
{
    int rc = thread_start(&t->thread, work, t);
    if (rc < 0) {
        atomic_store_explicit(&t->carrier, false, memory_order_release);
    }
    return rc;
}

void io_thread_end(struct io_thread *t)
{
    atomic_store_explicit(&t->ending, true, memory_order_release);
    io_thread_signal(t->kick);
    pthread_join(t->thread, NULL);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static unsigned clamp(uint64_t value, unsigned least, unsigned most)
{
    return value < least ? least : value > most ? most : (unsigned)value;
}

/* Frames that wait here are behind the node's queues, where fairness is decided: few. */
static unsigned depth_of(const struct shim_info *info)
{
    uint64_t bytes =
        info->bits_per_second != 0 ? info->bits_per_second / 8 * OUTQ_SPAN_US / 1000000 : OUTQ_BYTES_UNKNOWN;
    return clamp(bytes / (info->mtu + info->overhead), OUT_LEAST, IO_THREAD_OUT_MOST);
}

static int open_memory(struct io_thread *t, unsigned in)
{
    enum { RINGS = 2 * IO_THREAD_OUT_MOST + 2 * IO_THREAD_IN_MOST };
    size_t stride = ((size_t)SHIM_HEADROOM + t->mtu + ALIGN - 1) / ALIGN * ALIGN;
    unsigned all = t->depth + in;
    t->slots = calloc(all, sizeof *t->slots);
    uint8_t *memory = t->memory = calloc(all, stride);
    t->ring_memory = aligned_alloc(RING_LINE, ring_size(RINGS));
    if (t->slots == NULL || memory == NULL || t->ring_memory == NULL) {
        return -ENOMEM;
    }
    uint8_t *at = t->ring_memory;
    ring_init(&t->out, at, IO_THREAD_OUT_MOST);
    ring_init(&t->out_back, at += ring_size(IO_THREAD_OUT_MOST), IO_THREAD_OUT_MOST);
    ring_init(&t->in, at += ring_size(IO_THREAD_OUT_MOST), IO_THREAD_IN_MOST);
    ring_init(&t->in_back, at += ring_size(IO_THREAD_IN_MOST), IO_THREAD_IN_MOST);
    for (unsigned i = 0; i < all; i++) {
        t->slots[i].bytes = memory + i * stride + SHIM_HEADROOM;
        CHECK(ring_push(i < t->depth ? &t->out_back : &t->in_back, &t->slots[i]));
    }
    return 0;
}

/* event is readable from the beginning: whoever watches calls service_events, and the thread begins. */
static int open_fds(struct io_thread *t)
{
    t->data = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->event = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    t->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return t->data < 0 || t->event < 0 || t->kick < 0 ? -errno : 0;
}

/* The shim inside has something: from the thread's own calls, or, with a shim that wakes from elsewhere, from there. */
static void on_wake(void *context)
{
    struct io_thread *t = context;
    atomic_store_explicit(&t->woken, true, memory_order_release);
    io_thread_tell(&t->asleep, t->kick);
}

int io_thread_open(struct io_thread *t, struct shim *inside)
{
    struct shim_info info;
    shim_info(inside, &info);
    memset(t, 0, sizeof *t);
    t->inside = inside;
    t->mtu = info.mtu;
    t->depth = depth_of(&info);
    t->data = t->event = t->kick = -1;
    pthread_mutex_init(&t->mutex, NULL);
    t->lock = &t->mutex;
    atomic_init(&t->carrier, shim_carrier(inside));
    atomic_init(&t->listens, true);
    int rc = open_fds(t);
    rc = rc < 0 ? rc : open_memory(t, clamp(IN_BYTES / (info.mtu + 1), IN_LEAST, IO_THREAD_IN_MOST));
    inside->wake = on_wake;
    inside->wake_context = t;
    return rc;
}

void io_thread_free(struct io_thread *t)
{
    const int fds[] = {t->data, t->event, t->kick};
    for (unsigned i = 0; i < 3; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    pthread_mutex_destroy(&t->mutex);
    free(t->slots);
    free(t->memory);
    free(t->ring_memory);
}
