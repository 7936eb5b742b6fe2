/* SPDX-License-Identifier: Apache-2.0 */
#include "share/commands.h"
#include "share/mutant.h"

#include <errno.h>

static size_t slot_at(uint32_t index, uint32_t slots)
{
    return SHARE_SUB_COMMANDS + (size_t)SHARE_SLOT_BYTES * (index & (slots - 1));
}

void share_putter_open(struct share_putter *p, const struct share_out *sub, const struct share_in *com,
                       const struct share_geometry *g, uint32_t start)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g) && sub->size >= share_sub_bytes(g));
    *p = (struct share_putter){.sub = *sub, .com = *com, .slots = g->commands, .tail = start, .head_seen = start};
}

int share_putter_put(struct share_putter *p, const struct share_command *c, const void *lead, size_t lead_bytes,
                     const void *body, size_t body_bytes)
{
    uint64_t word[SHARE_COMMAND_WORDS];
    if (p->broken) {
        return -EPROTO;
    }
    if (lead_bytes > SHARE_INLINE_BYTES || body_bytes > SHARE_INLINE_BYTES - lead_bytes) {
        return -EMSGSIZE;
    }
    if (p->tail - p->head_seen == p->slots) {
        uint32_t head = share_load_32_acquire(&p->com, SHARE_COM_COMMAND_HEAD);
        if (!share_index_sound(p->head_seen, p->head_seen, head, p->tail - p->head_seen)) {
            p->broken = true;
            return -EPROTO;
        }
        p->head_seen = head;
    }
    if (p->tail - p->head_seen == p->slots) {
        return -EAGAIN;
    }
    size_t at = slot_at(p->tail, p->slots);
    if (SHARE_MUTANT(PUBLISH_EARLY)) {
        share_store_32_release(&p->sub, SHARE_SUB_COMMAND_TAIL, p->tail + 1);
    }
    share_command_encode(c, word);
    share_store_words(&p->sub, at, word, SHARE_COMMAND_WORDS);
    if (lead_bytes > 0) {
        share_store_bytes(&p->sub, at + SHARE_COMMAND_BYTES, lead, lead_bytes);
    }
    if (body_bytes > 0) {
        share_store_bytes(&p->sub, at + SHARE_COMMAND_BYTES + lead_bytes, body, body_bytes);
    }
    p->tail++;
    return 0;
}

void share_putter_publish(const struct share_putter *p)
{
    share_store_32_release(&p->sub, SHARE_SUB_COMMAND_TAIL, p->tail);
}

void share_place_encode(const struct share_place *p, uint64_t word[static SHARE_PLACE_WORDS])
{
    word[0] = p->region | (uint32_t)p->generation << 16;
    word[1] = p->offset;
    word[2] = p->length;
}

void share_key_encode(const cw_key *key, uint64_t word[static SHARE_KEY_WORDS])
{
    word[2] = 0;
    memcpy(word, key->b, sizeof key->b);
}

void share_taker_open(struct share_taker *t, const struct share_in *sub, const struct share_out *com,
                      struct share_teller *ends, const struct share_geometry *g, uint32_t start)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g) && sub->size >= share_sub_bytes(g));
    *t = (struct share_taker){
        .sub = *sub, .com = *com, .ends = ends, .slots = g->commands, .head = start, .published = start, .tail = start};
}

int share_taker_look(struct share_taker *t)
{
    if (t->broken) {
        return -EPROTO;
    }
    uint32_t tail = share_load_32_acquire(&t->sub, SHARE_SUB_COMMAND_TAIL);
    /* It was told that slots up to `published` are free. Further ahead it wrote over slots of ours, or lies. */
    uint32_t most = t->slots - (t->head - t->published);
    if (!share_index_sound(t->head, t->tail, tail, most) && !SHARE_MUTANT(TAIL_FREE)) {
        t->broken = true;
        return -EPROTO;
    }
    t->tail = tail;
    return (int)(tail - t->head);
}

/* Copies what stands before the body, by the shape that was judged, and judges the copy. */
static enum share_verdict take_lead(const struct share_taker *t, size_t at, const struct share_tables *tables,
                                    struct share_taken *out)
{
    const struct share_command *c = &out->c;
    if (c->flags & SHARE_KEY) {
        uint64_t word[SHARE_KEY_WORDS];
        share_load_words(&t->sub, at + out->shape.key, word, SHARE_KEY_WORDS);
        memcpy(out->key.b, word, sizeof out->key.b);
        uint32_t rest;
        memcpy(&rest, (const unsigned char *)word + sizeof out->key.b, sizeof rest);
        if (rest != 0) {
            return SHARE_BAD_RESERVED;
        }
    }
    if (out->shape.has_remote) {
        share_load_words(&t->sub, at + out->shape.remote, &out->remote, 1);
        if (out->remote > UINT64_MAX - c->length) {
            return SHARE_BAD_RANGE;
        }
    }
    if (c->flags & SHARE_WINDOW) {
        uint64_t word[SHARE_PLACE_WORDS];
        share_load_words(&t->sub, at + out->shape.window, word, SHARE_PLACE_WORDS);
        out->answer = (struct share_place){
            .region = (uint16_t)word[0], .generation = (uint16_t)(word[0] >> 16), .offset = word[1], .length = word[2]};
        if (word[0] >> 32 != 0) {
            return SHARE_BAD_RESERVED;
        }
        return share_range_judge(tables, out->answer.region, out->answer.generation, word[1], word[2]);
    }
    return SHARE_FINE;
}

/* Copies parts or items, from behind the command or from a region, and judges the copy. */
static enum share_verdict take_units(const struct share_taker *t, size_t at, const struct share_tables *tables,
                                     struct share_taken *out)
{
    const struct share_command *c = &out->c;
    if (out->shape.body != SHARE_BODY_PARTS && out->shape.body != SHARE_BODY_ITEMS) {
        return SHARE_FINE;
    }
    if (c->flags & SHARE_AWAY) {
        share_load_bytes(&tables->region[c->region].in, c->offset, out->item, 16 * (size_t)c->parts);
    } else {
        share_load_words(&t->sub, at + out->shape.at, out->item, 2 * (size_t)c->parts);
    }
    if (out->shape.body == SHARE_BODY_ITEMS) {
        return SHARE_FINE;
    }
    for (unsigned i = 0; i < c->parts; i++) {
        out->part[i] = share_part_decode(out->item + 2 * (size_t)i);
    }
    return share_parts_judge(tables, out->part, c->parts, c->length);
}

static int refuse(struct share_taker *t, const struct share_command *c, enum share_verdict v)
{
    t->refused[v]++;
    share_teller_tell(t->ends, &(struct share_completion){.kind = SHARE_END_REFUSED,
                                                          .status = (int16_t)share_verdict_error(v),
                                                          .endpoint = c->endpoint,
                                                          .user = c->user,
                                                          .handle = v});
    return share_verdict_error(v);
}

int share_taker_next(struct share_taker *t, const struct share_tables *tables, struct share_taken *out)
{
    uint64_t word[SHARE_COMMAND_WORDS];
    t->has_body = false;
    if (t->broken) {
        return -EPROTO;
    }
    if (t->head == t->tail) {
        return 0;
    }
    int reserved = share_teller_reserve(t->ends);
    if (reserved <= 0) {
        return reserved;
    }
    size_t at = slot_at(t->head, t->slots);
    share_load_words(&t->sub, at, word, SHARE_COMMAND_WORDS);
    t->head++;
    out->c = share_command_decode(word);
    enum share_verdict v = share_command_judge(&out->c, tables, &out->shape);
    if (SHARE_MUTANT(TWICE) && v == SHARE_FINE) {
        share_load_words(&t->sub, at, word, SHARE_COMMAND_WORDS);
        out->c = share_command_decode(word);
    }
    at += SHARE_COMMAND_BYTES;
    v = v != SHARE_FINE ? v : take_lead(t, at, tables, out);
    v = v != SHARE_FINE ? v : take_units(t, at, tables, out);
    if (v != SHARE_FINE) {
        return refuse(t, &out->c, v);
    }
    t->taken++;
    t->has_body = out->shape.body == SHARE_BODY_BYTES;
    return 1;
}

void share_taker_body(struct share_taker *t, const struct share_tables *tables, const struct share_taken *taken,
                      void *to)
{
    const struct share_command *c = &taken->c;
    CHECK(t->has_body);
    t->has_body = false;
    if (c->flags & SHARE_AWAY) {
        share_load_bytes(&tables->region[c->region].in, c->offset, to, c->length);
        return;
    }
    size_t at = slot_at(t->head - 1, t->slots) + SHARE_COMMAND_BYTES + taken->shape.at;
    share_load_bytes(&t->sub, at, to, c->length);
}

void share_taker_publish(struct share_taker *t)
{
    t->has_body = false;
    if (t->published != t->head) {
        t->published = t->head;
        share_store_32_release(&t->com, SHARE_COM_COMMAND_HEAD, t->head);
    }
}
