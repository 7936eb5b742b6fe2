/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h - values that are lists: of the greatest numbers (topk), of unlike values (set). For combine.c. Functions are
 * those of cubeway/combine.h; the argument is K. Lists of others are not trusted: one that is none is -EINVAL.
 */
#ifndef SERVICES_AGGREGATE_SORTED_LIST_H
#define SERVICES_AGGREGATE_SORTED_LIST_H

#include "cubeway/combine.h"

/* < 0, 0 or > 0: as memcmp() orders them, what begins another one first. */
int list_order(cw_bytes a, cw_bytes b);

/* Numbers with a space between, the greatest first; of equal ones the first text. */
int list_top(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room);

/* A set on its way: each value behind two bytes of its length, in network order; ascending, K + 1 at most. */
int list_set_prepare(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room);
int list_set(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room);
/* As text, with TABs between; the one that is too many becomes "+". */
int list_set_finish(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room);

#endif
