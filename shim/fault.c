/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/fault.h"

#include "base/container.h"
#include "base/heap.h"
#include "base/prng.h"
#include "shim/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    RETRY_US = 50,       /* when the shim inside had no room for what was due */
    RATE_FRAMES_MIN = 2, /* a line that is slow still holds as many */
    REORDER_BY_MS = 1,
    ALIGN = 16,
};

#define BIT_NONE UINT64_MAX

/* The kinds of chance: a stream each. */
enum chance { CHANCE_LOSS, CHANCE_DUPLICATE, CHANCE_REORDER, CHANCE_CORRUPT, CHANCE_JITTER, CHANCES };

/* A frame under way. */
struct slot {
    struct heap_entry entry;
    uint64_t sequence;
    struct slot *free_next;
    uint8_t *bytes;
    uint32_t length;
};

struct fault {
    struct shim shim;
    struct shim *inside;
    struct fault_options options;
    struct fault_clock clock;
    struct shim_info info; /* of the shim inside: mtu, overhead */
    int poll;              /* readable when the shim inside is, or timer */
    int timer;
    cw_time armed;   /* what timer is set to */
    cw_time blocked; /* the shim inside was full: not before then */
    bool is_blocked;
    cw_time line_free; /* when the line of the rate has sent all it has taken */
    cw_time last_due;  /* of a frame that is in order */
    uint64_t sequence;
    struct prng chance[CHANCES];
    struct heap line;
    void *line_memory;
    struct slot *slots, *free;
    uint32_t free_count;
    uint8_t *memory;
    struct shim_counters counters;
    struct fault_counters faults;
};

static struct fault *fault_of(struct shim *s)
{
    return container_of(s, struct fault, shim);
}

static const struct fault *fault_of_const(const struct shim *s)
{
    return container_of_const(s, struct fault, shim);
}

static cw_time now_of(const struct fault *f)
{
    return f->clock.now != NULL ? f->clock.now(f->clock.context) : clock_now();
}

cw_time fault_due(const struct shim *s)
{
    const struct fault *f = fault_of_const(s);
    return f->is_blocked ? f->blocked : heap_min_time(&f->line);
}

/* Has data_fd tell of what is due next. */
static void arm(struct fault *f)
{
    cw_time due = fault_due(&f->shim);
    if (f->clock.now != NULL) {
        return;
    }
    due = due.ns == CW_NEVER.ns ? due : clock_system(due);
    if (due.ns == f->armed.ns) {
        return;
    }
    struct itimerspec when = {{0}, {0}};
    if (due.ns != CW_NEVER.ns) {
        int64_t ns = due.ns < 1 ? 1 : due.ns; /* 0 would disarm */
        when.it_value = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    }
    (void)timerfd_settime(f->timer, TFD_TIMER_ABSTIME, &when, NULL);
    f->armed = due;
}

static struct slot *slot_take(struct fault *f)
{
    struct slot *slot = f->free;
    f->free = slot->free_next;
    f->free_count--;
    return slot;
}

static void slot_give(struct fault *f, struct slot *slot)
{
    slot->free_next = f->free;
    f->free = slot;
    f->free_count++;
}

static void queue(struct fault *f, struct slot *slot, cw_time due)
{
    int rc = heap_insert(&f->line, &slot->entry, due, slot->sequence);
    CHECK(rc == 0);
}

/* Up to a batch of what is due, off the line. */
static unsigned take_due(struct fault *f, cw_time now, struct slot *due[static SHIM_BATCH], struct shim_frame *frames)
{
    unsigned count = 0;
    while (count < SHIM_BATCH && cw_time_due(heap_min_time(&f->line), now)) {
        struct slot *slot = container_of(heap_pop(&f->line), struct slot, entry);
        frames[count] = (struct shim_frame){.bytes = slot->bytes, .length = slot->length};
        due[count++] = slot;
    }
    return count;
}

static void block(struct fault *f, cw_time now)
{
    cw_time until = CW_NEVER;
    f->is_blocked = true;
    f->blocked = cw_time_add(now, CW_US(RETRY_US));
    if (shim_wait(f->inside, &until) == SHIM_WAIT_TIME) {
        f->blocked = cw_time_max(f->blocked, until);
    }
}

/* Sends what is due to the shim inside. Without a carrier it is lost, as on a cable. */
static void flush(struct fault *f, cw_time now)
{
    struct slot *due[SHIM_BATCH];
    struct shim_frame frames[SHIM_BATCH];
    if (f->is_blocked && !cw_time_due(f->blocked, now)) {
        return;
    }
    f->is_blocked = false;
    unsigned count;
    while (!f->is_blocked && (count = take_due(f, now, due, frames)) > 0) {
        int sent = shim_send(f->inside, frames, count);
        unsigned done = sent < 0 ? count : (unsigned)sent;
        f->counters.tx_errors += sent < 0 ? count : 0;
        for (unsigned i = 0; i < count; i++) {
            if (i < done) {
                slot_give(f, due[i]);
            } else {
                queue(f, due[i], due[i]->entry.at);
            }
        }
        if (done < count) {
            block(f, now);
        }
    }
}

static bool fault_carrier(const struct shim *s)
{
    return shim_carrier(fault_of_const(s)->inside);
}

static cw_span time_on_line(const struct fault *f, uint32_t length)
{
    uint64_t rate = f->options.bits_per_second;
    if (rate == 0) {
        return CW_NS(0);
    }
    unsigned __int128 bits = (unsigned __int128)8 * (length + f->info.overhead);
    return (cw_span){(int64_t)(bits * 1000000000 / rate)};
}

/* How far ahead of now the line may be booked. */
static cw_span line_span(const struct fault *f)
{
    int64_t least = RATE_FRAMES_MIN * time_on_line(f, f->info.mtu).ns;
    int64_t span = CW_US(FAULT_SPAN_US).ns;
    return (cw_span){span > least ? span : least};
}

static unsigned rate_room(const struct fault *f, cw_time now)
{
    if (f->options.bits_per_second == 0) {
        return UINT32_MAX;
    }
    int64_t booked = cw_time_since(cw_time_max(f->line_free, now), now).ns;
    int64_t each = time_on_line(f, f->info.mtu).ns;
    int64_t left = line_span(f).ns - booked;
    return left <= 0 ? 0 : each == 0 ? UINT32_MAX : (unsigned)(left / each);
}

/* Frames of length bytes that are taken now. */
static bool takes(const struct fault *f, uint32_t length, cw_time now)
{
    if (f->free_count < 2) {
        return false; /* it might be sent twice */
    }
    cw_time end = cw_time_add(cw_time_max(f->line_free, now), time_on_line(f, length));
    return f->options.bits_per_second == 0 || cw_time_since(end, now).ns <= line_span(f).ns;
}

static unsigned fault_room(struct shim *s)
{
    struct fault *f = fault_of(s);
    if (!fault_carrier(s)) {
        return 0;
    }
    cw_time now = now_of(f);
    flush(f, now);
    arm(f);
    if (f->is_blocked) {
        return 0;
    }
    unsigned room = f->free_count / 2;
    unsigned rate = rate_room(f, now);
    room = room < rate ? room : rate;
    if (f->options.delay.ns == 0) {
        unsigned beyond = shim_room(f->inside);
        room = room < beyond ? room : beyond;
    }
    return room;
}

static bool happens(struct fault *f, enum chance what, uint32_t chance, uint64_t *count)
{
    bool does = prng_chance(&f->chance[what], chance, FAULT_ONE);
    *count += does;
    return does;
}

/* A copy of the frame onto the line, with one bit turned over: those of a frame count from 0, BIT_NONE is none. */
static void put(struct fault *f, const struct shim_frame *frame, uint64_t bit, cw_time due)
{
    struct slot *slot = slot_take(f);
    memcpy(slot->bytes, frame->bytes, frame->length);
    if (bit != BIT_NONE) {
        slot->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    slot->length = frame->length;
    slot->sequence = f->sequence++;
    queue(f, slot, due);
}

/* One frame onto the line. Every chance is drawn for every frame, so that none depends on the others. */
static void take(struct fault *f, const struct shim_frame *frame, cw_time now)
{
    const struct fault_options *o = &f->options;
    struct fault_counters seen = {0};
    f->line_free = cw_time_add(cw_time_max(f->line_free, now), time_on_line(f, frame->length));
    cw_span shake = prng_span(&f->chance[CHANCE_JITTER], CW_NS(0), (cw_span){2 * o->jitter.ns});
    bool lost = happens(f, CHANCE_LOSS, o->loss, &seen.lost);
    bool twice = happens(f, CHANCE_DUPLICATE, o->duplicate, &seen.duplicated);
    bool late = happens(f, CHANCE_REORDER, o->reorder, &seen.reordered);
    bool corrupt = happens(f, CHANCE_CORRUPT, o->corrupt, &seen.corrupted);
    uint64_t bit = prng_next(&f->chance[CHANCE_CORRUPT]) % ((uint64_t)8 * frame->length);
    f->counters.tx_frames++;
    f->counters.tx_bytes += frame->length;
    f->faults.lost += lost;
    if (lost) {
        return;
    }
    f->faults.duplicated += twice;
    f->faults.reordered += late;
    f->faults.corrupted += corrupt;
    cw_time due = cw_time_add(cw_time_add(f->line_free, o->delay), (cw_span){shake.ns - o->jitter.ns});
    due = cw_time_max(due, f->last_due);
    f->last_due = due;
    if (late) {
        due = cw_time_add(due, o->reorder_by.ns != 0 ? o->reorder_by : CW_MS(REORDER_BY_MS));
    }
    bit = corrupt ? bit : BIT_NONE;
    put(f, frame, bit, due);
    if (twice) {
        put(f, frame, bit, due);
    }
}

static int fault_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct fault *f = fault_of(s);
    if (!fault_carrier(s)) {
        return -ENETDOWN;
    }
    if (frames[0].length < 1 || frames[0].length > f->info.mtu) {
        return -EMSGSIZE;
    }
    cw_time now = now_of(f);
    if (f->is_blocked) {
        flush(f,
              now); /* else only behind: room() has counted on the places that are free, not on those of what is due */
    }
    unsigned taken = 0;
    while (!f->is_blocked && taken < count && takes(f, frames[taken].length, now)) {
        if (frames[taken].length < 1 || frames[taken].length > f->info.mtu) {
            break;
        }
        take(f, &frames[taken++], now);
    }
    flush(f, now);
    arm(f);
    return (int)taken;
}

static int fault_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct fault *f = fault_of(s);
    cw_time now = now_of(f);
    if (cw_time_due(f->armed, now)) {
        f->armed = (cw_time){INT64_MIN}; /* it has fired: must be set again, if only to be silent */
    }
    flush(f, now);
    arm(f);
    return shim_receive(f->inside, frames, count);
}

/* Never WRITABLE: data_fd is not the socket's. */
static enum shim_wait fault_wait(struct shim *s, cw_time *until)
{
    const struct fault *f = fault_of(s);
    cw_time now = now_of(f);
    *until = cw_time_add(now, CW_US(RETRY_US));
    if (f->is_blocked) {
        *until = cw_time_max(*until, f->blocked);
    } else if (f->free_count < 2) {
        *until = cw_time_max(*until, heap_min_time(&f->line));
    } else if (rate_room(f, now) == 0) {
        int64_t over = cw_time_since(f->line_free, now).ns + time_on_line(f, f->info.mtu).ns - line_span(f).ns;
        *until = cw_time_add(now, (cw_span){over > 0 ? over : 0});
    }
    return SHIM_WAIT_TIME;
}

static int fault_data_fd(const struct shim *s)
{
    return fault_of_const(s)->poll;
}

static int fault_event_fd(const struct shim *s)
{
    return shim_event_fd(fault_of_const(s)->inside);
}

static void fault_service_events(struct shim *s)
{
    shim_service_events(fault_of(s)->inside);
}

static void fault_info(const struct shim *s, struct shim_info *out)
{
    const struct fault *f = fault_of_const(s);
    static const char suffix[] = ", with faults";
    shim_info(f->inside, out);
    size_t length = strnlen(out->name, sizeof out->name - sizeof suffix);
    memcpy(out->name + length, suffix, sizeof suffix);
    if (f->options.bits_per_second != 0) {
        out->bits_per_second = f->options.bits_per_second;
    }
}

static void fault_shim_counters(struct shim *s, struct shim_counters *out)
{
    const struct fault *f = fault_of(s);
    shim_counters(f->inside, out);
    out->tx_frames = f->counters.tx_frames;
    out->tx_bytes = f->counters.tx_bytes;
    out->tx_errors += f->counters.tx_errors;
}

void fault_counters(const struct shim *s, struct fault_counters *out)
{
    *out = fault_of_const(s)->faults;
}

static int fault_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    return shim_last_words(fault_of_const(s)->inside, bytes, length);
}

static void fault_free(struct fault *f)
{
    if (f->poll >= 0) {
        close(f->poll);
    }
    if (f->timer >= 0) {
        close(f->timer);
    }
    free(f->line_memory);
    free(f->slots);
    free(f->memory);
    free(f);
}

static void fault_close(struct shim *s)
{
    struct fault *f = fault_of(s);
    shim_close(f->inside);
    fault_free(f);
}

/* The shim inside has something: so have we. */
static void pass_wake(void *context)
{
    const struct fault *f = context;
    if (f->shim.wake != NULL) {
        f->shim.wake(f->shim.wake_context);
    }
}

static const struct shim_ops fault_ops = {
    .send = fault_send,
    .receive = fault_receive,
    .room = fault_room,
    .carrier = fault_carrier,
    .data_fd = fault_data_fd,
    .event_fd = fault_event_fd,
    .service_events = fault_service_events,
    .wait = fault_wait,
    .info = fault_info,
    .counters = fault_shim_counters,
    .last_words = fault_last_words,
    .close = fault_close,
};

static int watch(const struct fault *f, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return fd >= 0 && epoll_ctl(f->poll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_fds(struct fault *f)
{
    f->poll = epoll_create1(EPOLL_CLOEXEC);
    f->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (f->poll < 0 || f->timer < 0) {
        return -errno;
    }
    int rc = watch(f, f->timer);
    rc = rc < 0 ? rc : watch(f, shim_data_fd(f->inside));
    return rc < 0 ? rc : watch(f, shim_urgent_fd(f->inside));
}

/* Memory is touched only where frames are under way: the place given back last is taken first. */
static int open_line(struct fault *f, uint32_t places)
{
    size_t stride = ((size_t)SHIM_HEADROOM + f->info.mtu + ALIGN - 1) / ALIGN * ALIGN;
    f->line_memory = malloc(heap_size(places));
    f->slots = calloc(places, sizeof *f->slots);
    f->memory = calloc(places, stride);
    if (f->line_memory == NULL || f->slots == NULL || f->memory == NULL) {
        return -ENOMEM;
    }
    heap_init(&f->line, f->line_memory, places);
    for (uint32_t i = places; i-- > 0;) {
        f->slots[i].bytes = f->memory + i * stride + SHIM_HEADROOM;
        slot_give(f, &f->slots[i]);
    }
    return 0;
}

void fault_set(struct shim *s, const struct fault_options *options)
{
    struct fault *f = fault_of(s);
    CHECK(options->delay.ns >= 0 && options->jitter.ns >= 0 && options->reorder_by.ns >= 0);
    bool reseed = options->seed != f->options.seed || f->sequence == 0;
    f->options = *options;
    if (f->options.jitter.ns > f->options.delay.ns) {
        f->options.jitter = f->options.delay;
    }
    for (unsigned i = 0; reseed && i < CHANCES; i++) {
        f->chance[i] = prng_stream(options->seed, 0, i);
    }
}

int fault_open(struct shim **out, struct shim *inside, const struct fault_options *options, uint32_t queue_frames,
               const struct fault_clock *clock, char why[static SHIM_WHY_BYTES])
{
    struct fault *f = calloc(1, sizeof *f);
    if (f == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "faults: out of memory");
        return -ENOMEM;
    }
    *f = (struct fault){.shim.ops = &fault_ops, .inside = inside, .poll = -1, .timer = -1, .armed = CW_NEVER};
    f->line_free = f->last_due = (cw_time){INT64_MIN};
    f->clock = clock != NULL ? *clock : f->clock;
    shim_info(inside, &f->info);
    fault_set(&f->shim, options);
    int rc = open_fds(f);
    rc = rc < 0 ? rc : open_line(f, 2 * (queue_frames != 0 ? queue_frames : FAULT_QUEUE));
    if (rc < 0) {
        snprintf(why, SHIM_WHY_BYTES, "faults on %s: %s", f->info.name, strerror(-rc));
        fault_free(f);
        return rc;
    }
    inside->wake = pass_wake;
    inside->wake_context = f;
    *out = &f->shim;
    return 0;
}
