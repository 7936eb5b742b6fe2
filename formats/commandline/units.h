/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - numbers as people read them: three digits that matter, and a unit.
 */
#ifndef COMMANDLINE_UNITS_H
#define COMMANDLINE_UNITS_H

#include "cubeway/types.h"

enum { UNITS_TEXT = 32 };

/* "850 ns", "12.3 us", "4.56 ms", "1.20 s", "3 min 20 s", "2 h 5 min", "12 d 3 h". */
void units_span(int64_t ns, char out[static UNITS_TEXT]);
/* "640 B", "12.3 kB", "8.00 MB": thousands. */
void units_bytes(uint64_t bytes, char out[static UNITS_TEXT]);
/* "1.00 Gbit/s"; 0 is "0". */
void units_rate(uint64_t bits_per_second, char out[static UNITS_TEXT]);
/* "1,234,567". */
void units_count(int64_t value, char out[static UNITS_TEXT]);
/* A count that may be large: "999", "12.3 k", "4.56 M". */
void units_short(uint64_t value, char out[static UNITS_TEXT]);

#endif
