/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - one question to the cache of every server in view: survey.c. */
#ifndef SERVICES_KVCACHE_SURVEY_H
#define SERVICES_KVCACHE_SURVEY_H

#include "services/kvcache/internal.h"
#include "services/kvcache/rpc.h"

/* The report of one server, borrowed; NULL: it did not answer. */
typedef void (*survey_row_fn)(void *arg, cw_server s, const uint8_t *bytes, size_t length);
/*
 * Asks all servers in view; calls row for each, then done, perhaps before it returns. Below 0: there is no memory, and
 * neither is called.
 */
CW_MUST_CHECK int survey_begin(struct kvcache *k, enum kv_kind kind, survey_row_fn row, void (*done)(void *arg),
                               void *arg);
/* Such a question of another server, which is answered. */
void survey_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask);

#endif
