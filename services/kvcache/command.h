/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what operators ask in words: command.c. */
#ifndef SERVICES_KVCACHE_COMMAND_H
#define SERVICES_KVCACHE_COMMAND_H

#include "services/kvcache/internal.h"

/* As on_command(). */
int kv_command(struct kvcache *k, cw_request *r, int argc, const char *const *argv);

#endif
