/* SPDX-License-Identifier: Apache-2.0 */
#include "share_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 0xc7 };

static unsigned char *block(size_t size)
{
    unsigned char *p = aligned_alloc(SHARE_PAGE, size + KIT_GUARD);
    if (p == NULL) {
        perror("aligned_alloc");
        exit(2);
    }
    memset(p, 0, size);
    memset(p + size, GUARD, KIT_GUARD);
    return p;
}

static bool give(unsigned char *p, size_t size)
{
    bool whole = true;
    for (size_t i = 0; i < KIT_GUARD; i++) {
        whole = whole && p[size + i] == GUARD;
    }
    free(p);
    return whole;
}

void share_kit_open(struct share_kit *k, uint32_t commands, uint32_t inbox_bytes, uint32_t start)
{
    static const uint64_t sizes[KIT_REGIONS] = {64 << 10, 0, SHARE_PAGE, 128 << 10};
    memset(k, 0, sizeof *k);
    k->g = (struct share_geometry){commands, inbox_bytes, KIT_WORDS};
    k->sub = block(share_sub_bytes(&k->g));
    k->com = block(share_com_bytes(&k->g));
    for (unsigned i = 0; i < KIT_REGIONS; i++) {
        if (sizes[i] > 0) {
            k->region[i] = block(sizes[i]);
            k->regions[i] = (struct share_region){share_in_of(k->region[i], sizes[i]), sizes[i], (uint16_t)(7 + i)};
        }
    }
    k->endpoint[0] = 0x7f; /* 7 is closed */
    k->peer[0] = UINT64_MAX;
    k->peer[1] = 0xff;
    k->tables = (struct share_tables){.region = k->regions,
                                      .endpoint = k->endpoint,
                                      .peer = k->peer,
                                      .regions = KIT_REGIONS,
                                      .endpoints = KIT_ENDPOINTS,
                                      .peers = KIT_PEERS,
                                      .words = KIT_WORDS};
    k->process_sub = share_out_of(k->sub, share_sub_bytes(&k->g));
    k->daemon_sub = share_in_of(k->sub, share_sub_bytes(&k->g));
    k->daemon_com = share_out_of(k->com, share_com_bytes(&k->g));
    k->process_com = share_in_of(k->com, share_com_bytes(&k->g));
    k->units = calloc(share_inbox_units(&k->g), sizeof *k->units);
    k->notes = calloc(share_inbox_notes(&k->g), sizeof *k->notes);
    if (k->units == NULL || k->notes == NULL) {
        perror("calloc");
        exit(2);
    }
    share_kit_again(k, start);
}

void share_kit_again(struct share_kit *k, uint32_t start)
{
    memset(k->sub, 0, share_sub_bytes(&k->g));
    memset(k->com, 0, share_com_bytes(&k->g));
    uint64_t position = (uint64_t)start * SHARE_RECORD_BYTES;
    memcpy(k->sub + SHARE_SUB_COMMAND_TAIL, &start, sizeof start);
    memcpy(k->sub + SHARE_SUB_COMPLETION_HEAD, &start, sizeof start);
    memcpy(k->sub + SHARE_SUB_INBOX_HEAD, &position, sizeof position);
    memcpy(k->com + SHARE_COM_COMMAND_HEAD, &start, sizeof start);
    memcpy(k->com + SHARE_COM_COMPLETION_TAIL, &start, sizeof start);
    memcpy(k->com + SHARE_COM_INBOX_TAIL, &position, sizeof position);
    share_putter_open(&k->putter, &k->process_sub, &k->process_com, &k->g, start);
    share_listener_open(&k->listener, &k->process_com, &k->process_sub, &k->g, start);
    share_inbox_reader_open(&k->reader, &k->process_com, &k->process_sub, &k->g, k->units, position);
    share_teller_open(&k->teller, &k->daemon_com, &k->daemon_sub, &k->g, start);
    share_taker_open(&k->taker, &k->daemon_sub, &k->daemon_com, &k->teller, &k->g, start);
    share_inbox_writer_open(&k->writer, &k->daemon_com, &k->daemon_sub, &k->g, k->notes, k->held, KIT_ENDPOINTS,
                            position);
    share_levels_open(&k->levels, &k->daemon_com, &k->g);
    share_waker_open(&k->waker, &k->daemon_com, &k->daemon_sub);
}

bool share_kit_close(struct share_kit *k)
{
    bool whole = give(k->sub, share_sub_bytes(&k->g));
    whole = give(k->com, share_com_bytes(&k->g)) && whole;
    for (unsigned i = 0; i < KIT_REGIONS; i++) {
        whole = (k->region[i] == NULL || give(k->region[i], k->regions[i].size)) && whole;
    }
    free(k->units);
    free(k->notes);
    return whole;
}

/* The ops in words: fields, flags by letters (Tell Datagram Window Key Items keeP Away chanGe), body, its bounds. */
struct line {
    const char *fields, *flags;
    char body;
    uint64_t least, most;
    unsigned channels;
};

#define SENDS "endpoint peer tag timeout "
static const struct line lines[SHARE_OPS] = {
    [SHARE_OP_SHORT] = {SENDS, "TDKIA", 'b', 0, 65535, 0},
    [SHARE_OP_LONG] = {SENDS "word value", "TKIAG", 'p', 0, UINT32_MAX, 0},
    [SHARE_OP_LIST] = {SENDS "template word value", "TKAG", 'i', 0, 0, 0},
    [SHARE_OP_REQUEST] = {SENDS "value ask long", "DWKIA", 'b', 0, 65535, 0},
    [SHARE_OP_ANSWER] = {"endpoint tag value timeout long", "TIA", 'b', 0, 65535, 0},
    [SHARE_OP_POST] = {"endpoint maybe tag place value", "P", 'n', 1, UINT32_MAX, 0},
    [SHARE_OP_POST_LIST] = {"endpoint template", "A", 'i', 0, 0, 0},
    [SHARE_OP_UNPOST] = {"endpoint value", "", 'n', 0, 0, 0},
    [SHARE_OP_READ] = {SENDS "channel place remote", "T", 'n', 1, UINT32_MAX, 64},
    [SHARE_OP_WRITE] = {SENDS "channel place remote word value", "TG", 'n', 1, UINT32_MAX, 64},
    [SHARE_OP_NOTIFY] = {SENDS "word value", "TDKG", 'n', 0, 0, 0},
    [SHARE_OP_EXPOSE] = {"endpoint channel place value", "", 'n', 1, UINT32_MAX, 64},
    [SHARE_OP_CONCEAL] = {"endpoint channel", "", 'n', 0, 0, 64},
    [SHARE_OP_TEMPLATE] = {"endpoint template", "", 'b', 8, 128, 0},
    [SHARE_OP_PEER] = {"endpoint tag channel value number", "KA", 'b', 0, 1024, 6},
    [SHARE_OP_UNPEER] = {"endpoint peer", "", 'n', 0, 0, 0},
    [SHARE_OP_NAME] = {"endpoint value", "", 'b', 1, 63, 0},
    [SHARE_OP_UNNAME] = {"endpoint", "", 'b', 1, 63, 0},
    [SHARE_OP_JOIN] = {"endpoint", "", 'b', 1, 63, 0},
    [SHARE_OP_LEAVE] = {"endpoint", "", 'b', 1, 63, 0},
    [SHARE_OP_PORT] = {"tag channel value number", "", 'b', 0, 63, 4},
    [SHARE_OP_UNPORT] = {"endpoint", "", 'n', 0, 0, 0},
    [SHARE_OP_CANCEL] = {"endpoint value", "", 'n', 0, 0, 0},
    [SHARE_OP_WATCH] = {"own channel", "", 'n', 0, 0, 2},
    [SHARE_OP_WANT] = {"value", "", 'n', 0, 0, 0},
    [SHARE_OP_KICK] = {"channel", "", 'n', 0, 0, 64},
};
static const char letters[] = "TDWKIPAG"; /* bit n of the flags */

static const struct line *line_of(const struct share_command *c)
{
    static const struct line none;
    return c->op < SHARE_OPS && lines[c->op].fields != NULL ? &lines[c->op] : &none;
}

static bool said(const struct line *l, const char *field)
{
    return strstr(l->fields, field) != NULL;
}

char share_model_body(const struct share_command *c)
{
    const struct line *l = line_of(c);
    return said(l, "long") && c->parts > 0 ? 'p' : l->body;
}

size_t share_model_lead(const struct share_command *c)
{
    return (c->flags & SHARE_KEY ? 24u : 0) + (said(line_of(c), "remote") ? 8u : 0) +
           (c->flags & SHARE_WINDOW ? 24u : 0);
}

static uint32_t bad(enum share_verdict v, bool is_bad)
{
    return is_bad ? 1u << v : 0;
}

static uint32_t range_faults(const struct share_tables *t, unsigned region, unsigned generation, uint64_t offset,
                             uint64_t length)
{
    if (region >= t->regions || t->region[region].size == 0 || t->region[region].generation != generation) {
        return 1u << SHARE_NO_REGION;
    }
    return bad(SHARE_BAD_RANGE, (unsigned __int128)offset + length > t->region[region].size);
}

static bool open_in(const uint64_t *set, uint32_t size, uint32_t n)
{
    return n < size && (set[n / 64] >> n % 64 & 1) != 0;
}

uint32_t share_model_faults(const struct share_command *c, const struct share_tables *t)
{
    const struct line *l = line_of(c);
    if (l->fields == NULL) {
        return 1u << SHARE_BAD_OP;
    }
    uint32_t f = bad(SHARE_BAD_RESERVED, c->reserved);
    for (unsigned bit = 0; bit < 8; bit++) {
        f |= bad(SHARE_BAD_FLAG, c->flags >> bit & 1 && strchr(l->flags, letters[bit]) == NULL);
    }
    bool away = (c->flags & SHARE_AWAY) != 0, change = (c->flags & SHARE_WORD) != 0;
    f |= bad(SHARE_BAD_FLAG, c->op == SHARE_OP_NOTIFY && !change);
    f |= bad(SHARE_BAD_FLAG, c->flags & SHARE_DATAGRAM && c->parts > 0);
    bool peer = said(l, "peer") || said(l, "maybe");
    bool word = (said(l, "word") && change) || said(l, "own") || said(l, "ask") || said(l, "number");
    bool value = said(l, "value") && (!said(l, "word") || change);
    bool place = said(l, "place") || away, units = l->body == 'p' || l->body == 'i' || said(l, "long");
    f |= bad(SHARE_BAD_RESERVED, !said(l, "endpoint") && c->endpoint != 0);
    f |= bad(SHARE_BAD_RESERVED, !peer && c->peer != 0);
    f |= bad(SHARE_BAD_RESERVED, !said(l, "tag") && c->tag != 0);
    f |= bad(SHARE_BAD_RESERVED, !place && (c->region != 0 || c->generation != 0 || c->offset != 0));
    f |= bad(SHARE_BAD_RESERVED, !said(l, "template") && c->template_id != 0);
    f |= bad(SHARE_BAD_RESERVED, !said(l, "channel") && c->channel != 0);
    f |= bad(SHARE_BAD_RESERVED, !value && c->value != 0);
    f |= bad(SHARE_BAD_RESERVED, !word && c->word != 0);
    f |= bad(SHARE_BAD_RESERVED, !(said(l, "word") && change) && !said(l, "ask") && c->change != 0);
    f |= bad(SHARE_BAD_RESERVED, !said(l, "timeout") && c->timeout_us != 0);
    f |= bad(SHARE_BAD_RESERVED, !units && c->parts != 0);
    f |= bad(SHARE_NO_ENDPOINT, said(l, "endpoint") && !open_in(t->endpoint, t->endpoints, c->endpoint));
    f |= bad(SHARE_NO_PEER, said(l, "peer") && (c->peer == 0 || !open_in(t->peer, t->peers, c->peer)));
    f |= bad(SHARE_NO_PEER, said(l, "maybe") && c->peer != 0 && !open_in(t->peer, t->peers, c->peer));
    f |= bad(SHARE_NO_PEER, said(l, "ask") && c->word != 0 && !open_in(t->peer, t->peers, c->word));
    f |= bad(SHARE_BAD_CHANNEL, said(l, "channel") && c->channel >= l->channels);
    f |= bad(SHARE_BAD_WORD, said(l, "own") && c->word >= t->words);
    f |= bad(SHARE_BAD_WORD, change && (c->word >= 512 || c->change > 3));
    char body = share_model_body(c);
    f |= bad(SHARE_BAD_LENGTH, c->length < l->least || (body != 'p' && c->length > l->most));
    if (said(l, "place")) {
        return f | range_faults(t, c->region, c->generation, c->offset, c->length);
    }
    bool in_units = body == 'p' || body == 'i';
    uint64_t bytes = in_units ? 16u * c->parts : c->length;
    f |= bad(SHARE_BAD_PARTS, in_units && (c->parts == 0 || c->parts > 16));
    if (away) {
        return f | range_faults(t, c->region, c->generation, c->offset, bytes);
    }
    return f | bad(in_units ? SHARE_BAD_PARTS : SHARE_BAD_LENGTH, share_model_lead(c) + bytes > 192);
}

uint32_t share_model_parts(const struct share_taken *taken, const struct share_tables *t)
{
    const struct share_command *c = &taken->c;
    uint32_t f = 0;
    uint64_t sum = 0;
    if (c->flags & SHARE_WINDOW) {
        const struct share_place *p = &taken->answer;
        f |= range_faults(t, p->region, p->generation, p->offset, p->length);
    }
    if (share_model_body(c) != 'p') {
        return f;
    }
    for (unsigned i = 0; i < c->parts; i++) {
        const struct share_part *p = &taken->part[i];
        f |= range_faults(t, p->region, p->generation, p->offset, p->length);
        sum += p->length;
    }
    return f | bad(SHARE_BAD_PARTS, sum != c->length);
}

/* ---- Drawing ---- */

static uint16_t region_of(struct dice *d)
{
    static const uint16_t good[] = {0, 2, 3};
    return good[dice_below(d, 3)];
}

static void draw_place(struct share_kit *k, struct dice *d, uint16_t *region, uint16_t *generation, uint64_t *offset,
                       uint64_t length)
{
    *region = region_of(d);
    if (length > k->regions[*region].size) {
        *region = 3;
    }
    uint64_t room = k->regions[*region].size - length;
    *generation = k->regions[*region].generation;
    /* At either edge, or anywhere. */
    unsigned where = dice_below(d, 4);
    *offset = where == 0 ? 0 : where == 1 ? room : dice_word(d) % (room + 1);
}

static void lead_add(struct share_said *s, const void *bytes, size_t size)
{
    memcpy(s->lead + s->lead_bytes, bytes, size);
    s->lead_bytes += size;
}

static void draw_lead(struct share_kit *k, struct dice *d, struct share_said *s)
{
    uint64_t word[3];
    if (s->c.flags & SHARE_KEY) {
        cw_key key;
        for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
            key.b[i] = (uint8_t)dice_word(d);
        }
        share_key_encode(&key, word);
        lead_add(s, word, sizeof word);
    }
    if (said(line_of(&s->c), "remote")) {
        word[0] = dice_word(d) >> 20;
        lead_add(s, word, 8);
    }
    if (s->c.flags & SHARE_WINDOW) {
        struct share_place p = {.length = dice_below(d, SHARE_PAGE)};
        draw_place(k, d, &p.region, &p.generation, &p.offset, p.length);
        share_place_encode(&p, word);
        lead_add(s, word, sizeof word);
    }
}

static void draw_body(struct share_kit *k, struct dice *d, struct share_said *s)
{
    struct share_command *c = &s->c;
    char body = share_model_body(c);
    size_t room = SHARE_INLINE_BYTES - share_model_lead(c);
    uint64_t unit[2 * SHARE_PARTS_MOST];
    bool away = (c->flags & SHARE_AWAY) != 0;
    if (body == 'b') {
        const struct line *l = line_of(c);
        uint64_t most = away ? l->most : room < l->most ? room : l->most;
        most = most < 9000 ? most : 9000;
        c->length = (uint32_t)(l->least + dice_word(d) % (most - l->least + 1));
        for (size_t i = 0; i < sizeof s->body; i++) {
            s->body[i] = (unsigned char)dice_word(d);
        }
        s->body_bytes = away ? 0 : c->length;
    } else if (body == 'p' || body == 'i') {
        unsigned most = away ? SHARE_PARTS_MOST : (unsigned)(room / 16);
        c->parts = (uint8_t)(1 + dice_below(d, most));
        c->length = 0;
        for (unsigned i = 0; i < c->parts; i++) {
            struct share_part p = {.length = dice_below(d, SHARE_PAGE)};
            draw_place(k, d, &p.region, &p.generation, &p.offset, p.length);
            share_part_encode(&p, unit + 2 * (size_t)i);
            c->length += body == 'p' ? p.length : 0;
        }
        memcpy(s->body, unit, away ? 0 : 16 * (size_t)c->parts);
        s->body_bytes = away ? 0 : 16 * (size_t)c->parts;
    }
    if (away && body != 'n') {
        uint64_t bytes = body == 'b' ? c->length : 16u * c->parts;
        draw_place(k, d, &c->region, &c->generation, &c->offset, bytes);
        unsigned char *to = k->region[c->region] + c->offset;
        if (body != 'b') {
            memcpy(to, unit, bytes);
        }
    }
}

/* Breaks one thing. */
static void spoil(struct dice *d, struct share_said *s)
{
    struct share_command *c = &s->c;
    uint64_t word[SHARE_COMMAND_WORDS];
    switch (dice_below(d, 9)) {
    case 0:
        c->offset = UINT64_MAX - dice_below(d, 2 * SHARE_PAGE);
        return;
    case 1:
        c->generation ^= 1;
        return;
    case 2:
        c->endpoint = (uint16_t)dice_word(d);
        return;
    case 3:
        c->peer = dice_below(d, 2) ? 0 : (uint32_t)dice_word(d);
        return;
    case 4:
        c->length = dice_below(d, 2) ? c->length + 1 : (uint32_t)dice_word(d);
        return;
    case 5:
        c->op = (uint8_t)dice_word(d);
        return;
    default:
        /* any bit; what has no name is put as it is drawn elsewhere */
        share_command_encode(c, word);
        word[dice_below(d, SHARE_COMMAND_WORDS)] ^= UINT64_C(1) << dice_below(d, 64);
        *c = share_command_decode(word);
        return;
    }
}

void share_kit_draw(struct share_kit *k, struct dice *d, struct share_said *s)
{
    memset(s, 0, sizeof *s);
    struct share_command *c = &s->c;
    c->op = (uint8_t)(1 + dice_below(d, SHARE_OPS - 1));
    const struct line *l = line_of(c);
    for (unsigned bit = 0; bit < 8; bit++) {
        if (strchr(l->flags, letters[bit]) != NULL && dice_below(d, 3) == 0) {
            c->flags |= (uint8_t)(1u << bit);
        }
    }
    c->flags |= c->op == SHARE_OP_NOTIFY ? SHARE_WORD : 0;
    bool change = (c->flags & SHARE_WORD) != 0;
    c->user = dice_word(d);
    c->endpoint = said(l, "endpoint") ? (uint16_t)dice_below(d, 7) : 0;
    c->peer = said(l, "peer") ? 1 + dice_below(d, 70) : said(l, "maybe") ? dice_below(d, 70) : 0;
    c->tag = said(l, "tag") ? (uint32_t)dice_word(d) : 0;
    c->template_id = said(l, "template") ? (uint16_t)dice_word(d) : 0;
    c->channel = said(l, "channel") ? (uint8_t)dice_below(d, l->channels) : 0;
    c->value = said(l, "value") && (!said(l, "word") || change) ? dice_word(d) : 0;
    c->timeout_us = said(l, "timeout") ? (uint32_t)dice_word(d) : 0;
    if ((said(l, "word") && change) || said(l, "own")) {
        c->word = dice_below(d, KIT_WORDS);
    }
    c->change = said(l, "word") && change ? (uint8_t)dice_below(d, 4) : 0;
    c->word = said(l, "ask") ? dice_below(d, 70) : c->word;
    if (said(l, "long") && !(c->flags & SHARE_DATAGRAM) && dice_below(d, 2)) {
        c->parts = 1;
    }
    draw_lead(k, d, s);
    if (said(l, "place")) {
        c->length = 1 + dice_below(d, SHARE_PAGE);
        draw_place(k, d, &c->region, &c->generation, &c->offset, c->length);
    } else {
        draw_body(k, d, s);
    }
    if (dice_below(d, 4) == 0) {
        spoil(d, s);
    }
}
