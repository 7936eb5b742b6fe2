/* SPDX-License-Identifier: Apache-2.0 */
#include "share/inbox_write.h"
#include "share/mutant.h"

#include <errno.h>

void share_inbox_writer_open(struct share_inbox_writer *w, const struct share_out *com, const struct share_in *sub,
                             const struct share_geometry *g, struct share_note *note, uint64_t *held,
                             uint32_t endpoints, uint64_t start)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g) && sub->size >= share_sub_bytes(g));
    CHECK(endpoints > 0 && endpoints <= SHARE_ENDPOINTS_MOST && start % SHARE_RECORD_BYTES == 0);
    *w = (struct share_inbox_writer){
        .com = *com,
        .sub = *sub,
        .at = share_inbox_at(g),
        .bytes = g->inbox_bytes,
        .tail = start,
        .published = start,
        .head = start,
        .note = note,
        .held = held,
        .endpoints = endpoints,
    };
    memset(held, 0, endpoints * sizeof *held);
}

static struct share_note *note_at(const struct share_inbox_writer *w, uint64_t position)
{
    return &w->note[(position & (w->bytes - 1)) / SHARE_RECORD_BYTES];
}

/*
 * Sees what was released. Our notes say where records end, so the loop ends at its position or finds it to be none; it
 * makes at most as many steps as there are records.
 */
static void look(struct share_inbox_writer *w)
{
    uint64_t head = share_load_64_acquire(&w->sub, SHARE_SUB_INBOX_HEAD);
    if (!share_position_sound(w->head, w->head, head, w->published - w->head)) {
        w->broken = true;
        return;
    }
    while (w->head != head) {
        const struct share_note *n = note_at(w, w->head);
        uint64_t room = (uint64_t)n->units * SHARE_RECORD_BYTES;
        if (room > head - w->head) {
            w->broken = true; /* it ends inside of a record */
            return;
        }
        w->held[n->endpoint] -= n->shared ? room : 0;
        w->head += room;
    }
}

/* Bytes up to the ring's end, that a record of that room does not fit into. */
static uint64_t filler(const struct share_inbox_writer *w, uint64_t room)
{
    uint64_t left = w->bytes - (w->tail & (w->bytes - 1));
    return room <= left || SHARE_MUTANT(FILLER) ? 0 : left;
}

static uint64_t left_over(const struct share_inbox_writer *w)
{
    uint64_t taken = w->tail - w->head + (SHARE_MUTANT(NO_RECORD_ROOM) ? 0 : w->reserved);
    return taken < w->bytes ? w->bytes - taken : 0;
}

uint64_t share_inbox_free(struct share_inbox_writer *w)
{
    if (!w->broken) {
        look(w);
    }
    return w->broken ? 0 : left_over(w);
}

int share_inbox_reserve(struct share_inbox_writer *w, uint32_t length)
{
    uint64_t room = share_record_room_anywhere(length);
    if (!w->broken && left_over(w) < room) {
        look(w);
    }
    if (w->broken) {
        return -EPROTO;
    }
    if (left_over(w) < room) {
        return -ENOBUFS;
    }
    w->reserved += room;
    return 0;
}

void share_inbox_unreserve(struct share_inbox_writer *w, uint32_t length)
{
    CHECK(w->reserved >= share_record_room_anywhere(length));
    w->reserved -= share_record_room_anywhere(length);
}

static void write_filler(struct share_inbox_writer *w, uint64_t room, uint16_t endpoint, bool shared)
{
    uint64_t word[SHARE_RECORD_WORDS];
    share_record_encode(
        &(struct share_record){.kind = SHARE_RECORD_FILLER, .length = (uint32_t)(room - SHARE_RECORD_BYTES)}, word);
    share_store_words(&w->com, w->at + (w->tail & (w->bytes - 1)), word, SHARE_RECORD_WORDS);
    *note_at(w, w->tail) = (struct share_note){(uint32_t)(room / SHARE_RECORD_BYTES), endpoint, shared};
    w->tail += room;
}

/* There is room: for a filler, too, where one is needed. */
static void write_record(struct share_inbox_writer *w, const struct share_record *r, const void *bytes, bool shared)
{
    uint64_t word[SHARE_RECORD_WORDS];
    uint32_t length = share_record_has_bytes(r->kind) ? r->length : 0;
    uint64_t room = share_record_room(length), before = filler(w, room);
    if (before > 0) {
        write_filler(w, before, r->endpoint, shared);
    }
    uint64_t at = w->tail & (w->bytes - 1);
    share_record_encode(r, word);
    share_store_words(&w->com, w->at + at, word, SHARE_RECORD_WORDS);
    if (length > 0) {
        /* A record lies in one piece; with the mutant that forgets it, its end would leave the area. */
        uint64_t straight = w->bytes - at - SHARE_RECORD_BYTES;
        share_store_bytes(&w->com, w->at + at + SHARE_RECORD_BYTES, bytes, length < straight ? length : straight);
    }
    *note_at(w, w->tail) = (struct share_note){(uint32_t)(room / SHARE_RECORD_BYTES), r->endpoint, shared};
    w->tail += room;
    w->held[r->endpoint] += shared ? before + room : 0;
}

int share_inbox_put(struct share_inbox_writer *w, const struct share_record *r, const void *bytes)
{
    uint64_t room = share_record_room(share_record_has_bytes(r->kind) ? r->length : 0);
    CHECK(r->endpoint < w->endpoints && r->kind != SHARE_RECORD_FILLER);
    uint64_t need = filler(w, room) + room, held = w->held[r->endpoint];
    /* Half of what is free: behind it, it holds no more than is left. */
    if (!w->broken && (left_over(w) < need || held + need > left_over(w) - need)) {
        look(w);
        held = w->held[r->endpoint];
    }
    if (w->broken) {
        return -EPROTO;
    }
    if (left_over(w) < need) {
        w->dropped++;
        return -ENOBUFS;
    }
    if (held + need > left_over(w) - need) {
        w->dropped++;
        return -EDQUOT;
    }
    write_record(w, r, bytes, true);
    return 0;
}

void share_inbox_put_reserved(struct share_inbox_writer *w, const struct share_record *r, const void *bytes,
                              uint32_t reserved)
{
    CHECK(r->endpoint < w->endpoints && r->kind != SHARE_RECORD_FILLER);
    CHECK(!share_record_has_bytes(r->kind) || r->length <= reserved);
    share_inbox_unreserve(w, reserved);
    write_record(w, r, bytes, false);
}

bool share_inbox_publish(struct share_inbox_writer *w)
{
    if (w->published == w->tail) {
        return false;
    }
    w->published = w->tail;
    share_store_64_release(&w->com, SHARE_COM_INBOX_TAIL, w->tail);
    return true;
}
