/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.h - the services that are linked into every program that runs a server. Their jobs are below
 * TABLE_BUILTIN_JOBS (table.h) and, like their names, each is one service's for ever.
 */
#ifndef SERVICES_BUILTIN_H
#define SERVICES_BUILTIN_H

#include "cubeway/service.h"

struct book; /* nmu/book.h */
struct book_grant;

/* Those that run unless they are switched off, in the order of their jobs; *count says how many. Constant data. */
const cw_service *const *builtin_services(size_t *count);

/* The same, and behind them those that run only where the configuration names them (`ip`, the tunnel). */
const cw_service *const *builtin_all(size_t *count);

/* The one of builtin_all() that has that name, or NULL. */
const cw_service *builtin_service(const char *name);

/*
 * The table of a network (services/tunnel) beside the one that is built in, with that job and name. `open`, *out, why[]
 * and results as table_instance() has them.
 */
CW_MUST_CHECK int builtin_network(cw_job job, const char *name, unsigned open, cw_service *out, char *why);

/*
 * What they may do, the least that they need: each reaches its own instances by its one port. *count says how many.
 * Answers need no privilege. Constant data.
 */
const struct book_grant *builtin_grants(size_t *count);

/* Adds their jobs, with these privileges, to the book of a server. Results as of book_allow(). */
CW_MUST_CHECK int builtin_jobs(struct book *book);

#endif
