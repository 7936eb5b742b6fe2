/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - vectors of numbers that the network combines on their way (CamCubeOS 6.2): types of elements and
 * operations, as the built-in service `aggregate` knows them.
 */
#ifndef CUBEWAY_AGGREGATE_H
#define CUBEWAY_AGGREGATE_H

#include "cubeway/service.h"

/* The type of a vector's numbers. The values are on the wire, and for ever. */
typedef enum cw_number {
    CW_NUMBER_FLOAT32 = 1,
    CW_NUMBER_FLOAT64 = 2,
    CW_NUMBER_BFLOAT16 = 3,
    CW_NUMBER_FLOAT16 = 4,
    CW_NUMBER_INT8 = 5,
    CW_NUMBER_INT16 = 6,
    CW_NUMBER_INT32 = 7,
    CW_NUMBER_INT64 = 8,
    CW_NUMBER_UINT8 = 9,
    CW_NUMBER_UINT16 = 10,
    CW_NUMBER_UINT32 = 11,
    CW_NUMBER_UINT64 = 12,
} cw_number;

/*
 * How elements at the same place of all vectors become one. The values are on the wire, and for ever.
 *
 * SUM, PROD   integers wrap, as C's unsigned integers do; bfloat16 and float16 are computed in float32 and rounded to
 *             the nearest, ties to even, wherever servers' parts meet
 * MIN, MAX    NaN when any is NaN; of zeros with unlike signs, either
 * MEAN        the sum, divided once by the number of contributors; floating point only
 * AND, OR, XOR  of the bits; integers only
 * MINLOC, MAXLOC  of elements that are a value and behind it an index, an unsigned integer of as many bytes: the least
 *             or greatest value with its index; of equal values, and of NaNs, the one of the least index. Types of 32
 *             and 64 bits.
 */
typedef enum cw_combine {
    CW_COMBINE_SUM = 1,
    CW_COMBINE_PROD = 2,
    CW_COMBINE_MIN = 3,
    CW_COMBINE_MAX = 4,
    CW_COMBINE_MEAN = 5,
    CW_COMBINE_AND = 6,
    CW_COMBINE_OR = 7,
    CW_COMBINE_XOR = 8,
    CW_COMBINE_MINLOC = 9,
    CW_COMBINE_MAXLOC = 10,
} cw_combine;

#endif
