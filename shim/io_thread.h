/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_thread.h - the thread's half of a threaded shim (threaded.h): it alone calls the shim inside, and exchanges frames with the owner
 * through rings.
 *
 * A slot is memory for one frame. Full ones go to the other side, empty ones come back; each is on exactly one side or in one ring.
 *
 * Flags: the side that is about to wait raises one and looks at its ring again; the other side pushes and takes the flag down, to
 * learn whether to signal. Both are exchanges of one variable: whichever comes second sees what the first had done before.
 */
#ifndef SHIM_IO_THREAD_H
#define SHIM_IO_THREAD_H

#include "base/ring.h"
#include "shim/shim.h"

#include <pthread.h>

enum { IO_THREAD_OUT_MOST = 32, IO_THREAD_IN_MOST = 128, IO_THREAD_LINGER_MS = 20 };

struct io_slot {
    uint8_t *bytes; /* SHIM_HEADROOM before them and the shim's mtu from them on */
    uint32_t length;
};

/* The thread's own, once it runs. */
struct io_worker {
    struct io_slot *held[SHIM_BATCH]; /* on their way out, not yet taken by the shim inside */
    unsigned held_count;
    struct io_slot *room[SHIM_BATCH]; /* to receive into */
    unsigned room_count;
    bool readable; /* the shim inside may have frames */
    bool changed;  /* its carrier may have */
    bool blocked;  /* it has no room, until: */
    enum shim_wait why_blocked;
    cw_time until;
};

struct io_thread {
    struct ring out, out_back; /* to the thread, and the memory back */
    struct ring in, in_back;   /* from the thread, and the memory back */
    alignas(RING_LINE) struct io_worker worker;
    alignas(RING_LINE) struct shim *inside;
    pthread_mutex_t mutex;
    pthread_mutex_t *lock; /* it: who holds it may call the shim inside: the thread, and others rarely */
    uint64_t errors;       /* under lock: frames that were taken and that the shim inside then refused for good */
    uint32_t mtu;          /* of the shim inside */
    unsigned depth;        /* slots to send in: 1..IO_THREAD_OUT_MOST */
    int data, event;       /* eventfds that the owner watches: frames or room; the carrier */
    int kick;              /* and the one that the thread sleeps on */
    _Atomic bool carrier;  /* as the thread saw it last */
    _Atomic bool woken;    /* the shim inside called wake */
    _Atomic bool ending;   /* the thread is to end */
    _Atomic bool asleep;   /* the thread wants a kick when a frame is to be sent */
    _Atomic bool starves;  /* .. when memory comes back */
    _Atomic bool listens;  /* the owner wants data signalled when a frame has come; raised from the beginning */
    _Atomic bool waits;    /* .. when there is room again */
    struct io_slot *slots;
    void *memory, *ring_memory;
    pthread_t thread;
};

/*
 * Around a shim (borrowed, its wake is ours from now on). All slots to send in are in out_back, all to receive into in in_back. 0 or -errno;
 * io_thread_free() is due in any case.
 */
CW_MUST_CHECK int io_thread_open(struct io_thread *t, struct shim *inside);
void io_thread_free(struct io_thread *t);

/* Starts the thread, as thread.h has it. 0 or -errno: then there is no carrier. */
CW_MUST_CHECK int io_thread_start(struct io_thread *t);
/* Ends it; what was given to it leaves before, if that takes no longer than IO_THREAD_LINGER_MS. */
void io_thread_end(struct io_thread *t);

/* Makes an eventfd readable, or not. */
void io_thread_signal(int fd);
void io_thread_clear(int fd);
/* Raises a flag of the caller's before it waits: what was pushed before it was taken down is seen after. */
void io_thread_raise(_Atomic bool *flag);
/* After a push: signals the other side if it waits or is about to. */
void io_thread_tell(_Atomic bool *flag, int fd);

#endif
