/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what operators may do with groups (docs/services/multicast.md): their groups are those of the multicast's own job.
 *
 *   group list                     the groups this server is a member, a keeper or the root of
 *   group members NAME             asks the group's root
 *   group join NAME, group leave NAME           this server
 *   group publish NAME TEXT...     to all members, each of which answers; group publish-once: best effort
 *   group heard                    the last texts that came here
 *
 * Option `groups`: names, with commas between, that this server joins when it starts.
 */
#ifndef SERVICES_MULTICAST_GROUP_COMMAND_H
#define SERVICES_MULTICAST_GROUP_COMMAND_H

#include "services/multicast/group/clients.h"

enum { GROUP_HEARD_MOST = 32, GROUP_TEXT_MOST = 200 };

struct group_command;

/* Borrows all. -EINVAL: the option, logged; -ENOMEM. */
CW_MUST_CHECK int group_command_open(struct group_command **out, cw_svc *s, struct clients *clients,
                                     struct membership *membership);
/* Requests that are open end with the service. NULL is allowed. */
void group_command_close(struct group_command *c);
/* argv[0] is "group". As on_command of a service. */
int group_command_run(struct group_command *c, cw_request *r, int argc, const char *const *argv);

#endif
