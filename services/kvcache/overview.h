/* SPDX-License-Identifier: Apache-2.0 */
/* overview.h - commands about the cache of all servers at once. Each returns what on_command() returns. */
#ifndef SERVICES_KVCACHE_OVERVIEW_H
#define SERVICES_KVCACHE_OVERVIEW_H

#include "services/kvcache/internal.h"

int overview_stats(struct kvcache *k, cw_request *r);
/* The `most` keys that are asked for most, anywhere. */
int overview_hot(struct kvcache *k, cw_request *r, unsigned most);
int overview_flush(struct kvcache *k, cw_request *r, cw_job job);

#endif
