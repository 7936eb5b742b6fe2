/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.h - on SIGHUP the configuration is read again: what can be changed while running is changed, the rest is
 * named.
 */
#ifndef DAEMON_MACHINE_RELOAD_H
#define DAEMON_MACHINE_RELOAD_H

#include "daemon/config/config.h"

struct log;

/*
 * Calls differ for every setting that is not the same in both; now or next is NULL where one of them lacks the setting.
 * Texts are borrowed for the call. Returns how many there are.
 */
unsigned reload_compare(const struct daemon_config *now, const struct daemon_config *next,
                        void (*differ)(void *context, const char *key, const char *now, const char *next),
                        void *context);

/*
 * Reads the file of *config again. The log's level is set, in *config too; for each other change the log says that it
 * needs a restart.
 */
void reload_level(struct daemon_config *config, struct log *log);

#endif
