/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guests_town.h - the world of attached processes (test_guests_world.c): who is where, what was sent, and what the
 * records say. guests_town.c has the records, guests_ledger.c judges what comes.
 */
#ifndef SIM_CORE_GUESTS_TOWN_H
#define SIM_CORE_GUESTS_TOWN_H

#include "base/bytes.h"
#include "core/node_internal.h"
#include "jobs.h"
#include "keyspace/torus.h"
#include "rng.h"
#include "sanitized.h"
#include "seeds.h"
#include "simulator/world.h"

#include <errno.h>
#include <string.h>

enum {
    SERVERS = 27,
    HOST_JOB = 500,
    FIRST = 5000,
    JOBS = 4,
    ALL_JOBS = JOBS + 1, /* and the host's */
    VERSIONS = 12,
    PORTS = 3,
    GUESTS = 12, /* on a server */
    VISITORS = 8192,
    SENDS = 1 << 18,
    HOLDS = 4,
    FLOOD = 90,
    GO = 24, /* packets that come, to one whose upcall lets somebody go */
    RUN_MS = SANITIZED ? 60 : 250,
};

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t came, let_in, not_let_in, ends, sent, denied, delivered, keys, meant, answered, refused, reset, timed_out;
    uint64_t floods, told, kills, puts;
};
extern struct ledger *ledger;

/* One attachment: it is never another's again. */
struct visitor {
    cw_svc *svc;
    cw_server server;
    unsigned job;
    cw_process process;
    uint32_t life;
    uint64_t generation;
    bool open, going, refused, told;
    int due; /* what on_end() is to say */
    bool serves[PORTS];
    uint32_t right[HOLDS], number[HOLDS];
    unsigned holds;
};

/* One packet; its payload is its number. */
struct sent {
    cw_job from, to;
    cw_process process, to_process;
    cw_server server;
    cw_port port;
    bool key, call;
    uint64_t route;
    uint32_t life, meant;
    unsigned attempts, came, ended;
    int status;
};

extern struct universe {
    struct world *world;
    struct rng rng;
    struct plain_job version[JOBS][VERSIONS + 1];
    unsigned versions[JOBS];
    struct plain_job now[SERVERS][ALL_JOBS]; /* what each server holds */
    cw_server number[SERVERS];               /* contexts of sources */
    struct visitor visitor[VISITORS];
    unsigned visitors;
    struct sent sent[SENDS];
    uint32_t sends;
    const struct guests_desk *desk[SERVERS];
    bool dying[SERVERS];
    bool on;
    unsigned exam; /* its step */
    uint32_t asked[SERVERS];
} u;

/* Notes what is wrong, with two numbers. */
void fail(const char *rule, const char *what, uint64_t a, uint64_t b);
unsigned below(unsigned n);
/* Somebody who is on the server; NULL: nobody is. */
struct visitor *any_on(cw_server s);

/* ---- Records (guests_town.c) ------------------------------------------------------------------------------------- */

/* May do all; process p lives on server p. */
struct plain_job plain_town(unsigned i, unsigned version);
/* nmu_source.record: what server *context holds. */
const uint8_t *record_of(void *context, cw_job which, size_t *size);
cw_server home_of(const struct plain_job *job, cw_process process);
/* As guest_table.on_end() says, by what server s holds; generation 0: of any. */
int why_not(cw_server s, unsigned i, cw_process process, uint64_t generation);
/* The server holds this version from now on, if it is later than what it held. */
void put(struct world *w, cw_server s, const struct plain_job *job);
/* Draws what a server holds from now on, again and again. */
void put_one(struct world *w, void *arg);

/* ---- What comes (guests_ledger.c) -------------------------------------------------------------------------------- */

extern const struct guest_table visitor_table;
void visitor_reply(cw_svc *svc, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx);
cw_verdict host_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx);
void answer(cw_svc *svc, uint32_t right, uint32_t number);
void leave(struct visitor *v);

#endif
