/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - a heap of huge pages. A run touches thousands of nodes at random, and with pages of 4 KiB every touch
 * costs a walk through page tables on top of the cache miss.
 *
 * It is a hint: nothing depends on it, and where the system has no huge pages nothing changes. For programs, not for
 * libraries, since it concerns all memory of the process from then on.
 */
#ifndef SIMULATOR_CWSIM_MEMORY_H
#define SIMULATOR_CWSIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The program will allocate about so many bytes: malloc() takes them from one stretch of huge pages, and keeps what is
 * freed. Address space is reserved now, memory when it is used. False: there is none to be had, and all is as before.
 */
bool memory_expect(size_t bytes);

#endif
