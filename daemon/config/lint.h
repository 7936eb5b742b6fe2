/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lint.h - looks for likely mistakes in a configuration that is sound: links that it leaves out, spans that are too
 * short, services that cannot
 * be loaded here.
 *
 * config.h judges the text alone, on any machine. These functions look at the torus that is meant and at the files of
 * this machine, so that --check-config finds before the start what the start would find.
 */
#ifndef DAEMON_CONFIG_LINT_H
#define DAEMON_CONFIG_LINT_H

#include "cubeway/types.h"
#include "daemon/config/config.h"

/*
 * Reports each link that the configuration leaves out: a server runs without it, and may never join. Returns how many
 * there are.
 */
unsigned lint_links(const struct daemon_config *config, config_mistake_fn *tell, void *context);

/*
 * Reports spans that are accepted and leave no room for any lateness: dead below three hellos (semantics 4.6). Returns
 * how many sentences there are.
 */
unsigned lint_timers(const struct daemon_config *config, config_mistake_fn *tell, void *context);

/*
 * Opens and closes the file of each enabled service, and reports those that cannot be loaded, in sentences that begin
 * with 'service "NAME": '. Options are not looked at: only the running service knows them. 0, or -EINVAL: something was
 * reported.
 */
CW_MUST_CHECK int lint_services(const struct daemon_config *config, config_mistake_fn *tell, void *context);

#endif
