/* SPDX-License-Identifier: Apache-2.0 */
#include "share/completions.h"
#include "share/mutant.h"

#include <errno.h>

void share_completion_encode(const struct share_completion *c, uint64_t word[static SHARE_COMPLETION_WORDS])
{
    word[0] = c->kind | (uint64_t)c->flags << 8 | (uint64_t)(uint16_t)c->status << 16 | (uint64_t)c->endpoint << 32 |
              (uint64_t)c->items << 48;
    word[1] = c->user;
    word[2] = c->length;
    word[3] = c->handle;
}

struct share_completion share_completion_decode(const uint64_t word[static SHARE_COMPLETION_WORDS])
{
    return (struct share_completion){
        .kind = (uint8_t)word[0],
        .flags = (uint8_t)(word[0] >> 8),
        .status = (int16_t)(uint16_t)(word[0] >> 16),
        .endpoint = (uint16_t)(word[0] >> 32),
        .items = (uint16_t)(word[0] >> 48),
        .user = word[1],
        .length = word[2],
        .handle = word[3],
    };
}

static size_t slot_at(uint32_t index, uint32_t slots)
{
    return SHARE_COM_COMPLETIONS + (size_t)SHARE_COMPLETION_BYTES * (index & (slots - 1));
}

void share_teller_open(struct share_teller *t, const struct share_out *com, const struct share_in *sub,
                       const struct share_geometry *g, uint32_t start)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g) && sub->size >= share_sub_bytes(g));
    *t = (struct share_teller){
        .com = *com, .sub = *sub, .slots = share_completions(g), .tail = start, .published = start, .head_seen = start};
}

int share_teller_reserve(struct share_teller *t)
{
    if (t->broken) {
        return -EPROTO;
    }
    if (SHARE_MUTANT(NO_RESERVE)) {
        t->reserved++;
        return 1;
    }
    if (t->tail - t->head_seen + t->reserved == t->slots) {
        uint32_t head = share_load_32_acquire(&t->sub, SHARE_SUB_COMPLETION_HEAD);
        /* It can have read what it was shown, and not what lies here unpublished. */
        if (!share_index_sound(t->head_seen, t->head_seen, head, t->published - t->head_seen) &&
            !SHARE_MUTANT(HEAD_BACK)) {
            t->broken = true;
            return -EPROTO;
        }
        t->head_seen = head;
    }
    if (t->tail - t->head_seen + t->reserved == t->slots) {
        return 0;
    }
    t->reserved++;
    return 1;
}

void share_teller_tell(struct share_teller *t, const struct share_completion *c)
{
    uint64_t word[SHARE_COMPLETION_WORDS];
    CHECK(t->reserved > 0);
    t->reserved--;
    share_completion_encode(c, word);
    share_store_words(&t->com, slot_at(t->tail, t->slots), word, SHARE_COMPLETION_WORDS);
    t->tail++;
}

void share_teller_keep_silent(struct share_teller *t)
{
    CHECK(t->reserved > 0);
    t->reserved--;
}

bool share_teller_publish(struct share_teller *t)
{
    if (t->published == t->tail) {
        return false;
    }
    t->published = t->tail;
    share_store_32_release(&t->com, SHARE_COM_COMPLETION_TAIL, t->tail);
    return true;
}

void share_listener_open(struct share_listener *l, const struct share_in *com, const struct share_out *sub,
                         const struct share_geometry *g, uint32_t start)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g) && sub->size >= share_sub_bytes(g));
    *l = (struct share_listener){
        .com = *com, .sub = *sub, .slots = share_completions(g), .head = start, .tail_seen = start};
}

int share_listener_next(struct share_listener *l, struct share_completion *out)
{
    uint64_t word[SHARE_COMPLETION_WORDS];
    if (l->broken) {
        return -EPROTO;
    }
    if (l->head == l->tail_seen) {
        uint32_t tail = share_load_32_acquire(&l->com, SHARE_COM_COMPLETION_TAIL);
        if (!share_index_sound(l->head, l->tail_seen, tail, l->slots)) {
            l->broken = true;
            return -EPROTO;
        }
        l->tail_seen = tail;
    }
    if (l->head == l->tail_seen) {
        return 0;
    }
    share_load_words(&l->com, slot_at(l->head, l->slots), word, SHARE_COMPLETION_WORDS);
    l->head++;
    *out = share_completion_decode(word);
    return 1;
}

void share_listener_publish(const struct share_listener *l)
{
    share_store_32_release(&l->sub, SHARE_SUB_COMPLETION_HEAD, l->head);
}
