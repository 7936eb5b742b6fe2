/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_world.h - the service jobs on real nodes in a simulated torus, with a disk per server that outlives its
 * restarts, an operator who signs (tests/kit/jobs_kit.h: a keyed hash in the place of Ed25519), and four jobs whose
 * instances send all the time, to any other.
 *
 * Every packet of theirs is judged a second time, naively, by the record of the version that the NMU of their server
 * holds at that instant.
 */
#ifndef SIM_JOBS_WORLD_H
#define SIM_JOBS_WORLD_H

#include "base/prng.h"
#include "fake_result.h"
#include "jobs_kit.h"
#include "nmu/nmu.h"
#include "simulator/world.h"

enum {
    TALK_JOBS = 4,
    TALK_FIRST = 2000, /* jobs 2000 .. 2003 */
    TALK_PORTS = 3,
    LOG_MAX = 4096,
    CHANGES_MAX = 8,
};

/* A record that the operator signed. */
struct signed_job {
    struct jobs_mark mark;
    size_t size;
    uint8_t *bytes;
    bool complete; /* the operator was told that a put of it is complete, and kept by all */
};

struct jobs_world {
    struct world *world;
    uint32_t servers;
    struct prng random;
    struct node_object *objects; /* [server * 2] */
    struct disk *disk;           /* [server] */
    unsigned disk_fails;         /* one store of so many; 0: none */
    struct signed_job log[LOG_MAX];
    unsigned logged;
    uint64_t said, let_in, refused; /* packets of the talkers */
    uint64_t wrong;                 /* packets that the naive judge judges otherwise */
    uint64_t unlawful;              /* puts reported complete while a server in reach held an older record */
    uint64_t complete, incomplete, declined;
    int64_t took_us[LOG_MAX]; /* how long each complete put took */
};

/* Opens it, and runs until all servers are in all views. talk: time between two packets of an instance; 0: none. */
void jobs_world_open(struct jobs_world *j, cw_dims dims, uint64_t seed, cw_span talk);
void jobs_world_close(struct jobs_world *j);
void jobs_world_run(struct jobs_world *j, cw_span span);

enum sign {
    SIGN_NEXT,    /* of the next generation, when it is destroyed */
    SIGN_DESTROY, /* the same, when it is destroyed already */
    SIGN_LATE,    /* as an operator who does not know that it is destroyed */
};
/*
 * Signs the next version of that job, with rights drawn at random, by what is in the log; gives its index in the log.
 */
unsigned jobs_world_sign(struct jobs_world *j, cw_job job, enum sign how);
/*
 * Puts a signed record at a server, and judges the answer when it comes. False: too many puts are under way, or the
 * server does not run.
 */
bool jobs_world_put(struct jobs_world *j, cw_server s, unsigned signed_index);
/* Runs until all answers have come. */
void jobs_world_settle(struct jobs_world *j);
/* A command's answer, run until it came. */
void jobs_world_command(struct jobs_world *j, cw_server s, const char *line, struct fake_result *r);
/* True when all running servers hold the same records, whose digest goes to *digest. */
bool jobs_world_agrees(struct jobs_world *j, char digest[static 17]);

#endif
