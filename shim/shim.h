/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h - one way to reach one neighbour: it sends frames, receives frames, and says whether there is a carrier. One
 * contract for cables, tunnels and memory (docs/shims.md).
 *
 * A frame here is what lies behind the 14 bytes of an Ethernet header: runtime/wire's frame head, its packets, and
 * perhaps padding. A shim that speaks Ethernet writes and removes that header itself. A shim never reads a frame,
 * except for the bits that pick its lane (lane.h). Frames have 1..mtu bytes.
 *
 * These guarantees hold for every kind of shim, and tests/conformance/shim tries them on every kind:
 *   - No call blocks, no call calls back except through wake, and no call keeps the caller's memory after it has
 *     returned.
 *   - A frame that send took arrives whole, once and in order, or not at all. (A medium may lose frames; the fault shim
 *     does worse when it is told to.) A shim may have two lanes: control frames then overtake data frames, and the
 *     frames of each lane keep their order.
 *   - While the carrier stays, send never takes fewer frames of mtu bytes than room() has just promised.
 *   - A frame that the medium has no room for is refused, not lost. The medium's queue is kept short, because packets
 *     that wait must wait in the queues of services, where fairness is decided (CamCubeOS 3.3).
 *   - A frame that was sent by somebody else than the neighbour never comes out.
 * A shim is used by one thread at a time, in the network namespace in which it was opened.
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
    SHIM_BATCH = 32, /* frames that one call takes or gives at most */
    /* system calls after which a receive gives up, when all of them gave only strangers' frames */
    SHIM_STRANGE_BATCHES = 4,
    SHIM_HEADROOM = 16,    /* writable bytes before the bytes of each frame, for the shim's own header */
    SHIM_NAME_BYTES = 128, /* of shim_info.name, its NUL included */
    SHIM_STATE_BYTES = 96, /* of shim_info.state, its NUL included */
    SHIM_WHY_BYTES = 256,  /* of the sentence that says why a shim could not be opened */
};

/*
 * A frame to send (bytes, length), or memory to receive a frame into (bytes, room; receive sets length). The memory is
 * the caller's.
 */
struct shim_frame {
    uint8_t *bytes;
    uint32_t length;
    uint32_t room;
};

struct shim_info {
    const char *kind;             /* "raw", "udp", ..; static */
    char name[SHIM_NAME_BYTES];   /* its medium, for people: "eth3", "10.0.0.1:7001 to 10.0.0.2:7001", "memory" */
    char state[SHIM_STATE_BYTES]; /* "up", or in words why there is no carrier: "interface is down" */
    uint32_t mtu;                 /* bytes of the longest frame that it carries; constant as long as the shim lives */
    uint32_t overhead;            /* bytes that each frame costs on the medium beyond its own (Ethernet: 38) */
    uint64_t bits_per_second;     /* of the medium; 0: unknown */
    /* Times that the carrier was lost, also those that were over before anybody looked; 0: the medium counts none. */
    uint32_t outages;
    bool outage_here; /* the last time it was this end's interface, switched off or taken out */
};

/* Counted since the shim was opened. Bytes are those of frames, without the shim's own headers. */
struct shim_counters {
    uint64_t tx_frames, tx_bytes; /* frames that send took */
    uint64_t rx_frames, rx_bytes; /* frames that receive gave */
    uint64_t tx_refused;          /* times that the system had no room for a frame although room() had promised it */
    uint64_t tx_refused_row;      /* of these, how many since it took one last: a queue that is full takes one soon */
    uint64_t tx_errors;           /* frames that send took, and that were then lost, as the system reported */
    /* frames that arrived and were lost here because there was no room: the kernel's count */
    uint64_t rx_dropped;
    uint64_t rx_strange; /* frames that were not given: longer than their room, empty, or from somebody else */
};

/* What must happen before room() can grow, after it gave 0 or send took fewer than it was given. */
enum shim_wait {
    SHIM_WAIT_WRITABLE, /* room_fd is writable */
    SHIM_WAIT_WAKE,     /* wake is called */
    SHIM_WAIT_TIME,     /* the instant *until of clock_now() has come */
};

struct shim;

struct shim_ops {
    int (*send)(struct shim *s, const struct shim_frame *frames, unsigned count);
    int (*receive)(struct shim *s, struct shim_frame *frames, unsigned count);
    unsigned (*room)(struct shim *s);
    bool (*carrier)(const struct shim *s);
    int (*data_fd)(const struct shim *s);
    int (*urgent_fd)(const struct shim *s); /* NULL: -1 */
    int (*room_fd)(const struct shim *s);   /* NULL: data_fd */
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
    /*
     * The shim calls this when there may be something to receive, room to send, or another carrier. The owner sets it
     * before the first call, or leaves it NULL. It only marks that there is work; it must not call a shim.
     */
    void (*wake)(void *context);
    void *wake_context;
    /*
     * For an owner that watches urgent_fd. Such an owner sets `attentive` once, and sets `urgent` whenever that
     * descriptor is, or may be, readable: a receive that has data to give then looks for control frames only when
     * `urgent` is set, and clears it. With `attentive` false every receive looks.
     */
    bool attentive;
    bool urgent;
};

/*
 * Each kind of shim is opened by a function of its own header (raw.h, pcap.h, udp.h, pair.h, replay.h, fault.h,
 * threaded.h). The function gives 0 and the shim; or -errno, and in why[SHIM_WHY_BYTES] one sentence that names the
 * thing, what is wrong with it and what to do ("eth3: no such interface").
 */

/*
 * Takes frames, from the first on, and returns how many of the `count` (1..SHIM_BATCH) it took: 0 when there is no
 * room. After the call the frames' bytes are the caller's again; the headroom before them may have been written to.
 * -ENETDOWN: none was taken, there is no carrier. -EMSGSIZE: none was taken, the first is empty or longer than the mtu.
 */
static inline int shim_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    CHECK(1 <= count && count <= SHIM_BATCH);
    int taken = s->ops->send(s, frames, count);
    CHECK(taken <= (int)count);
    return taken;
}

/*
 * Fills frames, from the first on, and returns how many of the `count` (1..SHIM_BATCH) it filled. 0 when nothing is
 * there now, or when SHIM_STRANGE_BATCHES times count frames were not for us: data_fd then stays readable, and others
 * who send on our cable get no larger share of a turn. A frame that is longer than its room is counted in rx_strange;
 * it is not cut. Without a carrier, receive gives the frames that arrived before, and then 0.
 */
static inline int shim_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    CHECK(1 <= count && count <= SHIM_BATCH);
    int given = s->ops->receive(s, frames, count);
    CHECK(given <= (int)count);
    for (int i = 0; i < given; i++) {
        CHECK_SLOW(1 <= frames[i].length && frames[i].length <= frames[i].room);
    }
    return given;
}

/* How many frames of mtu bytes send would take now; may be more than SHIM_BATCH. 0 without a carrier. */
static inline unsigned shim_room(struct shim *s)
{
    return s->ops->room(s);
}

/* Is there a carrier? As the last service_events, send or receive saw it. */
static inline bool shim_carrier(const struct shim *s)
{
    return s->ops->carrier(s);
}

/*
 * The descriptor that is readable when receive has something to give or to do; -1: there is none, and wake is called
 * instead. A shim may use both: watch the descriptor, and take the call. The descriptor is the same as long as the shim
 * lives.
 */
static inline int shim_data_fd(const struct shim *s)
{
    return s->ops->data_fd(s);
}

/*
 * A second descriptor that is readable when receive has something to give; -1: there is none. A shim with two lanes has
 * it, for its control frames. One receive gives the frames of both lanes. For an attentive owner that has not set
 * `urgent`, it gives control frames only when there is no data, or when it has given SHIM_BATCH frames of data since it
 * last looked. Nobody waits on this descriptor for room. It is the same as long as the shim lives.
 */
static inline int shim_urgent_fd(const struct shim *s)
{
    return s->ops->urgent_fd != NULL ? s->ops->urgent_fd(s) : -1;
}

/*
 * The descriptor that is writable when there is room again, for SHIM_WAIT_WRITABLE. It is the same as long as the shim
 * lives.
 */
static inline int shim_room_fd(const struct shim *s)
{
    return s->ops->room_fd != NULL ? s->ops->room_fd(s) : shim_data_fd(s);
}

/*
 * The descriptor that is readable when the carrier may have changed: call service_events, then ask. -1: wake is called
 * instead.
 */
static inline int shim_event_fd(const struct shim *s)
{
    return s->ops->event_fd(s);
}

/* Reads what event_fd has to say. It does not call wake for what changes here. It may be called at any time. */
static inline void shim_service_events(struct shim *s)
{
    s->ops->service_events(s);
}

/* What to wait for when there is no room. Sets *until for SHIM_WAIT_TIME only. */
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
 * Sends one frame by one plain system call, which trusts nothing in the shim's memory but its descriptor and its
 * addresses. It is for a process that was forked from the owner and says goodbye for it. 0 or -errno; -EOPNOTSUPP where
 * it makes no sense.
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
