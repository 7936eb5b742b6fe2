/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the few words every floor shares: servers, links, keys.
 *
 * Plain values only; nothing here owns memory, blocks or fails. All values are in host byte order;
 * the wire form of each belongs to runtime/wire.
 */
#ifndef CUBEWAY_TYPES_H
#define CUBEWAY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For results that must not be ignored (an errno, a packet that was not taken). */
#define CW_MUST_CHECK __attribute__((warn_unused_result))

/*
 * Extent of the torus per axis, 1..CW_DIM_MAX. An axis of 1 has no link; on an axis of 2 the two links
 * of a server are two cables to the same neighbour, told apart by their port.
 */
enum { CW_DIM_MAX = 256, CW_AXES = 3 };
typedef struct cw_dims {
    uint16_t x, y, z;
} cw_dims;

/* Where a server sits: its address for ever (CamCubeOS 3.1). Each part is below the dimension. */
typedef struct cw_coord {
    uint8_t x, y, z;
} cw_coord;

/* Dense id of a server inside one torus: (x * Y + y) * Z + z, x most significant as in a key. */
typedef uint32_t cw_server;
#define CW_SERVER_NONE UINT32_MAX

/* The six links of a server. The axis of a link is id / 2, the opposite of a link is id ^ 1. */
typedef uint8_t cw_link;
enum {
    CW_LINK_XP = 0,
    CW_LINK_XM = 1,
    CW_LINK_YP = 2,
    CW_LINK_YM = 3,
    CW_LINK_ZP = 4,
    CW_LINK_ZM = 5,
    CW_LINK_COUNT = 6,
    CW_LINK_SELF = 6, /* "came by no link": made on this server */
};

/* A set of links, bit i for link i. Bits 6 and 7 are zero. */
typedef uint8_t cw_links;
#define CW_LINKS_NONE ((cw_links)0)
#define CW_LINKS_ALL ((cw_links)0x3f)

/* Of the six links; CW_LINK_SELF has no opposite and is in no set. */
static inline cw_link cw_link_opposite(cw_link link)
{
    return (cw_link)(link ^ 1u);
}

static inline cw_links cw_links_of(cw_link link)
{
    return (cw_links)(1u << link);
}

/* A 160-bit key, big-endian; only its last 64 bits route (CamCubeOS 3.2). */
enum { CW_KEY_BYTES = 20 };
typedef struct cw_key {
    uint8_t b[CW_KEY_BYTES];
} cw_key;

/* A job (a service is a job), a process of a job (for a service: its server's id), a port of a job. */
typedef uint32_t cw_job;
typedef uint32_t cw_process;
typedef uint16_t cw_port;

#endif
