/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - bytes out of text (RFC 4648, section 4).
 */
#ifndef CTL_BASE64_H
#define CTL_BASE64_H

#include "cubeway/types.h"

/* Writes the bytes and gives their number; -EINVAL: it is no base64, -EMSGSIZE: they do not fit in room. */
CW_MUST_CHECK int base64_decode(const char *text, uint8_t *out, size_t room);

#endif
