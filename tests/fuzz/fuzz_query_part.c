/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of answers: two of a kind, cut out of the input, are merged. What comes out is a part again, the same whichever
 * was first, and merged with nothing it stays as it is.
 */
#include "services/aggregate/query/part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct part_room work;
    static uint8_t ab[ROOM], ba[ROOM], again[ROOM];
    if (size < 3 || data[0] > SUMMARY_NAMES) {
        return 0;
    }
    enum summary_kind kind = (enum summary_kind)data[0];
    size_t cut = (size_t)(data[1] << 8 | data[2]);
    cut = cut < size - 3 ? cut : size - 3;
    uint8_t *bytes = malloc(size - 3 + 1); /* so that a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data + 3, size - 3);
    const uint8_t *b = bytes + cut;
    size_t b_size = size - 3 - cut;
    int64_t n = part_merge(kind, bytes, cut, b, b_size, ab, ROOM, &work);
    if (n >= 0) {
        if (part_merge(kind, b, b_size, bytes, cut, ba, ROOM, &work) != n || memcmp(ab, ba, (size_t)n) != 0) {
            abort();
        }
        if (part_merge(kind, ab, (size_t)n, NULL, 0, again, ROOM, &work) != n || memcmp(ab, again, (size_t)n) != 0) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
