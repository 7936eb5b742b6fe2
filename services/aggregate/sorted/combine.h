/* SPDX-License-Identifier: Apache-2.0 */
/*
 * combine.h - the functions that combine values of a key (cubeway/combine.h) and are built in.
 *
 * Numbers are decimal text (decimal.h): whole numbers are added exactly up to 38 digits, and as soon as a number with a
 * point or an exponent is among them, in double precision. A sum beyond that is an error (-ERANGE) that names its key:
 * nothing wraps, and there is neither infinity nor NaN.
 *
 *     sum        the sum
 *     min, max   the least, the greatest number, as it was written; of equal ones the first as memcmp() orders texts
 *     count      how many values there were; they may be anything
 *     avg        the sum over the number of values; on the way "SUM COUNT"
 *     first, last  one of the values: on one server the first or last of its input, of several servers' either
 *     topk:K     the K greatest numbers, the greatest first, with a space between
 *     set:K      the unlike values, at most K, in the order of memcmp(), with a TAB between; of more than K the first
 *                K, and behind them a "+"
 *     none       every value stays
 */
#ifndef SERVICES_AGGREGATE_SORTED_COMBINE_H
#define SERVICES_AGGREGATE_SORTED_COMBINE_H

#include "cubeway/combine.h"

enum { COMBINE_K_MOST = 1000 };

/* What a run does with values: a table and its argument. Borrows the table. table NULL: none. */
struct combine {
    const cw_combiner *table;
    uint64_t argument;
};

/*
 * Reads "sum", "topk:10", "none". 0; -ENOENT: there is no such function built in; -EINVAL: K is missing, is too much
 * (COMBINE_K_MOST) or not expected. *out is then untouched.
 */
CW_MUST_CHECK int combine_read(const char *word, struct combine *out);
/* The table number i of those that are built in; NULL: there are no more. */
const cw_combiner *combine_builtin(unsigned i);
/* 0: a module's table is whole; or -EINVAL, and *why says what is not: a static string. Borrows table, which may be
 * NULL. */
CW_MUST_CHECK int combine_check(const cw_combiner *table, const char **why);

/*
 * The table's functions; where there is none, a copy of the value. They give what those give, but -EINVAL instead of
 * -ENOSPC and -EBADMSG, which mean something else here.
 */
int combine_prepare(const struct combine *c, cw_bytes key, cw_bytes value, uint8_t *out, size_t room);
int combine_values(const struct combine *c, cw_bytes key, const cw_bytes *values, size_t count, uint8_t *out,
                   size_t room);
int combine_finish(const struct combine *c, cw_bytes key, cw_bytes value, uint8_t *out, size_t room);

#endif
