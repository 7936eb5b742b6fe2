/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sr_patron.h - services that order runs of records, take their results, and feed them, by cubeway/aggregate.h: for the
 * world that judges. There are two on each server, of two jobs.
 *
 *     commands    order RUN     feed RUN     cancel RUN     leave RUN: whoever feeds it here closes
 */
#ifndef SIM_SR_PATRON_H
#define SIM_SR_PATRON_H

#include "cubeway/aggregate.h"

enum { PATRON_JOB = 2000, GREEDY_JOB = 2001, PATRON_RUNS = 32, PATRON_SERVERS = 27, PATRON_WORD = 64 };

struct patron;

/* What a service on one server feeds to a run. */
struct patron_feed {
    char *text; /* NULL: nothing */
    size_t length, sent;
    size_t dies; /* it closes when it has sent so much; SIZE_MAX: it does not */
    /* What has come of it. */
    uint64_t life; /* of the instance that feeds, p on s; 0: none does */
    struct patron *p;
    cw_svc *s;
    const char *name;
    cw_aggregate *handle;
    bool waits;     /* for fed() */
    bool ended;     /* it has sent all */
    bool taken;     /* and a run has all of it */
    unsigned heard; /* calls of fed() that nothing was sent for */
};

struct patron_run {
    bool greedy; /* which of the two services */
    char word[11 + 2 * PATRON_SERVERS][PATRON_WORD];
    unsigned words;
    bool takes;    /* the result comes to it */
    char name[16]; /* of the feed */
    struct patron_feed feed[PATRON_SERVERS];
    /* What has come of it. */
    uint64_t life; /* of the instance that has ordered, on s; 0: none has */
    cw_svc *s;
    int64_t ticket;
    unsigned ends;
    int status;
    bool named;
    uint64_t counted, keys, limit;
    char *text; /* what take() had */
    size_t length;
    bool late; /* it was called after the end */
};
extern struct patron_run patron_runs[PATRON_RUNS];

extern const cw_service patron_service, greedy_service;

/* The life of the service that runs on that server now; 0: none. */
uint64_t patron_life(bool greedy, cw_server server);
/* Forgets all runs, and frees what they have. */
void patron_forget(void);

#endif
