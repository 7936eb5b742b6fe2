/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what operators may do with groups (docs/services/multicast.md). Their groups are those of the multicast's
 * own job.
 *
 *   group list                     the groups of which this server is a member, a keeper or the root
 *   group members NAME             the members, as the group's root knows them
 *   group join NAME, group leave NAME           this server joins or leaves
 *   group publish NAME TEXT...     sends a text to all members, each of which answers; group publish-once: best effort
 *   group heard                    the last texts that arrived here
 *
 * Option `groups`: names, separated by commas, of the groups that this server joins when it starts.
 */
#ifndef SERVICES_MULTICAST_GROUP_COMMAND_H
#define SERVICES_MULTICAST_GROUP_COMMAND_H

#include "services/multicast/group/api.h"

/* Texts that are remembered, and how many bytes of each are shown. */
enum { GROUP_HEARD_MOST = 32, GROUP_TEXT_MOST = 200 };

struct group_command;

/* Borrows everything. -EINVAL: the option is wrong, and the log says how; -ENOMEM. */
CW_MUST_CHECK int group_command_open(struct group_command **out, cw_svc *s, const struct api *api);
/* Requests that still wait end with the service. NULL is allowed. */
void group_command_close(struct group_command *c);
/* argv[0] is "group". As on_command of a service. */
int group_command_run(struct group_command *c, cw_request *r, int argc, const char *const *argv);

#endif
