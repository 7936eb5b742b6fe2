/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words of a command: whole numbers, and options "name=value".
 *
 * Strict on purpose: a sign, a space or a value out of range is refused, and nothing is read by half. Functions are
 * pure; texts are borrowed for the call and end in a NUL.
 */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "cubeway/types.h"

/*
 * Reads a decimal number; k, M, G or T may stand behind it and are powers of a thousand ("10G" is 10,000,000,000).
 * -EINVAL: text is no such number; -ERANGE: the number is not in least..most. *out is then untouched.
 */
CW_MUST_CHECK int words_number(const char *text, uint64_t least, uint64_t most, uint64_t *out);

/* Borrows the value from the word "name=value"; NULL when the word has not this form and name. */
const char *words_value(const char *word, const char *name);

struct words_option {
    const char *name;
    uint64_t least, most;
    uint64_t *value; /* where the value goes when the option is among the words */
};

/*
 * Reads words as options, up to the first that is no option or has a bad value, and gives the index of that word; count
 * when all were good. The values before it have been written.
 */
int words_options(int count, const char *const *words, const struct words_option *options, size_t n);

/*
 * Writes to out why words_options() stopped at this word: "size=5: size is a whole number from 16 to 8952", or
 * "colour=red: no such option; there are count=N size=N". The text ends in a NUL and is cut to fit room, which is above
 * 0.
 */
void words_explain(const char *word, const struct words_option *options, size_t n, char *out, size_t room);

#endif
