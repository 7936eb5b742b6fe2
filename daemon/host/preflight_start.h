/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight_start.h - what a start would find on this machine beside links and services: users, rights, what is kept on
 * the disk, and the folder for files. For preflight.c.
 */
#ifndef DAEMON_HOST_PREFLIGHT_START_H
#define DAEMON_HOST_PREFLIGHT_START_H

#include "daemon/host/preflight.h"

/* Tells of each. Nothing is made, and no lock is taken: a daemon of this configuration may run. */
void preflight_start(const struct daemon_config *config, struct preflight *p);

#endif
