/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the operators' commands for messages: `send`, which makes a message of a pattern and reports how each
 * member got it, and `status`, which shows the messages that this server has to do with.
 */
#ifndef SERVICES_MULTICAST_COMMANDS_H
#define SERVICES_MULTICAST_COMMANDS_H

#include "services/multicast/cast/engine.h"
#include "services/multicast/recipients.h"

struct commands {
    cw_svc *s;
    struct cast_engine *engine;
    const struct recipients *recipients;
    /* Commands that wait for the members of a group. */
    struct send_command *asking;
};

/* send BYTES to all|SERVER...|GROUP. As on_command of a service, as commands_status() too. */
int commands_send(struct commands *c, cw_request *r, int argc, const char *const *argv);
int commands_status(const struct commands *c, cw_request *r);
/* Forgets the commands that wait: their requests end with the service. To be called before the engine is closed. */
void commands_close(struct commands *c);

#endif
