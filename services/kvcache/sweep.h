/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - values and copies that are as good as gone: sweep.c. */
#ifndef SERVICES_KVCACHE_SWEEP_H
#define SERVICES_KVCACHE_SWEEP_H

#include "services/kvcache/internal.h"

/*
 * From now on the values of the job that are here are as good as gone. The sweep gives their memory back and ends the
 * cut.
 */
void sweep_cut(struct kvcache *k, cw_job job);
/* True for a value of this server's that was cut. */
bool sweep_is_cut(const struct kvcache *k, const struct item *i);
/*
 * Looks at all values and copies, by steps and from the beginning, and gives back the memory of what is as good as
 * gone.
 */
void sweep_begin(struct kvcache *k);

#endif
