/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what operators ask in words: command.c. */
#ifndef SERVICES_KVCACHE_COMMAND_H
#define SERVICES_KVCACHE_COMMAND_H

#include "services/kvcache/internal.h"

/* Writes bytes for people: what does not print is an escape. As many as fit, and a NUL. */
void kv_text(const uint8_t *bytes, size_t length, char *out, size_t room);
/* As on_command(). */
int kv_command(struct kvcache *k, cw_request *r, int argc, const char *const *argv);

#endif
