/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_wire_control.c - what the control half of runtime/wire costs: ns per call, and how many times a memcpy of the
 * same bytes. Rounds of the call and of its memcpy alternate; the figures are medians.
 */
#include "control_codecs.h"

#include <stdbool.h>
#include <time.h>

enum {
    ROUNDS = 9,
    VALUES = 64,
    STREAM_RECORDS = 40,
    STREAM_BYTES = STREAM_HEAD_BYTES + STREAM_RECORDS * ITEM_RECORD_BYTES
};

struct world {
    struct hello hellos[VALUES];
    struct record records[VALUES];
    uint8_t hello_bytes[VALUES][HELLO_BYTES];
    uint8_t record_bytes[VALUES][RECORD_BYTES];
    uint8_t stream_bytes[VALUES][STREAM_BYTES];
    uint8_t out[VALUES][STREAM_BYTES];
    uint64_t sum; /* of something from every call, so that no work can be left out */
};

static void hello_encode_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        hello_encode(&w->hellos[i], w->out[i]);
    }
}

static void hello_decode_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        struct hello h;
        if (hello_decode(w->hello_bytes[i], HELLO_BYTES, &h) == WIRE_OK) {
            w->sum += h.digest;
        }
    }
}

static void hello_copy_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        memcpy(w->out[i], w->hello_bytes[i], HELLO_BYTES);
        __asm__ volatile("" ::: "memory");
    }
}

static void record_encode_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        record_encode(&w->records[i], w->out[i]);
    }
}

static void record_decode_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        struct record r;
        if (record_decode(w->record_bytes[i], &r) == WIRE_OK) {
            w->sum += r.seq;
        }
    }
}

static void record_copy_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        memcpy(w->out[i], w->record_bytes[i], RECORD_BYTES);
        __asm__ volatile("" ::: "memory");
    }
}

static void stream_write_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        struct stream_writer writer;
        struct item item = {.type = ITEM_RECORD};
        stream_begin(&writer, w->out[i], STREAM_BYTES);
        for (unsigned j = 0; j < STREAM_RECORDS; j++) {
            item.record = w->records[j];
            w->sum += stream_put(&writer, &item);
        }
        w->sum += stream_finish(&writer, &(struct stream_head){1, 1, 1, 1});
    }
}

/* Checked whole, then read item by item: what a receiver does. */
static void stream_read_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        struct stream s;
        struct item item;
        uint32_t number;
        if (stream_decode(w->stream_bytes[i], STREAM_BYTES, &s) != WIRE_OK) {
            abort();
        }
        for (struct stream_cursor c = stream_items(&s); stream_next(&c, &number, &item);) {
            w->sum += item.record.seq;
        }
    }
}

static void stream_copy_all(struct world *w)
{
    for (unsigned i = 0; i < VALUES; i++) {
        memcpy(w->out[i], w->stream_bytes[i], STREAM_BYTES);
        __asm__ volatile("" ::: "memory");
    }
}

typedef void (*work)(struct world *);

static double ns_per_call(work run, struct world *w, unsigned repeats)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned i = 0; i < repeats; i++) {
        run(w);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    return ns / repeats / VALUES;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(struct world *w, const char *name, size_t bytes, work run, work copy, unsigned repeats)
{
    double ours[ROUNDS], peer[ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        ours[round] = ns_per_call(run, w, repeats);
        peer[round] = ns_per_call(copy, w, repeats);
    }
    qsort(ours, ROUNDS, sizeof *ours, by_size);
    qsort(peer, ROUNDS, sizeof *peer, by_size);
    double call = ours[ROUNDS / 2];
    double base = peer[ROUNDS / 2];
    printf("%-24s %5zu bytes %9.1f ns %8.0f MB/s   memcpy %7.1f ns   ratio %5.1f\n", name, bytes, call,
           (double)bytes * 1e3 / call, base, call / base);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    unsigned repeats = smoke ? 20 : 20000;
    static struct world w;
    struct dice d = {30};
    for (unsigned i = 0; i < VALUES; i++) {
        w.hellos[i] = dice_hello(&d);
        w.records[i] = dice_record(&d);
        hello_encode(&w.hellos[i], w.hello_bytes[i]);
        record_encode(&w.records[i], w.record_bytes[i]);
    }
    stream_write_all(&w);
    memcpy(w.stream_bytes, w.out, sizeof w.stream_bytes);
    compare(&w, "hello encode", HELLO_BYTES, hello_encode_all, hello_copy_all, repeats);
    compare(&w, "hello decode", HELLO_BYTES, hello_decode_all, hello_copy_all, repeats);
    compare(&w, "record encode", RECORD_BYTES, record_encode_all, record_copy_all, repeats);
    compare(&w, "record decode", RECORD_BYTES, record_decode_all, record_copy_all, repeats);
    compare(&w, "stream of 40, write", STREAM_BYTES, stream_write_all, stream_copy_all, repeats / 20);
    compare(&w, "stream of 40, read", STREAM_BYTES, stream_read_all, stream_copy_all, repeats / 20);
    printf("(sum %llx)\n", (unsigned long long)w.sum);
    return EXIT_SUCCESS;
}
