/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histograms.h - how long things took, as one service shows it to operators beside its counters. Few services have any,
 * so each histogram is allocated when it is made.
 */
#ifndef FIGURES_HISTOGRAMS_H
#define FIGURES_HISTOGRAMS_H

#include "base/histogram.h"
#include "figures/counters.h"

enum { HISTOGRAMS_MAX = 16 };

struct cw_histogram {
    struct histogram times;
    const char *help; /* borrowed, never NULL */
    char name[COUNTER_NAME];
};

/* Zeroed is an empty set. */
struct histogram_set {
    uint32_t count;
    struct cw_histogram *histogram[HISTOGRAMS_MAX];
};

/*
 * Gives the histogram of that name, new or made before; names and help are as in counters_get(). NULL: the name is
 * impossible, there are too many, or no memory is left.
 */
struct cw_histogram *histograms_get(struct histogram_set *set, const char *name, const char *help);
/* Frees all that were given. */
void histograms_close(struct histogram_set *set);

#endif
