/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/cabling.h"
#include "base/check.h"
#include "wire/field.h"

static bool ports_are_good(const struct cabling *c)
{
    unsigned used = 0;
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        const struct cabling_port *port = &c->port[i];
        bool silent = port->far_id == 0;
        if (port->label > CABLING_NO_PORT || port->far_port >= CW_LINK_COUNT || (silent && port->far_port != 0) ||
            (port->label == CABLING_NO_PORT && !silent) ||
            (port->label < CW_LINK_COUNT && (used & 1u << port->label) != 0)) {
            return false;
        }
        used |= 1u << port->label;
    }
    return true;
}

static enum wire_reason judge(const struct cabling *c)
{
    bool good = c->id != 0 && c->version != 0 && probe_name_is_good(c->name) && ports_are_good(c);
    switch (c->flags) {
    case CABLING_PLACED:
        good = good && field_is_place(c->dims, c->at);
        break;
    case CABLING_TOLD:
        good = good && field_is_place(c->dims, (cw_coord){0}) && c->at.x == 0 && c->at.y == 0 && c->at.z == 0;
        break;
    default:
        good = good && c->flags == 0 && c->dims.x == 0 && c->dims.y == 0 && c->dims.z == 0;
        good = good && c->at.x == 0 && c->at.y == 0 && c->at.z == 0;
        break;
    }
    return good ? WIRE_OK : WIRE_BAD_VALUE;
}

static struct cabling load(const uint8_t *p)
{
    struct cabling c = {
        .id = get_be64(p),
        .version = get_be32(p + 8),
        .flags = p[12],
        .dims = p[12] != 0 ? field_get_dims(p + 13) : (cw_dims){0},
        .at = field_get_coord(p + 16),
        .solution = get_be64(p + 20),
    };
    memcpy(c.name, p + 28, PROBE_NAME_BYTES);
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        c.port[i].label = p[44 + i] >> 4;
        c.port[i].far_port = p[44 + i] & 0xf;
        c.port[i].far_id = get_be64(p + 52 + 8 * i);
    }
    return c;
}

static enum wire_reason judge_entry(const uint8_t *p)
{
    if (p[19] != 0 || get_be16(p + 50) != 0 || get_be32(p + 100) != 0) {
        return WIRE_RESERVED;
    }
    if (p[12] == 0 && get_be24(p + 13) != 0) {
        return WIRE_BAD_VALUE;
    }
    struct cabling c = load(p);
    return judge(&c);
}

static enum wire_reason judge_ack(const uint8_t *p)
{
    return get_be64(p) != 0 && get_be32(p + 8) != 0 ? WIRE_OK : WIRE_BAD_VALUE;
}

static enum wire_reason decode(const uint8_t *bytes, size_t size, uint8_t type, uint32_t entry_bytes,
                               enum wire_reason (*judged)(const uint8_t *entry), struct cabling_list *out)
{
    struct control_head head;
    enum wire_reason reason = control_decode(bytes, size, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (head.type != type) {
        return WIRE_BAD_KIND;
    }
    struct cabling_list list = {
        .session = head.session,
        .heard = get_be32(bytes + 8),
        .entries = bytes + CABLING_HEAD_BYTES,
        .count = (uint32_t)(size - CABLING_HEAD_BYTES) / entry_bytes,
    };
    if (get_be32(bytes + 12) != 0) {
        return WIRE_RESERVED;
    }
    reason = list.heard != 0 ? WIRE_OK : WIRE_BAD_VALUE;
    if (reason != WIRE_OK) {
        return reason;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        reason = judged(list.entries + (size_t)i * entry_bytes);
        if (reason != WIRE_OK) {
            return reason;
        }
    }
    *out = list;
    return WIRE_OK;
}

enum wire_reason cabling_decode(const uint8_t *bytes, size_t size, struct cabling_list *out)
{
    return decode(bytes, size, CONTROL_CABLING, CABLING_ENTRY_BYTES, judge_entry, out);
}

enum wire_reason cabling_ack_decode(const uint8_t *bytes, size_t size, struct cabling_list *out)
{
    return decode(bytes, size, CONTROL_CABLING_ACK, CABLING_ACK_ENTRY_BYTES, judge_ack, out);
}

struct cabling cabling_get(const struct cabling_list *list, uint32_t i)
{
    CHECK(i < list->count);
    return load(list->entries + (size_t)i * CABLING_ENTRY_BYTES);
}

struct cabling_ack cabling_ack_get(const struct cabling_list *list, uint32_t i)
{
    CHECK(i < list->count);
    const uint8_t *p = list->entries + (size_t)i * CABLING_ACK_ENTRY_BYTES;
    return (struct cabling_ack){get_be64(p), get_be32(p + 8)};
}

void cabling_put(const struct cabling *entry, uint8_t *bytes, uint32_t i)
{
    CHECK(judge(entry) == WIRE_OK);
    uint8_t *p = bytes + CABLING_HEAD_BYTES + (size_t)i * CABLING_ENTRY_BYTES;
    memset(p, 0, CABLING_ENTRY_BYTES);
    put_be64(p, entry->id);
    put_be32(p + 8, entry->version);
    p[12] = entry->flags;
    if (entry->flags != 0) {
        field_put_dims(p + 13, entry->dims);
    }
    field_put_coord(p + 16, entry->at);
    put_be64(p + 20, entry->solution);
    memcpy(p + 28, entry->name, PROBE_NAME_BYTES);
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        p[44 + port] = (uint8_t)(entry->port[port].label << 4 | entry->port[port].far_port);
        put_be64(p + 52 + 8 * port, entry->port[port].far_id);
    }
}

void cabling_ack_put(const struct cabling_ack *entry, uint8_t *bytes, uint32_t i)
{
    CHECK(entry->id != 0 && entry->version != 0);
    uint8_t *p = bytes + CABLING_HEAD_BYTES + (size_t)i * CABLING_ACK_ENTRY_BYTES;
    put_be64(p, entry->id);
    put_be32(p + 8, entry->version);
}

static uint32_t finish(uint8_t type, uint32_t session, uint32_t heard, uint32_t length, uint8_t *bytes)
{
    CHECK(heard != 0 && length <= PACKET_BYTES_MAX);
    control_encode(&(struct control_head){type, (uint16_t)length, session}, bytes);
    put_be32(bytes + 8, heard);
    put_be32(bytes + 12, 0);
    return length;
}

uint32_t cabling_finish(uint32_t session, uint32_t heard, uint32_t count, uint8_t *bytes)
{
    return finish(CONTROL_CABLING, session, heard, CABLING_HEAD_BYTES + count * CABLING_ENTRY_BYTES, bytes);
}

uint32_t cabling_ack_finish(uint32_t session, uint32_t heard, uint32_t count, uint8_t *bytes)
{
    return finish(CONTROL_CABLING_ACK, session, heard, CABLING_HEAD_BYTES + count * CABLING_ACK_ENTRY_BYTES, bytes);
}
