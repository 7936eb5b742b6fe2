/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_state.h - what a node and its relay share: one value, mapped into both (docs/relay.md).
 *
 * The relay is the program in the kernel that passes frames on from link to link, past the daemon; relay.h is what it
 * decides by. The node writes this value by plain stores (relay_publish.h), and never waits for a program that runs.
 * The program writes `handed` and `relayed_until` only.
 *
 * Three things hold whenever a program looks (the node's tests hold it to the first two, relay_publish.h keeps the
 * third):
 *   I1  `way` was made of a database that contains all that the neighbours had said up to `received`, on every link in
 *       `in`: whoever relays knows all that the sender knew.
 *   I2  all that this database contains had left, on every link in `out`, at or before `top` of that link: whoever is
 *       relayed to waits, by its own gate, for all that we knew.
 *   I3  a verdict is made of one generation.
 *
 * The file is compiled for the kernel as well, so it includes no more than integers and the limits of the wire.
 */
#ifndef WIRE_RELAY_STATE_H
#define WIRE_RELAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum relay_limits {
    RELAY_LINKS = 8,         /* slots, of which six are used: a verifier can bound an index by a mask */
    RELAY_SERVERS = 4096,    /* a larger torus has no relay */
    RELAY_JOBS = 128,        /* entries of the table of jobs, a power of two */
    RELAY_JOB_TRIES = 4,     /* entries in which a job can be */
    RELAY_PLACES = 64,       /* of services in a node's fair queue */
    RELAY_OTHERS = 0,        /* the place of all jobs that have no service here */
    RELAY_JOBS_FREE = 1024,  /* the first job that is none of the built-in ones */
    RELAY_REASON_SLOTS = 16, /* for enum relay_reason (relay.h), a power of two */
};

enum relay_way {
    RELAY_WAY_LINKS = 0x3f, /* the links that lead to the server; none: it is this one, or cannot be reached */
    RELAY_WAY_HOME = 0x40,  /* the server is in C (semantics 4.2): what goes to its keys goes to it */
};

struct relay_link {
    uint32_t ifindex;       /* the interface that frames leave by */
    uint16_t session, peer; /* ours and the neighbour's, low halves: what frames that leave, and that come, carry */
    uint16_t top;           /* position of the last control item that was sent */
    uint16_t received;      /* position of the last control item that was applied */
    uint16_t mtu, zero;     /* of frames without the Ethernet header */
    uint32_t mac[3];        /* 12 bytes as they lie in memory: destination and source of frames that leave */
};

/* One generation: routes, and what they were made of. */
struct relay_view {
    uint32_t dims[3], servers;
    uint32_t in, out; /* links whose frames may be relayed; links that may be relayed to */
    struct relay_link link[RELAY_LINKS];
    uint8_t way[RELAY_SERVERS]; /* by server: set of enum relay_way */
};

/* Of one link that frames leave by. Instants and spans are in ns of CLOCK_BOOTTIME. */
struct relay_queue {
    uint64_t handed;        /* the program: transit that was handed up because no way out was free, counted */
    uint64_t taken;         /* the node: `handed` as it was when sockets and queues were last seen empty */
    uint64_t sent_until;    /* the node: when all that it sent will have left the device */
    uint64_t relayed_until; /* the program: when all that it sent would have left, were it alone */
    uint64_t ns_per_kib;    /* of the medium, ns for 1024 bytes; 0: not known, and then nothing is counted */
    uint64_t slack;         /* ns that may wait in the device */
    uint64_t pad[2];        /* a line of cache for each link */
};

struct relay_state {
    uint32_t gen;    /* the low bit: which of the two views holds */
    uint32_t live;   /* links; the bit of a link that fails goes before anything is said or done about it */
    uint64_t lease;  /* the instant, ns of CLOCK_BOOTTIME, from which on nothing is relayed; 0: nothing is */
    uint32_t waits;  /* links for which something waits in user space */
    uint32_t tapped; /* links that an operator captures: all their frames go up */
    uint32_t ethertype;
    uint32_t others_up; /* not 0: a job found no entry, so unknown ones go up */
    /* Indexes of the interfaces by which frames come, by link; 0: none. Written by who attaches the program. */
    uint32_t port[RELAY_LINKS];
    struct relay_queue queue[RELAY_LINKS];
    uint64_t job[RELAY_JOBS]; /* relay_job_entry(); 0: free */
    struct relay_view view[2];
};

_Static_assert(sizeof(struct relay_queue) == 64 && sizeof(struct relay_state) % 8 == 0, "as both sides lay it out");

/* What the program counts, on each processor for itself. */
struct relay_counts {
    uint64_t by_reason[RELAY_LINKS][RELAY_REASON_SLOTS]; /* by the link that a frame came by */
    struct relay_sent {
        uint64_t packets, bytes;       /* bytes of frames without the Ethernet header */
    } sent[RELAY_PLACES][RELAY_LINKS]; /* by the place of the job, and the link that the frame left by */
};

/*
 * An entry of the table of jobs: open addressing, RELAY_JOB_TRIES entries from relay_job_at() on, the last one followed
 * by the first. A job is 1 or more. place is 0..RELAY_PLACES - 1, or RELAY_UP: its transit goes up to the service.
 */
#define RELAY_UP UINT32_MAX

static inline uint64_t relay_job_entry(uint32_t job, uint32_t place)
{
    return (uint64_t)job << 32 | place;
}

static inline uint32_t relay_job_at(uint32_t job)
{
    return job * 0x9e3779b1u >> 25;
}

/*
 * How both sides read and write words that the other side may be using. In C these are atomics, so that the thread
 * sanitizer can follow; a program in the kernel has volatile accesses and full barriers.
 *
 *   RELAY_READ, RELAY_WRITE   one word as a whole, in no order
 *   relay_acquire()           reads; what is read behind it is not older
 *   relay_release()           writes; what was written before it is seen by who sees this
 *   relay_again()             reads `gen`; what was read before it is not newer
 *   relay_turn()              writes `gen`; what is written behind it is not seen before it
 */
#ifdef __bpf__

#define RELAY_INLINE static inline __attribute__((always_inline))
/*
 * A function that the verifier looks at once, by itself: where it is called, its result may be anything, and none of
 * its branches is followed again. Its arguments are numbers, and pointers that the verifier takes for NULL as well.
 */
#define RELAY_APART __attribute__((noinline))
#define RELAY_IS_THERE(state) ((state) != NULL)
#define RELAY_READ(word) (*(const volatile __typeof__(word) *)&(word))

RELAY_INLINE uint32_t relay_acquire(uint32_t *word)
{
#ifdef RELAY_ORDERED /* the processor keeps the order of loads */
    uint32_t value = *(volatile uint32_t *)word;
    __asm__ volatile("" ::: "memory");
    return value;
#else
    return __sync_fetch_and_add(word, 0);
#endif
}

RELAY_INLINE uint32_t relay_again(uint32_t *gen)
{
#ifdef RELAY_ORDERED
    __asm__ volatile("" ::: "memory");
    return *(volatile uint32_t *)gen;
#else
    return __sync_fetch_and_add(gen, 0);
#endif
}

RELAY_INLINE void relay_add(uint64_t *word, uint64_t more)
{
    __sync_fetch_and_add(word, more);
}

/* Makes `then` of `now`, if the word is `now`. */
RELAY_INLINE void relay_swap(uint64_t *word, uint64_t now, uint64_t then)
{
    __sync_val_compare_and_swap(word, now, then);
}

/* index & mask, in a way that a compiler cannot know to be needless: the verifier must see the bound. */
RELAY_INLINE uint64_t relay_bound(uint64_t index, uint64_t mask)
{
    __asm__ volatile("%0 &= %1" : "+r"(index) : "r"(mask));
    return index;
}

#else

#ifdef RELAY_STEPS
/* A test that tries every order of accesses: it is called before each of them. */
void relay_step(void);
#define RELAY_STEP() relay_step()
#else
#define RELAY_STEP() (void)0
#endif

#define RELAY_INLINE static inline
#define RELAY_APART static inline
#define RELAY_IS_THERE(state) true
#define RELAY_READ(word) (RELAY_STEP(), __atomic_load_n(&(word), __ATOMIC_RELAXED))
#define RELAY_WRITE(word, value) (RELAY_STEP(), __atomic_store_n(&(word), value, __ATOMIC_RELAXED))

RELAY_INLINE uint32_t relay_acquire(uint32_t *word)
{
    RELAY_STEP();
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/*
 * A read that writes what it has read: so it can be ordered behind the reads before it, and the node's relay_turn(),
 * when it comes later, is ordered behind those reads too (the C standard has no other means without a fence, and
 * the thread sanitizer knows no fences).
 */
RELAY_INLINE uint32_t relay_again(uint32_t *gen)
{
    RELAY_STEP();
    return __atomic_fetch_add(gen, 0, __ATOMIC_ACQ_REL);
}

RELAY_INLINE void relay_add(uint64_t *word, uint64_t more)
{
    RELAY_STEP();
    __atomic_fetch_add(word, more, __ATOMIC_RELAXED);
}

RELAY_INLINE void relay_swap(uint64_t *word, uint64_t now, uint64_t then)
{
    RELAY_STEP();
    __atomic_compare_exchange_n(word, &now, then, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

RELAY_INLINE uint64_t relay_bound(uint64_t index, uint64_t mask)
{
    return index & mask;
}

RELAY_INLINE void relay_release(uint32_t *word, uint32_t value)
{
    RELAY_STEP();
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

RELAY_INLINE void relay_turn(uint32_t *gen, uint32_t value)
{
    RELAY_STEP();
    (void)__atomic_exchange_n(gen, value, __ATOMIC_ACQ_REL);
}

#endif

#endif
