/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histograms.h - the times one service shows to operators, beside its counters. Each takes memory of its own when it is
 * made, as few services have any.
 */
#ifndef CORE_HISTOGRAMS_H
#define CORE_HISTOGRAMS_H

#include "base/histogram.h"
#include "core/counters.h"

enum { HISTOGRAMS_MAX = 16 };

struct cw_histogram {
    struct histogram times;
    const char *help; /* borrowed, never NULL */
    char name[COUNTER_NAME];
};

/* All zero is an empty one. */
struct histogram_set {
    uint32_t count;
    struct cw_histogram *histogram[HISTOGRAMS_MAX];
};

/*
 * Gives the one of that name (as counters_get() takes them), new or made before; NULL: no name, too many, or no memory.
 */
struct cw_histogram *histograms_get(struct histogram_set *set, const char *name, const char *help);
/* Those that were given are no more. */
void histograms_close(struct histogram_set *set);

#endif
