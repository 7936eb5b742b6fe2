/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_sorted.c - the merge of sorted streams on one processor, in processor time: records of 24 bytes (a key of 16
 * and a value of 8 digits) from two to seven sources, beside a merge that compares whole keys of records of fixed
 * length and adds numbers of eight bytes, and beside memcpy of the same records. Medians of alternating rounds. Then
 * words of a text to a sorted batch and out of it. `--smoke` only shows that all of it runs.
 *
 *   apart     no two keys are equal, nothing is combined
 *   unlike    no two keys are equal, sums
 *   equal     all sources have the same keys: sums of as many values as there are sources
 *   urls      as `equal`, but keys share their first bytes
 */
#include "services/aggregate/sorted/batch.h"
#include "services/aggregate/sorted/mapper.h"
#include "services/aggregate/sorted/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY = 16, VALUE = 8, RECORD = KEY + VALUE, MOST = 7, ROUNDS = 7, BLOCKS = 4096 };

static unsigned records = 150000; /* of each source */

/* A source: plain records, and the same in blocks. */
struct stream {
    uint8_t *plain, *blocks;
    size_t length[BLOCKS];
    unsigned count, next;
};

static struct stream stream[MOST];
static struct merge merge;
static struct merge_source source[MOST];
static uint8_t out[RECORD_BLOCK], *plain_out;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int key_order(const void *a, const void *b)
{
    return memcmp(a, b, KEY);
}

static uint64_t chance(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Keys of letters, values of 8 digits. */
static void make(unsigned i, bool equal, bool urls)
{
    struct stream *s = &stream[i];
    struct record_writer w;
    uint64_t state = equal ? 1 : i + 1;
    for (unsigned n = 0; n < records; n++) {
        uint8_t *at = s->plain + (size_t)n * RECORD;
        char value[VALUE + 1];
        for (unsigned k = 0; k < KEY; k++) {
            at[k] = (uint8_t)('a' + chance(&state) % 26);
        }
        if (urls) {
            memcpy(at, "http://www", 10);
        }
        snprintf(value, sizeof value, "%08u", n % 1000);
        memcpy(at + KEY, value, VALUE);
    }
    qsort(s->plain, records, RECORD, key_order);
    s->count = 0;
    record_writer_init(&w, s->blocks, RECORD_BLOCK);
    for (unsigned n = 0; n < records; n++) {
        const uint8_t *at = s->plain + (size_t)n * RECORD;
        while (record_write(&w, (cw_bytes){at, KEY}, (cw_bytes){at + KEY, VALUE}) < 0) {
            s->length[s->count++] = w.used;
            record_writer_init(&w, s->blocks + (size_t)s->count * RECORD_BLOCK, RECORD_BLOCK);
        }
    }
    s->length[s->count++] = w.used;
}

static double merged(unsigned sources, const struct combine *c)
{
    struct record_writer w;
    double start = now_ns();
    merge_open(&merge, source, sources, c);
    record_writer_init(&w, out, sizeof out);
    for (unsigned i = 0; i < sources; i++) {
        stream[i].next = 0;
    }
    for (int rc = MERGE_WAITS; rc != MERGE_DONE;) {
        rc = merge_run(&merge, &w);
        if (rc == MERGE_WAITS) {
            struct stream *s = &stream[merge.waits];
            if (s->next == s->count) {
                merge_end(&merge, merge.waits);
            } else {
                merge_feed(&merge, merge.waits, s->blocks + (size_t)s->next * RECORD_BLOCK, s->length[s->next]);
                s->next++;
            }
        } else if (rc == MERGE_FULL) {
            record_writer_init(&w, out, sizeof out);
        } else if (rc < 0) {
            abort();
        }
    }
    return (now_ns() - start) / ((double)records * sources);
}

/* The least of all heads, by memcmp of all; numbers added where keys are equal. */
static double naive(unsigned sources, bool sum)
{
    double start = now_ns();
    unsigned next[MOST] = {0};
    uint8_t *to = plain_out;
    for (;;) {
        const uint8_t *least = NULL;
        unsigned from = 0;
        for (unsigned i = 0; i < sources; i++) {
            const uint8_t *at = stream[i].plain + (size_t)next[i] * RECORD;
            if (next[i] < records && (least == NULL || memcmp(at, least, KEY) < 0)) {
                least = at;
                from = i;
            }
        }
        if (least == NULL) {
            break;
        }
        next[from]++;
        if (sum && to > plain_out && memcmp(to - RECORD, least, KEY) == 0) {
            uint64_t a, b;
            memcpy(&a, to - VALUE, VALUE);
            memcpy(&b, least + KEY, VALUE);
            a += b;
            memcpy(to - VALUE, &a, VALUE);
            continue;
        }
        memcpy(to, least, RECORD);
        to += RECORD;
    }
    return (now_ns() - start) / ((double)records * sources);
}

static double copied(unsigned sources)
{
    double start = now_ns();
    for (unsigned i = 0; i < sources; i++) {
        memcpy(plain_out + (size_t)i * records * RECORD, stream[i].plain, (size_t)records * RECORD);
    }
    return (now_ns() - start) / ((double)records * sources);
}

static double median(double *of)
{
    qsort(of, ROUNDS, sizeof *of, ascending);
    return of[ROUNDS / 2];
}

static void compare(const char *name, unsigned sources, const char *combine, bool equal, bool urls)
{
    double ours[ROUNDS], peer[ROUNDS], bytes[ROUNDS];
    struct combine c;
    if (combine_read(combine, &c) < 0) {
        abort();
    }
    for (unsigned i = 0; i < sources; i++) {
        make(i, equal, urls);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        ours[i] = merged(sources, &c);
        peer[i] = naive(sources, c.table != NULL);
        bytes[i] = copied(sources);
    }
    double ns = median(ours), other = median(peer), copy = median(bytes);
    printf(
        "%-7s %u sources %6.1f ns a record  %5.1f M/s  goal 12   naive %6.1f ns, ratio %4.2f   memcpy %4.1f ns, ratio "
        "%4.2f\n",
        name, sources, ns, 1e3 / ns, other, other / ns, copy, copy / ns);
}

static int into_batch(void *context, cw_bytes key, cw_bytes value)
{
    return batch_add(context, key, value);
}

/* Words of a text to a sorted batch, and out of it. */
static void words(void)
{
    size_t length = (size_t)records * 40, size = length * 12 + BATCH_LEAST, used;
    uint8_t *text = malloc(length), *memory = malloc(size), *scratch = malloc(2 * (size_t)RECORD_BLOCK);
    struct mapper *m = malloc(sizeof *m);
    struct mapper_kind_of of;
    struct batch b;
    struct combine c;
    struct record_writer w;
    cw_bytes key;
    uint64_t state = 1;
    if (text == NULL || memory == NULL || scratch == NULL || m == NULL || combine_read("sum", &c) < 0 ||
        mapper_read("words", &of) < 0) {
        abort();
    }
    for (size_t i = 0; i < length;) { /* few words are frequent */
        uint64_t word = chance(&state) % (UINT64_C(1) << chance(&state) % 16);
        char one[16];
        int n = snprintf(one, sizeof one, "w%llx ", (unsigned long long)word);
        for (int k = 0; k < n && i < length; k++) {
            text[i++] = (uint8_t)one[k];
        }
    }
    double start = now_ns();
    batch_open(&b, memory, size, 96, &c);
    mapper_open(m, of, into_batch, &b);
    if (mapper_feed(m, text, length, &used) < 0) {
        abort();
    }
    double mapped = now_ns();
    batch_sort(&b);
    double sorted = now_ns();
    for (uint32_t p = 0; p < 96; p++) {
        struct batch_cursor cursor = batch_seek(&b, p, NULL, scratch);
        for (int rc = 1; rc > 0;) {
            record_writer_init(&w, out, sizeof out);
            rc = batch_read(&b, &cursor, &w, &key);
        }
    }
    double end = now_ns(), n = 0;
    for (size_t i = 0; i < length; i++) {
        n += text[i] == ' ';
    }
    printf("words of %.1f MB, %.2f M of them, %.0f unlike: map and combine %.0f ns a word, sort %.0f, write %.0f; %.0f "
           "MB/s in all\n",
           (double)length / 1e6, n / 1e6, (double)batch_records(&b), (mapped - start) / n, (sorted - mapped) / n,
           (end - sorted) / n, (double)length * 1e3 / (end - start));
    free(text);
    free(memory);
    free(scratch);
    free(m);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--smoke") == 0) {
        records = 2000;
    }
    for (unsigned i = 0; i < MOST; i++) {
        stream[i].plain = malloc((size_t)records * RECORD);
        stream[i].blocks = malloc((size_t)records * (RECORD + 4) + 2 * (size_t)RECORD_BLOCK);
    }
    plain_out = malloc((size_t)records * RECORD * MOST);
    for (unsigned sources = 2; sources <= MOST; sources += sources == 2 ? 2 : 3) {
        compare("apart", sources, "none", false, false);
        compare("unlike", sources, "sum", false, false);
        compare("equal", sources, "sum", true, false);
        compare("urls", sources, "sum", true, true);
    }
    words();
    for (unsigned i = 0; i < MOST; i++) {
        free(stream[i].plain);
        free(stream[i].blocks);
    }
    free(plain_out);
    return 0;
}
