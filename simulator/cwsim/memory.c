/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

bool memory_expect(size_t bytes)
{
#ifdef __GLIBC__
    /*
     * Large blocks come out of the heap too, and what is freed stays in it: else the stretch goes back before it is
     * used.
     */
    if (mallopt(M_MMAP_MAX, 0) == 0 || mallopt(M_TRIM_THRESHOLD, -1) == 0) {
        return false;
    }
    void *stretch = aligned_alloc(HUGE_PAGE, (bytes / HUGE_PAGE + 1) * HUGE_PAGE);
    if (stretch == NULL) {
        return false;
    }
    bool huge = madvise(stretch, (bytes / HUGE_PAGE + 1) * HUGE_PAGE, MADV_HUGEPAGE) == 0;
    free(stretch);
    return huge;
#else
    (void)bytes;
    return false;
#endif
}
