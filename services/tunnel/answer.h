/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - what operators ask of a network on one server: its state, its flows, what it drops, whose an address is,
 * and the names of all servers.
 */
#ifndef SERVICES_TUNNEL_ANSWER_H
#define SERVICES_TUNNEL_ANSWER_H

#include "cubeway/service.h"

struct tunnel;

/* The commands, for the service's table. */
extern const cw_command answer_commands[];

/* Does one of them: as on_command() of a service. */
int answer_command(struct tunnel *t, cw_request *r, int argc, const char *const *argv);

#endif
