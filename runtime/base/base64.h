/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - bytes as text and back (RFC 4648, section 4).
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "cubeway/types.h"

/*
 * Writes the bytes that the text stands for, and gives their number. -EINVAL: the text is no base64; -EMSGSIZE: there
 * are more bytes than room. The first room bytes of out may have been written even then.
 */
CW_MUST_CHECK int base64_decode(const char *text, uint8_t *out, size_t room);

/* How many characters stand for so many bytes; the NUL at their end is not counted. */
static inline size_t base64_length(size_t size)
{
    return (size + 2) / 3 * 4;
}

/* Writes base64_length(size) characters and a NUL to out. */
void base64_encode(const uint8_t *bytes, size_t size, char *out);

#endif
