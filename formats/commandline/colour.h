/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h - whether a program may write in colour. */
#ifndef COMMANDLINE_COLOUR_H
#define COMMANDLINE_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

/* True when out is a terminal that knows colours (TERM is not "dumb") and NO_COLOR is not set (no-color.org). */
bool colour_wanted(FILE *out);

#endif
