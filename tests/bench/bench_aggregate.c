/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_aggregate.c - the loops that combine vectors, beside memcpy of the same bytes from the same unaligned place:
 * the bytes of a full packet, in the cache, as they are where a packet has just come. Medians of alternating rounds.
 * The ratio is the rate over memcpy's. `--smoke` only shows that all of it runs.
 */
#include "services/aggregate/dense/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 8896, SHIFT = 13, ROUNDS = 301 };

static _Alignas(64) uint8_t into[BYTES], from[BYTES + SHIFT];
static unsigned calls = 100;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* No compiler knows what happens to the memory here. */
static void touched(void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}

static double copy(void)
{
    double start = now_ns();
    for (unsigned i = 0; i < calls; i++) {
        memcpy(into, from + SHIFT, BYTES);
        touched(into);
    }
    return (now_ns() - start) / calls;
}

static double combine(number_combine_fn fn, size_t n)
{
    double start = now_ns();
    for (unsigned i = 0; i < calls; i++) {
        fn(into, from + SHIFT, n);
        touched(into);
    }
    return (now_ns() - start) / calls;
}

static void compare(cw_number type, cw_combine operation, double goal)
{
    double ours[ROUNDS], peer[ROUNDS];
    size_t n = BYTES / number_element(type, operation);
    char text[16];
    memset(from, 0, sizeof from); /* zeros stay zeros: no operation meets subnormals or infinities, which may be slow */
    memset(into, 0, sizeof into);
    for (unsigned i = 0; i < ROUNDS; i++) {
        ours[i] = combine(number_combine(type, operation), n);
        peer[i] = copy();
    }
    qsort(ours, ROUNDS, sizeof *ours, ascending);
    qsort(peer, ROUNDS, sizeof *peer, ascending);
    snprintf(text, sizeof text, "%.1f", goal);
    printf("%-9s %-7s %8.0f ns   memcpy %6.0f ns   %5.1f GB/s   ratio %5.2f   goal %s\n", number_name(type),
           number_combine_name(operation), ours[ROUNDS / 2], peer[ROUNDS / 2], BYTES / ours[ROUNDS / 2],
           peer[ROUNDS / 2] / ours[ROUNDS / 2], goal > 0 ? text : "none");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--smoke") == 0) {
        calls = 3;
    }
    printf("%d bytes, %d bytes off an aligned address\n", BYTES, SHIFT);
    for (unsigned type = 1; type <= NUMBER_TYPES; type++) {
        for (unsigned operation = 1; operation <= NUMBER_COMBINES; operation++) {
            bool half = type == CW_NUMBER_BFLOAT16 || type == CW_NUMBER_FLOAT16;
            bool named = operation != CW_COMBINE_MEAN && operation <= CW_COMBINE_XOR;
            double goal = type == CW_NUMBER_FLOAT16 || !named || operation == CW_COMBINE_PROD ? 0 : half ? 0.5 : 0.8;
            if (number_element((cw_number)type, (cw_combine)operation) != 0 && operation != CW_COMBINE_MEAN) {
                compare((cw_number)type, (cw_combine)operation, goal);
            }
        }
    }
    return 0;
}
