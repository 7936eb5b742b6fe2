/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure.h - the points of a report as files for people and programs: CSV, JSON, and a picture.
 *
 *     figure_folder   report_append(r, list, point)   figure_save   ... more points ...   figure_draw
 *
 * Saved after every point, a run of an hour that is ended early leaves the points it has.
 */
#ifndef SIMULATOR_CWSIM_FIGURE_H
#define SIMULATOR_CWSIM_FIGURE_H

#include "simulator/cwsim/command.h"
#include "simulator/cwsim/plot.h"

struct figure {
    const struct program_command *self; /* in whose name errors are said, on standard error */
    const char *folder, *name;          /* <folder>/<name>.csv, .json, .gp, .png */
    const char *list;                   /* of the report: the points */
    const char *const
        *columns; /* of the CSV file, ended by NULL: all that the plot uses, and what people want to see */
    struct plot plot;
};

/* Makes the folder unless it is there. 0; or -errno, said. */
CW_MUST_CHECK int figure_folder(const struct program_command *self, const char *folder);
/* The list as CSV, all of r as JSON, and gnuplot's script. 0; or -errno, said. Borrows r. */
CW_MUST_CHECK int figure_save(const struct figure *f, const struct report *r);
/* The picture of what was saved. A picture that cannot be drawn is said, and no error: its script is there. */
void figure_draw(const struct figure *f);

#endif
