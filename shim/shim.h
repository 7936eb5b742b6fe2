/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h - one way to reach one neighbour: frames out, frames in, is there a carrier. One contract for cables, tunnels and
 * memory (docs/shims.md).
 *
 * A frame here is what lies behind the 14 bytes of an Ethernet header: runtime/wire's frame head, its packets, perhaps padding.
 * A shim that speaks Ethernet writes and removes that header itself; none looks into the frame. Frames are 1..mtu bytes.
 *
 * What holds for every kind, and is tried on every kind by tests/conformance/shim:
 *   - no call blocks, none calls back but for wake, none keeps memory of the caller's past the call;
 *   - what send took arrives whole, once and in order, or not at all (a medium may lose; fault may do worse, by order);
 *   - send never takes fewer frames of mtu bytes than room() has just promised, while the carrier stays;
 *   - what the medium has no room for is refused, not lost: its queue is short, because packets that wait must wait in the
 *     queues of services, where fairness is decided (CamCubeOS 3.3);
 *   - a frame of somebody else never comes out.
 * One thread at a time, in the network namespace in which the shim was opened.
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include "base/check.h"
#include "cubeway/time.h"
#include "cubeway/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SHIM_BATCH = 32,          /* frames that a call takes or gives at most */
    SHIM_STRANGE_BATCHES = 4, /* system calls of a receive that meet strangers' frames only */
    SHIM_HEADROOM = 16, /* writable bytes before each frame's bytes, sending and receiving: for the shim's own header */
    SHIM_NAME_BYTES = 128,
    SHIM_STATE_BYTES = 96,
    SHIM_WHY_BYTES = 256,
};

/*
 * A frame to send (bytes, length), or memory to receive one into (bytes, room; length is then set). An AF_XDP shim may later
 * lend the memory it receives into; until then all of it is the caller's.
 */
struct shim_frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t room;
};

struct shim_info {
    const char *kind;             /* "raw", "udp", ..; static */
    char name[SHIM_NAME_BYTES];   /* what it is on, for people: "eth3", "10.0.0.1:7001 to 10.0.0.2:7001", "memory" */
    char state[SHIM_STATE_BYTES]; /* "up", or in words why there is no carrier: "interface is down" */
    uint32_t mtu;                 /* longest frame in bytes that it carries; the same as long as the shim lives */
    uint32_t overhead;            /* bytes that a frame costs on the medium beyond its own (Ethernet: 38) */
    uint64_t bits_per_second;     /* of the medium; 0: unknown */
};

/* Since the shim was opened. Bytes are those of frames: no header of the shim's. */
struct shim_counters {
    uint64_t tx_frames, tx_bytes; /* taken by send */
    uint64_t rx_frames, rx_bytes; /* given by receive */
    uint64_t tx_refused;          /* times that the system had no room for a frame that room() had promised to take */
    uint64_t tx_errors;           /* taken, then lost, and the system said so */
    uint64_t rx_dropped;          /* arrived, and lost here for want of room: the kernel's count */
    uint64_t rx_strange;          /* not ours: longer than its room, empty, from somebody else */
};

/* What must happen before room() can grow, after it gave 0 or send took fewer than it was given. */
enum shim_wait {
    SHIM_WAIT_WRITABLE, /* data_fd is writable */
    SHIM_WAIT_WAKE,     /* wake is called */
    SHIM_WAIT_TIME,     /* the instant *until has come (CLOCK_MONOTONIC) */
};

struct shim;

struct shim_ops {
    int (*send)(struct shim *s, const struct shim_frame *frames, unsigned count);
    int (*receive)(struct shim *s, struct shim_frame *frames, unsigned count);
    unsigned (*room)(struct shim *s);
    bool (*carrier)(const struct shim *s);
    int (*data_fd)(const struct shim *s);
    int (*event_fd)(const struct shim *s);
    void (*service_events)(struct shim *s);
    enum shim_wait (*wait)(struct shim *s, cw_time *until);
    void (*info)(const struct shim *s, struct shim_info *out);
    void (*counters)(struct shim *s, struct shim_counters *out);
    int (*last_words)(const struct shim *s, uint8_t *bytes, uint32_t length);
    void (*close)(struct shim *s);
};

/* What every shim begins with. */
struct shim {
    const struct shim_ops *ops;
    /* Set by the owner before the first call, or NULL: something may be received, sent or seen now. Only marks; calls no shim. */
    void (*wake)(void *context);
    void *wake_context;
};

/*
 * Kinds are opened by functions of their own headers (raw.h, pcap.h, udp.h, pair.h, fault.h). These give 0 and the shim, or -errno
 * and in why[SHIM_WHY_BYTES] one sentence that names what, where and what to do ("eth3: no such interface").
 */

/*
 * Takes up to count (1..SHIM_BATCH) frames, from the first on, and returns how many: 0 when there is no room. Their bytes are
 * free again after the call, and those of the headroom may have been written to.
 * When none was taken: -ENETDOWN without a carrier, -EMSGSIZE when the first frame is empty or longer than the mtu.
 */
static inline int shim_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    CHECK(1 <= count && count <= SHIM_BATCH);
    return s->ops->send(s, frames, count);
}

/*
 * Fills up to count (1..SHIM_BATCH) frames, from the first on, and returns how many: 0 when there is nothing now, or when
 * SHIM_STRANGE_BATCHES times count frames were not for us (then data_fd stays readable: others who send on our cable get no more
 * of a turn). A frame longer than the room it met is counted in rx_strange, not cut. Without a carrier it gives what had arrived before, then 0.
 */
static inline int shim_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    CHECK(1 <= count && count <= SHIM_BATCH);
    return s->ops->receive(s, frames, count);
}

/* Frames of mtu bytes that send would take now; may be above SHIM_BATCH. 0 without a carrier. */
static inline unsigned shim_room(struct shim *s)
{
    return s->ops->room(s);
}

/* As of the last service_events, send or receive. */
static inline bool shim_carrier(const struct shim *s)
{
    return s->ops->carrier(s);
}

/*
 * The descriptor that is readable when receive has something to give or to do; -1: there is none, and wake says it. A shim may
 * use both: watch the one and heed the other. The same as long as the shim lives.
 */
static inline int shim_data_fd(const struct shim *s)
{
    return s->ops->data_fd(s);
}

/* The descriptor that is readable when the carrier may have changed: then call service_events, and ask. -1: only wake says it. */
static inline int shim_event_fd(const struct shim *s)
{
    return s->ops->event_fd(s);
}

/* Reads what event_fd has; wake is not called for what changes here. Harmless at any time. */
static inline void shim_service_events(struct shim *s)
{
    s->ops->service_events(s);
}

/* *until is set with SHIM_WAIT_TIME only. */
static inline enum shim_wait shim_wait(struct shim *s, cw_time *until)
{
    return s->ops->wait(s, until);
}

static inline void shim_info(const struct shim *s, struct shim_info *out)
{
    s->ops->info(s, out);
}

static inline void shim_counters(struct shim *s, struct shim_counters *out)
{
    s->ops->counters(s, out);
}

/*
 * Sends one frame by one plain system call that trusts nothing in the shim's memory but its descriptor and its addresses: for a
 * process that was forked from the owner before, and says goodbye for it. 0 or -errno; -EOPNOTSUPP where it makes no sense.
 */
static inline int shim_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    return s->ops->last_words(s, bytes, length);
}

/* Takes the shim. */
static inline void shim_close(struct shim *s)
{
    s->ops->close(s);
}

#endif
