/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/head.h"

#include "base/bytes.h"
#include "services/aggregate/dense/number.h"

#include <errno.h>
#include <string.h>

enum { HEAD_BYTES = 24, SPEC_BYTES = 12, RUN_BYTES = 8, ERRNO_MOST = 4095 };

size_t spec_small(const struct spec *s)
{
    size_t element = number_element((cw_number)s->type, (cw_combine)s->combine);
    return s->elements <= MESSAGE_SMALL_MOST / element ? (size_t)s->elements * element : 0;
}

size_t spec_join(const struct spec *s)
{
    return (s->flags & CW_REDUCE_FROM_ROOT) != 0 ? 0 : spec_small(s);
}

bool spec_is_small(const struct spec *s)
{
    return s->elements == 0 || spec_small(s) > 0;
}

static bool ends(const struct message *m)
{
    return m->kind == MESSAGE_END || m->kind == MESSAGE_SPREAD;
}

static size_t set_words(uint32_t servers)
{
    return (servers + 63) / 64;
}

size_t message_record_size(const struct message *m)
{
    return MESSAGE_RECORD_BYTES + (m->kind == MESSAGE_GATHER ? spec_join(&m->spec) : 0);
}

struct message_record message_record(const struct message *m, unsigned i)
{
    size_t size = message_record_size(m);
    struct reader r = reader_of(m->records + i * size, size);
    struct message_record record = {.server = reader_be16(&r)};
    record.ticket = reader_be32(&r);
    record.elements = reader_take(&r, size - MESSAGE_RECORD_BYTES);
    return record;
}

void message_record_put(const struct message *m, const struct message_record *record, uint8_t *out)
{
    size_t size = message_record_size(m);
    struct writer w = writer_of(out, size);
    writer_be16(&w, (uint16_t)record->server);
    writer_be32(&w, record->ticket);
    writer_copy(&w, record->elements, size - MESSAGE_RECORD_BYTES);
}

static size_t records_bytes(const struct message *m)
{
    return m->record_count * message_record_size(m);
}

/* Bytes of the set of the counted. */
static size_t counted_bytes(const struct message *m)
{
    return m->everyone ? 0 : 8 * set_words(m->servers);
}

size_t message_size(const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_BLOCK:
        return MESSAGE_BLOCK_BYTES;
    case MESSAGE_DEAL:
        return 36 + RUN_BYTES * (size_t)m->runs;
    case MESSAGE_ANNOUNCE:
        return 60 + 2 * 8 * set_words(m->servers);
    case MESSAGE_VOID:
        return 28;
    case MESSAGE_END:
        return 36 + counted_bytes(m) + m->bytes;
    case MESSAGE_PROBE:
        return HEAD_BYTES;
    case MESSAGE_JOIN:
        return 52 + m->name_length + m->bytes;
    case MESSAGE_RESULT:
        return MESSAGE_RESULT_HEAD;
    case MESSAGE_HOLD:
        return 32;
    case MESSAGE_GATHER:
        return 52 + m->name_length + records_bytes(m);
    case MESSAGE_SPREAD:
        return 36 + counted_bytes(m) + records_bytes(m) + m->bytes;
    }
    return 0;
}

/* ---- Encode ------------------------------------------------------------------------------------------------------ */

static uint16_t what_of(const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_DEAL:
        return (uint16_t)m->runs;
    case MESSAGE_VOID:
    case MESSAGE_END:
    case MESSAGE_SPREAD:
        return m->status;
    case MESSAGE_JOIN:
    case MESSAGE_GATHER:
        return (uint16_t)m->name_length;
    case MESSAGE_BLOCK:
    case MESSAGE_ANNOUNCE:
    case MESSAGE_PROBE:
    case MESSAGE_RESULT:
    case MESSAGE_HOLD:
        break;
    }
    return 0;
}

static void put_spec(struct writer *w, const struct spec *s)
{
    writer_u8(w, s->type);
    writer_u8(w, s->combine);
    writer_u8(w, s->flags);
    writer_u8(w, 0);
    writer_be64(w, s->elements);
}

static void put_set(struct writer *w, const uint64_t *set, uint32_t servers)
{
    for (size_t i = 0; i < set_words(servers); i++) {
        writer_be64(w, set[i]);
    }
}

static void put_counted(struct writer *w, const struct message *m)
{
    if (!m->everyone) {
        put_set(w, m->members, m->servers);
    }
}

static void put_deal(struct writer *w, const struct message *m)
{
    writer_be32(w, (uint32_t)m->tree << 24);
    writer_be32(w, m->passed);
    writer_be32(w, m->from);
    for (unsigned i = 0; i < m->runs; i++) {
        writer_be32(w, m->deal[i].first);
        writer_be32(w, m->deal[i].count);
    }
}

static void put_announce(struct writer *w, const struct message *m)
{
    writer_be32(w, m->ticket);
    put_spec(w, &m->spec);
    writer_be32(w, m->each);
    writer_be16(w, m->window);
    writer_be16(w, m->ahead);
    writer_be32(w, m->dealt);
    writer_be32(w, m->job);
    writer_be32(w, m->servers);
    put_set(w, m->members, m->servers);
    put_set(w, m->dead, m->servers);
}

void message_encode(const struct message *m, uint8_t *out)
{
    struct writer w = writer_of(out, message_size(m));
    writer_u8(&w, (uint8_t)(MESSAGE_VERSION << 4 | m->kind));
    writer_u8(&w, (uint8_t)(ends(m) ? m->everyone | m->unlike << 1 : 0));
    writer_be16(&w, what_of(m));
    writer_be32(&w, m->run.root);
    writer_be64(&w, m->run.life);
    writer_be32(&w, m->run.number);
    writer_be32(&w, m->attempt);
    switch (m->kind) {
    case MESSAGE_BLOCK:
        writer_be32(&w, (uint32_t)m->tree << 24);
        writer_be32(&w, m->position);
        writer_be32(&w, m->block);
        break;
    case MESSAGE_DEAL:
        put_deal(&w, m);
        break;
    case MESSAGE_ANNOUNCE:
        put_announce(&w, m);
        break;
    case MESSAGE_VOID:
        writer_be32(&w, m->who);
        break;
    case MESSAGE_END:
        writer_be32(&w, m->ticket);
        writer_be32(&w, m->who);
        writer_be32(&w, m->servers);
        put_counted(&w, m);
        writer_copy(&w, m->elements, m->bytes);
        break;
    case MESSAGE_RESULT:
        writer_be64(&w, m->first);
        writer_be32(&w, m->piece);
        writer_be32(&w, m->pieces);
        break;
    case MESSAGE_HOLD:
        writer_be32(&w, m->ticket);
        writer_be32(&w, m->pieces);
        break;
    case MESSAGE_PROBE:
        break;
    case MESSAGE_JOIN:
        writer_be32(&w, m->ticket);
        put_spec(&w, &m->spec);
        writer_be32(&w, m->job);
        writer_be64(&w, m->digest);
        writer_copy(&w, m->name, m->name_length);
        writer_copy(&w, m->elements, m->bytes);
        break;
    case MESSAGE_GATHER:
        put_spec(&w, &m->spec);
        writer_be32(&w, m->job);
        writer_be64(&w, m->digest);
        writer_be32(&w, (uint32_t)m->record_count << 16);
        writer_copy(&w, m->name, m->name_length);
        writer_copy(&w, m->records, records_bytes(m));
        break;
    case MESSAGE_SPREAD:
        writer_be32(&w, m->who);
        writer_be32(&w, m->servers);
        writer_be32(&w, (uint32_t)m->record_count << 16 | (uint32_t)m->bytes);
        put_counted(&w, m);
        writer_copy(&w, m->records, records_bytes(m));
        writer_copy(&w, m->elements, m->bytes);
        break;
    }
}

/* ---- Decode ------------------------------------------------------------------------------------------------------ */

static bool take_tree(struct reader *r, struct message *m)
{
    uint32_t word = reader_be32(r);
    m->tree = (uint8_t)(word >> 24);
    return m->tree < CW_LINK_COUNT && (word & 0xffffff) == 0;
}

static bool take_spec(struct reader *r, struct spec *s)
{
    s->type = reader_u8(r);
    s->combine = reader_u8(r);
    s->flags = reader_u8(r);
    bool zero = reader_u8(r) == 0;
    s->elements = reader_be64(r);
    return zero && (s->flags & ~CW_REDUCE_FLAGS) == 0 &&
           number_element((cw_number)s->type, (cw_combine)s->combine) != 0;
}

static bool take_servers(struct reader *r, struct message *m)
{
    m->servers = reader_be32(r);
    return m->servers >= 1 && m->servers <= MESSAGE_SERVERS_MOST;
}

static bool take_set(struct reader *r, uint64_t *set, uint32_t servers)
{
    size_t words = set_words(servers);
    for (size_t i = 0; i < words; i++) {
        set[i] = reader_be64(r);
    }
    return servers % 64 == 0 || set[words - 1] >> servers % 64 == 0;
}

static bool take_counted(struct reader *r, struct message *m)
{
    return m->everyone || take_set(r, m->members, m->servers);
}

static bool take_deal(struct reader *r, struct message *m, uint16_t what)
{
    m->runs = what;
    bool good = take_tree(r, m) && what <= MESSAGE_RUNS_MOST;
    m->passed = reader_be32(r);
    m->from = reader_be32(r);
    for (unsigned i = 0; good && i < m->runs; i++) {
        m->deal[i].first = reader_be32(r);
        m->deal[i].count = reader_be32(r);
        good = m->deal[i].count > 0;
    }
    return good;
}

static bool take_announce(struct reader *r, struct message *m)
{
    m->ticket = reader_be32(r);
    bool good = take_spec(r, &m->spec);
    m->each = reader_be32(r);
    m->window = reader_be16(r);
    m->ahead = reader_be16(r);
    m->dealt = reader_be32(r);
    m->job = reader_be32(r);
    return good && take_servers(r, m) && take_set(r, m->members, m->servers) && take_set(r, m->dead, m->servers);
}

/* What is left is a small vector. */
static bool take_small(struct reader *r, struct message *m)
{
    m->bytes = reader_left(r);
    m->elements = reader_take(r, m->bytes);
    return m->bytes <= MESSAGE_SMALL_MOST;
}

static bool take_end(struct reader *r, struct message *m, uint16_t what)
{
    m->status = what;
    m->ticket = reader_be32(r);
    m->who = reader_be32(r);
    return what <= ERRNO_MOST && take_servers(r, m) && take_counted(r, m) && take_small(r, m) &&
           (what == 0 || m->bytes == 0);
}

static bool take_result(struct reader *r, struct message *m)
{
    m->first = reader_be64(r);
    m->piece = reader_be32(r);
    m->pieces = reader_be32(r);
    m->bytes = reader_left(r);
    m->elements = reader_take(r, m->bytes);
    return m->piece < m->pieces && m->bytes > 0;
}

static bool take_join(struct reader *r, struct message *m, uint16_t what)
{
    m->ticket = reader_be32(r);
    bool good = take_spec(r, &m->spec);
    m->job = reader_be32(r);
    m->digest = reader_be64(r);
    m->name_length = what;
    m->name = (const char *)reader_take(r, what);
    good = good && m->ticket != 0 && what >= 1 && what <= MESSAGE_NAME_MOST && take_small(r, m);
    return good && m->bytes == spec_join(&m->spec);
}

static bool take_records(struct reader *r, struct message *m, unsigned count)
{
    m->record_count = count;
    m->records = reader_take(r, records_bytes(m));
    bool good = count > 0 && reader_ok(r);
    for (unsigned i = 0; good && i < count; i++) {
        struct message_record record = message_record(m, i);
        good = record.server < MESSAGE_SERVERS_MOST && record.ticket != 0;
    }
    return good;
}

static bool take_gather(struct reader *r, struct message *m, uint16_t what)
{
    bool good = take_spec(r, &m->spec);
    m->job = reader_be32(r);
    m->digest = reader_be64(r);
    uint32_t word = reader_be32(r);
    m->name_length = what;
    m->name = (const char *)reader_take(r, what);
    return good && (word & 0xffff) == 0 && what >= 1 && what <= MESSAGE_NAME_MOST && take_records(r, m, word >> 16);
}

static bool take_spread(struct reader *r, struct message *m, uint16_t what)
{
    m->status = what;
    m->who = reader_be32(r);
    bool good = what <= ERRNO_MOST && take_servers(r, m);
    uint32_t word = reader_be32(r);
    good = good && take_counted(r, m) && take_records(r, m, word >> 16) && take_small(r, m);
    return good && m->bytes == (word & 0xffff) && (what == 0 || m->bytes == 0);
}

static bool take_rest(struct reader *r, struct message *m, uint16_t what)
{
    switch (m->kind) {
    case MESSAGE_BLOCK: {
        bool good = take_tree(r, m) && what == 0;
        m->position = reader_be32(r);
        m->block = reader_be32(r);
        return good;
    }
    case MESSAGE_DEAL:
        return take_deal(r, m, what);
    case MESSAGE_ANNOUNCE:
        return what == 0 && take_announce(r, m);
    case MESSAGE_VOID:
        m->status = what;
        m->who = reader_be32(r);
        return what <= ERRNO_MOST;
    case MESSAGE_END:
        return take_end(r, m, what);
    case MESSAGE_PROBE:
        return what == 0;
    case MESSAGE_JOIN:
        return take_join(r, m, what);
    case MESSAGE_RESULT:
        return what == 0 && take_result(r, m);
    case MESSAGE_HOLD:
        m->ticket = reader_be32(r);
        m->pieces = reader_be32(r);
        return what == 0;
    case MESSAGE_GATHER:
        return take_gather(r, m, what);
    case MESSAGE_SPREAD:
        return take_spread(r, m, what);
    }
    return false;
}

int message_decode(const uint8_t *bytes, size_t size, struct message *out)
{
    struct reader r = reader_of(bytes, size);
    out->bytes = out->record_count = 0;
    uint8_t first = reader_u8(&r), marks = reader_u8(&r);
    uint16_t what = reader_be16(&r);
    out->kind = (enum message_kind)(first & 15);
    out->run.root = reader_be32(&r);
    out->run.life = reader_be64(&r);
    out->run.number = reader_be32(&r);
    out->attempt = reader_be32(&r);
    out->everyone = (marks & 1) != 0;
    out->unlike = marks >> 1;
    bool possible = ends(out) ? out->unlike == 0 || (out->unlike <= CW_REDUCE_UNLIKES && what == EINVAL) : marks == 0;
    bool good = first >> 4 == MESSAGE_VERSION && possible && reader_ok(&r);
    good = good && take_rest(&r, out, what);
    bool longest = size <= MESSAGE_BYTES_MOST || out->kind == MESSAGE_RESULT;
    return good && longest && reader_done(&r) ? 0 : -EPROTO;
}
