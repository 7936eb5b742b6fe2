/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.h - "did you mean ...?": of the names that are known, the one that a person most probably meant. Pure.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "cubeway/types.h"

/* The i-th of the names; borrowed, ended by NUL. */
typedef const char *nearest_nth_fn(const void *context, size_t i);

/*
 * The one of the `count` names that is nearest to name[length], or NULL when none is near: of several, the one that
 * begins like it for longest, and then the first. The distance of two names is the number of letters to insert, to take
 * away, to change, or to swap with their neighbour that make one name the other (Damerau, Levenshtein). Near is a
 * distance of one, and of one more for every three letters of `name`, as long as one letter is wrong or most are right:
 * nobody who wrote "foo" or "nope" meant "top". A name that begins with `name`, of two letters or more, is at a
 * distance of one.
 */
const char *nearest_name(const char *name, size_t length, nearest_nth_fn *nth, const void *context, size_t count);
/* The same for a name that ends in a NUL, and words that end with NULL. */
const char *nearest_word(const char *name, const char *const *words);

#endif
