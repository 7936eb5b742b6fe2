/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure.h - writes the points of a report as files for people and programs: CSV, JSON, and a picture.
 *
 *     figure_folder   report_append(r, list, point)   figure_save   ... more points ...   figure_draw
 *
 * Save after every point: then a run of an hour that is ended early leaves the points that it has.
 */
#ifndef SIMULATOR_CWSIM_FIGURE_H
#define SIMULATOR_CWSIM_FIGURE_H

#include "simulator/cwsim/command.h"
#include "simulator/cwsim/plot.h"

struct figure {
    const struct program_command *self; /* the command, which names itself when it reports errors on standard error */
    const char *folder, *name;          /* the files are <folder>/<name>.csv, .json, .gp, .png */
    const char *list;                   /* the name of the report's list of points */
    /* Columns of the CSV file, ended by NULL: all that the plot uses, and what people want to see. */
    const char *const *columns;
    struct plot plot;
};

/* Makes the folder unless it exists. 0, or -errno, which was reported. */
CW_MUST_CHECK int figure_folder(const struct program_command *self, const char *folder);
/* Writes the list as CSV, all of r as JSON, and gnuplot's script. Borrows r. 0, or -errno, which was reported. */
CW_MUST_CHECK int figure_save(const struct figure *f, const struct report *r);
/* Draws what was saved. That gnuplot cannot draw it is reported and is no error: the script is there. */
void figure_draw(const struct figure *f);

#endif
