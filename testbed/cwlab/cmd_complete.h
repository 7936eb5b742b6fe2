/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_complete.h - what the completion of cwlab knows of labs: their names, their servers, and the commands behind ctl.
 */
#ifndef TESTBED_CWLAB_CMD_COMPLETE_H
#define TESTBED_CWLAB_CMD_COMPLETE_H

#include "scenario/program.h"

/* For program_cwlab; the context is a struct program_line. */
void complete_values(void *context, const struct completion *c, const char *kind);
/* Asks cwctl, where the word at hand belongs to a command of its own: that of ctl, behind the servers. */
bool complete_behind(const struct program_line *line, const struct completion *c);

#endif
