/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/letter.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

enum { HEAD_BYTES = 24, WISH_BYTES = 28, ERRNO_MOST = 4095 };

static size_t set_bytes(uint32_t servers)
{
    return 8 * (((size_t)servers + 63) / 64);
}

static size_t wish_bytes(const struct letter *l)
{
    const struct wish *w = &l->wish;
    return WISH_BYTES + 2 * set_bytes(l->servers) + strlen(w->from) + strlen(w->to) + strlen(w->mapper) +
           strlen(w->combine);
}

size_t letter_size(const struct letter *l)
{
    switch (l->kind) {
    case LETTER_PREPARE:
        return HEAD_BYTES + 12 + wish_bytes(l);
    case LETTER_COPY:
        return HEAD_BYTES + wish_bytes(l);
    case LETTER_ORDER:
        return HEAD_BYTES + 16 + wish_bytes(l);
    case LETTER_ORDERED:
        return HEAD_BYTES + 32;
    case LETTER_PREPARED:
        return HEAD_BYTES + 44 + l->summary_bytes;
    case LETTER_ANNOUNCE:
        return HEAD_BYTES + 36 + 2 * set_bytes(l->servers) + strlen(l->wish.combine);
    case LETTER_GRANT:
        return HEAD_BYTES + 12 + l->after.length;
    case LETTER_BLOCK:
        return LETTER_BLOCK_BYTES;
    case LETTER_VOID:
        return HEAD_BYTES + 12;
    case LETTER_END:
    case LETTER_PROBE:
    case LETTER_COLLECTED:
        return HEAD_BYTES;
    case LETTER_COMMIT:
        return HEAD_BYTES + 4 + set_bytes(l->servers);
    }
    return 0;
}

/* ---- Encode ------------------------------------------------------------------------------------------------------ */

static uint16_t what_of(const struct letter *l)
{
    return l->kind == LETTER_VOID || l->kind == LETTER_END ? l->status : 0;
}

static void put_set(struct writer *w, const uint64_t *set, uint32_t servers)
{
    for (size_t i = 0; i < set_bytes(servers) / 8; i++) {
        writer_be64(w, set[i]);
    }
}

static void put_wish(struct writer *w, const struct letter *l)
{
    const struct wish *wish = &l->wish;
    const char *const names[] = {wish->from, wish->to, wish->mapper, wish->combine};
    writer_be32(w, wish->limit_ms);
    writer_be32(w, wish->top);
    writer_be32(w, wish->partitions);
    writer_be32(w, wish->job);
    writer_be32(w, (uint32_t)wish->flags << 24);
    for (int i = 0; i < 4; i++) {
        writer_u8(w, (uint8_t)strlen(names[i]));
    }
    writer_be32(w, l->servers);
    put_set(w, l->members, l->servers);
    put_set(w, l->others, l->servers);
    for (int i = 0; i < 4; i++) {
        writer_copy(w, names[i], strlen(names[i]));
    }
}

static void put_name(struct writer *w, const struct run_name *run)
{
    writer_be32(w, run->root);
    writer_be64(w, run->life);
    writer_be32(w, run->number);
}

static void put_announce(struct writer *w, const struct letter *l)
{
    size_t length = strlen(l->wish.combine);
    writer_be32(w, l->partitions);
    writer_be32(w, l->each);
    writer_be32(w, (uint32_t)length << 24 | (uint32_t)l->open << 16 | (uint32_t)l->way << 8);
    put_name(w, &l->lead);
    writer_be32(w, l->wish.job);
    writer_be32(w, l->servers);
    put_set(w, l->members, l->servers);
    put_set(w, l->others, l->servers);
    writer_copy(w, l->wish.combine, length);
}

void letter_encode(const struct letter *l, uint8_t *out)
{
    struct writer w = writer_of(out, letter_size(l));
    writer_u8(&w, (uint8_t)(LETTER_VERSION << 4 | l->kind));
    writer_u8(&w, 0);
    writer_be16(&w, what_of(l));
    put_name(&w, &l->run);
    writer_be32(&w, l->attempt);
    switch (l->kind) {
    case LETTER_ORDER:
        writer_be32(&w, l->first);
        writer_be32(&w, l->count);
        writer_be64(&w, l->bytes);
        put_wish(&w, l);
        break;
    case LETTER_PREPARE:
        writer_be32(&w, l->of);
        writer_be64(&w, l->digest);
        put_wish(&w, l);
        break;
    case LETTER_COPY:
        put_wish(&w, l);
        break;
    case LETTER_ORDERED:
        writer_be32(&w, l->who);
        writer_be32(&w, l->attempts);
        writer_be64(&w, l->keys);
        writer_be64(&w, l->bytes);
        writer_be64(&w, l->limit);
        break;
    case LETTER_PREPARED:
        writer_be64(&w, l->records);
        writer_be64(&w, l->bytes);
        writer_be64(&w, l->line);
        writer_be64(&w, l->digest);
        writer_be64(&w, l->limit);
        writer_be16(&w, l->summary_bytes);
        writer_be16(&w, 0);
        if (l->summary_bytes > 0) {
            writer_copy(&w, l->summary, l->summary_bytes);
        }
        break;
    case LETTER_ANNOUNCE:
        put_announce(&w, l);
        break;
    case LETTER_GRANT:
    case LETTER_BLOCK:
        writer_u8(&w, l->tree);
        writer_u8(&w, l->kind == LETTER_BLOCK && l->last);
        writer_be16(&w, (uint16_t)(l->kind == LETTER_GRANT ? l->after.length : 0));
        writer_be32(&w, l->partition);
        writer_be32(&w, l->sequence);
        if (l->kind == LETTER_GRANT && l->after.length > 0) {
            writer_copy(&w, l->after.bytes, l->after.length);
        }
        break;
    case LETTER_VOID:
        writer_be32(&w, l->who);
        writer_be64(&w, l->limit);
        break;
    case LETTER_END:
    case LETTER_PROBE:
    case LETTER_COLLECTED:
        break;
    case LETTER_COMMIT:
        writer_be32(&w, l->servers);
        put_set(&w, l->members, l->servers);
        break;
    }
}

/* ---- Decode ------------------------------------------------------------------------------------------------------ */

static bool take_servers(struct reader *r, struct letter *l)
{
    l->servers = reader_be32(r);
    return l->servers >= 1 && l->servers <= MESSAGE_SERVERS_MOST;
}

static bool take_set(struct reader *r, uint64_t *set, uint32_t servers)
{
    size_t words = set_bytes(servers) / 8;
    for (size_t i = 0; i < words; i++) {
        set[i] = reader_be64(r);
    }
    return servers % 64 == 0 || set[words - 1] >> servers % 64 == 0;
}

static bool take_name(struct reader *r, size_t length, size_t most, char *out)
{
    const uint8_t *bytes = reader_take(r, length);
    if (length > most || bytes == NULL || memchr(bytes, '\0', length) != NULL) {
        return false;
    }
    memcpy(out, bytes, length);
    out[length] = '\0';
    return true;
}

static bool take_sets(struct reader *r, struct letter *l)
{
    return take_servers(r, l) && take_set(r, l->members, l->servers) && take_set(r, l->others, l->servers);
}

static bool take_wish(struct reader *r, struct letter *l)
{
    enum { BOTH_WAYS = LETTER_DIRECT | LETTER_SHORTEST };
    struct wish *w = &l->wish;
    uint8_t length[4];
    w->limit_ms = reader_be32(r);
    w->top = reader_be32(r);
    w->partitions = reader_be32(r);
    w->job = reader_be32(r);
    uint32_t flags = reader_be32(r);
    w->flags = (uint8_t)(flags >> 24);
    reader_copy(r, length, sizeof length);
    bool good = (flags & 0xffffff) == 0 && (w->flags & ~LETTER_FLAGS) == 0 && (w->flags & BOTH_WAYS) != BOTH_WAYS &&
                w->limit_ms >= 1 && w->limit_ms <= LETTER_LIMIT_MOST_MS && w->partitions >= 1 &&
                w->partitions <= LETTER_PARTITIONS_MOST && reader_ok(r) && length[0] > 0 && length[2] > 0 &&
                length[3] > 0;
    return good && take_sets(r, l) && take_name(r, length[0], LETTER_NAME_MOST, w->from) &&
           take_name(r, length[1], LETTER_NAME_MOST, w->to) && take_name(r, length[2], LETTER_WORD_MOST, w->mapper) &&
           take_name(r, length[3], LETTER_WORD_MOST, w->combine);
}

static bool take_prepare(struct reader *r, struct letter *l)
{
    l->of = reader_be32(r);
    l->digest = reader_be64(r);
    return take_wish(r, l) && l->of < l->servers;
}

static bool take_order(struct reader *r, struct letter *l)
{
    l->first = reader_be32(r);
    l->count = reader_be32(r);
    l->bytes = reader_be64(r);
    return take_wish(r, l) && l->count >= 1 && l->count <= l->wish.partitions &&
           l->first <= l->wish.partitions - l->count;
}

static void take_run(struct reader *r, struct run_name *out)
{
    out->root = reader_be32(r);
    out->life = reader_be64(r);
    out->number = reader_be32(r);
}

static bool take_announce(struct reader *r, struct letter *l)
{
    l->partitions = reader_be32(r);
    l->each = reader_be32(r);
    uint32_t length = reader_be32(r);
    l->open = (uint8_t)(length >> 16);
    uint8_t way = (uint8_t)(length >> 8);
    l->way = way < LETTER_WAYS ? (enum letter_way)way : LETTER_TREES;
    take_run(r, &l->lead);
    l->wish.job = reader_be32(r);
    return l->open > 0 && l->partitions >= 1 && l->partitions <= LETTER_PARTITIONS_MOST &&
           l->each >= LETTER_EACH_LEAST && l->each <= LETTER_EACH_MOST && way < LETTER_WAYS && (length & 0xff) == 0 &&
           length >> 24 != 0 && take_sets(r, l) && take_name(r, length >> 24, LETTER_WORD_MOST, l->wish.combine);
}

static bool take_stream(struct reader *r, struct letter *l)
{
    l->tree = reader_u8(r);
    uint8_t last = reader_u8(r);
    uint16_t length = reader_be16(r), most = l->kind == LETTER_GRANT ? RECORD_KEY_MOST : 0;
    bool good = length <= most && last <= (l->kind == LETTER_BLOCK) && l->tree < CW_LINK_COUNT;
    l->last = last != 0;
    l->partition = reader_be32(r);
    l->sequence = reader_be32(r);
    l->after = (cw_bytes){length > 0 ? reader_take(r, length) : NULL, length};
    return good && l->partition < LETTER_PARTITIONS_MOST && (length == 0 || l->after.bytes != NULL);
}

static bool take_prepared(struct reader *r, struct letter *l)
{
    l->records = reader_be64(r);
    l->bytes = reader_be64(r);
    l->line = reader_be64(r);
    l->digest = reader_be64(r);
    l->limit = reader_be64(r);
    l->summary_bytes = reader_be16(r);
    bool good = reader_be16(r) == 0 && l->summary_bytes <= LETTER_SUMMARY_MOST;
    l->summary = good && l->summary_bytes > 0 ? reader_take(r, l->summary_bytes) : NULL;
    return good && (l->summary_bytes == 0 || l->summary != NULL);
}

static bool take_rest(struct reader *r, struct letter *l, uint16_t what)
{
    switch (l->kind) {
    case LETTER_ORDER:
        return what == 0 && take_order(r, l);
    case LETTER_PREPARE:
        return what == 0 && take_prepare(r, l);
    case LETTER_COPY:
        return what == 0 && take_wish(r, l);
    case LETTER_ORDERED:
        l->who = reader_be32(r);
        l->attempts = reader_be32(r);
        l->keys = reader_be64(r);
        l->bytes = reader_be64(r);
        l->limit = reader_be64(r);
        return what == 0;
    case LETTER_PREPARED:
        return what == 0 && take_prepared(r, l);
    case LETTER_ANNOUNCE:
        return what == 0 && take_announce(r, l);
    case LETTER_GRANT:
    case LETTER_BLOCK:
        return what == 0 && take_stream(r, l);
    case LETTER_VOID:
        l->status = what;
        l->who = reader_be32(r);
        l->limit = reader_be64(r);
        return what <= ERRNO_MOST;
    case LETTER_END:
        l->status = what;
        return what <= ERRNO_MOST;
    case LETTER_PROBE:
    case LETTER_COLLECTED:
        return what == 0;
    case LETTER_COMMIT:
        return what == 0 && take_servers(r, l) && take_set(r, l->members, l->servers);
    }
    return false;
}

int letter_decode(const uint8_t *bytes, size_t size, struct letter *out)
{
    struct reader r = reader_of(bytes, size);
    uint8_t first = reader_u8(&r), zero = reader_u8(&r);
    uint16_t what = reader_be16(&r);
    out->kind = (enum letter_kind)(first & 15);
    take_run(&r, &out->run);
    out->attempt = reader_be32(&r);
    bool good = first >> 4 == LETTER_VERSION && zero == 0 && reader_ok(&r) && take_rest(&r, out, what);
    return good && reader_done(&r) ? 0 : -EPROTO;
}
