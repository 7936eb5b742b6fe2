/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_share.c - the memory of attachments, each beside a raw limit of the same run: medians of alternating rounds, in
 * ns an operation, and the ratio. `--smoke` only shows that all of it runs.
 *
 *   one thread    puts and takes batches of 16 by itself: what the work costs, in processor time
 *   two threads   one puts, one takes, as fast as they can: by the clock. On a machine that has less than two
 *                 processors free this says nothing
 *
 * The peer of the command ring is a ring of the same slots that checks nothing: the same bytes by memcpy, an index on
 * each side. That of a lane is memcpy of the same bytes, in and out.
 */
#include "share/commands.h"
#include "share/lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, COMMANDS = 64, BATCH = 16, MOST = 192 };

static _Alignas(SHARE_PAGE) unsigned char sub[1 << 16], com[1 << 18], area[2][SHARE_LANE_AREA];
static const struct share_geometry geometry = {COMMANDS, 64 << 10, 0};
static struct share_putter putter;
static struct share_taker taker;
static struct share_teller teller;
static struct share_lane lane[2];
static struct share_tables tables;
static const uint64_t open_set[1] = {UINT64_MAX};
static unsigned char payload[MOST], got[MOST];
static uint32_t length;
static volatile uint64_t sink;

/* The plain ring: as much of a slot as is needed, copied in and out. */
static _Alignas(SHARE_LINE) unsigned char plain_slots[COMMANDS][SHARE_SLOT_BYTES];
static _Alignas(SHARE_LINE) _Atomic uint32_t plain_tail;
static _Alignas(SHARE_LINE) _Atomic uint32_t plain_head;

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void open_rings(void)
{
    struct share_out our_sub = share_out_of(sub, sizeof sub), our_com = share_out_of(com, sizeof com);
    struct share_in their_sub = share_in_of(sub, sizeof sub), their_com = share_in_of(com, sizeof com);
    memset(sub, 0, sizeof sub);
    memset(com, 0, sizeof com);
    memset(area, 0, sizeof area);
    share_putter_open(&putter, &our_sub, &their_com, &geometry, 0);
    share_teller_open(&teller, &our_com, &their_sub, &geometry, 0);
    share_taker_open(&taker, &their_sub, &our_com, &teller, &geometry, 0);
    for (unsigned i = 0; i < 2; i++) {
        struct share_out ours = share_out_of(area[i], SHARE_LANE_AREA);
        struct share_in theirs = share_in_of(area[1 - i], SHARE_LANE_AREA);
        share_lane_open(&lane[i], &ours, &theirs, 0);
    }
    tables = (struct share_tables){.endpoint = open_set, .peer = open_set, .endpoints = 64, .peers = 64};
    atomic_store(&plain_tail, 0);
    atomic_store(&plain_head, 0);
}

/* Each puts or takes up to so many and says how many it did. */
static unsigned put_commands(unsigned most)
{
    struct share_command c = {.op = SHARE_OP_SHORT, .endpoint = 3, .peer = 7, .length = length, .user = most};
    unsigned done = 0;
    while (done < most && share_putter_put(&putter, &c, NULL, 0, payload, length) == 0) {
        done++;
    }
    share_putter_publish(&putter);
    return done;
}

static unsigned take_commands(unsigned most)
{
    struct share_taken t;
    unsigned done = 0;
    int rc = share_taker_look(&taker);
    while (rc > 0 && done < most && (rc = share_taker_next(&taker, &tables, &t)) == 1) {
        share_taker_body(&taker, &tables, &t, got);
        share_teller_keep_silent(&teller);
        done++;
    }
    share_taker_publish(&taker);
    if (rc < 0) {
        abort();
    }
    return done;
}

static unsigned put_plain(unsigned most)
{
    uint64_t command[SHARE_COMMAND_WORDS] = {SHARE_OP_SHORT, most};
    uint32_t tail = atomic_load_explicit(&plain_tail, memory_order_relaxed);
    uint32_t room = COMMANDS - (tail - atomic_load_explicit(&plain_head, memory_order_acquire));
    unsigned done = 0;
    for (; done < most && done < room; done++) {
        unsigned char *slot = plain_slots[(tail + done) % COMMANDS];
        memcpy(slot, command, sizeof command);
        memcpy(slot + sizeof command, payload, length);
    }
    atomic_store_explicit(&plain_tail, tail + done, memory_order_release);
    return done;
}

static unsigned take_plain(unsigned most)
{
    uint64_t command[SHARE_COMMAND_WORDS];
    uint32_t head = atomic_load_explicit(&plain_head, memory_order_relaxed);
    uint32_t there = atomic_load_explicit(&plain_tail, memory_order_acquire) - head;
    unsigned done = 0;
    for (; done < most && done < there; done++) {
        const unsigned char *slot = plain_slots[(head + done) % COMMANDS];
        memcpy(command, slot, sizeof command);
        memcpy(got, slot + sizeof command, length);
        sink = command[1];
    }
    atomic_store_explicit(&plain_head, head + done, memory_order_release);
    return done;
}

static unsigned put_lane(unsigned most)
{
    unsigned done = 0;
    while (done < most && share_lane_put(&lane[0], 3, done, payload, length) == 0) {
        done++;
    }
    (void)!share_lane_publish(&lane[0]);
    return done;
}

static unsigned take_lane(unsigned most)
{
    struct share_lane_message m;
    unsigned done = 0;
    while (done < most && share_lane_take(&lane[1], UINT64_MAX, &m, got, sizeof got) == 1) {
        done++;
    }
    (void)!share_lane_publish(&lane[1]);
    return done;
}

struct pair {
    const char *name;
    unsigned (*put)(unsigned most);
    unsigned (*take)(unsigned most);
};

static const struct pair commands = {"commands", put_commands, take_commands};
static const struct pair plain = {"plain ring", put_plain, take_plain};
static const struct pair lanes = {"lane", put_lane, take_lane};

static double alone(const struct pair *p, uint64_t ops)
{
    uint64_t done = 0;
    double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    while (done < ops) {
        (void)p->put(BATCH);
        done += p->take(BATCH);
    }
    return (now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)done;
}

struct job {
    const struct pair *pair;
    uint64_t ops;
};

static void *puts_all(void *arg)
{
    const struct job *j = arg;
    for (uint64_t done = 0; done < j->ops;) {
        uint64_t left = j->ops - done;
        unsigned did = j->pair->put(left < BATCH ? (unsigned)left : BATCH);
        if (did == 0) {
            sched_yield();
        }
        done += did;
    }
    return NULL;
}

static double together(const struct pair *p, uint64_t ops)
{
    pthread_t thread;
    struct job j = {p, ops};
    double start = now_ns(CLOCK_BOOTTIME);
    if (pthread_create(&thread, NULL, puts_all, &j) != 0) {
        abort();
    }
    for (uint64_t done = 0; done < ops;) {
        unsigned did = p->take(BATCH);
        if (did == 0) {
            sched_yield();
        }
        done += did;
    }
    pthread_join(thread, NULL);
    return (now_ns(CLOCK_BOOTTIME) - start) / (double)ops;
}

/* memcpy of a message in and out of a ring's memory, as lanes do. */
static double copied(uint64_t ops)
{
    double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < ops; i++) {
        unsigned char *at = area[0] + SHARE_LANE_RECORDS + i * 256 % (SHARE_LANE_RING / 2);
        memcpy(at, payload, length);
        __asm__ volatile("" ::: "memory");
        memcpy(got, at, length);
        __asm__ volatile("" ::: "memory");
    }
    return (now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)ops;
}

static double judged(uint64_t ops)
{
    struct share_shape shape;
    struct share_command c = {.op = SHARE_OP_SHORT, .endpoint = 3, .peer = 7, .length = length};
    double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < ops; i++) {
        c.user = i;
        c.peer = 1 + (uint32_t)(i % 60);
        sink = (uint64_t)share_command_judge(&c, &tables, &shape);
    }
    return (now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)ops;
}

static void print(const char *what, const char *peer, double a[ROUNDS], double b[ROUNDS])
{
    qsort(a, ROUNDS, sizeof *a, ascending);
    qsort(b, ROUNDS, sizeof *b, ascending);
    double ours = a[ROUNDS / 2], theirs = b[ROUNDS / 2];
    printf("%-34s %4u B %9.2f ns %7.2f M/s   %-12s %9.2f ns   %6.2f\n", what, length, ours, 1e3 / ours, peer, theirs,
           ours / theirs);
}

static void compare(const char *what, const struct pair *ours, double (*how)(const struct pair *, uint64_t),
                    uint64_t ops)
{
    double a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        open_rings();
        a[i] = how(ours, ops);
        b[i] = how(&plain, ops);
    }
    print(what, plain.name, a, b);
}

static void compare_copies(uint64_t ops)
{
    double a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        open_rings();
        a[i] = alone(&lanes, ops);
        b[i] = copied(ops);
    }
    print("lane, one thread", "memcpy twice", a, b);
}

static void compare_judge(uint64_t ops)
{
    double a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        open_rings();
        a[i] = judged(ops);
        b[i] = alone(&plain, ops);
    }
    print("judge of a short message alone", "plain ring", a, b);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    uint64_t ops = smoke ? 2000 : 2000000;
    static const uint32_t lengths[] = {0, 64, MOST};
    printf("medians of %d rounds; the last column is ours by the peer's\n", ROUNDS);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        length = lengths[i];
        compare("commands, one thread", &commands, alone, ops);
        compare("commands, two threads", &commands, together, ops);
        compare("lane, two threads", &lanes, together, ops);
        if (length > 0) {
            compare_copies(ops);
        }
    }
    length = 64;
    compare_judge(ops);
    return 0;
}
