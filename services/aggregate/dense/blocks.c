/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/blocks.h"

#include "services/aggregate/dense/mutant.h"

#include <errno.h>

enum {
    FILL = 170,
    PACKETS = 14, /* with what the transport adds they are 16 at most, which leave before the receiver answers */
    TREES = 6,
    EVEN = 36 /* with more blocks than that each tree has equally many, and they are a seventh shorter at most */
};

/* The longest block for a vector of so many bytes. */
static uint64_t longest(uint64_t bytes, size_t packet)
{
    uint64_t most = (uint64_t)PACKETS * packet;
    most = most < BLOCKS_BYTES_LEAST ? BLOCKS_BYTES_LEAST : most;
    most = most > BLOCKS_BYTES_MOST / 2 ? BLOCKS_BYTES_MOST / 2 : most;
    return bytes / most >= BLOCKS_MOST / 2 ? BLOCKS_BYTES_MOST : most;
}

int blocks_make(struct blocks *b, uint64_t elements, size_t element, unsigned depth, size_t packet)
{
    if (element == 0 || element > NUMBER_ELEMENT_MOST) {
        return -EINVAL;
    }
    if (elements > BLOCKS_VECTOR_MOST / element) {
        return -EFBIG;
    }
    uint64_t most = longest(elements * element, packet);
    uint64_t bytes = elements * element / (FILL * (depth > 0 ? depth : 1));
    bytes = bytes < BLOCKS_BYTES_LEAST ? BLOCKS_BYTES_LEAST : bytes;
    bytes = bytes > most ? most : bytes;
    uint64_t each = bytes / element, count = elements / each + 1;
    if (count > EVEN && count < BLOCKS_MOST / 2) {
        count = (count + TREES - 1) / TREES * TREES;
        each = (elements + count - 1) / count;
    }
    return blocks_read(b, elements, element, (uint32_t)each);
}

int blocks_read(struct blocks *b, uint64_t elements, size_t element, uint32_t each)
{
    if (element == 0 || element > NUMBER_ELEMENT_MOST || each == 0 || each > BLOCKS_BYTES_MOST / element ||
        elements > BLOCKS_VECTOR_MOST / element) {
        return -EPROTO;
    }
    uint64_t count = elements == 0 ? 0 : (elements - 1) / each + 1;
    if (count > BLOCKS_MOST) {
        return -EPROTO;
    }
    count -= AGG_MUTANT(LAST_BLOCK) && elements % each != 0;
    *b = (struct blocks){.elements = elements, .element = (uint32_t)element, .each = each, .count = (uint32_t)count};
    return 0;
}
