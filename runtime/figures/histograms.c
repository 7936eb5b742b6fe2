/* SPDX-License-Identifier: Apache-2.0 */
#include "figures/histograms.h"

#include <stdlib.h>
#include <string.h>

struct cw_histogram *histograms_get(struct histogram_set *set, const char *name, const char *help)
{
    size_t length = counter_name_length(name);
    for (uint32_t i = 0; i < set->count && length > 0; i++) {
        if (memcmp(set->histogram[i]->name, name, length + 1) == 0) {
            return set->histogram[i];
        }
    }
    struct cw_histogram *h = length > 0 && set->count < HISTOGRAMS_MAX ? calloc(1, sizeof *h) : NULL;
    if (h == NULL) {
        return NULL;
    }
    h->help = help != NULL ? help : "";
    memcpy(h->name, name, length);
    set->histogram[set->count++] = h;
    return h;
}

void histograms_close(struct histogram_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        free(set->histogram[i]);
    }
    set->count = 0;
}
