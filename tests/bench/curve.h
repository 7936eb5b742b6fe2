/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.h - the file of a rate over time while servers die: "ms,gbps,dead" a line, and gnuplot's script beside it.
 */
#ifndef BENCH_CURVE_H
#define BENCH_CURVE_H

#include <stdio.h>

/*
 * Opens NAME.csv in the folder, its head written, for the caller to fill and close, and writes NAME.gp. whose: the rate
 * is of this. NULL: folder is NULL, and nothing is wanted. What cannot be written ends the program.
 */
FILE *curve_begin(const char *folder, const char *name, const char *title, const char *whose);

#endif
