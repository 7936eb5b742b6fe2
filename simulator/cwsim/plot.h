/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.h - a picture of a CSV file, drawn by gnuplot from a script that stays beside it, so that anyone can change it.
 *
 *     <directory>/<name>.csv      exists already; its first line names the columns
 *     <directory>/<name>.gp       the script: `gnuplot <name>.gp` in that directory draws again
 *     <directory>/<name>.png      the picture
 */
#ifndef SIMULATOR_CWSIM_PLOT_H
#define SIMULATOR_CWSIM_PLOT_H

#include "cubeway/types.h"

struct plot_series {
    const char *title;
    const char *x, *y;   /* columns of the CSV file */
    const double *point; /* instead of columns: x, y, x, y, ... of published figures, drawn with their values beside */
    unsigned points;
    bool line; /* points are joined; otherwise there are marks only */
};

struct plot {
    const char *title, *x_label, *y_label;
    bool x_log; /* logarithmic, with a tick at each point of the first series */
    bool y_log; /* logarithmic; otherwise y begins at 0 */
    const struct plot_series *series;
    unsigned count;
};

/* Writes the script. -errno. */
CW_MUST_CHECK int plot_write(const struct plot *p, const char *directory, const char *name);
/*
 * Runs gnuplot on the script that plot_write() wrote. -ENOENT, -EACCES: the script cannot be read; -ENOPKG: there is no
 * gnuplot here; -EIO: it failed, and has said why on standard error.
 */
CW_MUST_CHECK int plot_draw(const char *directory, const char *name);

#endif
