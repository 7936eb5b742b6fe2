/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.h - the numbers that one service shows to operators. Making a counter is all that it takes to have it in
 * `cwctl counters` and in the metrics (docs/control-protocol.md).
 *
 * Guarantee: a counter that was given stays where it is for as long as the set lives. When a service makes too many, or
 * asks for an impossible name, it gets the counter "overflow" instead, which the operator then sees.
 */
#ifndef FIGURES_COUNTERS_H
#define FIGURES_COUNTERS_H

#include "cubeway/service.h"

enum {
    COUNTERS_MAX = 64, /* "overflow" included */
    COUNTER_NAME = 32, /* bytes with the NUL */
};

struct cw_counter {
    uint64_t value;
    const char *help; /* borrowed, never NULL */
    char name[COUNTER_NAME];
};

struct counter_set {
    uint32_t count; /* counters made, "overflow" not among them */
    struct cw_counter overflow;
    struct cw_counter counter[COUNTERS_MAX - 1];
};

void counters_init(struct counter_set *set);

/*
 * Gives the counter of that name (1 to 31 of a-z A-Z 0-9 _ -), new or made before; the overflow counter when the name
 * is impossible or the set is full. The name is copied; help (NULL: none) is borrowed for the set's life.
 */
struct cw_counter *counters_get(struct counter_set *set, const char *name, const char *help);

/* Length of a possible name, 0 for anything else, NULL included. */
size_t counter_name_length(const char *name);

/*
 * Borrows counter i in the order they were made, the overflow counter last and only when it was used; NULL behind the
 * last.
 */
const struct cw_counter *counters_at(const struct counter_set *set, uint32_t i);

#endif
