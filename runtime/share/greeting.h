/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greeting.h - the messages on the socket by which a process and its daemon agree on their memory.
 *
 *   process                        daemon
 *                            <-    COOKIE     a number that names this connection to whoever may bless it
 *   HELLO                    ->               who it wants to be, and how large its rings are to be
 *                            <-    AREAS      three areas of memory, and how large they are
 *   MAPPED                   ->               they are mapped
 *                            <-    READY      who it is, and its limits
 *   REGION, MAPPED           -> <- AREA       more memory
 *   MAPPED                   -> <- LANE       two areas, shared with another process
 *                            <-    WAKE       one byte: look at your rings
 *   BYE                      -> <- GONE       the end, and why
 *
 * Each type has one length: anything else is no greeting. Both ends run on one machine, so numbers are in its order and
 * a message is its struct, which has no padding. What comes is copied into such a struct before anything is read.
 * Descriptors travel beside the bytes; they are not this file's.
 */
#ifndef SHARE_GREETING_H
#define SHARE_GREETING_H

#include "cubeway/types.h"
#include "share/layout.h"

enum share_greeting_type {
    SHARE_GREET_COOKIE = 1,
    SHARE_GREET_HELLO,
    SHARE_GREET_AREAS,
    SHARE_GREET_MAPPED,
    SHARE_GREET_READY,
    SHARE_GREET_REGION,
    SHARE_GREET_AREA,
    SHARE_GREET_LANE,
    SHARE_GREET_WAKE,
    SHARE_GREET_BYE,
    SHARE_GREET_GONE,
    SHARE_GREETS,
};

enum {
    SHARE_VERSION = 1,
    SHARE_JOB_NAME = 64, /* with its NUL, and NULs up to the end */
    SHARE_LABEL = 32,
    SHARE_TICKET = 512,
    SHARE_REGION_MOST = 1 << 30, /* bytes of one region */
};

enum share_hello_flag {
    SHARE_HELLO_DIRECT = 1, /* it may have lanes */
    SHARE_HELLO_MORE = 2,   /* further rings of the process of cookie `first` */
    SHARE_HELLO_FLAGS = 3,
};

struct share_greet_cookie {
    uint32_t type, version;
    uint64_t cookie;
};

struct share_greet_hello {
    uint32_t type, version;
    uint32_t flags;
    uint32_t process;
    struct share_geometry geometry;
    uint32_t ticket_length; /* 0: none */
    uint64_t first;
    char job[SHARE_JOB_NAME]; /* empty: what the launcher or the ticket says */
    char label[SHARE_LABEL];
    uint8_t ticket[SHARE_TICKET]; /* zeros behind its length */
};

struct share_greet_areas {
    uint32_t type, zero;
    struct share_geometry geometry; /* what it got */
    uint32_t also_zero;
    uint64_t region_bytes; /* of region 0 */
};

/* MAPPED: number of the region or lane that is mapped, 0 for the first areas. BYE: zero. GONE: enum share_state. */
struct share_greet_word {
    uint32_t type, value;
};

struct share_greet_ready {
    uint32_t type;
    cw_job job;
    cw_process process;
    uint32_t life;
    uint32_t server;
    uint16_t dims[CW_AXES];
    uint16_t zero;
    uint32_t short_most; /* bytes of a message */
    uint64_t long_most;
    uint64_t cluster;
};

/* REGION: so many bytes are wanted; number and generation are zero. AREA: this region has them. */
struct share_greet_region {
    uint32_t type;
    uint16_t number, generation;
    uint64_t bytes;
};

struct share_greet_lane {
    uint32_t type, lane;
    cw_job job;
    cw_process process;
    uint32_t life, server;
};

struct share_greet_wake {
    uint8_t type;
};

struct share_greeting {
    enum share_greeting_type type;
    union {
        struct share_greet_cookie cookie;
        struct share_greet_hello hello;
        struct share_greet_areas areas;
        struct share_greet_word word; /* MAPPED, BYE, GONE */
        struct share_greet_ready ready;
        struct share_greet_region region; /* REGION, AREA */
        struct share_greet_lane lane;
        struct share_greet_wake wake;
    };
};

enum { SHARE_GREETING_MOST = sizeof(struct share_greet_hello) };

/* Why bytes are no greeting. Values are counted, and stay as they are. */
enum share_greeting_fault {
    SHARE_GREET_FINE = 0,
    SHARE_GREET_SIZE,    /* a length that its type does not have */
    SHARE_GREET_TYPE,    /* no such type, or not from that end */
    SHARE_GREET_VERSION, /* another version */
    SHARE_GREET_ZERO,    /* bits that must be zero */
    SHARE_GREET_SIZES,   /* rings or regions that cannot be had */
    SHARE_GREET_TEXT,    /* a name that is none, or a ticket that does not end where it says */
    SHARE_GREET_FAULTS,
};

const char *share_greeting_fault_name(enum share_greeting_fault f);

/* The length of that type; 0: there is none such. */
size_t share_greeting_size(enum share_greeting_type type);

/* Writes a greeting, of which `type` is set at the top only, and returns its length. */
size_t share_greeting_encode(const struct share_greeting *g, uint8_t bytes[static SHARE_GREETING_MOST]);

/* Judges bytes that came from a process, or from a daemon. *out is set when they are fine, and not touched else. */
CW_MUST_CHECK enum share_greeting_fault share_greeting_decode(const uint8_t *bytes, size_t size, bool from_process,
                                                              struct share_greeting *out);

#endif
