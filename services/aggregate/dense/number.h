/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number.h - the types of numbers and the operations on vectors of them (cubeway/aggregate.h): sizes, names, and the
 * function for each pair that makes sense. Bytes are those of little-endian machines, in memory and on the wire.
 *
 * Which result a vector has follows from its parts and from the order in which they meet, and from nothing else: not
 * from the processor, for no function contracts or reorders operations.
 */
#ifndef SERVICES_AGGREGATE_DENSE_NUMBER_H
#define SERVICES_AGGREGATE_DENSE_NUMBER_H

#include "cubeway/aggregate.h"

/*
 * into[i] becomes the combination of into[i] and from[i], for n elements. The vectors do not overlap. `into` is aligned
 * as the type wants it, `from` stands anywhere: it lies in a packet.
 */
typedef void (*number_combine_fn)(void *restrict into, const void *restrict from, size_t n);

enum { NUMBER_TYPES = CW_NUMBER_UINT64, NUMBER_COMBINES = CW_COMBINE_MAXLOC, NUMBER_ELEMENT_MOST = 16 };

/* Bytes of a number of that type; 0: there is no such type. */
size_t number_bytes(cw_number type);
/* Bytes of an element: twice the number's for MINLOC and MAXLOC. 0: the operation is not for that type, or unknown. */
size_t number_element(cw_number type, cw_combine operation);
/* The function; NULL where number_element() is 0. MEAN's is that of SUM: number_divide() does the rest. */
number_combine_fn number_combine(cw_number type, cw_combine operation);
/*
 * Divides n numbers of a floating-point type by `by` (1..2^24), each quotient rounded once. v is aligned as the type
 * wants it.
 */
void number_divide(cw_number type, void *v, size_t n, uint32_t by);

/* What operators write: "float32", "sum". NULL: there is none of that value. */
const char *number_name(cw_number type);
const char *number_combine_name(cw_combine operation);
/* The other way round. False: there is no such name, and *out is untouched. */
bool number_read(const char *word, cw_number *out);
bool number_combine_read(const char *word, cw_combine *out);

#endif
