/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/order/note.h"

#include "base/bytes.h"
#include "services/aggregate/dense/number.h"

#include <errno.h>
#include <string.h>

enum { HEAD_BYTES = 16 };

static size_t set_words(uint32_t servers)
{
    return (servers + 63) / 64;
}

size_t note_size(const struct note *n)
{
    switch (n->kind) {
    case NOTE_LOOK:
        return 40 + strlen(n->from) + strlen(n->to);
    case NOTE_LOOKED:
        return HEAD_BYTES + 8;
    case NOTE_GO:
        return 28 + 8 * set_words(n->servers);
    case NOTE_DONE:
        return 44 + 8 * set_words(n->servers);
    case NOTE_DROP:
        return HEAD_BYTES;
    }
    return 0;
}

/* ---- Encode ------------------------------------------------------------------------------------------------------ */

static void put_set(struct writer *w, const struct note *n)
{
    writer_be32(w, n->servers);
    for (size_t i = 0; i < set_words(n->servers); i++) {
        writer_be64(w, n->set[i]);
    }
}

static void put_look(struct writer *w, const struct note *n)
{
    writer_be32(w, n->root);
    writer_u8(w, n->spec.type);
    writer_u8(w, n->spec.combine);
    writer_u8(w, n->spec.flags);
    writer_u8(w, 0);
    writer_be64(w, n->spec.elements);
    writer_be32(w, n->limit_ms);
    writer_u8(w, n->source);
    writer_u8(w, n->sink);
    writer_u8(w, (uint8_t)strlen(n->from));
    writer_u8(w, (uint8_t)strlen(n->to));
    writer_copy(w, n->from, strlen(n->from));
    writer_copy(w, n->to, strlen(n->to));
}

void note_encode(const struct note *n, uint8_t *out)
{
    struct writer w = writer_of(out, note_size(n));
    writer_u8(&w, (uint8_t)(NOTE_VERSION << 4 | n->kind));
    writer_u8(&w, 0);
    writer_be16(&w, 0);
    writer_be32(&w, n->number);
    writer_be64(&w, n->life);
    switch (n->kind) {
    case NOTE_LOOK:
        put_look(&w, n);
        break;
    case NOTE_LOOKED:
        writer_be64(&w, n->bytes);
        break;
    case NOTE_GO:
        writer_be64(&w, n->spec.elements);
        put_set(&w, n);
        break;
    case NOTE_DONE:
        writer_be32(&w, n->who);
        writer_be32(&w, n->attempts);
        writer_be64(&w, n->took_ns);
        writer_be64(&w, n->wrong);
        put_set(&w, n);
        break;
    case NOTE_DROP:
        break;
    }
}

/* ---- Decode ------------------------------------------------------------------------------------------------------ */

static bool take_set(struct reader *r, struct note *n)
{
    n->servers = reader_be32(r);
    if (n->servers == 0 || n->servers > MESSAGE_SERVERS_MOST) {
        return false;
    }
    size_t words = set_words(n->servers);
    for (size_t i = 0; i < words; i++) {
        n->set[i] = reader_be64(r);
    }
    return n->servers % 64 == 0 || n->set[words - 1] >> n->servers % 64 == 0;
}

static bool take_name(struct reader *r, size_t length, char out[static NOTE_NAME_MOST + 1])
{
    if (length > NOTE_NAME_MOST) {
        return false;
    }
    const uint8_t *bytes = reader_take(r, length);
    if (bytes == NULL || memchr(bytes, '\0', length) != NULL) {
        return false;
    }
    memcpy(out, bytes, length);
    out[length] = '\0';
    return true;
}

static bool take_look(struct reader *r, struct note *n)
{
    n->root = reader_be32(r);
    n->spec.type = reader_u8(r);
    n->spec.combine = reader_u8(r);
    n->spec.flags = reader_u8(r);
    bool good = reader_u8(r) == 0;
    n->spec.elements = reader_be64(r);
    n->limit_ms = reader_be32(r);
    n->source = reader_u8(r);
    n->sink = reader_u8(r);
    size_t from = reader_u8(r), to = reader_u8(r);
    good = good && (n->spec.flags & ~CW_REDUCE_FLAGS) == 0 && n->source <= NOTE_SOURCE_KNOWN &&
           n->sink <= NOTE_SINK_COMPARE && number_element((cw_number)n->spec.type, (cw_combine)n->spec.combine) != 0 &&
           (n->source == NOTE_SOURCE_FILE) == (from > 0) && (n->sink == NOTE_SINK_FILE) == (to > 0);
    return good && take_name(r, from, n->from) && take_name(r, to, n->to);
}

static bool take_rest(struct reader *r, struct note *n)
{
    switch (n->kind) {
    case NOTE_LOOK:
        return take_look(r, n);
    case NOTE_LOOKED:
        n->bytes = reader_be64(r);
        return true;
    case NOTE_GO:
        n->spec.elements = reader_be64(r);
        return take_set(r, n);
    case NOTE_DONE:
        n->who = reader_be32(r);
        n->attempts = reader_be32(r);
        n->took_ns = reader_be64(r);
        n->wrong = reader_be64(r);
        return take_set(r, n);
    case NOTE_DROP:
        return true;
    }
    return false;
}

int note_decode(const uint8_t *bytes, size_t size, struct note *out)
{
    struct reader r = reader_of(bytes, size);
    uint8_t first = reader_u8(&r), zero = reader_u8(&r);
    uint16_t zeros = reader_be16(&r);
    out->kind = (enum note_kind)(first & 15);
    out->number = reader_be32(&r);
    out->life = reader_be64(&r);
    bool good = first >> 4 == NOTE_VERSION && zero == 0 && zeros == 0 && reader_ok(&r) && take_rest(&r, out);
    return good && reader_done(&r) ? 0 : -EPROTO;
}
