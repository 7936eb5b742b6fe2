/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - the small fields that many headers share. Private to runtime/wire: the structs it serves are the contract.
 * Loads and stores only; the caller has checked that the bytes are there.
 */
#ifndef WIRE_FIELD_H
#define WIRE_FIELD_H

#include "base/bytes.h"
#include "cubeway/types.h"

/* A server: x:8 y:8 z:8 in three bytes. The byte behind these (0, flags, a reason) is the header's business. */
static inline cw_coord field_get_coord(const uint8_t *p)
{
    return (cw_coord){p[0], p[1], p[2]};
}

static inline void field_put_coord(uint8_t *p, cw_coord c)
{
    p[0] = c.x;
    p[1] = c.y;
    p[2] = c.z;
}

/* Dims, each 1..256: three bytes, each one less than the dim. */
static inline cw_dims field_get_dims(const uint8_t *p)
{
    return (cw_dims){(uint16_t)(p[0] + 1), (uint16_t)(p[1] + 1), (uint16_t)(p[2] + 1)};
}

static inline void field_put_dims(uint8_t *p, cw_dims dims)
{
    p[0] = (uint8_t)(dims.x - 1);
    p[1] = (uint8_t)(dims.y - 1);
    p[2] = (uint8_t)(dims.z - 1);
}

/* True when the text is printable ASCII without spaces, and then zeros to the end. */
static inline bool field_is_text(const char *text, size_t size)
{
    bool ended = false;
    for (size_t i = 0; i < size; i++) {
        bool letter = text[i] > ' ' && text[i] <= '~';
        if (text[i] != 0 && (ended || !letter)) {
            return false;
        }
        ended = ended || text[i] == 0;
    }
    return true;
}

/* True when the dims are those of a torus, and the coordinate lies inside them. */
static inline bool field_is_place(cw_dims dims, cw_coord at)
{
    return dims.x >= 1 && dims.y >= 1 && dims.z >= 1 && dims.x <= CW_DIM_MAX && dims.y <= CW_DIM_MAX &&
           dims.z <= CW_DIM_MAX && at.x < dims.x && at.y < dims.y && at.z < dims.z;
}

#endif
