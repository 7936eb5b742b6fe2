/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h - the configuration files of a lab's daemons: cubewayd.conf(5), as an operator would write them. */
#ifndef TESTBED_CONF_H
#define TESTBED_CONF_H

#include "testbed/lab.h"

enum {
    CONF_CLUSTER = 7,       /* of every lab */
    CONF_WATCHDOG_SEC = 10, /* as in packaging/cubewayd.service */
};

/* Writes the configuration of the daemon that has server s (with driver process: that of all servers). -EIO. */
CW_MUST_CHECK int conf_write(const struct lab *lab, cw_server s, FILE *out);
/* Writes it to <folder>/<daemon>.conf, and makes the folder of the daemon's stable storage. */
CW_MUST_CHECK int conf_save(const struct lab *lab, cw_server s);

/*
 * Writes the lab's timers into that file in the place of those that it has; the rest stays, services that were loaded
 * meanwhile among it. -errno; -EINVAL: the file has no timers.
 */
CW_MUST_CHECK int conf_retime(const struct lab *lab, cw_server s);

#endif
