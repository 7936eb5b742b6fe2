/* SPDX-License-Identifier: Apache-2.0 */
#include "share/lane.h"
#include "share/mutant.h"

#include <errno.h>

enum { MESSAGE_MOST = SHARE_LANE_RING / 2 - SHARE_RECORD_BYTES };

void share_lane_open(struct share_lane *l, const struct share_out *ours, const struct share_in *theirs, uint32_t start)
{
    CHECK(ours->size >= SHARE_LANE_AREA && theirs->size >= SHARE_LANE_AREA && start % SHARE_RECORD_BYTES == 0);
    *l = (struct share_lane){
        .ours = *ours,
        .theirs = *theirs,
        .tail = start,
        .published = start,
        .head_seen = start,
        .head = start,
        .released = start,
        .tail_seen = start,
    };
}

static uint32_t place_of(uint32_t index)
{
    return index & (SHARE_LANE_RING - 1);
}

static int broken(struct share_lane *l)
{
    l->broken = true;
    return -EPROTO;
}

/* What a record in a lane says; everything else of its 64 bytes is zero (record.h has their places). */
struct head {
    uint32_t length, tag;
    uint16_t endpoint;
    uint8_t kind;
};

static void put_head(struct share_lane *l, struct head h)
{
    const uint64_t word[SHARE_RECORD_WORDS] = {h.kind | (uint64_t)h.endpoint << 16 | (uint64_t)h.length << 32, 0, 0,
                                               (uint64_t)h.tag << 32};
    share_store_words(&l->ours, SHARE_LANE_RECORDS + place_of(l->tail), word, SHARE_RECORD_WORDS);
}

int share_lane_put(struct share_lane *l, uint16_t endpoint, uint32_t tag, const void *bytes, uint32_t length)
{
    CHECK(endpoint < SHARE_LANE_PORTS);
    if (l->broken) {
        return -EPROTO;
    }
    if (length > MESSAGE_MOST) {
        return -EMSGSIZE;
    }
    uint32_t room = (uint32_t)share_record_room(length), left = SHARE_LANE_RING - place_of(l->tail);
    uint32_t need = room <= left ? room : left + room;
    if (SHARE_LANE_RING - (l->tail - l->head_seen) < need) {
        uint32_t head = share_load_32_acquire(&l->theirs, SHARE_LANE_HEAD);
        if (!share_index_sound(l->head_seen, l->head_seen, head, l->published - l->head_seen) ||
            head % SHARE_RECORD_BYTES != 0) {
            return broken(l);
        }
        l->head_seen = head;
    }
    if (SHARE_LANE_RING - (l->tail - l->head_seen) < need) {
        return -EAGAIN;
    }
    if (room > left) {
        put_head(l, (struct head){.kind = SHARE_RECORD_FILLER, .length = left - SHARE_RECORD_BYTES});
        l->tail += left;
    }
    put_head(l, (struct head){.kind = SHARE_RECORD_SHORT, .endpoint = endpoint, .tag = tag, .length = length});
    if (length > 0) {
        share_store_bytes(&l->ours, SHARE_LANE_RECORDS + place_of(l->tail) + SHARE_RECORD_BYTES, bytes, length);
    }
    l->tail += room;
    return 0;
}

bool share_lane_publish(struct share_lane *l)
{
    if (l->released != l->head) {
        l->released = l->head;
        share_store_32_release(&l->ours, SHARE_LANE_HEAD, l->head);
    }
    if (l->published == l->tail) {
        return false;
    }
    l->published = l->tail;
    share_store_32_release(&l->ours, SHARE_LANE_TAIL, l->tail);
    share_fence();
    uint32_t rest = share_load_32(&l->theirs, SHARE_LANE_REST);
    return rest == SHARE_REST_FUTEX || rest == SHARE_REST_SOCKET;
}

/* Copies the head at our head and judges the copy; *room is what the record takes. */
static bool read_head(const struct share_lane *l, struct head *h, uint32_t *room)
{
    uint64_t word[SHARE_RECORD_WORDS];
    uint32_t at = place_of(l->head), ahead = l->tail_seen - l->head;
    share_load_words(&l->theirs, SHARE_LANE_RECORDS + at, word, SHARE_RECORD_WORDS);
    *h = (struct head){.length = (uint32_t)(word[0] >> 32),
                       .tag = (uint32_t)(word[3] >> 32),
                       .endpoint = (uint16_t)(word[0] >> 16),
                       .kind = (uint8_t)word[0]};
    uint64_t rest = (word[0] & 0xff00) | word[1] | word[2] | (uint32_t)word[3] | word[4] | word[5] | word[6] | word[7];
    bool filler = h->kind == SHARE_RECORD_FILLER && (h->endpoint | h->tag) == 0;
    bool message = h->kind == SHARE_RECORD_SHORT && h->endpoint < SHARE_LANE_PORTS && h->length <= MESSAGE_MOST;
    uint64_t wanted = share_record_room(h->length);
    if (rest != 0 || !(filler || message) || wanted > ahead || wanted > SHARE_LANE_RING - at) {
        return false;
    }
    if (SHARE_MUTANT(LANE_HEAD_TWICE)) {
        share_load_words(&l->theirs, SHARE_LANE_RECORDS + at, word, SHARE_RECORD_WORDS);
        h->length = (uint32_t)(word[0] >> 32) % SHARE_LANE_RING;
    }
    *room = (uint32_t)wanted;
    return true;
}

int share_lane_take(struct share_lane *l, uint64_t endpoints, struct share_lane_message *out, void *to, uint32_t most)
{
    if (l->broken) {
        return -EPROTO;
    }
    if (l->head == l->tail_seen) {
        uint32_t tail = share_load_32_acquire(&l->theirs, SHARE_LANE_TAIL);
        uint32_t room = SHARE_LANE_RING - (l->head - l->released);
        if (!share_index_sound(l->head, l->tail_seen, tail, room) || tail % SHARE_RECORD_BYTES != 0) {
            return broken(l);
        }
        l->tail_seen = tail;
    }
    /* Each turn passes 64 bytes at least, and no more than a ring of them is ahead. */
    while (l->head != l->tail_seen) {
        struct head r;
        uint32_t room;
        if (!read_head(l, &r, &room)) {
            return broken(l);
        }
        bool wanted = r.kind == SHARE_RECORD_SHORT && (endpoints >> r.endpoint & 1 || SHARE_MUTANT(LANE_BIT));
        if (wanted && r.length > most) {
            return -EMSGSIZE;
        }
        uint32_t at = place_of(l->head);
        l->head += room;
        if (wanted) {
            share_load_bytes(&l->theirs, SHARE_LANE_RECORDS + at + SHARE_RECORD_BYTES, to, r.length);
            *out = (struct share_lane_message){.endpoint = r.endpoint, .tag = r.tag, .length = r.length};
            return 1;
        }
        l->refused += r.kind == SHARE_RECORD_SHORT;
    }
    return 0;
}

uint32_t share_lane_rests(struct share_lane *l, enum share_rest how)
{
    share_store_32(&l->ours, SHARE_LANE_REST, how);
    share_fence();
    return share_load_32_acquire(&l->theirs, SHARE_LANE_TAIL);
}

void share_lane_wakes(struct share_lane *l)
{
    share_store_32(&l->ours, SHARE_LANE_REST, SHARE_REST_AWAKE);
}
