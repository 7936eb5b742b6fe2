/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field.h - the small fields that many headers share. Private to runtime/wire: the structs it serves are the contract.
 * Loads and stores only; the caller has checked that the bytes are there.
 */
#ifndef WIRE_FIELD_H
#define WIRE_FIELD_H

#include "base/bytes.h"
#include "cubeway/types.h"

/* A server: x:8 y:8 z:8 in three bytes. What the fourth holds (0, flags, a reason) is the header's business. */
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

#endif
