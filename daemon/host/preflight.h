/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight.h - finds in advance what the start of a daemon would refuse on this machine: interfaces, addresses, user,
 * group, folders, keys, services and their options.
 *
 * Nothing stays open and nothing is made; no right is needed, and a daemon that runs is not disturbed. Where only root
 * could know better, as for a folder that the caller may not write to, it is a warning.
 */
#ifndef DAEMON_HOST_PREFLIGHT_H
#define DAEMON_HOST_PREFLIGHT_H

#include "daemon/config/config.h"

struct preflight {
    config_mistake_fn *mistake; /* told what the start would refuse: "file:line: key: what is wrong" */
    config_mistake_fn *warning; /* told what the start would put up with, in the same form */
    void *context;
    unsigned mistakes, warnings; /* counted here */
};

/*
 * Looks at all of it, and tells each mistake. The configuration may be one with mistakes (config_load_most()): what it
 * could not read is not looked at.
 */
void preflight(const struct daemon_config *config, struct preflight *p);

#endif
