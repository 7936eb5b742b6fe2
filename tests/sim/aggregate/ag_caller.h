/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ag_caller.h - a service that calls reductions as a plan says, and notes how each call ended: for the world that
 * judges, and for the bench.
 *
 * The vectors are made of random words, so that a sum says who is in it how often: no two subsets of them have the same
 * sum, but by a chance of 2^-64 an element.
 */
#ifndef SIM_AG_CALLER_H
#define SIM_AG_CALLER_H

#include "cubeway/aggregate.h"
#include "nmu/book.h"

enum { CALLER_JOB = 2000, CALLER_RUNS = 24, CALLER_SERVERS = 512, CALLER_NAME = 24 };

/* The call of one server; a server that restarted does not call again. */
struct caller_call {
    const struct caller_run *run;
    cw_svc *s; /* of the instance that called */
    cw_server self;
    cw_time at;     /* CW_NEVER: it does not call */
    cw_time cancel; /* CW_NEVER: it does not */
    uint64_t life;  /* of the instance that called; 0: none did */
    int64_t ticket; /* or the error of reduce() */
    unsigned ends;
    int status;
    unsigned attempts, count;
    cw_time ended;
    bool named;
    cw_coord who;
    uint64_t counted[CALLER_SERVERS / 64];
    uint64_t took; /* bytes that came out of it so far, those that came again among them */
    uint8_t *in, *out;
};

enum caller_kind { CALLER_REDUCE, CALLER_REDUCE_SCATTER, CALLER_ALLGATHER };

struct caller_run {
    enum caller_kind kind;
    char name[CALLER_NAME];
    uint64_t seed;
    cw_time begin;
    cw_server root;
    uint64_t members[CALLER_SERVERS / 64];
    cw_number type;
    cw_combine combine;
    uint64_t elements;
    unsigned flags;
    cw_span limit;
    bool fill;             /* vectors are made when they are wanted */
    const uint8_t *shared; /* not NULL: the vector of all members */
    bool forget;           /* the root takes the result and keeps nothing of it */
    struct caller_call call[CALLER_SERVERS];
};

/* What the services here may send: the ports of `aggregate`, and of `multicast`, which takes results to all. */
enum { CALLER_GRANTS = 5 };
extern const struct book_grant caller_grants[CALLER_GRANTS];

/* The plan of all instances of a world; to be set before the world is opened. */
struct caller_plan {
    unsigned runs;
    struct caller_run run[CALLER_RUNS];
    cw_time (*now)(void *context); /* the clock of the world */
    void *context;
    /* A call has ended: called at that instant. May be NULL. */
    void (*ended)(const struct caller_run *run, const struct caller_call *c);
};
extern struct caller_plan caller_plan;

extern const cw_service caller_service;

/* Element `first` and those behind it of a server's vector in a run. */
void caller_values(const struct caller_run *run, cw_server server, uint64_t first, size_t count, void *out);
/* The life of the instance on that server that runs now; 0: none. */
uint64_t caller_life(cw_server server);

#endif
