/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lint.h - what can be said of a configuration beyond its syntax: links that it leaves out, services that cannot be loaded here.
 *
 * config.h judges the text alone, on any machine. These look at the torus that is meant and at the files of this machine, so that
 * --check-config finds before the start what the start would find, or would have to live with.
 */
#ifndef DAEMON_CONFIG_LINT_H
#define DAEMON_CONFIG_LINT_H

#include "cubeway/types.h"
#include "daemon/config/config.h"

/* A server runs with these, and may never join: told, one sentence for each link that is missing. Their count. */
unsigned lint_links(const struct daemon_config *config, config_mistake_fn *tell, void *context);

/*
 * Opens and closes the file of each service that is switched on; what is wrong with them is told, each beginning with 'service "NAME": '.
 * Options are not looked at: only the running service knows them. 0, or -EINVAL: something was told.
 */
CW_MUST_CHECK int lint_services(const struct daemon_config *config, config_mistake_fn *tell, void *context);

#endif
