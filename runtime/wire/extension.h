/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extension.h - what may stand between the head of a data packet and its payload (docs/wire.md, Extensions).
 *
 * An extension is checked once and trusted afterwards: ext_check() judges its bytes (packet_decode() calls it for every
 * extension); all other functions here borrow `ext`, the first byte of an extension that passed, and cannot fail. Those
 * that change an extension leave one that would pass again. Each is O(1) where nothing else is said. Nothing is kept.
 *
 * Each value has one encoding: ext_check() accepts what the writer writes, and nothing else. Writers give the number of
 * bytes written, a multiple of 4; a value outside its range is our own bug (CHECK). Whether a coordinate lies in this
 * torus or a job exists is no question of bytes, and is not asked here.
 */
#ifndef WIRE_EXTENSION_H
#define WIRE_EXTENSION_H

#include "cubeway/types.h"
#include "wire/limits.h"
#include "wire/reason.h"

/*
 * Flag bit t of a packet says that it has an extension of type t; bit 7 says another thing (packet.h). Extensions
 * follow one another in rising order. Behind those that the flags name there may be optional ones, of types
 * EXT_OPTIONAL..255: no flag names them, they are between the two ends of a packet only, and whoever does not know one
 * skips it.
 */
enum ext_type {
    EXT_KEY = 0,
    EXT_REQUEST = 1,
    EXT_RESPONSE = 2,
    EXT_PATH = 3,
    EXT_TRACE = 4,
    EXT_WAYPOINTS = 5,
    EXT_GUEST = 6,
    EXT_TYPES = 7,
};
enum { EXT_OPTIONAL = 16 };

/*
 * The head of every extension; words counts these 4 bytes too:
 *  0  type:8   words:8   argument:16
 */
enum ext_at { EXT_AT_TYPE = 0, EXT_AT_WORDS = 1, EXT_AT_ARGUMENT = 2, EXT_AT_BODY = 4 };

/* The size of the extension in bytes, head included. */
static inline uint32_t ext_bytes(const uint8_t *ext)
{
    return (uint32_t)ext[EXT_AT_WORDS] * EXT_WORD_BYTES;
}

/*
 * Judges the extension that starts at bytes, of which size may be read; it must be of that type. WIRE_BAD_ORDER for any
 * other type that a packet may have, WIRE_BAD_KIND for 7..15, which none may. Linear in the size of the extension.
 */
CW_MUST_CHECK enum wire_reason ext_check(const uint8_t *bytes, size_t size, enum ext_type type);

/*
 * Judges the optional extension that starts at bytes, of which size may be read: only its head, since what it says is
 * for those who know its type. Its type must be `least` or more, which is EXT_OPTIONAL for the first of a packet:
 * WIRE_BAD_ORDER otherwise, and WIRE_BAD_KIND for 7..15.
 */
CW_MUST_CHECK enum wire_reason ext_check_optional(const uint8_t *bytes, size_t size, unsigned least);

/*
 * FULL KEY   type=0 words=4 0:16
 *  4  first 96 bits of the key           the other 64 are the packet's destination
 */
uint32_t ext_key_write(const cw_key *key, uint8_t *out);
/* The whole key: its first 96 bits from the extension, its routing bits from the packet's destination. */
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
    /* The recipient of the answer: the requester itself, or a third party. */
    cw_port port;
    cw_coord server;
    cw_job job;
    cw_process process;
    /* The requester's number of the call. */
    uint32_t call;
    /* How long the responder's right to answer lasts, in microseconds. */
    uint32_t limit_us;
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
    /* 0, or an errno (positive) that the responder gave. */
    uint16_t status;
    /* The requester, and its number of the call. */
    cw_coord server;
    cw_job job;
    cw_process process;
    uint32_t call;
};
uint32_t ext_response_write(const struct ext_response *response, uint8_t *out);
struct ext_response ext_response_read(const uint8_t *ext);

/*
 * PATH   type=3 words=2..8 mode:8 hops:8
 *  4  each word: 0:2, then 10 places of 3 bits, the first in the highest bits. Places from `hops` on are 0.
 *
 * The life of a path: the requester writes it empty, in mode RECORD; every server that sends the packet on appends the
 * link that it uses; the responder turns the path, and the answer walks it back in mode RETRACE. A link that does not
 * fit makes it OVERFLOW: full, and of no use for walking back. An answer with no hop left in RETRACE is routed like any
 * other packet; so is one that met a dead link, by ext_path_forget().
 */
enum ext_path_mode { EXT_PATH_RECORD = 0, EXT_PATH_RETRACE = 1, EXT_PATH_OVERFLOW = 2 };
struct ext_path {
    uint8_t mode;
    uint8_t hops;                     /* links recorded, or left to retrace: 0..places; in OVERFLOW it is places */
    uint8_t places;                   /* 10, 20, .. EXT_PATH_LINKS_MAX */
    cw_link link[EXT_PATH_LINKS_MAX]; /* the first `hops` are links in the order travelled, the rest 0 */
};
/* Both are linear in hops. */
uint32_t ext_path_write(const struct ext_path *path, uint8_t *out);
void ext_path_read(const uint8_t *ext, struct ext_path *path);

static inline enum ext_path_mode ext_path_mode(const uint8_t *ext)
{
    return (enum ext_path_mode)ext[2];
}

static inline unsigned ext_path_hops(const uint8_t *ext)
{
    return ext[3];
}

/*
 * In mode RECORD: adds the link that the packet leaves by, or turns the mode to OVERFLOW. In other modes: does nothing.
 */
void ext_path_append(uint8_t *ext, cw_link link);

/* Turns mode RECORD into RETRACE. False in any other mode, and nothing has changed. */
bool ext_path_turn(uint8_t *ext);

/*
 * In mode RETRACE with a hop left: *link becomes the link to leave by, which is the opposite of the last one recorded.
 * False otherwise; *link is then untouched.
 */
bool ext_path_peek(const uint8_t *ext, cw_link *link);

/* In mode RETRACE with a hop left: takes that hop off the path. Otherwise does nothing. */
void ext_path_pop(uint8_t *ext);

/* In mode RETRACE: takes all hops off the path, so that the packet is routed from here. Otherwise does nothing. */
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
    cw_coord server;  /* who reports */
    uint8_t in;       /* the link that the packet came by, or EXT_TRACE_IN_MADE_HERE */
    uint8_t out;      /* the link that it left by, or EXT_TRACE_OUT_TAKEN or EXT_TRACE_OUT_DROPPED */
    uint8_t verdict;  /* why it was dropped; the numbers are the node's */
    uint16_t queued;  /* packets that were in the queue when it came */
    uint32_t wait_ns; /* from its coming to its leaving */
    cw_job job;       /* the service that gave the verdict; 0: none did */
};

/* Writes a trace with n places, 1..EXT_TRACE_ENTRIES_MAX, none of them filled. Linear in n. */
uint32_t ext_trace_start(unsigned n, uint8_t *out);

/* How many places are filled. */
static inline unsigned ext_trace_entries(const uint8_t *ext)
{
    return ext[3];
}

/* How many places there are. */
static inline unsigned ext_trace_places(const uint8_t *ext)
{
    return (ext[EXT_AT_WORDS] - 1u) / EXT_TRACE_ENTRY_WORDS;
}

/* Entry i, which is below ext_trace_entries() (CHECK). */
struct ext_trace_entry ext_trace_get(const uint8_t *ext, unsigned i);

/* Fills the next place. False when all are filled, and nothing has changed. */
bool ext_trace_append(uint8_t *ext, const struct ext_trace_entry *entry);

/*
 * WAYPOINTS   type=5 words=1+count next:8 count:8 (count = 1..16)
 *  4  count times x:8 y:8 z:8 0:8
 */
struct ext_waypoints {
    uint8_t next;  /* which of them the packet goes to now, 0..count; count: on to its destination */
    uint8_t count; /* 1..EXT_WAYPOINTS_MAX */
    cw_coord at[EXT_WAYPOINTS_MAX];
};
/* Both are linear in count; reading leaves the rest of at[] zero. */
uint32_t ext_waypoints_write(const struct ext_waypoints *waypoints, uint8_t *out);
void ext_waypoints_read(const uint8_t *ext, struct ext_waypoints *waypoints);

/* Where the packet goes now. False when all waypoints are behind it; *server is then untouched. */
bool ext_waypoints_peek(const uint8_t *ext, cw_coord *server);

/* Marks the present waypoint as reached. Does nothing when there is none left. */
void ext_waypoints_advance(uint8_t *ext);

/*
 * GUEST   type=6 words=3 what:8 flags:8
 *  4  life meant:32
 *  8  life of the sender:32
 *
 * On packets of and to attached processes. Daemons write it, never processes. A life is one attachment of a process: a
 * process that attaches again has another one.
 */
enum ext_guest_what {
    EXT_GUEST_PLAIN = 0,
    EXT_GUEST_TRANSPORT = 1,
    EXT_GUEST_NOTIFY = 2,
    EXT_GUEST_READ = 3,
    EXT_GUEST_MOVED = 4,
    EXT_GUEST_WHATS = 5,
};
struct ext_guest {
    uint8_t what;   /* enum ext_guest_what; there are no flags yet */
    uint32_t meant; /* the life of the process that the packet is for; 0: any */
    uint32_t life;  /* the sender's; 0: it is no attached process */
};
uint32_t ext_guest_write(const struct ext_guest *guest, uint8_t *out);
struct ext_guest ext_guest_read(const uint8_t *ext);

#endif
