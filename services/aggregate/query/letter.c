/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/letter.h"

#include "base/bytes.h"

#include <errno.h>

enum { HEAD = 24, ASK_HEAD = 36 };

static size_t words(uint32_t servers)
{
    return ((size_t)servers + 63) / 64;
}

size_t query_letter_size(const struct query_letter *l)
{
    size_t sets = 16 * words(l->servers);
    return l->kind == LETTER_ASK ? ASK_HEAD + sets + l->source_length : LETTER_PART_HEAD + sets + l->part_length;
}

static void write_set(struct writer *w, const uint64_t *set, uint32_t servers)
{
    for (size_t i = 0; i < words(servers); i++) {
        writer_be64(w, set[i]);
    }
}

void query_letter_encode(const struct query_letter *l, uint8_t *out)
{
    struct writer w = writer_of(out, query_letter_size(l));
    writer_u8(&w, (uint8_t)(LETTER_VERSION << 4 | l->kind));
    writer_u8(&w, (uint8_t)l->summary);
    writer_u8(&w, (uint8_t)l->by);
    writer_u8(&w, (uint8_t)l->flags);
    writer_be32(&w, l->name.asker);
    writer_be64(&w, l->name.life);
    writer_be32(&w, l->name.number);
    writer_be32(&w, l->round);
    if (l->kind == LETTER_ASK) {
        writer_be32(&w, l->within_us);
        writer_be32(&w, l->servers);
        writer_u8(&w, (uint8_t)l->source_length);
        writer_zeros(&w, 3);
        write_set(&w, l->members, l->servers);
        write_set(&w, l->dead, l->servers);
        writer_copy(&w, l->source, l->source_length);
        return;
    }
    writer_be32(&w, l->servers);
    writer_be32(&w, (uint32_t)l->part_length);
    write_set(&w, l->answered, l->servers);
    write_set(&w, l->without, l->servers);
    writer_copy(&w, l->part, l->part_length);
}

/* False: there is a bit beyond the servers. */
static bool read_set(struct reader *r, uint64_t *set, uint32_t servers)
{
    for (size_t i = 0; i < words(servers); i++) {
        set[i] = reader_be64(r);
    }
    return servers % 64 == 0 || set[servers / 64] >> servers % 64 == 0;
}

static bool read_ask(struct reader *r, struct query_letter *out)
{
    out->within_us = reader_be32(r);
    out->servers = reader_be32(r);
    out->source_length = reader_u8(r);
    bool good = reader_be24(r) == 0 && out->servers >= 1 && out->servers <= LETTER_SERVERS_MOST && out->flags == 0 &&
                out->within_us >= 1 && out->within_us <= LETTER_WITHIN_MOST_US;
    good = good && read_set(r, out->members, out->servers) && read_set(r, out->dead, out->servers);
    out->source = good ? (const char *)reader_take(r, out->source_length) : NULL;
    if (!good || out->source == NULL) {
        return false;
    }
    return out->summary == SUMMARY_NAMES ? out->source_length == 0
                                         : summary_name_valid(out->source, out->source_length);
}

static bool read_part(struct reader *r, struct query_letter *out)
{
    out->servers = reader_be32(r);
    out->part_length = reader_be32(r);
    bool good = out->servers >= 1 && out->servers <= LETTER_SERVERS_MOST && out->part_length <= PART_BYTES_MOST;
    good = good && read_set(r, out->answered, out->servers) && read_set(r, out->without, out->servers);
    for (size_t i = 0; good && i < words(out->servers); i++) {
        good = (out->without[i] & ~out->answered[i]) == 0;
    }
    out->part = good ? reader_take(r, out->part_length) : NULL;
    return good && out->part != NULL;
}

int query_letter_decode(const uint8_t *bytes, size_t size, struct query_letter *out)
{
    struct reader r = reader_of(bytes, size);
    unsigned first = reader_u8(&r);
    out->kind = (enum letter_kind)(first & 15);
    out->summary = (enum summary_kind)reader_u8(&r);
    out->by = (enum letter_by)reader_u8(&r);
    out->flags = reader_u8(&r);
    out->name.asker = reader_be32(&r);
    out->name.life = reader_be64(&r);
    out->name.number = reader_be32(&r);
    out->round = (enum letter_round)reader_be32(&r);
    if (!reader_ok(&r) || first >> 4 != LETTER_VERSION || out->summary < SUMMARY_NUMBER ||
        out->summary > SUMMARY_NAMES || out->by > LETTER_BY_SERVER || (out->flags & ~(unsigned)LETTER_FLAGS) != 0 ||
        (out->round != LETTER_TREE && out->round != LETTER_DIRECT)) {
        return -EPROTO;
    }
    bool good = (out->kind == LETTER_ASK && read_ask(&r, out)) || (out->kind == LETTER_PART && read_part(&r, out));
    return good && reader_done(&r) && out->name.asker < out->servers ? 0 : -EPROTO;
}
