/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_thread.h - the thread's half of a threaded shim (threaded.h): it alone calls the shim inside, and it exchanges
 * frames with the owner through rings.
 *
 * A slot is memory for one frame. Full slots go to the other side, empty slots come back; each slot is on exactly one
 * side or in exactly one ring.
 *
 * Flags: the side that is about to wait raises a flag and looks at its ring once more. The other side pushes, takes the
 * flag down, and signals if the flag was up. Both operations exchange one variable: whichever comes second sees what
 * the first had done before.
 */
#ifndef SHIM_IO_THREAD_H
#define SHIM_IO_THREAD_H

#include "base/ring.h"
#include "shim/shim.h"

#include <pthread.h>

enum {
    IO_THREAD_OUT_MOST = 32,  /* slots to send in, at most */
    IO_THREAD_IN_MOST = 128,  /* slots to receive into, at most */
    IO_THREAD_LINGER_MS = 20, /* how long frames may still take to leave when the thread is ended */
};

struct io_slot {
    uint8_t *bytes; /* SHIM_HEADROOM before them and the shim's mtu from them on */
    uint32_t length;
};

/* What only the thread uses, once it runs. */
struct io_worker {
    struct io_slot *held[SHIM_BATCH]; /* on their way out, not yet taken by the shim inside */
    unsigned held_count;
    struct io_slot *room[SHIM_BATCH]; /* to receive into */
    unsigned room_count;
    bool readable; /* the shim inside may have frames */
    bool changed;  /* its carrier may have changed */
    bool blocked;  /* it has no room, until what follows */
    enum shim_wait why_blocked;
    cw_time until;
};

struct io_thread {
    struct ring out, out_back; /* to the thread, and the memory back */
    struct ring in, in_back;   /* from the thread, and the memory back */
    alignas(RING_LINE) struct io_worker worker;
    alignas(RING_LINE) struct shim *inside;
    pthread_mutex_t mutex;
    pthread_mutex_t *lock; /* the mutex; whoever holds it may call the shim inside: the thread, and rarely the owner */
    uint64_t errors;       /* under lock: frames that were taken, and that the shim inside then refused for good */
    uint32_t mtu;          /* of the shim inside */
    unsigned depth;        /* slots to send in: 1..IO_THREAD_OUT_MOST */
    int data;              /* eventfd that the owner watches for frames and for room */
    int event;             /* eventfd that the owner watches for the carrier */
    int kick;              /* eventfd that the thread sleeps on */
    _Atomic bool carrier;  /* as the thread saw it last */
    _Atomic bool woken;    /* the shim inside called wake */
    _Atomic bool ending;   /* the thread is to end */
    _Atomic bool asleep;   /* the thread wants a kick when a frame is to be sent */
    _Atomic bool starves;  /* the thread wants a kick when memory comes back */
    _Atomic bool listens;  /* the owner wants `data` signalled when a frame has come; raised from the beginning */
    _Atomic bool waits;    /* the owner wants `data` signalled when there is room again */
    struct io_slot *slots;
    void *memory, *ring_memory;
    pthread_t thread;
};

/*
 * Prepares a thread for the shim inside, which is borrowed and whose wake is ours from now on. All slots to send in are
 * then in out_back, all slots to receive into are in in_back. 0 or -errno; io_thread_free() is due in any case.
 */
CW_MUST_CHECK int io_thread_open(struct io_thread *t, struct shim *inside);
void io_thread_free(struct io_thread *t);

/* Starts the thread, by thread_start(). 0; or -errno, and then there is no carrier. */
CW_MUST_CHECK int io_thread_start(struct io_thread *t);
/* Ends the thread. Frames that were given to it leave before, if that takes no longer than IO_THREAD_LINGER_MS. */
void io_thread_end(struct io_thread *t);

/* Makes an eventfd readable; makes it unreadable. */
void io_thread_signal(int fd);
void io_thread_clear(int fd);
/* Raises the caller's flag before it waits. What the other side had pushed before this is seen afterwards. */
void io_thread_raise(_Atomic bool *flag);
/* After a push: takes the flag down, and signals the other side's fd if it was up: that side waits, or is about to. */
void io_thread_tell(_Atomic bool *flag, int fd);

#endif
