/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority.h - the priority that is configured, as far as the system allows it.
 */
#ifndef DAEMON_MACHINE_PRIORITY_H
#define DAEMON_MACHINE_PRIORITY_H

#include "daemon/config/config.h"
#include "daemon/machine/log.h"

/* What `priority = realtime` takes, in words. */
extern const char priority_realtime_takes[];

/*
 * Takes the priority that is configured, and logs what was refused. Only with cables: a torus inside this process holds
 * time instead (clock.h), and needs no priority. Gives what is missing of it, for cwctl status; NULL: nothing is.
 */
const char *priority_take(const struct daemon_config *config, struct log *log);

#endif
