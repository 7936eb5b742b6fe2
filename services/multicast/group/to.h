/* SPDX-License-Identifier: Apache-2.0 */
/*
 * to.h - commands that end with `to NAME`, where NAME is an operators' group: the group's root is asked first, and the command is run when the
 * members are
 * known. So a command reads its members at once, as if they had been written down.
 */
#ifndef SERVICES_MULTICAST_GROUP_TO_H
#define SERVICES_MULTICAST_GROUP_TO_H

#include "services/multicast/group/membership.h"

struct group_to;

/* A command, as on_command of a service has it: 0, -errno, or 1: it ends the request itself. */
typedef int (*group_to_fn)(void *context, cw_request *r, int argc, const char *const *argv);

/* Borrows all. -ENOMEM. */
CW_MUST_CHECK int group_to_open(struct group_to **out, cw_svc *s, struct membership *membership);
/* Commands that wait are forgotten: they end with the service. NULL is allowed. */
void group_to_close(struct group_to *t);

/* The last two words are `to` and what may be a group's name. */
bool group_to_named(int argc, const char *const *argv);
/* Asks, then runs the command with a copy of its words. Gives 1 (run ends the request, or a refusal does), or -errno. */
CW_MUST_CHECK int group_to_ask(struct group_to *t, cw_request *r, int argc, const char *const *argv, group_to_fn run,
                               void *context);
/* The members of the group of that name, borrowed, while a command that named it is run; NULL otherwise. */
const uint8_t *group_to_set(const struct group_to *t, const char *name);

#endif
