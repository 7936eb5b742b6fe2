/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_kit.h - tries a kernel (services/aggregate/dense/kernel.h) against plain C: every length up to some vector
 * registers, `from` at every misalignment, and not one byte beyond.
 */
#ifndef KIT_KERNEL_KIT_H
#define KIT_KERNEL_KIT_H

#include "base/prng.h"
#include "services/aggregate/dense/number.h"
#include "suite.h"

#include <string.h>

enum { KERNEL_MOST = 75, KERNEL_ROOM = (KERNEL_MOST + 2) * NUMBER_ELEMENT_MOST };

/* What one element must become; 16 bytes of room at each pointer. */
typedef void (*kernel_naive_fn)(const void *x, const void *y, void *out);
/* A value of one element, from a random word: every family has its own edges. */
typedef void (*kernel_draw_fn)(uint64_t random, void *out);

static inline void kernel_try(const char *what, number_combine_fn kernel, size_t element, kernel_naive_fn naive,
                              kernel_draw_fn draw)
{
    static _Alignas(64) uint8_t into[KERNEL_ROOM], before[KERNEL_ROOM], from[KERNEL_ROOM + 64];
    struct prng random = prng_stream(element, 0, 7);
    for (size_t n = 0; n <= KERNEL_MOST; n++) {
        for (size_t shift = 0; shift < 16; shift++) {
            memset(into, 0xa5, sizeof into);
            for (size_t i = 0; i < n; i++) {
                _Alignas(16) uint8_t one[NUMBER_ELEMENT_MOST];
                draw(prng_next(&random), one);
                memcpy(into + i * element, one, element);
                draw(prng_next(&random), one);
                memcpy(from + shift + i * element, one, element);
            }
            memcpy(before, into, sizeof into);
            kernel(into, from + shift, n);
            for (size_t i = 0; i < n; i++) {
                _Alignas(16) uint8_t x[NUMBER_ELEMENT_MOST], y[NUMBER_ELEMENT_MOST], must[NUMBER_ELEMENT_MOST];
                memcpy(x, before + i * element, element);
                memcpy(y, from + shift + i * element, element);
                naive(x, y, must);
                SUITE_HOLDS(memcmp(into + i * element, must, element) == 0, "%s: element %zu of %zu, %zu bytes off",
                            what, i, n, shift);
            }
            SUITE_HOLDS(memcmp(into + n * element, before + n * element, sizeof into - n * element) == 0,
                        "%s: %zu elements, and more was written", what, n);
        }
    }
}

#endif
