/* SPDX-License-Identifier: Apache-2.0 */
/*
 * combine.h - own functions for runs of key-value streams (CamCubeOS 6.2): what makes one value of several values of a
 * key, and what makes records of lines. A module is a shared object that exports one of these, or both:
 *
 *     const cw_combiner *cw_combine_entry(void);
 *     const cw_mapper *cw_mapper_entry(void);
 *
 * which give constant tables. The combinations that are built in (sum, count, ..) are tables of the same kind.
 *
 * What a key has on its way:
 *
 *     value of a contributor --prepare()--> partial value --combine(), at every server on the way--> partial value
 *     partial value of all --finish(), once, at the reducer--> result
 *
 * Guarantees that a table gives
 *  - All functions depend on their arguments and on nothing else: no globals, no clock, no files.
 *  - associative: combine() of partial values that were themselves combined, in the same order, whatever the grouping,
 *    gives the same partial value. (Floating-point sums that differ in their last bits count as the same.)
 *  - deterministic: equal arguments give equal bytes.
 *
 * Threading: several calls at the same time, on any thread.
 */
#ifndef CUBEWAY_COMBINE_H
#define CUBEWAY_COMBINE_H

#include "cubeway/types.h"

/* The version of struct cw_combiner. */
#define CW_COMBINE_API 1u
/* So many values at most are combined in one call of an associative table. */
enum { CW_COMBINE_VALUES = 16 };

/* Bytes that are borrowed for a call. They may be NULL when length is 0. */
typedef struct cw_bytes {
    const uint8_t *bytes;
    size_t length;
} cw_bytes;

/*
 * The functions give the length of what they have written to out, 0..room, or -errno: then the run fails, and its
 * result names the key. -EINVAL: a value is not what the function takes. -ERANGE: the result is no value of its type.
 * -EMSGSIZE: the result is longer than room. out overlaps neither the key nor a value. `argument` is the number behind
 * the name in a run ("topk:10"); 0: none was given.
 */
typedef struct cw_combiner {
    size_t size;        /* of this struct */
    unsigned api;       /* CW_COMBINE_API */
    const char *name;   /* what operators type: 1 to 31 letters, digits and '-' */
    bool deterministic; /* as above */
    /* As above. False: the values of a key meet at the reducer only, all of them in one call. */
    bool associative;
    /* What a contributor's value becomes before it meets others. NULL: it stays as it is. */
    int (*prepare)(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room);
    /* Makes one value of 1..CW_COMBINE_VALUES values, in their order; not associative: of any number. Never NULL. */
    int (*combine)(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room);
    /* What the combined value becomes in the result. NULL: it stays as it is. */
    int (*finish)(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room);
} cw_combiner;

/* The version of struct cw_mapper. */
#define CW_MAPPER_API 1u

/* Takes a record, of which it borrows both. 0; anything else: map() ends, and gives that. */
typedef int (*cw_emit_fn)(void *to, cw_bytes key, cw_bytes value);

typedef struct cw_mapper {
    size_t size;      /* of this struct */
    unsigned api;     /* CW_MAPPER_API */
    const char *name; /* what operators type: 1 to 31 letters, digits and '-' */
    /*
     * Makes any number of records of a line of an input, which comes without its newline, by emit(to, key, value). A
     * line may be mapped again, when there was no room for all of its records: then it must give the same ones in the
     * same order. 0; what emit() has given; or -EINVAL: that is no line of such an input, and the run fails with its
     * number.
     */
    int (*map)(cw_bytes line, uint64_t argument, cw_emit_fn emit, void *to);
} cw_mapper;

/* Defined by modules; the table is constant, and there as long as the module is loaded. */
#pragma GCC visibility push(default)
const cw_combiner *cw_combine_entry(void);
const cw_mapper *cw_mapper_entry(void);
#pragma GCC visibility pop

#endif
