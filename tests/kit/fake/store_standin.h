/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_standin.h - a store that is one table in this process: for tests of what asks a store. Questions are answered
 * when the test says so, in any order, rightly or with any of the failures that cubeway/store.h allows; a write that
 * ends unknown may have been done, or may be done later, or never.
 */
#ifndef KIT_STORE_STANDIN_H
#define KIT_STORE_STANDIN_H

#include "base/prng.h"
#include "cubeway/store.h"

#include <stdbool.h>

struct standin_register {
    struct standin_register *next; /* in the order of names */
    cw_job job;
    uint8_t *name, *value;
    size_t name_length, value_length;
    uint64_t version;
    uint32_t flags;
    bool there; /* else it was deleted */
};

struct standin_question;

struct store_standin {
    struct standin_register *first;
    struct standin_question *waiting, *late; /* late: ended unknown, and may yet be done */
    unsigned waits;
    uint64_t version, asked;
    struct prng prng;
    /* Of 1,000 questions so many are refused, fail and were not done, end unknown. */
    unsigned refused, failing, unknown;
};

/* For a desk: the table, and the stand-in as the store's instance. */
extern const cw_store_api standin_api;
static inline cw_svc *standin_svc(struct store_standin *s)
{
    return (cw_svc *)(void *)s;
}

void standin_open(struct store_standin *s, uint64_t seed);
void standin_close(struct store_standin *s);
/* Answers one question, if there is one, or does what is late; false: nothing waits. */
bool standin_turn(struct store_standin *s);
/* Those who asked are about to go: what waits is done, or is not, or will be, and all of it ends without an answer. */
void standin_forget(struct store_standin *s);
/* Names that have a value and begin so. */
unsigned standin_count(const struct store_standin *s, const char *prefix);
struct standin_register *standin_find(struct store_standin *s, cw_job job, const void *name, size_t length);

#endif
