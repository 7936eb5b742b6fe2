/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preflight_services.h - what services would say of their options at the start. For preflight.c.
 */
#ifndef DAEMON_HOST_PREFLIGHT_SERVICES_H
#define DAEMON_HOST_PREFLIGHT_SERVICES_H

#include "daemon/host/preflight.h"

/* Tries the built-in services with their options, on one server of the torus without links. */
void preflight_services(const struct daemon_config *config, struct preflight *p);

#endif
