/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight_links.h - what a start would find of the links: interfaces, addresses, files of frames, and what the timers
 * and the links of a configuration say of each other. For preflight.c.
 */
#ifndef DAEMON_HOST_PREFLIGHT_LINKS_H
#define DAEMON_HOST_PREFLIGHT_LINKS_H

#include "daemon/host/preflight.h"

/* Tells of each. No interface is opened for frames. */
void preflight_links(const struct daemon_config *config, struct preflight *p);

#endif
