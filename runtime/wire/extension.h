/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extension.h - what may stand between the head of a data packet and its payload (docs/wire.md, Extensions).
 *
 * Checked once, trusted after: ext_check() judges the bytes of one extension (packet_decode() calls it for every one), and
 * every other function here takes `ext`, the first byte of an extension that passed, and cannot fail. The ones that change
 * an extension leave one that passes again. All of them are O(1), except ext_check() and where said. Nothing is kept.
 *
 * Each value has one encoding: what ext_check() accepts is what the writer writes. The writers return the bytes written
 * (a multiple of 4); a value outside its range is our own bug (CHECK). Whether a coordinate lies in this torus, whether a
 * job exists, is not a question of bytes.
 */
#ifndef WIRE_EXTENSION_H
#define WIRE_EXTENSION_H

#include "cubeway/types.h"
#include "wire/limits.h"
#include "wire/reason.h"

/* Flag bit t of a packet says that an extension of type t is there; they follow one another in rising order. */
enum ext_type {
    EXT_KEY = 0,
    EXT_REQUEST = 1,
    EXT_RESPONSE = 2,
    EXT_PATH = 3,
    EXT_TRACE = 4,
    EXT_WAYPOINTS = 5,
    EXT_TYPES = 6,
};

/*
 *  0  type:8   words:8   argument:16     words counts these 4 bytes too
 */
enum ext_at { EXT_AT_TYPE = 0, EXT_AT_WORDS = 1, EXT_AT_ARGUMENT = 2, EXT_AT_BODY = 4 };

static inline uint32_t ext_bytes(const uint8_t *ext)
{
    return (uint32_t)ext[EXT_AT_WORDS] * EXT_WORD_BYTES;
}

/*
 * Judges the extension that starts at bytes, of which size may be read; it must be of the type named. WIRE_BAD_ORDER for
 * another known type, WIRE_BAD_KIND for an unknown one. Linear in the size of the extension.
 */
CW_MUST_CHECK enum wire_reason ext_check(const uint8_t *bytes, size_t size, enum ext_type type);

/*
 * FULL KEY   type=0 words=4 0:16
 *  4  first 96 bits of the key           the other 64 are the packet's destination
 */
uint32_t ext_key_write(const cw_key *key, uint8_t *out);
/* The whole key: its head from the extension, its routing bits from the packet. */
cw_key ext_key_read(const uint8_t *ext, uint64_t routing);

/*
 * REQUEST   type=1 words=6 recipient port:16
 *  4  recipient job:32
 *  8  recipient process:32
 * 12  recipient server x:8 y:8 z:8 0:8
 * 16  call:32
 * 20  time limit:32
 */
struct ext_request {
    cw_port port; /* where the answer goes: the requester itself, or a third party */
    cw_coord server;
    cw_job job;
    cw_process process;
    uint32_t call;     /* the requester's number of the call */
    uint32_t limit_us; /* how long the responder's handle lives */
};
uint32_t ext_request_write(const struct ext_request *request, uint8_t *out);
struct ext_request ext_request_read(const uint8_t *ext);

/*
 * RESPONSE   type=2 words=5 status:16
 *  4  requester job:32
 *  8  requester process:32
 * 12  requester server x:8 y:8 z:8 0:8
 * 16  call:32
 */
struct ext_response {
    uint16_t status; /* 0, or an error number of the responder */
    cw_coord server;
    cw_job job;
    cw_process process;
    uint32_t call;
};
uint32_t ext_response_write(const struct ext_response *response, uint8_t *out);
struct ext_response ext_response_read(const uint8_t *ext);

/*
 * PATH   type=3 words=2..8 mode:8 hops:8
 *  4  0:2, then 10 places of 3 bits, the first in the highest bits; the next word goes on. Places from `hops` on are 0.
 *
 * Life: written empty to record; every server that sends the packet on appends; the responder turns it and the answer
 * walks back. A link that did not fit makes it OVERFLOW (full, and no use to walk back). RETRACE with no hop left means
 * "routed like any packet": so does one whose link has died, after ext_path_forget().
 */
enum ext_path_mode { EXT_PATH_RECORD = 0, EXT_PATH_RETRACE = 1, EXT_PATH_OVERFLOW = 2 };
struct ext_path {
    uint8_t mode;
    uint8_t hops;                     /* links recorded or left, 0..places; equal to places in OVERFLOW */
    uint8_t places;                   /* 10, 20, .. EXT_PATH_LINKS_MAX */
    cw_link link[EXT_PATH_LINKS_MAX]; /* the first `hops`, in the order travelled; the rest 0 */
};
uint32_t ext_path_write(const struct ext_path *path, uint8_t *out); /* linear in hops */
void ext_path_read(const uint8_t *ext, struct ext_path *path);      /* linear in hops */

static inline enum ext_path_mode ext_path_mode(const uint8_t *ext)
{
    return (enum ext_path_mode)ext[2];
}

static inline unsigned ext_path_hops(const uint8_t *ext)
{
    return ext[3];
}

/* Mode RECORD: adds the link that the packet leaves by, or becomes OVERFLOW. In any other mode: nothing. */
void ext_path_append(uint8_t *ext, cw_link link);

/* RECORD becomes RETRACE. False, and nothing changed, in another mode. */
bool ext_path_turn(uint8_t *ext);

/* RETRACE with a hop left: *link is the link to leave by (the opposite of the last one recorded). Else false, untouched. */
bool ext_path_peek(const uint8_t *ext, cw_link *link);

/* RETRACE with a hop left: that hop has been made. Else nothing. */
void ext_path_pop(uint8_t *ext);

/* RETRACE: no hop is left, the packet is routed from here. Else nothing. */
void ext_path_forget(uint8_t *ext);

/*
 * TRACE   type=4 words=1+4n (n = 1..63) 0:8 entries:8
 *  4  n entries of 16 bytes, those from `entries` on all zero:
 *     +0  server x:8 y:8 z:8 in:4 out:4
 *     +4  wait:32
 *     +8  job:32
 *     +12 verdict:8 0:8 queued:16
 */
enum { EXT_TRACE_IN_MADE_HERE = 6, EXT_TRACE_OUT_TAKEN = 6, EXT_TRACE_OUT_DROPPED = 7 };
struct ext_trace_entry {
    cw_coord server;
    uint8_t in;      /* link it came by, or EXT_TRACE_IN_MADE_HERE */
    uint8_t out;     /* link it left by, or EXT_TRACE_OUT_TAKEN or _DROPPED */
    uint8_t verdict; /* why; the numbers are those of the node */
    uint16_t queued; /* packets before it in its queue when it came */
    uint32_t wait_ns;
    cw_job job; /* the service that gave the verdict, 0: none */
};

/* Writes a trace of n places, 1..EXT_TRACE_ENTRIES_MAX, none filled. Linear in n. */
uint32_t ext_trace_start(unsigned n, uint8_t *out);

static inline unsigned ext_trace_entries(const uint8_t *ext)
{
    return ext[3];
}

static inline unsigned ext_trace_places(const uint8_t *ext)
{
    return (ext[EXT_AT_WORDS] - 1u) / EXT_TRACE_ENTRY_WORDS;
}

/* Entry i, below ext_trace_entries() (CHECK). */
struct ext_trace_entry ext_trace_get(const uint8_t *ext, unsigned i);

/* Fills the next entry. False, and nothing changed, when all are filled. */
bool ext_trace_append(uint8_t *ext, const struct ext_trace_entry *entry);

/*
 * WAYPOINTS   type=5 words=1+count next:8 count:8 (count = 1..16)
 *  4  count times x:8 y:8 z:8 0:8
 */
struct ext_waypoints {
    uint8_t next;  /* the one being headed for, 0..count; count: on the last leg */
    uint8_t count; /* 1..EXT_WAYPOINTS_MAX */
    cw_coord at[EXT_WAYPOINTS_MAX];
};
uint32_t ext_waypoints_write(const struct ext_waypoints *waypoints, uint8_t *out); /* linear in count */
void ext_waypoints_read(const uint8_t *ext, struct ext_waypoints *waypoints);      /* linear in count; the rest zero */

/* Where the packet is headed now; false, *server untouched, when all waypoints are behind it. */
bool ext_waypoints_peek(const uint8_t *ext, cw_coord *server);

/* The waypoint headed for has been reached. Nothing when there is none. */
void ext_waypoints_advance(uint8_t *ext);

#endif
