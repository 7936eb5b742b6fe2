/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - bytes that grow at their end, up to a bound. What fails once - no memory, or it would be longer than it
 * may - stays failed and takes nothing more, so that whoever writes a long text asks once, at its end. All zero is an
 * empty buffer without a bound.
 */
#ifndef SERVICES_S3_PROTOCOL_BUFFER_H
#define SERVICES_S3_PROTOCOL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct s3_buffer {
    char *bytes; /* with a NUL behind them; NULL: none yet */
    size_t length, room;
    size_t most; /* bytes that it may have; 0: any number */
    bool failed;
};

void s3_buffer_add(struct s3_buffer *b, const void *bytes, size_t length);
void s3_buffer_text(struct s3_buffer *b, const char *text);
void s3_buffer_number(struct s3_buffer *b, uint64_t number);
/* Empty, and not failed; keeps its memory and its bound. */
void s3_buffer_clear(struct s3_buffer *b);
/* Gives its memory back; keeps its bound. */
void s3_buffer_drop(struct s3_buffer *b);

#endif
