/* SPDX-License-Identifier: Apache-2.0 */
/* module_own.c - a module of functions: a median, for which all values of a key must meet, and a mapper. */
#include "cubeway/combine.h"

#include <stdio.h>
#include <string.h>

static int compare(cw_bytes a, cw_bytes b)
{
    int order = memcmp(a.bytes, b.bytes, a.length < b.length ? a.length : b.length);
    return a.length != b.length ? (a.length < b.length ? -1 : 1) : order; /* of whole numbers without a sign */
}

static int median(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    (void)key;
    (void)argument;
    for (size_t i = 0; i < count; i++) {
        size_t below = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            int order = compare(values[k], values[i]);
            below += order < 0;
            equal += order == 0;
        }
        if (below <= (count - 1) / 2 && (count - 1) / 2 < below + equal) {
            return snprintf((char *)out, room, "%.*s", (int)values[i].length, (const char *)values[i].bytes);
        }
    }
    return -1;
}

/* The first byte of a line, with how long it is. */
static int initials(cw_bytes line, uint64_t argument, cw_emit_fn emit, void *to)
{
    char length[24];
    (void)argument;
    int n = snprintf(length, sizeof length, "%zu", line.length);
    return line.length == 0 ? 0 : emit(to, (cw_bytes){line.bytes, 1}, (cw_bytes){(const uint8_t *)length, (size_t)n});
}

static const cw_combiner combiner = {
    .size = sizeof combiner, .api = CW_COMBINE_API, .name = "median", .deterministic = true, .combine = median};
static const cw_mapper mapper = {.size = sizeof mapper, .api = CW_MAPPER_API, .name = "initials", .map = initials};

const cw_combiner *cw_combine_entry(void)
{
    return &combiner;
}

const cw_mapper *cw_mapper_entry(void)
{
    return &mapper;
}
