/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - where everything stands in the memory of an attachment. Drawn in docs/attach.md.
 *
 * Two areas, each with one writer: `sub`, which the process writes and the daemon only reads, and `com`, which the
 * daemon writes and the process only reads. Numbers are in the machine's order: both ends run on one machine. A word of
 * several fields is drawn from its lowest bit on.
 *
 * How large rings are is said once, in the greeting, and kept privately by both sides (struct share_geometry): nothing
 * in shared memory tells where something lies.
 */
#ifndef SHARE_LAYOUT_H
#define SHARE_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The limits, on one screen. */
enum share_limits {
    SHARE_PAGE = 4096,
    SHARE_COMMANDS_LEAST = 16,
    SHARE_COMMANDS_MOST = 4096,
    SHARE_COMMAND_BYTES = 64,                                    /* judged */
    SHARE_INLINE_BYTES = 192,                                    /* behind them */
    SHARE_SLOT_BYTES = SHARE_COMMAND_BYTES + SHARE_INLINE_BYTES, /* of the command ring */
    SHARE_COMPLETION_BYTES = 32,
    SHARE_RECORD_BYTES = 64, /* head of a message; all is padded to it */
    SHARE_INBOX_LEAST = 16 << 10,
    SHARE_INBOX_MOST = 16 << 20,
    SHARE_WORDS_MOST = 512,
    SHARE_SERVERS_MOST = 4096, /* with a bit in the views */
    SHARE_PEERS_MOST = 4096,   /* of an attachment */
    SHARE_LANES_MOST = 64,
    SHARE_LANE_PORTS = 64, /* endpoints of the receiver that a lane may reach */
    SHARE_LANE_RING = 64 << 10,
    SHARE_ENDPOINTS_MOST = 1024,
    SHARE_REGIONS_MOST = 64,
    SHARE_CHANNELS = 64,
    SHARE_PARTS_MOST = 16,    /* of one command; 7 of them inline */
    SHARE_BYTES_MOST = 65535, /* of what is copied for one command: no packet is longer */
};

/* `sub`: the process writes. */
enum share_sub {
    SHARE_SUB_COMMAND_TAIL = 0,      /* 32: commands put, wraps at 2^32 */
    SHARE_SUB_COMPLETION_HEAD = 128, /* 32: completions read */
    SHARE_SUB_INBOX_HEAD = 136,      /* 64: bytes of the inbox released */
    SHARE_SUB_REST = 256,            /* 32: enum share_rest */
    SHARE_SUB_COMMANDS = 4096,       /* slots of 256 */
};

/* `com`: the daemon writes. */
enum share_com {
    SHARE_COM_COMPLETION_TAIL = 0, /* 32: completions told */
    SHARE_COM_INBOX_TAIL = 8,      /* 64: bytes of the inbox filled */
    SHARE_COM_COMMAND_HEAD = 128,  /* 32: commands taken */
    SHARE_COM_AWAKE = 132,         /* 32: 1 while no doorbell is needed */
    SHARE_COM_BELL = 256,          /* 32: the word that a resting process sleeps on */
    SHARE_COM_STATE = 260,         /* 32: 1 attached, else the reason why not any more */
    SHARE_COM_VIEW = 384,          /* 32 seqlock, 32 flags, 64 epoch, 64 end of the lease */
    SHARE_COM_WORDS = 512,         /* 64 each */
    SHARE_COM_VIEWS = 5120,        /* committed, then optimistic: a bit a server */
    SHARE_COM_GONE = 6144,         /* a bit a peer */
    SHARE_COM_LANES = 7168,        /* 16 a lane: state 32, zero 32, endpoints 64 */
    SHARE_COM_COMPLETIONS = 8192,  /* 32 each, twice the commands; then the inbox */
};

enum {
    SHARE_VIEW_WORDS = SHARE_SERVERS_MOST / 64,
    SHARE_GONE_WORDS = SHARE_PEERS_MOST / 64,
    SHARE_LANE_BYTES = 16, /* of the table in com */
};

/* An area of a lane: one of two processes writes it, the other reads it. */
enum share_lane_area {
    SHARE_LANE_TAIL = 0,       /* 32: bytes put, wraps at 2^32; also the word that the other may sleep on */
    SHARE_LANE_HEAD = 128,     /* 32: bytes taken from the other's area */
    SHARE_LANE_REST = 256,     /* 32: enum share_rest */
    SHARE_LANE_RECORDS = 4096, /* SHARE_LANE_RING */
    SHARE_LANE_AREA = SHARE_LANE_RECORDS + SHARE_LANE_RING,
};

static_assert(SHARE_COM_WORDS + 8 * SHARE_WORDS_MOST <= SHARE_COM_VIEWS, "words end before the views");
static_assert(SHARE_COM_VIEWS + 2 * 8 * SHARE_VIEW_WORDS <= SHARE_COM_GONE, "views end before the peers gone");
static_assert(SHARE_COM_GONE + 8 * SHARE_GONE_WORDS <= SHARE_COM_LANES, "peers gone end before the lanes");
static_assert(SHARE_COM_LANES + SHARE_LANE_BYTES * SHARE_LANES_MOST <= SHARE_COM_COMPLETIONS,
              "and they before the rings");

/* What is as large as the process asked for. */
struct share_geometry {
    uint32_t commands;    /* a power of two, SHARE_COMMANDS_LEAST..SHARE_COMMANDS_MOST */
    uint32_t inbox_bytes; /* a power of two, SHARE_INBOX_LEAST..SHARE_INBOX_MOST */
    uint32_t words;       /* 0..SHARE_WORDS_MOST */
};

static inline bool share_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* Are these sizes that can be had? Everything below wants them so. */
static inline bool share_geometry_sound(const struct share_geometry *g)
{
    return share_power_of_two(g->commands) && g->commands >= SHARE_COMMANDS_LEAST &&
           g->commands <= SHARE_COMMANDS_MOST && share_power_of_two(g->inbox_bytes) &&
           g->inbox_bytes >= SHARE_INBOX_LEAST && g->inbox_bytes <= SHARE_INBOX_MOST && g->words <= SHARE_WORDS_MOST;
}

/* The completion ring has twice the slots of the command ring. */
static inline uint32_t share_completions(const struct share_geometry *g)
{
    return 2 * g->commands;
}

/* Where the inbox begins in com. */
static inline size_t share_inbox_at(const struct share_geometry *g)
{
    return SHARE_COM_COMPLETIONS + (size_t)SHARE_COMPLETION_BYTES * share_completions(g);
}

static inline size_t share_whole_pages(size_t bytes)
{
    return (bytes + SHARE_PAGE - 1) / SHARE_PAGE * SHARE_PAGE;
}

/* Sizes of the two areas, whole pages. */
static inline size_t share_sub_bytes(const struct share_geometry *g)
{
    return share_whole_pages(SHARE_SUB_COMMANDS + (size_t)SHARE_SLOT_BYTES * g->commands);
}

static inline size_t share_com_bytes(const struct share_geometry *g)
{
    return share_whole_pages(share_inbox_at(g) + g->inbox_bytes);
}

/*
 * An index counts what ever passed through a ring, and wraps. May the other side's index, which was `seen` last, be
 * `now`? Not if it went back, nor if it is more than `most` ahead of `base`, an index of our own.
 */
static inline bool share_index_sound(uint32_t base, uint32_t seen, uint32_t now, uint32_t most)
{
    return now - base <= most && now - base >= seen - base;
}

/* The same of positions in an inbox. */
static inline bool share_position_sound(uint64_t base, uint64_t seen, uint64_t now, uint64_t most)
{
    return now - base <= most && now - base >= seen - base;
}

/* How a process waits (SHARE_SUB_REST, SHARE_LANE_REST). */
enum share_rest {
    SHARE_REST_AWAKE = 0,
    SHARE_REST_FUTEX = 1,  /* on the bell, or on the tail of a lane */
    SHARE_REST_SOCKET = 2, /* on its socket */
};

#endif
