/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/summary.h"
#include "base/check.h"
#include "wire/field.h"

static enum wire_reason judge(const struct summary_entry *e)
{
    return e->incarnation != 0 && e->seq != 0 ? WIRE_OK : WIRE_BAD_VALUE;
}

static struct summary_entry load(const uint8_t *p)
{
    return (struct summary_entry){
        .origin = field_get_coord(p),
        .incarnation = get_be64(p + 4),
        .seq = get_be32(p + 12),
    };
}

enum wire_reason summary_decode(const uint8_t *entries, size_t count, struct summary *out)
{
    if (count == 0 || count > UINT16_MAX) {
        return WIRE_BAD_COUNT;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = entries + i * SUMMARY_ENTRY_BYTES;
        struct summary_entry entry = load(p);
        enum wire_reason reason = p[3] != 0 ? WIRE_RESERVED : judge(&entry);
        if (reason != WIRE_OK) {
            return reason;
        }
    }
    *out = (struct summary){.entries = entries, .count = (uint16_t)count};
    return WIRE_OK;
}

struct summary_entry summary_get(const struct summary *s, size_t i)
{
    CHECK(i < s->count);
    return load(s->entries + i * SUMMARY_ENTRY_BYTES);
}

void summary_put(const struct summary_entry *entry, uint8_t *entries, size_t i)
{
    CHECK(judge(entry) == WIRE_OK);
    uint8_t *p = entries + i * SUMMARY_ENTRY_BYTES;
    field_put_coord(p, entry->origin);
    p[3] = 0;
    put_be64(p + 4, entry->incarnation);
    put_be32(p + 12, entry->seq);
}
