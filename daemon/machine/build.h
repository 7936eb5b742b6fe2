/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - which build this program is: the beginning of the identifier that the linker has put into it
 * (NT_GNU_BUILD_ID). Two programs of one source and one compiler have the same.
 */
#ifndef DAEMON_MACHINE_BUILD_H
#define DAEMON_MACHINE_BUILD_H

enum { BUILD_TEXT = 17 };

/* 16 hex digits; "" where the linker has put none in. */
void build_name(char out[static BUILD_TEXT]);

#endif
