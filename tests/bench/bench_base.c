/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools of runtime/base, each beside a peer that does the same work in the same run: medians of alternating
 * rounds, in ns an operation, and the ratio. `--smoke` only shows that all of it runs.
 */
#include "base/digest.h"
#include "base/heap.h"
#include "base/pool.h"
#include "base/prng.h"
#include "base/ring.h"
#include "base/sum.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, BURST = 64, OBJECT = 256, PENDING = 4096, SLOTS = 1024, BATCH = 32 };

static volatile uint64_t sink;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A side of a comparison does ops operations and returns how many it really did. */
typedef uint64_t (*side)(uint64_t ops);

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double ns_per_op(side run, uint64_t ops)
{
    double start = now_ns();
    uint64_t done = run(ops);
    return (now_ns() - start) / (double)done;
}

static void compare(const char *what, side ours, const char *peer_name, side peer, uint64_t ops)
{
    double a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        a[i] = ns_per_op(ours, ops);
        b[i] = ns_per_op(peer, ops);
    }
    qsort(a, ROUNDS, sizeof *a, ascending);
    qsort(b, ROUNDS, sizeof *b, ascending);
    printf("%-38s %8.2f   %-38s %8.2f   %6.2f\n", what, a[ROUNDS / 2], peer_name, b[ROUNDS / 2],
           a[ROUNDS / 2] / b[ROUNDS / 2]);
}

/* Pool against malloc: bursts of takes, a touch each, then gives. */
static struct pool pool;

static uint64_t pool_bursts(uint64_t ops)
{
    void *out[BURST];
    uint64_t done = 0;
    for (; done < ops; done += BURST) {
        for (int i = 0; i < BURST; i++) {
            out[i] = pool_take(&pool);
            *(volatile char *)out[i] = 1;
        }
        for (int i = BURST; i-- > 0;) {
            pool_give(&pool, out[i]);
        }
    }
    return done;
}

static uint64_t malloc_bursts(uint64_t ops)
{
    void *out[BURST];
    uint64_t done = 0;
    for (; done < ops; done += BURST) {
        for (int i = 0; i < BURST; i++) {
            out[i] = malloc(OBJECT);
            *(volatile char *)out[i] = 1;
        }
        for (int i = BURST; i-- > 0;) {
            free(out[i]);
        }
    }
    return done;
}

/*
 * Heap: take the least, put it back later ("hold"), with 4,096 pending. The peer is the binary heap of the
 * textbooks.
 */
static struct heap heap;
static struct heap_entry entries[PENDING];
static struct prng chance;
static int64_t spread;

static int64_t later(void)
{
    return 1 + (int64_t)prng_below(&chance, (uint64_t)spread);
}

static void heap_start(void)
{
    for (int i = 0; i < PENDING; i++) {
        entries[i] = (struct heap_entry){.place = 0};
        if (heap_insert(&heap, &entries[i], (cw_time){later()}, (uint64_t)i) != 0) {
            abort();
        }
    }
}

static uint64_t heap_hold(uint64_t ops)
{
    heap.end = HEAP_ROOT;
    heap_start();
    for (uint64_t i = 0; i < ops; i++) {
        struct heap_entry *e = heap_pop(&heap);
        sink += heap_insert(&heap, e, (cw_time){e->at.ns + later()}, PENDING + i) != 0;
    }
    return ops;
}

struct naive_entry {
    int64_t at_ns;
    uint64_t sequence;
    uint32_t place;
};

static struct naive_entry naive[PENDING];
static struct naive_entry *binary[PENDING + 1];
static uint32_t binary_count;

static bool entry_before(const struct naive_entry *a, const struct naive_entry *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->sequence < b->sequence);
}

static void binary_insert(struct naive_entry *e)
{
    uint32_t i = ++binary_count;
    for (; i > 1 && entry_before(e, binary[i / 2]); i /= 2) {
        binary[i] = binary[i / 2];
        binary[i]->place = i;
    }
    binary[i] = e;
    e->place = i;
}

static struct naive_entry *binary_pop(void)
{
    struct naive_entry *least = binary[1], *last = binary[binary_count--];
    uint32_t i = 1;
    for (uint32_t c = 2; c <= binary_count; c *= 2) {
        c += c < binary_count && entry_before(binary[c + 1], binary[c]);
        if (!entry_before(binary[c], last)) {
            break;
        }
        binary[i] = binary[c];
        binary[i]->place = i;
        i = c;
    }
    binary[i] = last;
    last->place = i;
    return least;
}

static uint64_t binary_hold(uint64_t ops)
{
    binary_count = 0;
    for (int i = 0; i < PENDING; i++) {
        naive[i].at_ns = later();
        naive[i].sequence = (uint64_t)i;
        binary_insert(&naive[i]);
    }
    for (uint64_t i = 0; i < ops; i++) {
        struct naive_entry *e = binary_pop();
        e->at_ns += later();
        e->sequence = PENDING + i;
        binary_insert(e);
    }
    return ops;
}

/* Ring: one way between two threads, in batches. The peers: a queue under a mutex, and the same ring one by one. */
static struct ring ring;
static void *ring_slots[SLOTS];
static uint64_t to_come;

static void *ring_drain(void *unused)
{
    void *batch[BATCH];
    for (uint64_t got = 0; got < to_come;) {
        uint32_t n = ring_pop_batch(&ring, batch, BATCH);
        got += n;
        if (n == 0) {
            sched_yield(); /* two threads may share one core here */
        }
    }
    return unused;
}

static void *ring_drain_single(void *unused)
{
    for (uint64_t got = 0; got < to_come;) {
        if (ring_pop(&ring) != NULL) {
            got++;
        } else {
            sched_yield();
        }
    }
    return unused;
}

static void *a_batch[BATCH];

static uint64_t ring_push_all(void)
{
    uint64_t sent = 0;
    while (sent < to_come) {
        uint64_t left = to_come - sent;
        uint32_t n = ring_push_batch(&ring, a_batch, left < BATCH ? (uint32_t)left : BATCH);
        sent += n;
        if (n == 0) {
            sched_yield();
        }
    }
    return sent;
}

static uint64_t ring_push_singles(void)
{
    uint64_t sent = 0;
    while (sent < to_come) {
        if (ring_push(&ring, a_batch[0])) {
            sent++;
        } else {
            sched_yield();
        }
    }
    return sent;
}

static struct {
    pthread_mutex_t lock;
    void *slots[SLOTS];
    uint32_t head, tail;
} locked = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint32_t locked_move(bool push, void **items, uint32_t count)
{
    pthread_mutex_lock(&locked.lock);
    uint32_t here = locked.tail - locked.head;
    uint32_t most = push ? SLOTS - here : here;
    count = count < most ? count : most;
    for (uint32_t i = 0; i < count; i++) {
        if (push) {
            locked.slots[locked.tail++ % SLOTS] = items[i];
        } else {
            items[i] = locked.slots[locked.head++ % SLOTS];
        }
    }
    pthread_mutex_unlock(&locked.lock);
    return count;
}

static void *locked_drain(void *unused)
{
    void *batch[BATCH];
    for (uint64_t got = 0; got < to_come;) {
        uint32_t n = locked_move(false, batch, BATCH);
        got += n;
        if (n == 0) {
            sched_yield();
        }
    }
    return unused;
}

static uint64_t locked_push_all(void)
{
    uint64_t sent = 0;
    while (sent < to_come) {
        uint64_t left = to_come - sent;
        uint32_t n = locked_move(true, a_batch, left < BATCH ? (uint32_t)left : BATCH);
        sent += n;
        if (n == 0) {
            sched_yield();
        }
    }
    return sent;
}

static uint64_t with_consumer(void *(*consumer)(void *), uint64_t (*producer)(void), uint64_t ops)
{
    pthread_t thread;
    to_come = ops;
    if (pthread_create(&thread, NULL, consumer, NULL) != 0) {
        abort();
    }
    uint64_t sent = producer();
    pthread_join(thread, NULL);
    return sent;
}

static uint64_t ring_batches(uint64_t ops)
{
    return with_consumer(ring_drain, ring_push_all, ops);
}

static uint64_t ring_singles(uint64_t ops)
{
    return with_consumer(ring_drain_single, ring_push_singles, ops);
}

static uint64_t locked_batches(uint64_t ops)
{
    return with_consumer(locked_drain, locked_push_all, ops);
}

/* Draws. */
static uint64_t prng_draws(uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        sum += prng_next(&chance);
    }
    sink += sum;
    return ops;
}

static uint64_t libc_draws(uint64_t ops)
{
    static char state[128];
    struct random_data data = {0};
    int32_t draw;
    uint64_t sum = 0;
    initstate_r(1, state, sizeof state, &data);
    for (uint64_t i = 0; i < ops; i++) {
        random_r(&data, &draw);
        sum += (uint64_t)draw;
    }
    sink += sum;
    return ops;
}

static uint64_t prng_belows(uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        sum += prng_below(&chance, 1000 + (i & 7));
    }
    sink += sum;
    return ops;
}

static uint64_t modulo_draws(uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        sum += prng_next(&chance) % (1000 + (i & 7));
    }
    sink += sum;
    return ops;
}

static uint64_t prng_exponentials(uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        sum += (uint64_t)prng_span_exponential(&chance, CW_US(72)).ns;
    }
    sink += sum;
    return ops;
}

static uint64_t log_exponentials(uint64_t ops)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < ops; i++) {
        double u = ((double)(prng_next(&chance) >> 11) + 1) * 0x1p-53;
        sum += (uint64_t)(-72000.0 * log(u));
    }
    sink += sum;
    return ops;
}

/* A record of four words replaced in a set. The peer hashes the same 32 bytes with FNV-1a. */
static uint64_t set_replaces(uint64_t ops)
{
    struct digest_set set = {0};
    for (uint64_t i = 0; i < ops; i++) {
        digest_set_add(&set, digest_of_words((uint64_t[]){i, i + 1, i + 2, i + 3}, 4));
    }
    sink += set.value;
    return ops;
}

static uint64_t fnv_replaces(uint64_t ops)
{
    uint64_t set = 0;
    for (uint64_t i = 0; i < ops; i++) {
        uint64_t words[4] = {i, i + 1, i + 2, i + 3}, hash = 0xcbf29ce484222325;
        unsigned char bytes[sizeof words];
        memcpy(bytes, words, sizeof bytes);
        for (size_t b = 0; b < sizeof bytes; b++) {
            hash = (hash ^ bytes[b]) * 0x100000001b3;
        }
        set += hash;
    }
    sink += set;
    return ops;
}

static uint64_t block[1120]; /* as much as a piece of a message in a jumbo frame */

static uint64_t block_sums(uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++) {
        block[i % 1120] = i;
        sink += sum_of(i, block, sizeof block);
    }
    return ops;
}

static uint64_t block_digests(uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++) {
        block[i % 1120] = i;
        sink += digest_of(block, sizeof block);
    }
    return ops;
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    uint64_t ops = smoke ? 10000 : 4000000;
    chance = prng_stream(1, 0, 0);
    struct pool_config config = {.size = OBJECT, .align = 64, .chunk = 1024, .reserve = BURST, .limit = BURST};
    void *memory = malloc(heap_size(PENDING));
    if (pool_open(&pool, &config) != 0 || memory == NULL) {
        return 1;
    }
    heap_init(&heap, memory, PENDING);
    ring_init(&ring, ring_slots, SLOTS);
    for (int i = 0; i < BATCH; i++) {
        a_batch[i] = &a_batch[i];
    }
    printf("%-38s %8s   %-38s %8s   %6s\n", "ours", "ns", "peer", "ns", "ratio");
    compare("pool take + give, bursts of 64", pool_bursts, "malloc + free", malloc_bursts, ops);
    spread = 1000000000;
    compare("heap pop + insert, 4,096 pending", heap_hold, "binary heap of pointers", binary_hold, ops / 4);
    spread = 16;
    compare("the same, most times equal", heap_hold, "binary heap of pointers", binary_hold, ops / 4);
    compare("ring, two threads, batches of 32", ring_batches, "queue under a mutex, same batches", locked_batches, ops);
    compare("ring, two threads, batches of 32", ring_batches, "ring, one by one", ring_singles, ops);
    compare("prng draw", prng_draws, "random_r (31 bits)", libc_draws, ops);
    compare("prng below n", prng_belows, "draw % n (biased)", modulo_draws, ops);
    compare("prng exponential", prng_exponentials, "-log(u) in floating point", log_exponentials, ops);
    compare("set digest, a record of 32 bytes", set_replaces, "FNV-1a of 32 bytes", fnv_replaces, ops);
    compare("sum, a block of 8,960 bytes", block_sums, "SipHash-1-3 of the same", block_digests, ops / 64);
    pool_close(&pool);
    free(memory);
    return 0;
}
