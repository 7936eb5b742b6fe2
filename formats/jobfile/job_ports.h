/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ports.h - a set of ports of one job, to be changed: what a grant is for. As text "all", or "1-3,7" with names of ports between.
 */
#ifndef JOBFILE_JOB_PORTS_H
#define JOBFILE_JOB_PORTS_H

#include "nmu/job_record.h"

#include <stdio.h>

/* The ports that a right or a change of rights is about: all of them, those without a name too; or those listed, which rise. */
struct job_ports {
    bool all; /* then none is listed */
    unsigned count;
    cw_port *port;
};
/* {0} is the empty set. */
void job_ports_close(struct job_ports *ports);
/* *to was empty. -ENOMEM. */
CW_MUST_CHECK int job_ports_copy(struct job_ports *to, const struct job_ports *from);
/* Adds a port, keeping the order; one that is there is not added. -ENOMEM. Nothing is added to all. */
CW_MUST_CHECK int job_ports_add(struct job_ports *ports, cw_port port);
bool job_ports_hold(const struct job_ports *ports, cw_port port);

/* What ports of the job in question are called. */
struct job_port_names {
    void *context;
    bool (*find)(void *context, const char *name, cw_port *out);
};
enum { JOB_PORTS_WHY = 200 };
/*
 * "all", or numbers, ranges of them, and names, parted by commas; *ports was empty. names may be NULL. -EINVAL and why, -ENOMEM; then it
 * is empty.
 */
CW_MUST_CHECK int job_ports_read(struct job_ports *ports, const char *text, const struct job_port_names *names,
                                 char why[static JOB_PORTS_WHY]);
/* In numbers. */
void job_ports_write(const struct job_ports *ports, FILE *out);

#endif
