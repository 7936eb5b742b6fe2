/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_world.h - what a daemon knows of jobs, asked for once: the cluster, who is called what, records as they are now; and records put.
 *
 * Everything that goes wrong is told on the call's errors here, and the exit code left in the world.
 */
#ifndef CTL_JOB_WORLD_H
#define CTL_JOB_WORLD_H

#include "ctl/commands.h"
#include "jobfile/jobfile.h"

enum { FIRST_LOADED = 1024 /* numbers of jobs below are those of services that are built in */ };

struct job_world {
    const struct call *call;
    uint32_t cluster;
    cw_dims dims;
    uint32_t servers;
    struct rows jobs;     /* signed records, as the service `jobs` lists them */
    struct rows services; /* that run on the server */
    struct job_plan seen; /* the last one whose ports were asked for; id 0: none */
    int code;             /* of the exit, when something went wrong */
};

/* < 0: told. To be closed either way. */
CW_MUST_CHECK int job_world_open(struct job_world *w, const struct call *call);
void job_world_close(struct job_world *w);
/* Tells a sentence, leaves the exit code, and gives -1. */
__attribute__((format(printf, 3, 4))) int job_world_fail(struct job_world *w, int code, const char *format, ...);

/* A number, or the name of a job that has a record, or of a service that runs here. 0: told. */
cw_job job_world_job(struct job_world *w, const char *text);
/* The name, or the number as text when it has none. */
void job_world_name(const struct job_world *w, cw_job job, char out[static JOB_RECORD_NAME_BYTES]);
/* True when there is a record of the job, or a service of it on the server. */
bool job_world_knows(const struct job_world *w, cw_job job);
/* True when a service of that job runs on the server. */
bool job_world_runs(const struct job_world *w, cw_job job);

/* 1 and the record there is, signature behind it (may be NULL), to be closed; 0: there is none; < 0: told. */
CW_MUST_CHECK int job_world_fetch(struct job_world *w, cw_job job, struct job_plan *out, uint8_t *signature);
/* Ports of that job, by number or by the names in its record. *out to be closed. < 0: told. */
CW_MUST_CHECK int job_world_ports(struct job_world *w, cw_job job, const char *text, struct job_ports *out);
/* The names there are, for job files; good as long as the world. */
struct jobfile_names job_world_names(struct job_world *w);

/* The operator's key, of --key or $CUBEWAY_OPERATOR_KEY, to be closed; NULL: told, and *code is the exit's. cmd_job.c. */
struct seal_key;
struct seal_key *job_key(const struct call *call, int *code);
/* Gives the plan's record with its signature behind it, to be freed; < 0 and why. cmd_job.c. */
CW_MUST_CHECK int job_sign(const struct seal_key *key, uint32_t cluster, const struct job_plan *plan, uint8_t **bytes,
                           size_t *size, char why[static JOB_PLAN_WHY]);

/* Commands of the service `jobs`, words ended by NULL. The service's rc; why is its error, or "". < 0 with client_failed(): told. */
CW_MUST_CHECK int job_world_ask(struct job_world *w, const char *const *words, cw_span patience, struct rows *rows,
                                char why[static CLIENT_WHY]);
/* Puts a record with its signature; rows are the answer's. As job_world_ask(). */
CW_MUST_CHECK int job_world_put(struct job_world *w, const uint8_t *bytes, size_t size, bool wait, struct rows *rows,
                                char why[static CLIENT_WHY]);

#endif
