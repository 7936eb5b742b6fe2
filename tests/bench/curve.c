/* SPDX-License-Identifier: Apache-2.0 */
#include "curve.h"

#include "simulator/cwsim/plot.h"

#include <stdlib.h>

FILE *curve_begin(const char *folder, const char *name, const char *title, const char *whose)
{
    char path[400];
    if (folder == NULL) {
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    const struct plot_series series = {.title = whose, .x = "ms", .y = "gbps", .line = true};
    const struct plot p = {.title = title, .x_label = "ms", .y_label = "Gb/s", .series = &series, .count = 1};
    FILE *f = fopen(path, "w");
    if (f == NULL || plot_write(&p, folder, name) < 0) {
        fprintf(stderr, "%s cannot be written\n", path);
        exit(1);
    }
    fputs("ms,gbps,dead\n", f);
    return f;
}
