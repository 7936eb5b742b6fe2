/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_ports.h - a set of ports of one job, which can be changed: the ports that a grant covers. As text: "all", or
 * numbers, ranges and names, as "1-3,http,7".
 */
#ifndef JOBFILE_JOB_PORTS_H
#define JOBFILE_JOB_PORTS_H

#include "nmu/job_record.h"

#include <stdio.h>

/*
 * The ports that a right, or a change of rights, is about: all ports of the job, also those without a name; or the
 * listed ones.
 */
struct job_ports {
    bool all; /* then none is listed */
    unsigned count;
    cw_port *port; /* in rising order */
};
/* {0} is the empty set. */
void job_ports_close(struct job_ports *ports);
/* Copies into *to, which is empty. -ENOMEM. */
CW_MUST_CHECK int job_ports_copy(struct job_ports *to, const struct job_ports *from);
/* Adds a port in its place. Does nothing when the set has it, or is all. -ENOMEM. */
CW_MUST_CHECK int job_ports_add(struct job_ports *ports, cw_port port);
bool job_ports_hold(const struct job_ports *ports, cw_port port);

/* Finds the port of that name, of the job in question; false: there is none. */
struct job_port_names {
    void *context;
    bool (*find)(void *context, const char *name, cw_port *out);
};
enum { JOB_PORTS_WHY = 200 };
/*
 * Reads "all", or numbers, ranges and names with commas between, into *ports, which is empty. names may be NULL.
 * -EINVAL and why, or -ENOMEM: *ports is then still empty.
 */
CW_MUST_CHECK int job_ports_read(struct job_ports *ports, const char *text, const struct job_port_names *names,
                                 char why[static JOB_PORTS_WHY]);
/* Writes the ports as numbers. */
void job_ports_write(const struct job_ports *ports, FILE *out);

#endif
