/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups_talker.h - two services (jobs) that join, leave, publish and send at random, in groups of the same names, and
 * write down what happened; and the judge of what they wrote.
 *
 * Judged of each message, when the world is over:
 *  - only services of its job got it, only at servers that were members (or in the set) at that instant, each at most
 *    once in a life, byte for byte;
 *  - if it was reliable and its publisher lived: it ended, once; every member that the result calls complete has it;
 *    and, in strict worlds, so does every server whose join was acknowledged before it was published and that stayed
 *    and lived until its end.
 */
#ifndef SIM_GROUPS_TALKER_H
#define SIM_GROUPS_TALKER_H

#include "cubeway/service.h"
#include "seeds.h"

enum {
    GROUPS_TALKER_JOB = 2002, /* and the one after */
    GROUPS_JOBS = 2,
    GROUPS_NAMES = 4,
    GROUPS_SERVERS = 27,
    GROUPS_MESSAGES = 6000,
    GROUPS_STAYS = 4000,
    GROUPS_DEATHS = 1024,
};
#define GROUPS_NO_END INT64_MAX

/* The plan of all instances of a world; to be set before the world is opened. */
struct groups_plan {
    cw_time from, quiet;
    cw_span pause_most;
    unsigned large; /* how many of 100 messages fit no packet */
    bool strict;    /* nothing goes wrong but that servers die and come back, and frames get lost */
    cw_time (*now)(void *context);
    void *context;
};
extern struct groups_plan groups_plan;

struct groups_message {
    uint8_t job, group; /* group GROUPS_NAMES: the message goes to a set of servers */
    bool reliable, ended;
    cw_server publisher;
    uint32_t life;                 /* of the publisher */
    uint32_t set, complete, named; /* bit: server */
    uint32_t bytes;
    int status;
    int64_t begun, end;
    int16_t said[GROUPS_SERVERS]; /* of those named */
    uint8_t got[GROUPS_SERVERS];
    uint32_t got_life[GROUPS_SERVERS];
};

/* A server in a group: from its acknowledgement to its leaving. */
struct groups_stay {
    uint8_t job, group;
    cw_server server;
    int64_t acked, left;
};

struct groups_ledger {
    char wrong[SEEDS_WRONG_BYTES];
    size_t messages, stays, deaths;
    uint32_t lives; /* numbers lives of instances */
    uint64_t delivered, joins, leaves, ended, best, refused, forwards;
    int64_t slowest; /* from publishing to the end, ns */
    struct groups_message message[GROUPS_MESSAGES];
    struct groups_stay stay[GROUPS_STAYS];
    struct {
        cw_server server;
        int64_t at;
    } death[GROUPS_DEATHS];
};
extern struct groups_ledger *groups_ledger;

extern const cw_service groups_talker_service, groups_other_service;

/* True when a reliable message of a publisher that lived has not ended. */
bool groups_waits(void);
/* Judges everything; the ledger says what was wrong. */
void groups_judge(void);

#endif
