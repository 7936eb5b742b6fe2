/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_honest.c - an honest process, and queues that say what must come out of each ring.
 */
#include "share_kit.h"
#include "share_scenes.h"
#include "share_watch.h"

#include <errno.h>
#include <string.h>

enum { STEPS = 300, QUEUE = 64, HELD = 12, MESSAGE = 3000 };

/* A message that the daemon wrote: its bytes follow from its number. */
struct sent {
    struct share_record head;
    uint64_t number;
};

struct scene {
    struct share_kit k;
    struct dice *d;
    struct share_command put[QUEUE]; /* commands in the ring, from `first` on */
    unsigned first, count;
    struct share_completion told[2 * QUEUE]; /* completions in the ring */
    unsigned told_first, told_count;
    struct sent sent[1024]; /* messages in the inbox, read or not, from sent_first on */
    unsigned sent_first, sent_count;
    struct share_message held[HELD];
    struct sent held_as[HELD];
    uint32_t promised[8]; /* room set aside in the inbox, by its bytes + 1; 0: none */
    uint64_t numbers;
    bool may_interrupt;
};

static unsigned char byte_of(uint64_t number, uint32_t i)
{
    return (unsigned char)(number * 31 + i * 7);
}

/* ---- Commands ---- */

/* What the slot says that comes next, judged by the model from a snapshot of it. */
static uint32_t faults_of(struct scene *s, const uint64_t slot[static SHARE_SLOT_BYTES / 8], struct share_taken *out)
{
    struct share_tables *t = &s->k.tables;
    const uint64_t *inl = slot + SHARE_COMMAND_WORDS;
    out->c = share_command_decode(slot);
    uint32_t f = share_model_faults(&out->c, t);
    if (f != 0) {
        return f;
    }
    size_t at = 0;
    if (out->c.flags & SHARE_KEY) {
        f |= inl[2] >> 32 != 0 ? 1u << SHARE_BAD_RESERVED : 0;
        memcpy(out->key.b, inl, CW_KEY_BYTES);
        at += 3;
    }
    if (out->c.op == SHARE_OP_READ || out->c.op == SHARE_OP_WRITE) {
        out->remote = inl[at++];
        f |= out->remote > UINT64_MAX - out->c.length ? 1u << SHARE_BAD_RANGE : 0;
    }
    if (out->c.flags & SHARE_WINDOW) {
        f |= inl[at] >> 32 != 0 ? 1u << SHARE_BAD_RESERVED : 0;
        out->answer = (struct share_place){inl[at + 1], inl[at + 2], (uint16_t)inl[at], (uint16_t)(inl[at] >> 16)};
        at += 3;
    }
    char body = share_model_body(&out->c);
    if (body == 'p' || body == 'i') {
        const void *from = inl + at;
        if (out->c.flags & SHARE_AWAY) {
            from = s->k.region[out->c.region] + out->c.offset;
        }
        memcpy(out->item, from, 16 * (size_t)out->c.parts);
        for (unsigned i = 0; i < out->c.parts; i++) {
            out->part[i] = share_part_decode(out->item + 2 * (size_t)i);
        }
    }
    return f | share_model_parts(out, t);
}

static bool same_command(const struct share_command *a, const struct share_command *b)
{
    uint64_t x[SHARE_COMMAND_WORDS], y[SHARE_COMMAND_WORDS];
    share_command_encode(a, x);
    share_command_encode(b, y);
    return memcmp(x, y, sizeof x) == 0;
}

static bool same_place(const struct share_place *a, const struct share_place *b)
{
    return a->region == b->region && a->generation == b->generation && a->offset == b->offset && a->length == b->length;
}

static void expect_told(struct scene *s, const struct share_completion *c)
{
    s->told[(s->told_first + s->told_count++) % (2 * QUEUE)] = *c;
}

static void judge_taken(struct scene *s, const struct share_taken *got, const struct share_taken *want,
                        const unsigned char *slot)
{
    const struct share_command *c = &want->c;
    unsigned char body[SHARE_BYTES_MOST];
    char kind = share_model_body(c);
    if (!same_command(&got->c, c) || (c->flags & SHARE_KEY && memcmp(&got->key, &want->key, CW_KEY_BYTES) != 0) ||
        (got->shape.has_remote && got->remote != want->remote) ||
        (c->flags & SHARE_WINDOW && !same_place(&got->answer, &want->answer))) {
        WRONG("taken", "op %u came out as another command", c->op);
    }
    for (unsigned i = 0; (kind == 'p' || kind == 'i') && i < 2u * c->parts; i++) {
        if (got->item[i] != want->item[i]) {
            WRONG("taken", "op %u: unit %u is another", c->op, i / 2);
        }
    }
    if (kind == 'b' && dice_below(s->d, 8) != 0) {
        const unsigned char *from = slot + SHARE_COMMAND_BYTES + share_model_lead(c);
        if (c->flags & SHARE_AWAY) {
            from = s->k.region[c->region] + c->offset;
        }
        share_taker_body(&s->k.taker, &s->k.tables, got, body);
        if (memcmp(body, from, c->length) != 0) {
            WRONG("taken", "op %u: another body", c->op);
        }
    }
}

/* One command, taken and ended. False: there was none. */
static bool take_one(struct scene *s)
{
    struct share_kit *k = &s->k;
    uint64_t slot[SHARE_SLOT_BYTES / 8];
    struct share_taken got, want;
    size_t at = SHARE_SUB_COMMANDS + SHARE_SLOT_BYTES * (size_t)(k->taker.head & (k->g.commands - 1));
    memcpy(slot, k->sub + at, sizeof slot);
    int rc = share_taker_next(&k->taker, &k->tables, &got);
    if (rc == 0) {
        return false;
    }
    if (s->count == 0) {
        WRONG("taken", "what was not put (%d)", rc);
        return false;
    }
    const struct share_command *front = &s->put[s->first++ % QUEUE];
    s->count--;
    uint32_t f = faults_of(s, slot, &want);
    if (!same_command(front, &want.c)) {
        WRONG("order", "op %u where %u was put", want.c.op, front->op);
        return false;
    }
    if (rc < 0) {
        struct share_completion end = {
            .kind = SHARE_END_REFUSED, .status = (int16_t)rc, .endpoint = want.c.endpoint, .user = want.c.user};
        share_ledger->refused++;
        if (f == 0) {
            WRONG("refused", "op %u, which was fine (%d)", want.c.op, rc);
        }
        /* The verdict is in the completion, whose slot was written last. */
        uint64_t told[SHARE_COMPLETION_WORDS];
        memcpy(told,
               k->com + SHARE_COM_COMPLETIONS +
                   SHARE_COMPLETION_BYTES * (size_t)((k->teller.tail - 1) & (k->teller.slots - 1)),
               sizeof told);
        end.handle = told[3];
        if (end.handle >= SHARE_VERDICTS || !(f >> end.handle & 1) ||
            rc != share_verdict_error((enum share_verdict)end.handle)) {
            WRONG("refused", "op %u as %u, which it is not", want.c.op, (unsigned)end.handle);
        }
        expect_told(s, &end);
        return true;
    }
    share_ledger->taken++;
    if (f != 0) {
        WRONG("taken", "op %u with faults %x", want.c.op, f);
        return false;
    }
    judge_taken(s, &got, &want, (const unsigned char *)slot);
    if (dice_below(s->d, 3) == 0) {
        share_teller_keep_silent(&k->teller);
        return true;
    }
    struct share_completion end = {.kind = SHARE_END_DONE,
                                   .status = -(int16_t)dice_below(s->d, 100),
                                   .endpoint = want.c.endpoint,
                                   .items = (uint16_t)dice_below(s->d, 16),
                                   .user = want.c.user,
                                   .length = dice_word(s->d),
                                   .handle = dice_word(s->d)};
    share_teller_tell(&k->teller, &end);
    expect_told(s, &end);
    return true;
}

static void take_some(struct scene *s, bool publishes)
{
    struct share_kit *k = &s->k;
    int waiting = share_taker_look(&k->taker);
    if (waiting < 0 || (unsigned)waiting > s->count) {
        WRONG("look", "%d wait where %u were put", waiting, s->count);
        return;
    }
    unsigned most = 1 + dice_below(s->d, k->g.commands);
    for (unsigned i = 0; i < most && share_is_well() && take_one(s); i++) {
    }
    if (k->teller.tail - k->listener.head + k->teller.reserved > k->teller.slots) {
        WRONG("ends", "more ends than slots");
    }
    if (publishes) {
        share_taker_publish(&k->taker);
        (void)share_teller_publish(&k->teller);
    }
}

static void put_some(struct scene *s)
{
    unsigned most = 1 + dice_below(s->d, 8);
    for (unsigned i = 0; i < most; i++) {
        struct share_said said;
        share_kit_draw(&s->k, s->d, &said);
        said.body_bytes = said.lead_bytes + said.body_bytes > SHARE_INLINE_BYTES ? 0 : said.body_bytes;
        s->may_interrupt = dice_below(s->d, 4) == 0;
        int rc = share_putter_put(&s->k.putter, &said.c, said.lead, said.lead_bytes, said.body, said.body_bytes);
        s->may_interrupt = false;
        if (rc == -EAGAIN && s->k.putter.tail - s->k.putter.head_seen == s->k.g.commands) {
            break;
        }
        if (rc != 0) {
            WRONG("put", "%d", rc);
            return;
        }
        s->put[(s->first + s->count++) % QUEUE] = said.c;
    }
    share_putter_publish(&s->k.putter);
}

static void hear_some(struct scene *s)
{
    struct share_completion got;
    unsigned most = dice_below(s->d, 12);
    int rc = 1;
    for (unsigned i = 0; i < most && rc == 1; i++) {
        rc = share_listener_next(&s->k.listener, &got);
        if (rc == 1) {
            const struct share_completion *want = &s->told[s->told_first++ % (2 * QUEUE)];
            share_ledger->ends++;
            if (s->told_count-- == 0 || got.user != want->user || got.kind != want->kind ||
                got.status != want->status || got.endpoint != want->endpoint || got.handle != want->handle ||
                got.length != want->length || got.items != want->items) {
                WRONG("ends", "another end than was told");
                return;
            }
        }
    }
    if (rc < 0) {
        WRONG("ends", "%d", rc);
    }
    share_listener_publish(&s->k.listener);
}

/* ---- Messages ---- */

static struct share_record draw_record(struct scene *s, uint32_t most)
{
    struct share_record r = {.kind = (uint8_t)(SHARE_RECORD_SHORT + dice_below(s->d, 4)),
                             .endpoint = (uint16_t)dice_below(s->d, KIT_ENDPOINTS),
                             .job = 1 + dice_below(s->d, 9),
                             .process = dice_below(s->d, 99),
                             .life = dice_below(s->d, 9),
                             .server = dice_below(s->d, 1 << 24),
                             .tag = dice_below(s->d, 1 << 30),
                             .port = (cw_port)dice_below(s->d, 65536),
                             .right = dice_word(s->d)};
    r.length = most > 0 ? dice_below(s->d, most + 1) : 0;
    if (r.kind != SHARE_RECORD_SHORT && r.kind != SHARE_RECORD_ANSWER) {
        r.length = (uint32_t)dice_word(s->d);
    }
    return r;
}

static void note_sent(struct scene *s, const struct share_record *r)
{
    if (s->sent_count == sizeof s->sent / sizeof *s->sent) {
        WRONG("inbox", "more messages than it has room for");
        return;
    }
    s->sent[(s->sent_first + s->sent_count++) % (sizeof s->sent / sizeof *s->sent)] = (struct sent){*r, s->numbers++};
}

static void send_one(struct scene *s)
{
    struct share_inbox_writer *w = &s->k.writer;
    unsigned char bytes[2 * MESSAGE];
    unsigned promise = dice_below(s->d, 8);
    for (uint32_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = byte_of(s->numbers, i);
    }
    if (s->promised[promise] != 0 && dice_below(s->d, 2)) {
        uint32_t most = s->promised[promise] - 1;
        struct share_record r = draw_record(s, most);
        s->promised[promise] = 0;
        share_inbox_put_reserved(w, &r, bytes, most);
        note_sent(s, &r);
    } else if (s->promised[promise] == 0 && dice_below(s->d, 2)) {
        uint32_t most = dice_below(s->d, 2) ? 0 : dice_below(s->d, MESSAGE);
        int rc = share_inbox_reserve(w, most);
        s->promised[promise] = rc == 0 ? most + 1 : 0;
        if (rc != 0 && rc != -ENOBUFS) {
            WRONG("inbox", "no room set aside: %d", rc);
        }
    } else {
        uint64_t dropped = w->dropped;
        struct share_record r = draw_record(s, dice_below(s->d, 3) ? 200 : MESSAGE);
        int rc = share_inbox_put(w, &r, bytes);
        if (rc == 0) {
            note_sent(s, &r);
            if (w->held[r.endpoint] > w->bytes / 2) {
                WRONG("share", "an endpoint holds more than half");
            }
        } else if ((rc != -ENOBUFS && rc != -EDQUOT) || w->dropped != dropped + 1) {
            WRONG("inbox", "put: %d", rc);
        }
        share_ledger->dropped += w->dropped - dropped;
    }
    if (w->tail - s->k.reader.head > w->bytes) {
        WRONG("inbox", "more than it has room for");
    }
}

static void release_one(struct scene *s, unsigned i)
{
    const struct sent *as = &s->held_as[i];
    const unsigned char *bytes = s->held[i].bytes;
    for (uint32_t at = 0; bytes != NULL && at < as->head.length; at++) {
        if (bytes[at] != byte_of(as->number, at)) {
            WRONG("held", "a message changed while it was held");
            return;
        }
    }
    if (!share_inbox_release(&s->k.reader, s->held[i].release) ||
        share_inbox_release(&s->k.reader, s->held[i].release)) {
        WRONG("held", "a message was not released once");
    }
    s->held[i].head.kind = 0;
}

static void read_one(struct scene *s)
{
    unsigned i = dice_below(s->d, HELD);
    uint64_t x[SHARE_RECORD_WORDS], y[SHARE_RECORD_WORDS];
    if (s->held[i].head.kind != 0) {
        release_one(s, i);
        return;
    }
    int rc = share_inbox_next(&s->k.reader, &s->held[i]);
    if (rc != 1) {
        s->held[i].head.kind = 0;
        if (rc != 0) {
            WRONG("inbox", "read: %d", rc);
        }
        return;
    }
    share_ledger->messages++;
    if (s->sent_count-- == 0) {
        WRONG("inbox", "a message that nobody sent");
        return;
    }
    s->held_as[i] = s->sent[s->sent_first++ % (sizeof s->sent / sizeof *s->sent)];
    share_record_encode(&s->held[i].head, x);
    share_record_encode(&s->held_as[i].head, y);
    if (memcmp(x, y, sizeof x) != 0) {
        WRONG("inbox", "another message than was sent");
    }
}

/* ---- The scene ---- */

/* Between two stores of the process its daemon may look. */
static bool on_store(void *arg, void *at, uint64_t value, size_t bytes)
{
    struct scene *s = arg;
    (void)at;
    (void)value;
    (void)bytes;
    if (s->may_interrupt && dice_below(s->d, 20) == 0) {
        s->may_interrupt = false;
        take_some(s, true);
    }
    return false;
}

void share_scene_honest(struct dice *d)
{
    static const uint32_t starts[] = {0, UINT32_MAX - 20, UINT32_MAX / 2, 12345};
    static struct scene s;
    memset(&s, 0, sizeof s);
    s.d = d;
    share_kit_open(&s.k, dice_below(d, 2) ? 16 : 32, SHARE_INBOX_LEAST, starts[dice_below(d, 4)]);
    share_watch = (struct share_watch){.store = on_store, .arg = &s};
    bool lazy = dice_below(d, 3) == 0; /* it hardly looks at its ends, and lets messages lie */
    for (unsigned i = 0; i < STEPS && share_is_well(); i++) {
        switch (dice_below(d, 8)) {
        case 0:
        case 1:
            put_some(&s);
            break;
        case 2:
        case 3:
            take_some(&s, dice_below(d, 3) != 0);
            break;
        case 4:
            if (!lazy || dice_below(d, 10) == 0) {
                hear_some(&s);
            }
            break;
        case 5:
        case 6:
            for (unsigned n = 1 + dice_below(d, 6); n > 0 && share_is_well(); n--) {
                send_one(&s);
            }
            if (dice_below(d, 2)) {
                (void)share_inbox_publish(&s.k.writer);
            }
            break;
        default:
            if (!lazy || dice_below(d, 4) == 0) {
                read_one(&s);
            }
        }
    }
    memset(&share_watch, 0, sizeof share_watch);
    if (!share_kit_close(&s.k)) {
        WRONG("bounds", "somebody wrote behind an area");
    }
}
