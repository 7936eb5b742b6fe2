/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/blocks.h"

#include "services/aggregate/dense/mutant.h"

#include <errno.h>

enum { FILL = 170 };

int blocks_make(struct blocks *b, uint64_t elements, size_t element, unsigned depth)
{
    if (element == 0 || element > NUMBER_ELEMENT_MOST) {
        return -EINVAL;
    }
    if (elements > BLOCKS_VECTOR_MOST / element) {
        return -EFBIG;
    }
    uint64_t most = elements * element > BLOCKS_VECTOR_MOST / 2 ? BLOCKS_BYTES_MOST : BLOCKS_BYTES_MOST / 2;
    uint64_t bytes = elements * element / (FILL * (depth > 0 ? depth : 1));
    bytes = bytes < BLOCKS_BYTES_LEAST ? BLOCKS_BYTES_LEAST : bytes;
    bytes = bytes > most ? most : bytes;
    return blocks_read(b, elements, element, (uint32_t)(bytes / element));
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
