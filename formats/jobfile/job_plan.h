/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_plan.h - a job as it is to be: what a job record says, in a form that can be changed and made a record again (NMU
 * 3, tables 1 and 2).
 *
 * Guarantee: some record could say the same. Ranges of processes do not overlap, no number or name of a port is there
 * twice, and the rights have one form, whatever the order in which they were granted: equal rights are equal bytes.
 * After -ENOMEM a plan can only be closed.
 */
#ifndef JOBFILE_JOB_PLAN_H
#define JOBFILE_JOB_PLAN_H

#include "jobfile/job_ports.h"
#include "jobfile/processes.h"
#include "nmu/job_record.h"

struct job_right {
    cw_job job; /* the remote one */
    struct job_ports ports;
    struct processes who;
};

struct job_plan {
    cw_job id;
    char name[JOB_RECORD_NAME_BYTES];
    uint64_t version, generation;
    bool destroyed; /* then everything below is empty */
    unsigned ranges, ports, rights;
    struct job_range *range; /* in rising order, dense (NMU 6.3) */
    struct job_port *port;   /* in rising order */
    /* By job; of one job the right to all ports first, then by first port. No two of one job have equal processes. */
    struct job_right *right;
};

enum { JOB_PLAN_WHY = 200 };

/* A job of that number and name, version and generation 1, with nothing. */
void job_plan_open(struct job_plan *p, cw_job id, const char *name);
void job_plan_close(struct job_plan *p);
/*
 * A letter, then letters, digits, - _ and dots; 31 characters at most. A record takes other names too, which could be
 * read as numbers.
 */
bool job_plan_name_good(const char *name);

/* Opens *p, which is not open, with what the record says. -ENOMEM. */
CW_MUST_CHECK int job_plan_from(struct job_plan *p, const struct job_record *record);
/* Gives the record in *bytes, to be freed. -EINVAL and why: the plan is too large for a record; -ENOMEM. */
CW_MUST_CHECK int job_plan_record(const struct job_plan *p, uint8_t **bytes, size_t *size,
                                  char why[static JOB_PLAN_WHY]);

/*
 * Puts processes first..last on servers from `server` on. -EEXIST and why: one of them has a server; -EINVAL and why;
 * -ENOMEM.
 */
CW_MUST_CHECK int job_plan_add_range(struct job_plan *p, cw_process first, cw_process last, cw_server server,
                                     char why[static JOB_PLAN_WHY]);
/* -EEXIST and why: the port's number or name is taken; -EINVAL and why: a bad name, or too many ports; -ENOMEM. */
CW_MUST_CHECK int job_plan_add_port(struct job_plan *p, cw_port port, const char *name, char why[static JOB_PLAN_WHY]);
/* Borrows the port of that name, or of that number; NULL. */
const struct job_port *job_plan_port_named(const struct job_plan *p, const char *name);
const struct job_port *job_plan_port(const struct job_plan *p, cw_port port);

/* From now on `job` may also send to those ports of those processes of this job. 1; 0: it could before; -ENOMEM. */
CW_MUST_CHECK int job_plan_grant(struct job_plan *p, cw_job job, const struct job_ports *ports,
                                 const struct processes *who);
/*
 * From now on `job` may no longer do so; ports->all means every port, listed or not. 1; 0: it could not before;
 * -ENOTSUP: all ports are granted and only some are to be taken, which no record can say (nothing is changed then);
 * -ENOMEM.
 */
CW_MUST_CHECK int job_plan_revoke(struct job_plan *p, cw_job job, const struct job_ports *ports,
                                  const struct processes *who);
/* Makes it a destroyed job: version and generation stay, all else goes. */
void job_plan_destroy(struct job_plan *p);

/*
 * Borrows the right by which `job` may send there, or NULL. key: a packet to a key, which needs the right to all
 * processes.
 */
const struct job_right *job_plan_allows(const struct job_plan *p, cw_job job, bool key, cw_process process,
                                        cw_port port);

#endif
