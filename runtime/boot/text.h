/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a sentence that is put together piece by piece in a bounded buffer, for floors without stdio. What does not
 * fit is left out; the text always ends in a NUL.
 */
#ifndef BOOT_TEXT_H
#define BOOT_TEXT_H

#include "boot/fault.h"

struct text {
    char *out;
    size_t room; /* of out, for the NUL too; at least 1 */
    size_t length;
};

struct text text_of(char *out, size_t room);
void text_put(struct text *t, const char *words);
void text_put_bytes(struct text *t, const char *bytes, size_t length);
void text_put_number(struct text *t, int64_t number);
void text_put_hex(struct text *t, uint64_t number); /* 16 digits */
void text_put_coord(struct text *t, cw_coord c);    /* 1,0,2 */
void text_put_dims(struct text *t, cw_dims dims);   /* 3x3x3 */
/* "+x", or "port 4" where the direction is not known. */
void text_put_port(struct text *t, unsigned port, unsigned direction);
/* "rack2-7 (0123456789abcdef) at 1,0,2"; "nobody" without an id and a position. */
void text_put_who(struct text *t, const struct boot_who *who);

#endif
