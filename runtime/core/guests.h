/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests.h - the attached processes of a server: found by (job, process), by number, and by who serves a key.
 *
 * A guest is a speaker (nmu/access.h) with a number from GUESTS_FIRST on; below are services. It has no place among the
 * turns on a link (fairq.h): its packets wait in the turn of its job, and it may have GUEST_PACKETS or GUEST_BYTES of
 * them there, and of those that wait here for their delivery. Who was refused room is told later: one guest for each
 * packet that leaves, in the order of the refusals; whoever has half of its own room again; all, when nothing waits any
 * more.
 *
 * Numbers in, numbers out: knows neither nodes nor packets. Owns its guests, from guests_add() to guests_free().
 */
#ifndef CORE_GUESTS_H
#define CORE_GUESTS_H

#include "base/list.h"
#include "core/queue/fairq.h"
#include "cubeway/types.h"

struct cw_svc;
struct guest_table;

enum {
    GUESTS_FIRST = FAIRQ_PLACES,
    GUESTS_MAX = UINT16_MAX - GUESTS_FIRST - 1, /* one number more is nobody's */
    GUEST_PACKETS = 64,                         /* that may wait for links */
    GUEST_BYTES = 256 << 10,
    GUEST_KEY_PORTS = 64, /* that it may serve keys on */
};

/* A port of a job, as one guest of that job serves keys on it. */
struct guest_port {
    struct guest_port *next; /* in the chain of all with that hash */
    struct guest *guest;
    cw_port port;
};

struct guest {
    cw_job job;
    cw_process process;
    uint32_t life; /* 0: it is nobody */
    uint16_t number;
    uint8_t what;       /* of the packets that it sends (wire/extension.h) */
    uint32_t meant;     /* which life they are for */
    uint32_t calls;     /* open ones */
    uint32_t key_ports; /* how many it serves keys on */
    uint32_t queued;    /* packets of it that wait for links, and their bytes */
    uint32_t queued_bytes;
    uint32_t here; /* packets of it that wait for their delivery here, or for the right to it, and their bytes */
    uint32_t here_bytes;
    int why;                /* not 0: it may not be here any more, as guest_table.on_end() says */
    uint64_t generation;    /* of its job, when it was let in */
    struct list_node waits; /* among those who were refused, who are to be told, or who are to be freed */
    struct cw_svc *svc, *host;
    const struct guest_table *table;
};

struct guests {
    uint32_t limit; /* 0: this server takes none */
    uint32_t count;
    uint32_t life;   /* of the latest */
    uint32_t cursor; /* where the next free number is looked for */
    uint32_t mask;
    struct guest **at;         /* by number; NULL, as the next two, until the first comes */
    struct guest **slot;       /* by (job, process), in open addressing, at most half full */
    struct guest_port **chain; /* by (job, port) */
    struct list refused, told, gone;
    bool doubted;        /* the record of a job was taken away: its guests are to be looked at */
    struct guest nobody; /* the last number: for what the server says in place of a process that is not here */
};

/* Takes up to `limit` guests; their lives are counted from first_life on. */
void guests_init(struct guests *g, uint32_t limit, uint32_t first_life);
/* All guests must have been removed and freed. */
void guests_close(struct guests *g);
size_t guests_bytes(const struct guests *g);

/* Gives a new guest, with a number and a life, in no list. NULL: there are `limit`, or no memory. */
struct guest *guests_add(struct guests *g, cw_job job, cw_process process);
/* The guest is found no more, and stands in `gone` until guests_free(). */
void guests_remove(struct guests *g, struct guest *guest);
/* Takes the oldest out of `gone`; NULL: it is empty. The caller frees it. */
struct guest *guests_next_gone(struct guests *g);

struct guest *guests_find(const struct guests *g, cw_job job, cw_process process);
/* By its number, which is GUESTS_FIRST or more; NULL: nobody has it. */
static inline struct guest *guests_at(struct guests *g, unsigned number)
{
    unsigned i = number - GUESTS_FIRST;
    return i == g->limit ? &g->nobody : i < g->limit && g->at != NULL ? g->at[i] : NULL;
}
/* The first guest of the job with a number above `number` (0: of all); NULL. Linear. */
struct guest *guests_after(const struct guests *g, cw_job job, unsigned number);

/* The guest serves keys on the port of its job from now on, or not any more. 0; -ENOBUFS; -ENOMEM. */
int guests_serve(struct guests *g, struct guest *guest, cw_port port, bool serves);
/*
 * Of the guests that may be here and serve keys on that port of the job the one with the highest hash of its process
 * and the key, so that a guest that comes or goes moves its own keys only; NULL. Linear in these guests.
 */
struct guest *guests_for_key(const struct guests *g, cw_job job, cw_port port, uint64_t route);
/* That hash. */
uint64_t guests_hash(cw_process process, uint64_t route);

/* A packet of the guest began to wait for a link, or waits no more. */
static inline void guest_note_put(struct guest *guest, uint32_t bytes)
{
    guest->queued++;
    guest->queued_bytes += bytes;
}
void guest_note_taken(struct guest *guest, uint32_t bytes);
/* A packet of the guest began to wait here for its delivery, or waits no more. */
static inline void guest_note_here(struct guest *guest, uint32_t bytes)
{
    guest->here++;
    guest->here_bytes += bytes;
}
void guest_note_served(struct guest *guest, uint32_t bytes);
/* All that waited was taken out. */
void guests_note_drained(struct guests *g);
/* Of all that waits, for links and here. */
bool guest_has_room(const struct guest *guest, uint32_t bytes);

/* The guest was refused room: it is told when there may be some. */
void guests_refuse(struct guests *g, struct guest *guest);
/* The guest is to be told something. */
void guests_stir(struct guests *g, struct guest *guest);
/* A packet of the guest has left: if that was refused room, and has half of its own again, it is to be told. */
void guests_note_left(struct guests *g, struct guest *guest);
/* There is room for one who was refused; for all of them. */
void guests_note_room(struct guests *g);
void guests_note_all_room(struct guests *g);
/* Somebody is to be told something, to be looked at, or to be freed. */
static inline bool guests_are_stirred(const struct guests *g)
{
    return g->doubted || !list_is_empty(&g->told) || !list_is_empty(&g->gone);
}

/* For tests and CHECK_SLOW: true when all ways to find a guest agree. */
bool guests_valid(const struct guests *g);

#endif
