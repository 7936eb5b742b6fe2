/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_plan.h - a job as it is to be: what a record says, in a form that can be changed and made a record again (NMU 3, tables 1 and 2).
 *
 * Guarantee: it is always what some record says: ranges of processes do not overlap, no number or name of a port is there twice, and the rights
 * are in one form, whatever the order in which they were granted: equal rights, equal bytes. After -ENOMEM it is of no more use than to
 * be closed.
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
    bool destroyed; /* then the rest is empty */
    unsigned ranges, ports, rights;
    struct job_range *range; /* rise; dense (NMU 6.3) */
    struct job_port *port;   /* rise */
    struct job_right
        *right; /* by job; of one job all ports first, then by first port; no two of one job with equal processes */
};

enum { JOB_PLAN_WHY = 200 };

/* A job of that number and name, version and generation 1, with nothing. */
void job_plan_open(struct job_plan *p, cw_job id, const char *name);
void job_plan_close(struct job_plan *p);
/* A number, a letter first, then letters, digits, - _ and dots; 31 at most. What a record takes beyond that could not be told from a number. */
bool job_plan_name_good(const char *name);

/* *p is not open. What the record says. -ENOMEM. */
CW_MUST_CHECK int job_plan_from(struct job_plan *p, const struct job_record *record);
/* Gives the record in *bytes, to be freed. -EINVAL and why: no record can say that, as it is too large; -ENOMEM. */
CW_MUST_CHECK int job_plan_record(const struct job_plan *p, uint8_t **bytes, size_t *size,
                                  char why[static JOB_PLAN_WHY]);

/* Processes first..last live on servers from `server` on. -EEXIST and why: one of them has a server; -EINVAL and why; -ENOMEM. */
CW_MUST_CHECK int job_plan_add_range(struct job_plan *p, cw_process first, cw_process last, cw_server server,
                                     char why[static JOB_PLAN_WHY]);
/* -EEXIST and why: its number or its name is taken; -EINVAL and why: a bad name, too many; -ENOMEM. */
CW_MUST_CHECK int job_plan_add_port(struct job_plan *p, cw_port port, const char *name, char why[static JOB_PLAN_WHY]);
/* Borrows the port of that name, or of that number; NULL. */
const struct job_port *job_plan_port_named(const struct job_plan *p, const char *name);
const struct job_port *job_plan_port(const struct job_plan *p, cw_port port);

/* From now on it may send to those ports of those processes of the job too. 1; 0: it might before; -ENOMEM. */
CW_MUST_CHECK int job_plan_grant(struct job_plan *p, cw_job job, const struct job_ports *ports,
                                 const struct processes *who);
/*
 * It may do so no more; ports->all means every port, listed or not. 1; 0: it might not before; -ENOTSUP: all ports are granted and only some
 * of them are to be taken, which no record can say (nothing is changed then); -ENOMEM.
 */
CW_MUST_CHECK int job_plan_revoke(struct job_plan *p, cw_job job, const struct job_ports *ports,
                                  const struct processes *who);
/* It is no more: version and generation stay, the rest goes. */
void job_plan_destroy(struct job_plan *p);

/* Borrows the right by which it may send there (key: to all processes), or NULL. */
const struct job_right *job_plan_allows(const struct job_plan *p, cw_job job, bool key, cw_process process,
                                        cw_port port);

#endif
