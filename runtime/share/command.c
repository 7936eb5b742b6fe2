/* SPDX-License-Identifier: Apache-2.0 */
#include "share/command.h"
#include "share/mutant.h"

#include <errno.h>

/* Fields that an op may use; all others must be zero in it. */
enum field {
    F_ENDPOINT = 1 << 0,
    F_PEER = 1 << 1,    /* one that is open */
    F_PEER_OR = 1 << 2, /* one that is open, or 0 */
    F_TAG = 1 << 3,
    F_PLACE = 1 << 4, /* `length` bytes of local memory: region, generation, offset */
    F_TEMPLATE = 1 << 5,
    F_CHANNEL = 1 << 6, /* below `channels` of the row */
    F_VALUE = 1 << 7,
    F_WORD = 1 << 8,     /* word and change, with the flag WORD */
    F_OWN_WORD = 1 << 9, /* word: one of its own */
    F_ASK = 1 << 10,     /* word: 0, or the peer who gets the answer; change: how often it is sent again */
    F_SIZES = 1 << 11,   /* word: a number of the op's own */
    F_TIMEOUT = 1 << 12,
    F_REMOTE = 1 << 13,      /* the remote offset stands inline */
    F_MAY_BE_LONG = 1 << 14, /* its body may be parts */
    F_SENDS = F_ENDPOINT | F_PEER | F_TAG | F_TIMEOUT,
};

/* An op: what it may use, and how long its body may be. `most` 0 with BYTES is the row of no op. */
struct row {
    uint16_t fields;
    uint8_t flags, body, channels;
    uint32_t least, most;
};

enum {
    NAME_MOST = 63,
    SET_MOST = 256 * 4,     /* numbers of peers */
    ELEMENTS_MOST = 16 * 8, /* of a template */
    LONGEST = UINT32_MAX,
    KEY_BYTES = 24,
    REMOTE_BYTES = 8,
    WINDOW_BYTES = 24,
    PART_BYTES = 16,
};

#define NO SHARE_BODY_NONE
#define BYTES SHARE_BODY_BYTES
#define PARTS SHARE_BODY_PARTS
#define UNITS SHARE_BODY_ITEMS

static const struct row rows[SHARE_OPS] = {
    [SHARE_OP_SHORT] = {F_SENDS, SHARE_TELL | SHARE_DATAGRAM | SHARE_KEY | SHARE_ITEMS | SHARE_AWAY, BYTES, 0, 0,
                        SHARE_BYTES_MOST},
    [SHARE_OP_LONG] = {F_SENDS | F_WORD | F_VALUE, SHARE_TELL | SHARE_KEY | SHARE_ITEMS | SHARE_AWAY | SHARE_WORD,
                       PARTS, 0, 0, LONGEST},
    [SHARE_OP_LIST] = {F_SENDS | F_TEMPLATE | F_WORD | F_VALUE, SHARE_TELL | SHARE_KEY | SHARE_AWAY | SHARE_WORD, UNITS,
                       0, 0, 0},
    [SHARE_OP_REQUEST] = {F_SENDS | F_VALUE | F_ASK | F_MAY_BE_LONG,
                          SHARE_DATAGRAM | SHARE_KEY | SHARE_WINDOW | SHARE_ITEMS | SHARE_AWAY, BYTES, 0, 0,
                          SHARE_BYTES_MOST},
    [SHARE_OP_ANSWER] = {F_ENDPOINT | F_TAG | F_VALUE | F_TIMEOUT | F_MAY_BE_LONG,
                         SHARE_TELL | SHARE_ITEMS | SHARE_AWAY, BYTES, 0, 0, SHARE_BYTES_MOST},
    [SHARE_OP_POST] = {F_ENDPOINT | F_PEER_OR | F_TAG | F_PLACE | F_VALUE, SHARE_KEEP, NO, 0, 1, LONGEST},
    [SHARE_OP_POST_LIST] = {F_ENDPOINT | F_TEMPLATE, SHARE_AWAY, UNITS, 0, 0, 0},
    [SHARE_OP_UNPOST] = {F_ENDPOINT | F_VALUE, 0, NO, 0, 0, 0},
    [SHARE_OP_READ] = {F_SENDS | F_CHANNEL | F_PLACE | F_REMOTE, SHARE_TELL, NO, SHARE_CHANNELS, 1, LONGEST},
    [SHARE_OP_WRITE] = {F_SENDS | F_CHANNEL | F_PLACE | F_REMOTE | F_WORD | F_VALUE, SHARE_TELL | SHARE_WORD, NO,
                        SHARE_CHANNELS, 1, LONGEST},
    [SHARE_OP_NOTIFY] = {F_SENDS | F_WORD | F_VALUE, SHARE_TELL | SHARE_DATAGRAM | SHARE_KEY | SHARE_WORD, NO, 0, 0, 0},
    [SHARE_OP_EXPOSE] = {F_ENDPOINT | F_CHANNEL | F_PLACE | F_VALUE, 0, NO, SHARE_CHANNELS, 1, LONGEST},
    [SHARE_OP_CONCEAL] = {F_ENDPOINT | F_CHANNEL, 0, NO, SHARE_CHANNELS, 0, 0},
    [SHARE_OP_TEMPLATE] = {F_ENDPOINT | F_TEMPLATE, 0, BYTES, 0, 8, ELEMENTS_MOST},
    [SHARE_OP_PEER] = {F_ENDPOINT | F_TAG | F_CHANNEL | F_VALUE | F_SIZES, SHARE_KEY | SHARE_AWAY, BYTES, 6, 0,
                       SET_MOST},
    [SHARE_OP_UNPEER] = {F_ENDPOINT | F_PEER, 0, NO, 0, 0, 0},
    [SHARE_OP_NAME] = {F_ENDPOINT | F_VALUE, 0, BYTES, 0, 1, NAME_MOST},
    [SHARE_OP_UNNAME] = {F_ENDPOINT, 0, BYTES, 0, 1, NAME_MOST},
    [SHARE_OP_JOIN] = {F_ENDPOINT, 0, BYTES, 0, 1, NAME_MOST},
    [SHARE_OP_LEAVE] = {F_ENDPOINT, 0, BYTES, 0, 1, NAME_MOST},
    /* The endpoint is not open yet: its number comes in the completion. */
    [SHARE_OP_PORT] = {F_TAG | F_CHANNEL | F_VALUE | F_SIZES, 0, BYTES, 4, 0, NAME_MOST},
    [SHARE_OP_UNPORT] = {F_ENDPOINT, 0, NO, 0, 0, 0},
    [SHARE_OP_CANCEL] = {F_ENDPOINT | F_VALUE, 0, NO, 0, 0, 0},
    [SHARE_OP_WATCH] = {F_OWN_WORD | F_CHANNEL, 0, NO, 2, 0, 0},
    [SHARE_OP_WANT] = {F_VALUE, 0, NO, 0, 0, 0},
    [SHARE_OP_KICK] = {F_CHANNEL, 0, NO, SHARE_LANES_MOST, 0, 0},
};

struct share_part share_part_decode(const uint64_t word[static 2])
{
    return (struct share_part){.region = (uint16_t)word[0],
                               .generation = (uint16_t)(word[0] >> 16),
                               .length = (uint32_t)(word[0] >> 32),
                               .offset = word[1]};
}

void share_part_encode(const struct share_part *p, uint64_t word[static 2])
{
    word[0] = p->region | (uint64_t)p->generation << 16 | (uint64_t)p->length << 32;
    word[1] = p->offset;
}

int share_verdict_error(enum share_verdict v)
{
    if (v == SHARE_FINE) {
        return 0;
    }
    return v >= SHARE_NO_ENDPOINT ? -ENOENT : -EINVAL;
}

const char *share_verdict_name(enum share_verdict v)
{
    static const char *const names[SHARE_VERDICTS] = {
        "fine", "op", "flag", "reserved", "length", "parts", "range", "channel", "word", "endpoint", "peer", "region",
    };
    return (unsigned)v < SHARE_VERDICTS ? names[v] : "?";
}

static bool has(const uint64_t *set, uint32_t size, uint32_t number)
{
    return number < size && (set[number / 64] >> number % 64 & 1) != 0;
}

enum share_verdict share_range_judge(const struct share_tables *t, uint16_t region, uint16_t generation,
                                     uint64_t offset, uint64_t length)
{
    if (region >= t->regions || t->region[region].size == 0) {
        return SHARE_NO_REGION;
    }
    const struct share_region *r = &t->region[region];
    if (r->generation != generation && !SHARE_MUTANT(GENERATION)) {
        return SHARE_NO_REGION;
    }
    if (SHARE_MUTANT(WRAP)) {
        return offset + length <= r->size ? SHARE_FINE : SHARE_BAD_RANGE;
    }
    return offset <= r->size && length <= r->size - offset ? SHARE_FINE : SHARE_BAD_RANGE;
}

/* Are all fields zero that the op does not have? */
static bool only_its_fields(const struct share_command *c, const struct row *row)
{
    unsigned f = row->fields;
    bool away = (c->flags & SHARE_AWAY) != 0, word = (c->flags & SHARE_WORD) != 0;
    uint64_t extra = c->reserved;
    extra |= f & F_ENDPOINT ? 0 : c->endpoint;
    extra |= f & (F_PEER | F_PEER_OR) ? 0 : c->peer;
    extra |= f & F_TAG ? 0 : c->tag;
    extra |= f & F_PLACE || away ? 0 : c->region | c->generation | c->offset;
    extra |= f & F_TEMPLATE ? 0 : c->template_id;
    extra |= f & F_CHANNEL ? 0 : c->channel;
    extra |= f & F_VALUE && (word || !(f & F_WORD)) ? 0 : c->value;
    extra |= (f & F_WORD && word) || f & (F_OWN_WORD | F_ASK | F_SIZES) ? 0 : c->word;
    extra |= (f & F_WORD && word) || f & F_ASK ? 0 : c->change;
    extra |= f & F_TIMEOUT ? 0 : c->timeout_us;
    extra |= row->body == PARTS || row->body == UNITS || f & F_MAY_BE_LONG ? 0 : c->parts;
    return extra == 0 || SHARE_MUTANT(RESERVED_BITS);
}

/* Do the numbers name what is the process's own? */
static enum share_verdict judge_numbers(const struct share_command *c, const struct share_tables *t,
                                        const struct row *row)
{
    unsigned f = row->fields;
    if (f & F_ENDPOINT && !has(t->endpoint, t->endpoints, c->endpoint)) {
        return SHARE_NO_ENDPOINT;
    }
    if ((f & F_PEER || (f & F_PEER_OR && c->peer != 0)) && (c->peer == 0 || !has(t->peer, t->peers, c->peer))) {
        return SHARE_NO_PEER;
    }
    if (f & F_ASK && c->word != 0 && !has(t->peer, t->peers, c->word)) {
        return SHARE_NO_PEER;
    }
    if (f & F_CHANNEL && c->channel >= row->channels) {
        return SHARE_BAD_CHANNEL;
    }
    if (f & F_OWN_WORD && c->word >= t->words) {
        return SHARE_BAD_WORD;
    }
    /* Of the receiver, who knows how many it has; there are never more. */
    if (c->flags & SHARE_WORD && (c->word >= SHARE_WORDS_MOST || c->change > 3)) {
        return SHARE_BAD_WORD;
    }
    return SHARE_FINE;
}

/* Where inline bytes stand, and is there room for the body? */
static enum share_verdict judge_body(const struct share_command *c, const struct share_tables *t, const struct row *row,
                                     struct share_shape *shape)
{
    uint32_t at = 0;
    *shape = (struct share_shape){.body = (enum share_body)row->body, .has_remote = (row->fields & F_REMOTE) != 0};
    if (row->fields & F_MAY_BE_LONG && c->parts > 0) {
        shape->body = PARTS;
    }
    shape->key = at;
    at += c->flags & SHARE_KEY ? KEY_BYTES : 0;
    shape->remote = at;
    at += shape->has_remote ? REMOTE_BYTES : 0;
    shape->window = at;
    at += c->flags & SHARE_WINDOW ? WINDOW_BYTES : 0;
    shape->at = at;
    shape->room = SHARE_INLINE_BYTES - at;
    if (c->length < row->least || (c->length > row->most && shape->body != PARTS)) {
        return SHARE_BAD_LENGTH;
    }
    if (row->fields & F_PLACE) {
        return share_range_judge(t, c->region, c->generation, c->offset, c->length);
    }
    uint32_t bytes = c->length;
    if (shape->body == PARTS || shape->body == UNITS) {
        if (c->parts == 0 || c->parts > SHARE_PARTS_MOST) {
            return SHARE_BAD_PARTS;
        }
        bytes = c->parts * (uint32_t)PART_BYTES;
    }
    if (c->flags & SHARE_AWAY) {
        return share_range_judge(t, c->region, c->generation, c->offset, bytes);
    }
    if (bytes > shape->room) {
        return shape->body == BYTES ? SHARE_BAD_LENGTH : SHARE_BAD_PARTS;
    }
    return SHARE_FINE;
}

enum share_verdict share_command_judge(const struct share_command *c, const struct share_tables *t,
                                       struct share_shape *shape)
{
    const struct row *row = &rows[c->op < SHARE_OPS ? c->op : 0];
    if (row == &rows[0]) {
        return SHARE_BAD_OP;
    }
    if (c->flags & ~row->flags) {
        return SHARE_BAD_FLAG;
    }
    if (c->op == SHARE_OP_NOTIFY && !(c->flags & SHARE_WORD)) {
        return SHARE_BAD_FLAG; /* it has nothing else to say */
    }
    if (c->flags & SHARE_DATAGRAM && c->parts > 0) {
        return SHARE_BAD_FLAG; /* a datagram is one packet */
    }
    if (!only_its_fields(c, row)) {
        return SHARE_BAD_RESERVED;
    }
    enum share_verdict v = judge_numbers(c, t, row);
    return v != SHARE_FINE ? v : judge_body(c, t, row, shape);
}

enum share_verdict share_parts_judge(const struct share_tables *t, const struct share_part *part, unsigned parts,
                                     uint32_t length)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < parts; i++) {
        enum share_verdict v = share_range_judge(t, part[i].region, part[i].generation, part[i].offset, part[i].length);
        if (v != SHARE_FINE) {
            return v;
        }
        sum += part[i].length;
    }
    return sum == length || SHARE_MUTANT(PART_SUM) ? SHARE_FINE : SHARE_BAD_PARTS;
}
