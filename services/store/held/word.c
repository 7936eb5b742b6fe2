/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/word.h"

#include "base/bytes.h"
#include "services/store/held/places.h"
#include "services/store/held/wire.h"

#include <string.h>

/* A word: version kind copies bits:8 | count:16 0:16 | class:64 | store:64 | name:128 | position:64 | 0:32 | entries */
enum { WORD_DISK = 1 };
enum { AT_NAME = 24, NAME_BYTES = STORE_CLASS_NAME + 1, AT_POSITION = AT_NAME + NAME_BYTES };

size_t store_word_size(const struct store_word *w)
{
    return STORE_WORD_HEAD + (size_t)w->count * STORE_ENTRY_BYTES;
}

void store_word_encode(const struct store_word *w, uint8_t *out)
{
    memset(out, 0, STORE_WORD_HEAD);
    out[0] = STORE_WIRE_VERSION;
    out[1] = (uint8_t)w->kind;
    out[2] = w->of.copies;
    out[3] = w->of.disk ? WORD_DISK : 0;
    put_be16(out + 4, w->count);
    put_be64(out + 8, w->of.id);
    put_be64(out + 16, w->store_id);
    memcpy(out + AT_NAME, w->of.name, strnlen(w->of.name, STORE_CLASS_NAME));
    put_be64(out + AT_POSITION, w->position);
    if (w->count > 0) {
        memcpy(out + STORE_WORD_HEAD, w->entries, (size_t)w->count * STORE_ENTRY_BYTES);
    }
}

bool store_class_name_valid(const char *name)
{
    size_t length = strnlen(name, STORE_CLASS_NAME + 1);
    return length >= 1 && length <= STORE_CLASS_NAME &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == length;
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

bool store_class_makes_sense(const struct store_class *c)
{
    size_t length = strnlen(c->name, NAME_BYTES);
    if (length == NAME_BYTES || !is_zero((const uint8_t *)c->name + length, NAME_BYTES - length)) {
        return false;
    }
    if (c->id == 0) {
        return length == 0 && c->copies == 0 && !c->disk;
    }
    return store_class_name_valid(c->name) && c->copies >= STORE_COPIES_LEAST && c->copies <= STORE_COPIES_MOST;
}

bool store_word_decode(const uint8_t *bytes, size_t size, struct store_word *out)
{
    struct reader r = reader_of(bytes, size);
    *out = (struct store_word){.entries = NULL};
    uint8_t version = reader_u8(&r);
    out->kind = (enum store_word_kind)reader_u8(&r);
    out->of.copies = reader_u8(&r);
    uint8_t bits = reader_u8(&r);
    out->of.disk = (bits & WORD_DISK) != 0;
    out->count = reader_be16(&r);
    uint16_t zeros = reader_be16(&r);
    out->of.id = reader_be64(&r);
    out->store_id = reader_be64(&r);
    reader_copy(&r, out->of.name, NAME_BYTES);
    out->position = reader_be64(&r);
    uint32_t rest = reader_be32(&r);
    out->entries = reader_take(&r, (size_t)out->count * STORE_ENTRY_BYTES);
    return reader_done(&r) && version == STORE_WIRE_VERSION && (bits & ~WORD_DISK) == 0 && zeros == 0 && rest == 0 &&
           out->kind >= STORE_WORD_OFFER && out->kind < STORE_WORD_KINDS && out->count <= STORE_ENTRIES_MOST &&
           (out->count == 0 || out->kind == STORE_WORD_RECORD || (out->kind == STORE_WORD_AGREED && out->of.id != 0)) &&
           store_class_makes_sense(&out->of) &&
           (out->of.id != 0 || (out->kind != STORE_WORD_RECORD && out->kind != STORE_WORD_OFFER));
}

void store_entry_encode(cw_server server, uint64_t id, uint8_t out[static STORE_ENTRY_BYTES])
{
    put_be32(out, server);
    put_be64(out + 4, id);
}

cw_server store_entry_decode(const uint8_t bytes[static STORE_ENTRY_BYTES], uint64_t *id)
{
    *id = get_be64(bytes + 4);
    return get_be32(bytes);
}
