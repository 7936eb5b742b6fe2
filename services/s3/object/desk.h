/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - what all that is under way with objects at one server shares: the store, the clock, the memory for chunks,
 * and what is to be dropped later.
 *
 * Memory. Bytes of objects are held in chunks while they go to the store or to a client, config.memory of all objects
 * together. Who needs more than is left waits, the longest one first, and that is the back-pressure: a put takes no
 * bytes, a get has none. Nobody waits while it holds what another one waits for, but for its client: a put asks for its
 * next chunk when the one before has gone to the store, a copy asks for all that it needs at once.
 *
 * Ends. Whatever is under way may be given up; it lives on until the store has answered it. So does the desk itself
 * after s3_desk_close(), and gives nothing up to anybody then.
 *
 * Threading: that of the server. Nobody is called back from within a call of his own but by s3_desk_tick() and what
 * says so.
 */
#ifndef SERVICES_S3_OBJECT_DESK_H
#define SERVICES_S3_OBJECT_DESK_H

#include "base/list.h"
#include "cubeway/store.h"
#include "services/s3/object/place.h"

enum {
    S3_WINDOW_MOST = 8,
    S3_LISTS_MOST = 3,         /* of the four that the store lets a server have */
    S3_DROPS_MOST = 4096,      /* lots that wait to be dropped; more are left to whoever sweeps */
    S3_GRACE_S = 300,          /* what was replaced is there for so long, for those who read it */
    S3_PUT_MOST_S = 12 * 3600, /* a put that takes longer fails; a lot that nobody names is garbage after twice that */
};

struct s3_desk_config {
    const cw_store_api *api;
    cw_svc *store;
    uint32_t chunk;                  /* bytes; CW_STORE_VALUE_MAX at most */
    uint32_t inline_most;            /* objects up to so many bytes are in their manifest; S3_INLINE_MOST at most */
    unsigned window;                 /* chunks of one object that are under way at once, 1..S3_WINDOW_MOST */
    size_t memory;                   /* bytes of all chunks; two at least */
    int64_t (*now_s)(void *context); /* the wall clock */
    uint64_t (*random)(void *context);
    void *context;
};

/* Who waits for memory, or for a list. Belongs to whoever waits. */
struct s3_waiter {
    struct list_node node;
    bool waits;
    size_t bytes;
    void (*go)(struct s3_waiter *w); /* has them now */
};

struct s3_desk {
    struct s3_desk_config config;
    size_t held;
    unsigned lists;
    struct list waiting, listers, drops; /* waiters for memory and for lists; struct drop */
    unsigned drops_waiting;
    struct s3_dropping *dropping; /* the one that is under way */
    unsigned users;               /* what is under way */
    bool closed;
    uint64_t lots_left; /* lots that were left to the sweeper: for a counter */
};

/* NULL: no memory. Copies config. */
struct s3_desk *s3_desk_open(const struct s3_desk_config *config);
/*
 * Frees it once nothing is under way any more. Before, all puts, gets, copies and lists have been given up that are not
 * over: what waits here for memory would wait for ever.
 */
void s3_desk_close(struct s3_desk *d);
/* To be called every second or so: drops what is due. */
void s3_desk_tick(struct s3_desk *d);

/* ---- For those that are under way -------------------------------------------------------------------------------- */

void s3_desk_join(struct s3_desk *d);
void s3_desk_leave(struct s3_desk *d);
/* Takes so many bytes of memory, or waits for them: then go() comes later. True: it has them. */
bool s3_desk_take(struct s3_desk *d, struct s3_waiter *w, size_t bytes);
/* Gives them back, and lets others go on, from within this call. */
void s3_desk_give(struct s3_desk *d, size_t bytes);
/* The same for one of S3_LISTS_MOST lists. */
bool s3_desk_take_list(struct s3_desk *d, struct s3_waiter *w);
void s3_desk_give_list(struct s3_desk *d);
/* Waits no more. */
void s3_desk_forget(struct s3_waiter *w);
void s3_desk_lot_id(struct s3_desk *d, uint8_t out[static S3_LOT_ID]);

/*
 * What it means when the store does not take a question, and what its answer means. OK, NOT_FOUND and CONFLICT: S3_OK,
 * which is the caller's to look at.
 */
s3_fault s3_desk_refused(int rc);
s3_fault s3_desk_fault(cw_store_status status);
/* Asks for the value of a name. S3_OK: done() will come. */
CW_MUST_CHECK s3_fault s3_desk_get(struct s3_desk *d, cw_job job, const struct s3_place *p, cw_store_done done,
                                   void *arg);
CW_MUST_CHECK s3_fault s3_desk_head(struct s3_desk *d, cw_job job, const struct s3_place *p, cw_store_done done,
                                    void *arg);
/* Puts a value if the version that is there is this one; 0: none. */
CW_MUST_CHECK s3_fault s3_desk_put(struct s3_desk *d, cw_job job, const struct s3_place *p, uint64_t version,
                                   const void *value, size_t length, cw_store_done done, void *arg);
CW_MUST_CHECK s3_fault s3_desk_delete(struct s3_desk *d, cw_job job, const struct s3_place *p, const uint64_t *version,
                                      cw_store_done done, void *arg);
CW_MUST_CHECK s3_fault s3_desk_list(struct s3_desk *d, const cw_store_list *list, cw_store_list_done done, void *arg);

#endif
