/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_operator.h - the daemon's commands over a torus in this process: what a client would read, in memory. */
#ifndef KIT_DAEMON_OPERATOR_H
#define KIT_DAEMON_OPERATOR_H

#include "daemon/commands/commands.h"
#include "daemon_town.h"

static const char operator_timers[] =
    "timers { hello = 100ms; dead = 2s; hold = 2100ms; flood_bound = 100ms; pending_limit = 5s }\n";

struct operator
{
    struct host *host;
    struct request_table commands;
    struct request_port port;
    char said[1 << 18];
};

static inline void operator_write(struct request_port *port, const char *bytes, size_t length)
{
    struct operator* d = container_of(port, struct operator, port);
    ck_assert_uint_lt(strlen(d->said) + length, sizeof d->said);
    strncat(d->said, bytes, length);
}

static inline void operator_open(struct operator* d, const char *config)
{
    char text[1000];
    snprintf(text, sizeof text, "%s%s", operator_timers, config);
    memset(d, 0, sizeof *d);
    d->host = town_open(text);
    commands_table(d->host, &d->commands);
    request_port_init(&d->port);
    d->port.write = operator_write;
}

static inline void operator_close(struct operator* d)
{
    request_port_leave(&d->port);
    host_close(d->host);
}

/*
 * Sends a request, runs the host until the answer has ended, and returns all of the answer. fields: what follows the id
 * in the request, such as "command":"status".
 */
static inline const char *operator_ask(struct operator* d, const char *fields)
{
    char line[1000];
    snprintf(line, sizeof line, "{\"id\":1,%s}", fields);
    d->said[0] = '\0';
    request_take(&d->port, &d->commands, line, strlen(line));
    for (unsigned i = 0; i < 5000 && d->port.count > 0; i++) {
        host_turn(d->host, CW_MS(1));
    }
    ck_assert_msg(strstr(d->said, "\"done\":true") != NULL, "%s: %s", fields, d->said);
    return d->said;
}

static inline void operator_says(struct operator* d, const char *fields, const char *expected)
{
    const char *said = operator_ask(d, fields);
    ck_assert_msg(strstr(said, expected) != NULL, "%s gave no %s but\n%s", fields, expected, said);
}

#endif
