/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_lanes.c - two processes and their lane; then one of them is hostile and overwrites any byte of its area before
 * any load of the other's.
 */
#include "share/lane.h"
#include "share_scenes.h"
#include "share_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, QUEUE = 2048, MOST = 3000, GUARD = 64, UNITS = SHARE_LANE_AREA / 8 };

struct queued {
    uint16_t endpoint;
    uint32_t tag, length;
};

struct scene {
    struct dice *d;
    unsigned char *area[2];
    struct share_lane lane[2];
    struct queued queue[2][QUEUE]; /* put by i */
    unsigned first[2], count[2];
    unsigned anger;
    uint32_t call, seen[UNITS]; /* in which call a word was loaded last */
};

static unsigned char byte_of(uint32_t tag, uint32_t i)
{
    return (unsigned char)(tag * 13 + i * 5);
}

static void open_lane(struct scene *s, uint32_t start)
{
    for (unsigned i = 0; i < 2; i++) {
        s->area[i] = aligned_alloc(SHARE_PAGE, SHARE_LANE_AREA + SHARE_PAGE);
        if (s->area[i] == NULL) {
            exit(2);
        }
        memset(s->area[i], 0, SHARE_LANE_AREA);
        memset(s->area[i] + SHARE_LANE_AREA, 0xc7, SHARE_PAGE);
        memcpy(s->area[i] + SHARE_LANE_TAIL, &start, sizeof start);
        memcpy(s->area[i] + SHARE_LANE_HEAD, &start, sizeof start);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct share_out ours = share_out_of(s->area[i], SHARE_LANE_AREA);
        struct share_in theirs = share_in_of(s->area[1 - i], SHARE_LANE_AREA);
        share_lane_open(&s->lane[i], &ours, &theirs, start);
    }
}

static void close_lane(struct scene *s)
{
    for (unsigned i = 0; i < 2; i++) {
        for (size_t at = 0; at < SHARE_PAGE; at++) {
            if (s->area[i][SHARE_LANE_AREA + at] != 0xc7) {
                WRONG("bounds", "somebody wrote behind a lane");
            }
        }
        free(s->area[i]);
    }
}

static void put_some(struct scene *s, unsigned i)
{
    unsigned char bytes[MOST];
    for (unsigned n = 1 + dice_below(s->d, 6); n > 0; n--) {
        struct queued q = {(uint16_t)dice_below(s->d, SHARE_LANE_PORTS), (uint32_t)dice_word(s->d),
                           dice_below(s->d, dice_below(s->d, 4) ? 200 : MOST)};
        for (uint32_t at = 0; at < q.length; at++) {
            bytes[at] = byte_of(q.tag, at);
        }
        int rc = share_lane_put(&s->lane[i], q.endpoint, q.tag, bytes, q.length);
        if (rc == -EAGAIN) {
            break;
        }
        if (rc != 0 || s->count[i] == QUEUE) {
            WRONG("lane", "put: %d", rc);
            return;
        }
        s->queue[i][(s->first[i] + s->count[i]++) % QUEUE] = q;
    }
    if (dice_below(s->d, 3)) {
        (void)!share_lane_publish(&s->lane[i]);
    }
}

static void take_some(struct scene *s, unsigned i, uint64_t endpoints)
{
    unsigned char to[MOST + GUARD];
    struct share_lane_message m;
    for (unsigned n = dice_below(s->d, 8); n > 0 && share_is_well(); n--) {
        uint32_t most = dice_below(s->d, 5) ? MOST : dice_below(s->d, MOST);
        memset(to, 0x5a, sizeof to);
        int rc = share_lane_take(&s->lane[i], endpoints, &m, to, most);
        if (rc == 0 || rc == -EMSGSIZE) {
            continue;
        }
        if (rc != 1) {
            WRONG("lane", "take: %d", rc);
            return;
        }
        share_ledger->lane_messages++;
        /* What was for other endpoints was passed over. */
        struct queued *q = NULL;
        while (s->count[1 - i] > 0 && q == NULL) {
            q = &s->queue[1 - i][s->first[1 - i]++ % QUEUE];
            s->count[1 - i]--;
            q = endpoints >> q->endpoint & 1 ? q : NULL;
        }
        if (q == NULL || q->endpoint != m.endpoint || q->tag != m.tag || q->length != m.length) {
            WRONG("lane", "another message than was put");
            return;
        }
        for (uint32_t at = 0; at < m.length + GUARD; at++) {
            if (to[at] != (at < m.length ? byte_of(m.tag, at) : 0x5a)) {
                WRONG("lane", "other bytes than were put");
                return;
            }
        }
    }
}

void share_scene_lane(struct dice *d)
{
    static const uint32_t starts[] = {0, UINT32_MAX - 64 * 40 + 1, 64 * 1000};
    static struct scene s;
    memset(&s, 0, sizeof s);
    s.d = d;
    open_lane(&s, starts[dice_below(d, 3)]);
    uint64_t endpoints[2] = {dice_below(d, 2) ? UINT64_MAX : dice_word(d), dice_word(d)};
    for (unsigned i = 0; i < STEPS && share_is_well(); i++) {
        unsigned who = dice_below(d, 2);
        if (dice_below(d, 2)) {
            put_some(&s, who);
        } else {
            take_some(&s, who, endpoints[who]);
            (void)!share_lane_publish(&s.lane[who]);
        }
    }
    close_lane(&s);
}

/* Lane 0 reads and is honest; whoever writes area 1 is not. */
static void on_load(void *arg, const void *at, size_t bytes)
{
    struct scene *s = arg;
    unsigned char *area = s->area[1];
    const unsigned char *loaded = at;
    if (loaded < area || loaded >= area + SHARE_LANE_AREA) {
        return;
    }
    size_t unit = (size_t)(loaded - area) / 8;
    if (bytes > 1) {
        if (s->seen[unit] == s->call) {
            WRONG("once", "a byte of a lane was loaded twice for one decision");
        }
        s->seen[unit] = s->call;
    }
    if (dice_below(s->d, s->anger) != 0) {
        return;
    }
    uint64_t word = dice_word(s->d);
    share_ledger->overwrites++;
    uint32_t index = s->lane[0].head + SHARE_RECORD_BYTES * dice_below(s->d, 64);
    switch (dice_below(s->d, 6)) {
    case 0:
        memcpy(area + SHARE_LANE_TAIL, &index, sizeof index);
        return;
    case 1:
        memcpy(area + SHARE_LANE_HEAD, &word, 4);
        return;
    case 2:
        area[dice_below(s->d, SHARE_LANE_AREA)] ^= (unsigned char)(word | 1);
        return;
    case 3: /* a length */
        word = (word & 0xffff) << 32 | SHARE_RECORD_SHORT | (uint64_t)dice_below(s->d, 64) << 16;
        memcpy(area + SHARE_LANE_RECORDS + index % SHARE_LANE_RING, &word, sizeof word);
        return;
    default:
        area[unit * 8 + dice_below(s->d, 8)] ^= (unsigned char)(1u << dice_below(s->d, 8));
    }
}

void share_scene_hostile_lane(struct dice *d)
{
    static struct scene s;
    memset(&s, 0, sizeof s);
    s.d = d;
    s.anger = 3 + dice_below(d, 200);
    for (unsigned i = 0; i < 6 && share_is_well(); i++) {
        open_lane(&s, 0);
        uint64_t endpoints = dice_word(d);
        int rc = 0;
        for (unsigned n = 0; n < STEPS && rc != -EPROTO && share_is_well(); n++) {
            unsigned char to[MOST + GUARD];
            struct share_lane_message m;
            put_some(&s, 1);
            s.first[1] = s.count[1] = 0;
            uint32_t most = dice_below(d, MOST);
            memset(to, 0x5a, sizeof to);
            share_watch = (struct share_watch){.load = on_load, .arg = &s};
            s.call++;
            rc = share_lane_take(&s.lane[0], endpoints, &m, to, most);
            memset(&share_watch, 0, sizeof share_watch);
            for (uint32_t at = rc == 1 ? m.length : 0; at < sizeof to && share_is_well(); at++) {
                if (to[at] != 0x5a && (rc != 1 || at >= most)) {
                    WRONG("bounds", "bytes behind a message of a lane");
                }
            }
            if (rc == 1 && (m.length > most || m.endpoint >= 64 || !(endpoints >> m.endpoint & 1))) {
                WRONG("lane", "a message of %u bytes for endpoint %u", m.length, m.endpoint);
            }
            (void)!share_lane_publish(&s.lane[0]);
        }
        share_ledger->lanes_broken += rc == -EPROTO;
        close_lane(&s);
    }
}
