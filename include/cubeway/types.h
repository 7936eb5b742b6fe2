/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - the few words that every floor shares: servers, links, keys.
 *
 * Plain values only; nothing here owns memory, blocks or fails. All values are in host byte order;
 * the wire form of each belongs to runtime/wire.
 */
#ifndef CUBEWAY_TYPES_H
#define CUBEWAY_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions whose result must not be ignored: an errno, a packet that was not taken. */
#define CW_MUST_CHECK __attribute__((warn_unused_result))

/*
 * How many servers the torus has along each axis, 1..CW_DIM_MAX. An axis of length 1 has no links; on an axis of length
 * 2 a server's two links are two cables to the same neighbour, told apart by their ports.
 */
enum { CW_DIM_MAX = 256, CW_AXES = 3 };
typedef struct cw_dims {
    uint16_t x, y, z;
} cw_dims;

/* A server's place: its address for ever (CamCubeOS 3.1). Each part is below the torus's extent along that axis. */
typedef struct cw_coord {
    uint8_t x, y, z;
} cw_coord;

/* A server's dense id within one torus of X * Y * Z servers: (x * Y + y) * Z + z, x most significant, as in a key. */
typedef uint32_t cw_server;
#define CW_SERVER_NONE UINT32_MAX

/* The six links of a server: to the next (P) and the previous (M) one along each axis. A link's axis is id / 2. */
typedef uint8_t cw_link;
enum {
    CW_LINK_XP = 0,
    CW_LINK_XM = 1,
    CW_LINK_YP = 2,
    CW_LINK_YM = 3,
    CW_LINK_ZP = 4,
    CW_LINK_ZM = 5,
    CW_LINK_COUNT = 6,
    CW_LINK_SELF = 6, /* no link: the packet was made on this server */
};

/* A set of links: bit i stands for link i; bits 6 and 7 are zero. */
typedef uint8_t cw_links;
#define CW_LINKS_NONE ((cw_links)0)
#define CW_LINKS_ALL ((cw_links)0x3f)

/* The link in the other direction along the same axis. Not for CW_LINK_SELF. */
static inline cw_link cw_link_opposite(cw_link link)
{
    return (cw_link)(link ^ 1u);
}

/* The set that holds this one link. CW_LINK_SELF gives a bit outside CW_LINKS_ALL, which no set has. */
static inline cw_links cw_links_of(cw_link link)
{
    return (cw_links)(1u << link);
}

/* A 160-bit key, most significant byte first; only its last 64 bits decide where it goes (CamCubeOS 3.2). */
enum { CW_KEY_BYTES = 20 };
typedef struct cw_key {
    uint8_t b[CW_KEY_BYTES];
} cw_key;

/* A job: a program that runs on many servers. A service is a job. 0 is no job. */
typedef uint32_t cw_job;
/* A process of a job; for a service, the id of the server that the process runs on. */
typedef uint32_t cw_process;
/* As the destination of a packet: whichever process of the job there has the key that the packet is about. */
#define CW_PROCESS_ANY UINT32_MAX
/* A port of a job: one operation of a service. */
typedef uint16_t cw_port;

#endif
