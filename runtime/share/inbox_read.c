/* SPDX-License-Identifier: Apache-2.0 */
#include "share/inbox_read.h"
#include "share/mutant.h"

#include <errno.h>

#define RELEASED (UINT32_C(1) << 31)

void share_inbox_reader_open(struct share_inbox_reader *r, const struct share_in *com, const struct share_out *sub,
                             const struct share_geometry *g, uint32_t *units, uint64_t start)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g) && sub->size >= share_sub_bytes(g));
    CHECK(start % SHARE_RECORD_BYTES == 0);
    *r = (struct share_inbox_reader){
        .com = *com,
        .sub = *sub,
        .at = share_inbox_at(g),
        .bytes = g->inbox_bytes,
        .head = start,
        .next = start,
        .tail = start,
        .units = units,
    };
    memset(units, 0, share_inbox_units(g) * sizeof *units);
}

static uint32_t *units_at(const struct share_inbox_reader *r, uint64_t position)
{
    return &r->units[(position & (r->bytes - 1)) / SHARE_RECORD_BYTES];
}

/* Moves the head over what was released; at most as many steps as there are records. */
static void give_back(struct share_inbox_reader *r)
{
    uint64_t head = r->head;
    while (head != r->next && *units_at(r, head) & RELEASED) {
        uint32_t *units = units_at(r, head);
        head += (uint64_t)(*units & ~RELEASED) * SHARE_RECORD_BYTES;
        *units = 0;
    }
    if (head != r->head) {
        r->head = head;
        share_store_64_release(&r->sub, SHARE_SUB_INBOX_HEAD, head);
    }
}

static int broken(struct share_inbox_reader *r)
{
    r->broken = true;
    return -EPROTO;
}

/* Reads the record at `next`: 1 a message, 0 a filler. */
static int read_one(struct share_inbox_reader *r, struct share_message *out)
{
    uint64_t word[SHARE_RECORD_WORDS], at = r->next & (r->bytes - 1), ahead = r->tail - r->next;
    share_load_words(&r->com, r->at + at, word, SHARE_RECORD_WORDS);
    if (!share_record_decode(word, &out->head)) {
        return broken(r);
    }
    uint32_t length = share_record_has_bytes(out->head.kind) ? out->head.length : 0;
    uint64_t room = share_record_room(length);
    if (room > ahead || room > r->bytes - at) {
        return broken(r);
    }
    bool is_filler = out->head.kind == SHARE_RECORD_FILLER;
    *units_at(r, r->next) = (uint32_t)(room / SHARE_RECORD_BYTES) | (is_filler ? RELEASED : 0);
    out->release = r->next;
    out->bytes = length > 0 ? share_lend(&r->com, r->at + at + SHARE_RECORD_BYTES, length) : NULL;
    r->next += room;
    return is_filler ? 0 : 1;
}

int share_inbox_next(struct share_inbox_reader *r, struct share_message *out)
{
    /* A second turn only behind a filler, and a filler ends at the ring's end. */
    for (int turn = 0; turn < 2; turn++) {
        if (r->broken) {
            return -EPROTO;
        }
        if (r->next == r->tail) {
            uint64_t tail = share_load_64_acquire(&r->com, SHARE_COM_INBOX_TAIL);
            if (!share_position_sound(r->head, r->tail, tail, r->bytes) || tail % SHARE_RECORD_BYTES != 0) {
                return broken(r);
            }
            r->tail = tail;
        }
        if (r->next == r->tail) {
            return 0;
        }
        int rc = read_one(r, out);
        if (rc != 0) {
            return rc;
        }
        give_back(r);
    }
    return broken(r);
}

bool share_inbox_release(struct share_inbox_reader *r, uint64_t release)
{
    if (release - r->head >= r->next - r->head || release % SHARE_RECORD_BYTES != 0) {
        return false;
    }
    uint32_t *units = units_at(r, release);
    if (*units == 0 || *units & RELEASED) {
        return false;
    }
    *units |= RELEASED;
    if (SHARE_MUTANT(RELEASE_HELD)) {
        r->head = release + (uint64_t)(*units & ~RELEASED) * SHARE_RECORD_BYTES;
        *units = 0;
        share_store_64_release(&r->sub, SHARE_SUB_INBOX_HEAD, r->head);
        return true;
    }
    give_back(r);
    return true;
}
