/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/memory.h"

#include "suite.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, BLOCK = 1 << 20 };

/* Whatever the system makes of the hint, memory is memory. */
START_TEST(what_is_allocated_afterwards_is_whole)
{
    unsigned char *block[BLOCKS];
    (void)memory_expect((size_t)BLOCKS * BLOCK / 2);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            block[i] = malloc(BLOCK);
            ck_assert_ptr_nonnull(block[i]);
            memset(block[i], (int)i, BLOCK);
        }
        for (unsigned i = 0; i < BLOCKS; i++) {
            ck_assert(block[i][0] == i && block[i][BLOCK - 1] == i);
            free(block[i]);
        }
    }
}
END_TEST

START_TEST(more_than_there_is_is_refused)
{
    ck_assert(!memory_expect(SIZE_MAX / 4));
    void *some = malloc(BLOCK);
    ck_assert_ptr_nonnull(some);
    free(some);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_allocated_afterwards_is_whole),
    SUITE_TEST(more_than_there_is_is_refused),
};
SUITE_MAIN("memory", tests)
