/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/buffer.h"

#include <stdlib.h>
#include <string.h>

/*
 * What is in it moves to the front of its memory when that makes the room and costs less than was taken since; else it
 * gets more memory.
 */
static bool grow(struct mc_buffer *b, size_t length)
{
    size_t held = mc_buffer_length(b);
    if (b->first >= held && b->room - held >= length) {
        memmove(b->bytes, b->bytes + b->first, held);
        b->first = 0;
        b->end = held;
        return true;
    }
    size_t room = b->room > 0 ? b->room : MC_BUFFER_LEAST;
    while (room - held < length) {
        if (room > SIZE_MAX / 4) {
            return false;
        }
        room *= 2;
    }
    uint8_t *bytes = malloc(room);
    if (bytes == NULL) {
        return false;
    }
    if (held > 0) {
        memcpy(bytes, b->bytes + b->first, held);
    }
    free(b->bytes);
    *b = (struct mc_buffer){.bytes = bytes, .first = 0, .end = held, .room = room};
    return true;
}

uint8_t *mc_buffer_space(struct mc_buffer *b, size_t length)
{
    if (b->room - b->end < length && !grow(b, length)) {
        return NULL;
    }
    return b->bytes + b->end;
}

bool mc_buffer_add(struct mc_buffer *b, const void *bytes, size_t length)
{
    if (length == 0) {
        return true;
    }
    uint8_t *at = mc_buffer_space(b, length);
    if (at == NULL) {
        return false;
    }
    memcpy(at, bytes, length);
    b->end += length;
    return true;
}

void mc_buffer_take(struct mc_buffer *b, size_t length)
{
    b->first += length;
    if (b->first == b->end) {
        b->first = b->end = 0;
        if (b->room > MC_BUFFER_KEEP) {
            mc_buffer_drop(b);
        }
    }
}

void mc_buffer_drop(struct mc_buffer *b)
{
    free(b->bytes);
    *b = (struct mc_buffer){0};
}
