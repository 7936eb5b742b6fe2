/* SPDX-License-Identifier: Apache-2.0 */
/* operate.h - what operators do with values and names, by words. Each is a command of command.c, and gives what that
 * gives. */
#ifndef SERVICES_STORE_ENTRY_OPERATE_H
#define SERVICES_STORE_ENTRY_OPERATE_H

#include "services/store/internal.h"

/* get, head, put, cas, insert, delete. False: it is none of them. */
bool store_operate(struct store *s, cw_request *r, int argc, const char *const *argv, int *rc);
int store_operate_list(struct store *s, cw_request *r, int argc, const char *const *argv);
int store_operate_watch(struct store *s, cw_request *r, int argc, const char *const *argv);

/* Is that a name, and an option that every operation has (job=N)? Refuses, and gives why. */
int store_operate_name(cw_request *r, const char *name);
int store_operate_job(cw_request *r, const char *word, cw_job *job);

#endif
