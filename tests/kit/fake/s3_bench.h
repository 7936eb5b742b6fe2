/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s3_bench.h - a desk over a store that is a table, with chunks of four bytes and objects of up to two in their
 * manifest: for unit tests of objects, one question after the other.
 */
#ifndef KIT_S3_BENCH_H
#define KIT_S3_BENCH_H

#include "services/s3/object/get.h"
#include "services/s3/object/put.h"
#include "services/s3/object/remove.h"
#include "store_standin.h"
#include "suite.h"

#include <string.h>

enum { BENCH_JOB = 5, BENCH_CHUNK = 4, BENCH_INLINE = 2, BENCH_BODY = 256 };

static struct bench {
    struct store_standin store;
    struct s3_desk *desk;
    int64_t now_s;
    uint64_t drawn;
    /* what the last put, get or removal came to */
    unsigned dones, rooms, readies, heads;
    struct s3_put_outcome put;
    s3_fault fault;
    const struct s3_manifest *manifest;
    char body[BENCH_BODY];
    size_t length;
} bench;

static inline int64_t bench_clock(void *context)
{
    (void)context;
    return bench.now_s;
}

static inline uint64_t bench_draw(void *context)
{
    (void)context;
    return ++bench.drawn;
}

static inline void bench_run(void)
{
    while (standin_turn(&bench.store)) {
    }
}

static inline void bench_removed(void *arg, s3_fault fault)
{
    (void)arg;
    bench.dones++;
    bench.fault = fault;
}

static inline void bench_open(unsigned window, size_t memory)
{
    bench = (struct bench){.now_s = 1700000000};
    standin_open(&bench.store, 1);
    const struct s3_desk_config config = {.api = &standin_api,
                                          .store = standin_svc(&bench.store),
                                          .chunk = BENCH_CHUNK,
                                          .inline_most = BENCH_INLINE,
                                          .window = window,
                                          .memory = memory,
                                          .now_s = bench_clock,
                                          .random = bench_draw};
    bench.desk = s3_desk_open(&config);
    ck_assert_ptr_nonnull(bench.desk);
    ck_assert_int_eq(s3_bucket_create(bench.desk, BENCH_JOB, "bucket", 6, bench_removed, NULL), S3_OK);
    bench_run();
    ck_assert_int_eq(bench.fault, S3_OK);
    bench.dones = 0;
}

static inline void bench_close(void)
{
    s3_desk_close(bench.desk);
    standin_forget(&bench.store);
    standin_close(&bench.store);
}

/* ---- Puts -------------------------------------------------------------------------------------------------------- */

static inline void bench_room(void *arg)
{
    (void)arg;
    bench.rooms++;
}

static inline void bench_done(void *arg, const struct s3_put_outcome *outcome)
{
    (void)arg;
    bench.dones++;
    bench.put = *outcome;
    bench.fault = outcome->fault;
}

static inline struct s3_put_order bench_order(const char *key, size_t size)
{
    return (struct s3_put_order){.job = BENCH_JOB, .bucket = {"bucket", 6}, .key = {key, strlen(key)}, .size = size};
}

static inline struct s3_put *bench_begin(const struct s3_put_order *order)
{
    struct s3_put *put = s3_put_open(bench.desk, order, (struct s3_put_hooks){bench_room, bench_done}, NULL);
    ck_assert_ptr_nonnull(put);
    return put;
}

/* Puts it whole, and gives what came of it. */
static inline s3_fault bench_put_order(const struct s3_put_order *order, const char *bytes)
{
    unsigned before = bench.dones;
    struct s3_put *put = bench_begin(order);
    for (size_t fed = 0; fed < order->size && bench.dones == before;) {
        fed += s3_put_feed(put, bytes + fed, order->size - fed);
        (void)standin_turn(&bench.store);
    }
    if (bench.dones == before) {
        s3_put_end(put);
    }
    bench_run();
    ck_assert_uint_eq(bench.dones, before + 1);
    return bench.fault;
}

static inline s3_fault bench_put(const char *key, const char *bytes)
{
    const struct s3_put_order order = bench_order(key, strlen(bytes));
    return bench_put_order(&order, bytes);
}

/* ---- Gets -------------------------------------------------------------------------------------------------------- */

static inline void bench_head(void *arg, s3_fault fault, const struct s3_manifest *manifest)
{
    (void)arg;
    bench.heads++;
    bench.fault = fault;
    bench.manifest = manifest;
}

static inline void bench_ready(void *arg)
{
    (void)arg;
    bench.readies++;
}

static inline struct s3_get *bench_get_open(const char *key)
{
    const struct s3_get_order order = {
        .job = BENCH_JOB, .bucket = "bucket", .bucket_length = 6, .key = key, .key_length = strlen(key)};
    struct s3_get *get = s3_get_open(bench.desk, &order, (struct s3_get_hooks){bench_head, bench_ready}, NULL);
    ck_assert_ptr_nonnull(get);
    bench_run();
    return get;
}

/* Takes what there is until nothing more comes, into the body. */
static inline void bench_take(struct s3_get *get)
{
    size_t length;
    for (const uint8_t *bytes; (bytes = s3_get_peek(get, &length)) != NULL; bench_run()) {
        memcpy(bench.body + bench.length, bytes, length);
        bench.length += length;
        bench.body[bench.length] = '\0';
        s3_get_take(get, length);
    }
}

/* The object's bytes; NULL: a fault, which is in bench.fault. */
static inline const char *bench_get(const char *key)
{
    struct s3_get *get = bench_get_open(key);
    bench.length = 0;
    bench.body[0] = '\0';
    if (bench.fault == S3_OK) {
        s3_get_range(get, 0, bench.manifest->size);
        bench_run();
        bench_take(get);
        bench.fault = s3_get_fault(get);
    }
    s3_get_close(get);
    return bench.fault == S3_OK ? bench.body : NULL;
}

static inline s3_fault bench_remove(const char *key)
{
    ck_assert_int_eq(s3_remove_object(bench.desk, BENCH_JOB, "bucket", 6, key, strlen(key), bench_removed, NULL),
                     S3_OK);
    bench_run();
    return bench.fault;
}

/* Registers of lots: their chunks, and what says for whom they are. */
static inline unsigned bench_lots(void)
{
    return standin_count(&bench.store, "D/") + standin_count(&bench.store, "L/");
}

/* So much later all that is due is dropped. */
static inline void bench_pass(int64_t s)
{
    bench.now_s += s;
    s3_desk_tick(bench.desk);
    bench_run();
}

#endif
