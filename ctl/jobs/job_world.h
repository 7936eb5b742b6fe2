/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_world.h - what a daemon knows of jobs, asked for once: the cluster, names, and records as they are now; and
 * records that are put.
 *
 * Where something goes wrong, a sentence is written to the call's errors here ("told" below), and the exit code is left
 * in the world.
 */
#ifndef CTL_JOBS_JOB_WORLD_H
#define CTL_JOBS_JOB_WORLD_H

#include "ctl/ask/call.h"
#include "jobfile/jobfile.h"

/* smaller numbers belong to services that are built in */
enum { FIRST_LOADED = 1024 };

struct job_world {
    const struct call *call;
    uint32_t cluster;
    cw_dims dims;
    uint32_t servers;
    struct rows jobs;     /* signed records, as the service `jobs` lists them */
    struct rows services; /* services that run on the server */
    struct job_plan seen; /* the last job whose ports were asked for; id 0: none */
    int code;             /* exit code, when something went wrong */
};

/* < 0: told. To be closed in both cases. */
CW_MUST_CHECK int job_world_open(struct job_world *w, const struct call *call);
void job_world_close(struct job_world *w);
/* Tells a sentence, leaves the exit code, and gives -1. */
__attribute__((format(printf, 3, 4))) int job_world_fail(struct job_world *w, int code, const char *format, ...);

/* Reads a job: a number, or the name of a job that has a record, or of a service that runs here. 0: told. */
cw_job job_world_job(struct job_world *w, const char *text);
/* The same; 0: there is none of this name, and nothing is told. */
cw_job job_world_find(const struct job_world *w, const char *text);
/* The job or service whose name is near to this one, borrowed from the world; NULL: none is. */
const char *job_world_nearest(const struct job_world *w, const char *name);
/* Writes the name of a job, or its number where it has none. */
void job_world_name(const struct job_world *w, cw_job job, char out[static JOB_RECORD_NAME_BYTES]);
/* True when there is a record of the job, or a service of it on the server. */
bool job_world_knows(const struct job_world *w, cw_job job);
/* True when there is a signed record of the job; and, of the second, when that says that it was destroyed. */
bool job_world_signed(const struct job_world *w, cw_job job);
bool job_world_destroyed(const struct job_world *w, cw_job job);
/* True when a service of that job runs on the server. */
bool job_world_runs(const struct job_world *w, cw_job job);

enum { JOB_DIGEST = 20 };

/* A record as a server holds it. */
struct job_held {
    uint8_t *bytes; /* with its signature behind it */
    size_t size;
    char digest[JOB_DIGEST]; /* which of all records it is; "none": there is none; "": the server does not say */
};

/* 1: gives the record, to be closed, and what it is as it is held; 0: there is none; < 0: told. */
CW_MUST_CHECK int job_world_hold(struct job_world *w, cw_job job, struct job_plan *out, struct job_held *held);
/* In all cases of job_world_hold(). */
void job_held_close(struct job_held *held);
/* 1: gives the record, to be closed, and its signature (which may be NULL); 0: there is none; < 0: told. */
CW_MUST_CHECK int job_world_fetch(struct job_world *w, cw_job job, struct job_plan *out, uint8_t *signature);
/* Reads ports of that job, by number or by the names in its record; *out is to be closed. < 0: told. */
CW_MUST_CHECK int job_world_ports(struct job_world *w, cw_job job, const char *text, struct job_ports *out);
/* The names that are known, for job files; good as long as the world. */
struct jobfile_names job_world_names(struct job_world *w);

/*
 * Gives the operator's key, from --key or $CUBEWAY_OPERATOR_KEY, to be closed; NULL: told, and *code is the exit code.
 * In cmd_job.c.
 */
struct seal_key;
struct seal_key *job_key(const struct call *call, int *code);
/* Gives the plan's record with its signature behind it, to be freed; < 0 and why. In cmd_job.c. */
CW_MUST_CHECK int job_sign(const struct seal_key *key, uint32_t cluster, const struct job_plan *plan, uint8_t **bytes,
                           size_t *size, char why[static JOB_PLAN_WHY]);

/*
 * Asks the service `jobs`; words end with NULL. Gives the service's rc, and in why its error, or "". < 0 with
 * client_failed(): told.
 */
CW_MUST_CHECK int job_world_ask(struct job_world *w, const char *const *words, cw_span patience, struct rows *rows,
                                char why[static CLIENT_WHY]);
struct job_putting {
    const uint8_t *bytes; /* a record with its signature */
    size_t size;
    const char *base; /* the digest of the record that it was made from: refused where another is held; "": any */
    bool wait;
};
/* Puts a record; rows become those of the answer. Otherwise as job_world_ask(). */
CW_MUST_CHECK int job_world_put(struct job_world *w, const struct job_putting *what, struct rows *rows,
                                char why[static CLIENT_WHY]);

#endif
