/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what operators ask in words: `cwctl store`, `cwctl service store` and the simulator alike. */
#ifndef SERVICES_STORE_ENTRY_COMMAND_H
#define SERVICES_STORE_ENTRY_COMMAND_H

#include "services/store/internal.h"

/* As on_command(). */
int store_command(struct store *s, cw_request *r, int argc, const char *const *argv);
extern const cw_command store_commands[];

#endif
