/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pair.h"

#include "base/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One way of the cable. Indices run freely and wrap at 2^32; the slot is the index modulo depth, kept beside it. */
struct way {
    uint8_t *memory; /* depth slots of mtu bytes */
    uint32_t *length;
    uint32_t first, count;
};

struct pair;

struct end {
    struct shim shim;
    struct pair *pair;
    struct shim_counters counters;
    bool refused; /* a send found no room: the next receive of the other end wakes us */
    bool open;
};

struct pair {
    struct end ends[2];
    struct way ways[2]; /* what ends[i] sent */
    uint32_t mtu, depth;
    bool cut;
    char name[SHIM_NAME_BYTES];
};

static struct end *end_of(struct shim *s)
{
    return container_of(s, struct end, shim);
}

static const struct pair *pair_of(const struct shim *s)
{
    return container_of_const(s, struct end, shim)->pair;
}

static struct end *other_of(struct end *e)
{
    return &e->pair->ends[e == &e->pair->ends[0]];
}

static struct way *way_from(const struct end *e)
{
    return &e->pair->ways[e == &e->pair->ends[1]];
}

static void wake(const struct end *e)
{
    if (e->open && e->shim.wake != NULL) {
        e->shim.wake(e->shim.wake_context);
    }
}

static bool pair_carrier(const struct shim *s)
{
    const struct pair *p = pair_of(s);
    return !p->cut && p->ends[0].open && p->ends[1].open;
}

static void push(const struct pair *p, struct way *w, const struct shim_frame *frame)
{
    uint32_t slot = w->first + w->count;
    slot -= slot >= p->depth ? p->depth : 0;
    memcpy(w->memory + (size_t)slot * p->mtu, frame->bytes, frame->length);
    w->length[slot] = frame->length;
    w->count++;
}

static int pair_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct end *e = end_of(s);
    const struct pair *p = e->pair;
    struct way *w = way_from(e);
    if (!pair_carrier(s)) {
        return -ENETDOWN;
    }
    unsigned taken = 0;
    bool sound = true;
    while (taken < count && w->count < p->depth) {
        sound = 1 <= frames[taken].length && frames[taken].length <= p->mtu;
        if (!sound) {
            break;
        }
        push(p, w, &frames[taken]);
        e->counters.tx_bytes += frames[taken].length;
        taken++;
    }
    e->counters.tx_frames += taken;
    e->refused = taken < count && sound;
    if (taken > 0) {
        wake(other_of(e));
    }
    return taken == 0 && !sound ? -EMSGSIZE : (int)taken;
}

static int pair_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct end *e = end_of(s);
    struct end *other = other_of(e);
    const struct pair *p = e->pair;
    struct way *w = way_from(other);
    bool moved = w->count > 0;
    unsigned given = 0;
    while (given < count && w->count > 0) {
        uint32_t slot = w->first;
        uint32_t length = w->length[slot];
        w->first = slot + 1 == p->depth ? 0 : slot + 1;
        w->count--;
        if (length > frames[given].room) {
            e->counters.rx_strange++;
            continue;
        }
        memcpy(frames[given].bytes, w->memory + (size_t)slot * p->mtu, length);
        frames[given].length = length;
        e->counters.rx_bytes += length;
        given++;
    }
    e->counters.rx_frames += given;
    if (moved && other->refused) {
        other->refused = false;
        wake(other);
    }
    return (int)given;
}

static unsigned pair_room(struct shim *s)
{
    struct end *e = end_of(s);
    if (!pair_carrier(s)) {
        return 0;
    }
    unsigned room = e->pair->depth - way_from(e)->count;
    e->refused = room == 0; /* who was told that there is none waits for a word that there is */
    return room;
}

static int pair_no_fd(const struct shim *s)
{
    (void)s;
    return -1;
}

static void pair_service_events(struct shim *s)
{
    (void)s;
}

static enum shim_wait pair_wait(struct shim *s, cw_time *until)
{
    (void)s;
    (void)until;
    return SHIM_WAIT_WAKE;
}

static void pair_info(const struct shim *s, struct shim_info *out)
{
    const struct pair *p = pair_of(s);
    *out = (struct shim_info){.kind = "pair", .mtu = p->mtu};
    memcpy(out->name, p->name, sizeof out->name);
    const char *why = p->cut ? "cut" : "the other end is closed";
    snprintf(out->state, sizeof out->state, "%s", pair_carrier(s) ? "up" : why);
}

static void pair_counters(struct shim *s, struct shim_counters *out)
{
    *out = end_of(s)->counters;
}

static int pair_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    (void)s;
    (void)bytes;
    (void)length;
    return -EOPNOTSUPP; /* both ends died */
}

static void empty(struct way *w)
{
    w->first = w->count = 0;
}

static void pair_free(struct pair *p)
{
    for (int i = 0; i < 2; i++) {
        free(p->ways[i].memory);
        free(p->ways[i].length);
    }
    free(p);
}

static void pair_close(struct shim *s)
{
    struct end *e = end_of(s);
    struct end *other = other_of(e);
    CHECK(e->open);
    e->open = false;
    if (!other->open) {
        pair_free(e->pair);
        return;
    }
    empty(way_from(other)); /* nobody will receive it; what this end sent still arrives */
    wake(other);
}

static const struct shim_ops pair_ops = {
    .send = pair_send,
    .receive = pair_receive,
    .room = pair_room,
    .carrier = pair_carrier,
    .data_fd = pair_no_fd,
    .event_fd = pair_no_fd,
    .service_events = pair_service_events,
    .wait = pair_wait,
    .info = pair_info,
    .counters = pair_counters,
    .last_words = pair_last_words,
    .close = pair_close,
};

int pair_open(struct shim *ends[static 2], const char *name, uint32_t mtu, uint32_t depth)
{
    CHECK(mtu >= 1 && depth >= 1 && depth <= UINT32_MAX / 2);
    struct pair *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return -ENOMEM;
    }
    p->mtu = mtu;
    p->depth = depth;
    snprintf(p->name, sizeof p->name, "%s", name);
    for (int i = 0; i < 2; i++) {
        p->ends[i] = (struct end){.shim.ops = &pair_ops, .pair = p, .open = true};
        p->ways[i].memory = calloc(depth, mtu);
        p->ways[i].length = calloc(depth, sizeof *p->ways[i].length);
        if (p->ways[i].memory == NULL || p->ways[i].length == NULL) {
            pair_free(p);
            return -ENOMEM;
        }
    }
    ends[0] = &p->ends[0].shim;
    ends[1] = &p->ends[1].shim;
    return 0;
}

bool pair_cut(struct shim *end, bool cut)
{
    struct pair *p = end_of(end)->pair;
    if (p->cut == cut) {
        return false;
    }
    p->cut = cut;
    empty(&p->ways[0]);
    empty(&p->ways[1]);
    wake(&p->ends[0]);
    wake(&p->ends[1]);
    return true;
}
