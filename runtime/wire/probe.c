/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/probe.h"
#include "base/check.h"
#include "wire/field.h"

bool probe_name_is_good(const char name[static PROBE_NAME_BYTES])
{
    return field_is_text(name, PROBE_NAME_BYTES);
}

static enum wire_reason judge(const struct probe *p)
{
    bool placed = (p->flags & PROBE_PLACED) != 0;
    bool good = p->session != 0 && p->id != 0 && p->port < CW_LINK_COUNT && probe_name_is_good(p->name);
    good = good && p->label <= PROBE_UNLABELLED;
    if (placed) {
        good = good && field_is_place(p->dims, p->at);
    } else {
        good = good && (p->flags & PROBE_TAKEN) == 0;
        good = good && p->dims.x == 0 && p->dims.y == 0 && p->dims.z == 0;
        good = good && p->at.x == 0 && p->at.y == 0 && p->at.z == 0;
    }
    return good ? WIRE_OK : WIRE_BAD_VALUE;
}

enum wire_reason probe_decode(const uint8_t *bytes, size_t size, struct probe *out)
{
    struct control_head head;
    enum wire_reason reason = control_decode(bytes, size, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (head.type != CONTROL_PROBE) {
        return WIRE_BAD_KIND;
    }
    if (bytes[27] != 0 || bytes[31] != 0 || bytes[35] != 0 || get_be32(bytes + 52) != 0 ||
        (bytes[26] & ~PROBE_FLAGS) != 0) {
        return WIRE_RESERVED;
    }
    bool placed = (bytes[26] & PROBE_PLACED) != 0;
    if (!placed && get_be32(bytes + 28) != 0) {
        return WIRE_BAD_VALUE;
    }
    struct probe probe = {
        .session = head.session,
        .cluster = get_be32(bytes + 8),
        .heard = get_be32(bytes + 12),
        .id = get_be64(bytes + 16),
        .port = bytes[24],
        .label = bytes[25],
        .flags = bytes[26],
        .dims = placed ? field_get_dims(bytes + 28) : (cw_dims){0},
        .at = field_get_coord(bytes + 32),
    };
    memcpy(probe.name, bytes + 36, PROBE_NAME_BYTES);
    reason = judge(&probe);
    if (reason == WIRE_OK) {
        *out = probe;
    }
    return reason;
}

void probe_encode(const struct probe *probe, uint8_t bytes[static PROBE_BYTES])
{
    CHECK(judge(probe) == WIRE_OK && (probe->flags & ~PROBE_FLAGS) == 0);
    memset(bytes, 0, PROBE_BYTES);
    control_encode(&(struct control_head){CONTROL_PROBE, PROBE_BYTES, probe->session}, bytes);
    put_be32(bytes + 8, probe->cluster);
    put_be32(bytes + 12, probe->heard);
    put_be64(bytes + 16, probe->id);
    bytes[24] = probe->port;
    bytes[25] = probe->label;
    bytes[26] = probe->flags;
    if ((probe->flags & PROBE_PLACED) != 0) {
        field_put_dims(bytes + 28, probe->dims);
        field_put_coord(bytes + 32, probe->at);
    }
    memcpy(bytes + 36, probe->name, PROBE_NAME_BYTES);
}
