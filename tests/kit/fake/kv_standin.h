/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_standin.h - a cache of one server that answers as kv_do() does, for tests of the code that asks: values in
 * items.h, rules by op.h, no network. It answers at once or, when deferred, when and in the order the test says.
 */
#ifndef KIT_KV_STANDIN_H
#define KIT_KV_STANDIN_H

#include "services/kvcache/data/items.h"
#include "services/kvcache/kvcache.h"

struct standin_wait;

struct standin {
    struct items items;
    cw_time now;
    uint64_t cas;
    bool deferred;
    int refuses;                  /* below 0: what kv_do() returns for every question */
    enum kv_status fails;         /* not KV_OK: the result of every question */
    struct standin_wait *waiting; /* oldest first */
    unsigned waits;
    unsigned asked, flushed;
    cw_span flush_delay; /* of the last one */
};

void standin_open(struct standin *k, size_t bytes);
/* Answers the questions that wait with KV_UNKNOWN. */
void standin_close(struct standin *k);
/* The functions of struct mc_hub, whose context is the stand-in. */
int standin_run(void *context, const struct kv_request *r, kv_done_fn done, void *arg);
int standin_flush(void *context, cw_span delay, kv_done_fn done, void *arg);
/* Carries out and answers the i-th of the questions that wait. */
void standin_answer(struct standin *k, unsigned i);
void standin_answer_all(struct standin *k);

#endif
