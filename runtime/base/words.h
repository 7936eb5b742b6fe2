/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words of a command: whole numbers, and options "name=value".
 *
 * Strict on purpose: no sign, no space, no value out of range is let through, and nothing is half read. Pure functions;
 * texts are borrowed for the call and end in NUL.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "cubeway/types.h"

/*
 * A decimal number, with k, M, G or T behind it for thousands of it ("10G" is 10,000,000,000). -EINVAL when text is no
 * such number, -ERANGE when it is not in least..most; *out is then untouched.
 */
CW_MUST_CHECK int words_number(const char *text, uint64_t least, uint64_t most, uint64_t *out);

/* The value of the word "name=value" (borrowed from word), or NULL when it is no such word. */
const char *words_value(const char *word, const char *name);

struct words_option {
    const char *name;
    uint64_t least, most;
    uint64_t *value; /* written when the option is there */
};

/*
 * Reads options until a word is none of them or has a bad value, and gives the index of that word: count when all were
 * good. What came before it has been written.
 */
int words_options(int count, const char *const *words, const struct words_option *options, size_t n);

/*
 * Why words_options() ended at this word, for people: "size=5: size is a whole number from 16 to 8952", or "colour=red: no such option; there
 * are count=N size=N". In out, ended by NUL, cut to what fits; room > 0.
 */
void words_explain(const char *word, const struct words_option *options, size_t n, char *out, size_t room);

#endif
