/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - numbers as decimal text: "-12" of at most 38 digits, exact, or "-1.5e-3" with a point or an exponent, in
 * double precision. No sign but a minus, no spaces, neither infinity nor NaN.
 *
 * Pure; the same on every machine whose double is IEEE 754's.
 */
#ifndef SERVICES_AGGREGATE_SORTED_DECIMAL_H
#define SERVICES_AGGREGATE_SORTED_DECIMAL_H

#include "cubeway/combine.h"

__extension__ typedef __int128 decimal_whole;

enum { DECIMAL_TEXT = 64, DECIMAL_DIGITS = 38 };

struct decimal {
    bool is_whole;
    decimal_whole whole; /* where it is */
    double real;         /* where it is not */
};

/* 0; -EINVAL: the text is no number; -ERANGE: it is too large. *out is then untouched. */
CW_MUST_CHECK int decimal_read(cw_bytes text, struct decimal *out);
/* Adds b to *a. -ERANGE: the sum is too large, and *a is untouched. */
CW_MUST_CHECK int decimal_add(struct decimal *a, const struct decimal *b);
/* < 0, 0 or > 0. Numbers that are not both whole are compared as long doubles. */
int decimal_order(const struct decimal *a, const struct decimal *b);
/* a / n, n > 0: whole where it is. */
struct decimal decimal_divide(const struct decimal *a, uint64_t n);
/*
 * Writes the shortest text of 15 to 17 digits that reads as the same number; whole numbers exactly. Gives its length,
 * below DECIMAL_TEXT, or -EMSGSIZE: room is less.
 */
int decimal_write(const struct decimal *a, uint8_t *out, size_t room);

#endif
