/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/record.h"
#include "base/check.h"
#include "wire/field.h"

static enum wire_reason judge(const struct record *r)
{
    cw_links listed = r->up | r->pending;
    if ((r->flags & ~RECORD_FLAGS) != 0 || (listed & ~CW_LINKS_ALL) != 0) {
        return WIRE_RESERVED;
    }
    if (r->incarnation == 0 || r->seq == 0 || (r->up & r->pending) != 0) {
        return WIRE_BAD_VALUE;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (r->neighbour[link] != 0 && (listed & cw_links_of(link)) == 0) {
            return WIRE_BAD_VALUE;
        }
    }
    return WIRE_OK;
}

static inline void load(const uint8_t *bytes, struct record *r)
{
    r->origin = field_get_coord(bytes);
    r->flags = bytes[3]; /* with the reserved half byte, which judge() refuses when it is not 0 */
    r->incarnation = get_be64(bytes + 4);
    r->seq = get_be32(bytes + 12);
    r->up = bytes[16];
    r->pending = bytes[17];
    r->boot_nonce = get_be16(bytes + 18);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        r->neighbour[link] = get_be16(bytes + 20 + 2 * link);
    }
}

enum wire_reason record_check(const uint8_t bytes[static RECORD_BYTES])
{
    struct record record; /* stays in registers */
    load(bytes, &record);
    return judge(&record);
}

void record_read(const uint8_t bytes[static RECORD_BYTES], struct record *out)
{
    load(bytes, out);
}

enum wire_reason record_decode(const uint8_t bytes[static RECORD_BYTES], struct record *out)
{
    enum wire_reason reason = record_check(bytes);
    if (reason == WIRE_OK) {
        load(bytes, out); /* again: a copy's wide loads of narrow stores would stall for longer */
    }
    return reason;
}

void record_encode(const struct record *record, uint8_t bytes[static RECORD_BYTES])
{
    CHECK(judge(record) == WIRE_OK);
    field_put_coord(bytes, record->origin);
    bytes[3] = record->flags;
    put_be64(bytes + 4, record->incarnation);
    put_be32(bytes + 12, record->seq);
    bytes[16] = record->up;
    bytes[17] = record->pending;
    put_be16(bytes + 18, record->boot_nonce);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        put_be16(bytes + 20 + 2 * link, record->neighbour[link]);
    }
}
