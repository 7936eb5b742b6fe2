/* SPDX-License-Identifier: Apache-2.0 */
/* recovery.h - how long a store on a disk takes to be there again: the part of bench_storage that reads a log. */
#ifndef BENCH_RECOVERY_H
#define BENCH_RECOVERY_H

/* Writes so many registers of 100 bytes into the folder, which is empty, and opens them so many times. */
void recovery_measure(const char *folder, unsigned registers, int rounds);

#endif
