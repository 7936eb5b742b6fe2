/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - one heap of huge pages: thousands of nodes are touched at random, and with pages of 4 KiB every touch
 * costs a walk through page tables on top of the cache miss.
 *
 * A hint: nothing depends on it, and where the system has no huge pages nothing changes. For programs, not libraries:
 * it is about all of the process's memory from then on.
 */
#ifndef SIMULATOR_CWSIM_MEMORY_H
#define SIMULATOR_CWSIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * About so many bytes will be allocated: malloc() takes them from one stretch of huge pages and keeps what is freed.
 * Address space is reserved now, memory as it is used. False: it cannot be had, and all is as before.
 */
bool memory_expect(size_t bytes);

#endif
