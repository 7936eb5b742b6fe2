/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_hostile.c - a process that overwrites any byte of its memory before any load of its daemon's. Whatever it
 * writes: what is taken is fine by the model, no byte is loaded twice for it, batches are no longer than the ring, what
 * was refused is counted, and nothing behind an area is touched.
 */
#include "share_kit.h"
#include "share_scenes.h"
#include "share_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 60,
    /* of one call: the command, what stands before a body, parts, the completion ring's head */
    LOADS_MOST = SHARE_COMMAND_WORDS + SHARE_INLINE_WORDS + 16 * SHARE_PARTS_MOST + 1,
};

struct scene {
    struct share_kit k;
    struct dice *d;
    unsigned anger; /* one load in so many is preceded by a change */
    const void *seen[LOADS_MOST + 1];
    unsigned loads;
    bool once; /* loads are of one decision */
};

static void overwrite(struct scene *s, unsigned char *at, size_t bytes)
{
    uint64_t word = dice_word(s->d);
    share_ledger->overwrites++;
    if (dice_below(s->d, 2)) {
        at[dice_below(s->d, (unsigned)bytes)] ^= (unsigned char)(1u << dice_below(s->d, 8));
    } else {
        memcpy(at, &word, bytes);
    }
}

/* An index: near what would be right, or anything. */
static void set_index(struct scene *s, size_t at, uint64_t right, size_t bytes)
{
    uint64_t value = dice_below(s->d, 3) ? right + dice_below(s->d, 40) - 8 : dice_word(s->d);
    share_ledger->overwrites++;
    memcpy(s->k.sub + at, &value, bytes);
}

static void be_evil(struct scene *s, const void *at, size_t bytes)
{
    struct share_kit *k = &s->k;
    size_t slot = SHARE_SUB_COMMANDS + SHARE_SLOT_BYTES * (size_t)(k->taker.head & (k->g.commands - 1));
    unsigned region = dice_below(s->d, 3) == 0 ? 0 : 3;
    switch (dice_below(s->d, 12)) {
    case 0:
        set_index(s, SHARE_SUB_COMMAND_TAIL, k->taker.tail, 4);
        return;
    case 1:
        set_index(s, SHARE_SUB_COMPLETION_HEAD, k->teller.head_seen, 4);
        return;
    case 2:
        set_index(s, SHARE_SUB_INBOX_HEAD, k->writer.head + (dice_below(s->d, 2) ? 0 : k->writer.published), 8);
        return;
    case 3:
        set_index(s, SHARE_SUB_REST, 1, 4);
        return;
    case 4:
    case 5:
    case 6:
        overwrite(s, k->sub + slot + 8 * (size_t)dice_below(s->d, SHARE_SLOT_BYTES / 8), 8);
        return;
    case 7:
        overwrite(s, k->sub + 8 * (size_t)dice_below(s->d, (unsigned)(share_sub_bytes(&k->g) / 8)), 8);
        return;
    case 8:
        overwrite(s, k->region[region] + 8 * (size_t)dice_below(s->d, 8192), 8);
        return;
    default:
        /* the very bytes that are loaded next, if it may write them */
        if ((const unsigned char *)at >= k->com && (const unsigned char *)at < k->com + share_com_bytes(&k->g)) {
            return;
        }
        overwrite(s, (unsigned char *)(uintptr_t)at, bytes);
    }
}

static void on_load(void *arg, const void *at, size_t bytes)
{
    struct scene *s = arg;
    if (s->once) {
        for (unsigned i = 0; i < s->loads && i < LOADS_MOST; i++) {
            if (s->seen[i] == at) {
                WRONG("once", "a byte was loaded twice for one decision");
            }
        }
        s->seen[s->loads < LOADS_MOST ? s->loads : LOADS_MOST] = at;
        if (++s->loads > LOADS_MOST) {
            WRONG("bounded", "%u loads for one command", s->loads);
        }
    }
    if (dice_below(s->d, s->anger) == 0) {
        be_evil(s, at, bytes);
    }
}

static void end_of(struct scene *s, const struct share_taken *taken)
{
    struct share_teller *t = &s->k.teller;
    uint32_t faults = share_model_faults(&taken->c, &s->k.tables);
    faults |= faults == 0 ? share_model_parts(taken, &s->k.tables) : 0;
    if (faults != 0) {
        WRONG("judged", "op %u was taken with faults %x", taken->c.op, faults);
        return;
    }
    if (taken->shape.body == SHARE_BODY_BYTES) {
        unsigned char *body = malloc(taken->c.length + 1u);
        if (body != NULL) {
            body[taken->c.length] = 0x5a;
            share_taker_body(&s->k.taker, &s->k.tables, taken, body);
            if (body[taken->c.length] != 0x5a) {
                WRONG("bounds", "more than the body was copied");
            }
        }
        free(body);
    }
    if (dice_below(s->d, 2)) {
        share_teller_keep_silent(t);
    } else {
        share_teller_tell(t, &(struct share_completion){.kind = SHARE_END_DONE, .user = taken->c.user});
    }
}

/* A batch. False: it has to be detached. */
static bool take_batch(struct scene *s)
{
    struct share_kit *k = &s->k;
    uint64_t counted = k->taker.taken, before = counted;
    for (unsigned v = 0; v < SHARE_VERDICTS; v++) {
        counted += k->taker.refused[v];
    }
    uint32_t head = k->taker.head;
    int waiting = share_taker_look(&k->taker), rc = 1;
    if (waiting > (int)k->g.commands) {
        WRONG("bounded", "a batch of %d from a ring of %u", waiting, k->g.commands);
        return false;
    }
    for (int i = 0; i < waiting && rc != 0 && rc != -EPROTO && share_is_well(); i++) {
        struct share_taken taken;
        s->once = true;
        s->loads = 0;
        rc = share_taker_next(&k->taker, &k->tables, &taken);
        s->once = false;
        if (rc == 1) {
            end_of(s, &taken);
        }
        if (k->teller.tail - k->teller.head_seen + k->teller.reserved > k->teller.slots) {
            WRONG("ends", "more ends than slots");
        }
    }
    uint64_t now = k->taker.taken;
    share_ledger->hostile_taken += now - before;
    for (unsigned v = 0; v < SHARE_VERDICTS; v++) {
        now += k->taker.refused[v];
    }
    share_ledger->hostile_refused += now - counted - (k->taker.taken - before);
    if (now - counted != k->taker.head - head) {
        WRONG("counted", "%u commands, %u of them counted", k->taker.head - head, (unsigned)(now - counted));
    }
    share_taker_publish(&k->taker);
    (void)share_teller_publish(&k->teller);
    return waiting >= 0 && rc != -EPROTO;
}

/* Some commands of its own, drawn well, so that the daemon has something to judge. */
static void say_something(struct scene *s)
{
    struct share_kit *k = &s->k;
    unsigned count = 1 + dice_below(s->d, k->g.commands);
    uint32_t tail = k->taker.published + count;
    for (unsigned i = 0; i < count; i++) {
        struct share_said said;
        uint64_t word[SHARE_COMMAND_WORDS];
        unsigned char *slot =
            k->sub + SHARE_SUB_COMMANDS + SHARE_SLOT_BYTES * (size_t)((k->taker.head + i) & (k->g.commands - 1));
        share_kit_draw(k, s->d, &said);
        share_command_encode(&said.c, word);
        memcpy(slot, word, sizeof word);
        memcpy(slot + SHARE_COMMAND_BYTES, said.lead, said.lead_bytes);
        size_t room = SHARE_INLINE_BYTES - said.lead_bytes;
        memcpy(slot + SHARE_COMMAND_BYTES + said.lead_bytes, said.body,
               said.body_bytes < room ? said.body_bytes : room);
    }
    memcpy(k->sub + SHARE_SUB_COMMAND_TAIL, &tail, sizeof tail);
    if (dice_below(s->d, 3)) {
        memcpy(k->sub + SHARE_SUB_COMPLETION_HEAD, &k->teller.published, 4);
        memcpy(k->sub + SHARE_SUB_INBOX_HEAD, &k->writer.published, 8);
    }
}

/* Messages for it. False: it has to be detached. */
static bool send_some(struct scene *s)
{
    struct share_inbox_writer *w = &s->k.writer;
    unsigned char bytes[2048];
    int rc = 0;
    memset(bytes, 0x11, sizeof bytes);
    for (unsigned i = dice_below(s->d, 12); i > 0 && rc != -EPROTO && share_is_well(); i--) {
        struct share_record r = {.kind = SHARE_RECORD_SHORT,
                                 .endpoint = (uint16_t)dice_below(s->d, KIT_ENDPOINTS),
                                 .length = dice_below(s->d, sizeof bytes)};
        uint32_t most = dice_below(s->d, sizeof bytes);
        if (dice_below(s->d, 2)) {
            rc = share_inbox_put(w, &r, bytes);
        } else {
            rc = share_inbox_reserve(w, most);
            r.length = most;
            if (rc == 0) {
                share_inbox_put_reserved(w, &r, bytes, most);
            }
        }
        uint64_t held = 0;
        for (unsigned e = 0; e < KIT_ENDPOINTS; e++) {
            held += s->k.held[e];
        }
        if (w->tail - w->head + w->reserved > w->bytes || held > w->tail - w->head) {
            WRONG("inbox", "its accounts do not add up");
        }
    }
    (void)share_inbox_publish(w);
    (void)!share_waker_published(&s->k.waker);
    return rc != -EPROTO;
}

void share_scene_hostile(struct dice *d)
{
    static struct scene s;
    memset(&s, 0, sizeof s);
    s.d = d;
    s.anger = 2 + dice_below(d, 60);
    bool open = false;
    for (unsigned i = 0; i < ROUNDS && share_is_well(); i++) {
        if (!open) {
            share_kit_open(&s.k, 16, SHARE_INBOX_LEAST, dice_below(d, 2) ? 0 : UINT32_MAX - 9);
            open = true;
        }
        say_something(&s);
        share_watch = (struct share_watch){.load = on_load, .arg = &s};
        bool stays = take_batch(&s);
        stays = send_some(&s) && stays;
        memset(&share_watch, 0, sizeof share_watch);
        if (!stays) {
            share_ledger->detached++;
            if (!share_kit_close(&s.k)) {
                WRONG("bounds", "somebody wrote behind an area");
            }
            open = false;
        }
    }
    if (open && !share_kit_close(&s.k)) {
        WRONG("bounds", "somebody wrote behind an area");
    }
}
