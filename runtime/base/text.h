/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a text that is put together piece by piece in a bounded buffer, for floors without stdio. What does not fit
 * is left out; the text always ends in a NUL. Pure; pieces are borrowed for the call.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "cubeway/types.h"

struct text {
    char *out;
    size_t room; /* of out, for the NUL too; at least 1 */
    size_t length;
};

/* An empty text in out[room], which is borrowed. */
struct text text_of(char *out, size_t room);
void text_put(struct text *t, const char *words);
void text_put_bytes(struct text *t, const char *bytes, size_t length);
void text_put_number(struct text *t, int64_t number);
/* In any base from 2 to 16; digits above 9 are small letters. */
void text_put_unsigned(struct text *t, uint64_t number, unsigned base);

#endif
