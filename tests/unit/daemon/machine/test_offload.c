/* SPDX-License-Identifier: Apache-2.0 */
/* test_offload.c - work is done once, elsewhere, and told once. */
#include "daemon/machine/offload.h"
#include "suite.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic unsigned worked;
static pthread_t here;
static _Atomic bool elsewhere;

static void work(void *arg)
{
    atomic_fetch_add(&worked, *(unsigned *)arg);
    if (!pthread_equal(pthread_self(), here)) {
        atomic_store(&elsewhere, true);
    }
}

START_TEST(each_is_told_once)
{
    enum { JOBS = 1000 };
    struct offload *o;
    static bool told[JOBS];
    unsigned one = 1, count = 0;
    here = pthread_self();
    ck_assert_int_eq(offload_open(&o, 2), 0);
    for (uint64_t i = 0; i < JOBS; i++) {
        offload_give(o, work, &one, &one, i);
    }
    while (count < JOBS) {
        struct pollfd fd = {.fd = offload_fd(o), .events = POLLIN};
        ck_assert_int_eq(poll(&fd, 1, 10000), 1);
        struct offload_done done[7];
        unsigned n = offload_collect(o, done, 7);
        for (unsigned i = 0; i < n; i++) {
            ck_assert(done[i].owner == &one && done[i].ticket < JOBS && !told[done[i].ticket]);
            told[done[i].ticket] = true;
        }
        count += n;
    }
    ck_assert_uint_eq(atomic_load(&worked), JOBS);
    ck_assert(atomic_load(&elsewhere));
    offload_close(o);
}
END_TEST

START_TEST(drained_is_done)
{
    struct offload *o;
    unsigned one = 1;
    struct offload_done done[4];
    ck_assert_int_eq(offload_open(&o, 1), 0);
    offload_drain(o);
    for (unsigned i = 0; i < 3; i++) {
        offload_give(o, work, &one, NULL, i);
    }
    offload_drain(o);
    ck_assert_uint_eq(offload_collect(o, done, 4), 3);
    ck_assert_uint_eq(offload_collect(o, done, 4), 0);
    offload_give(o, work, &one, NULL, 9); /* nobody collects it */
    offload_close(o);
}
END_TEST

static void read_rights(void *arg)
{
    char line[256];
    FILE *status = fopen("/proc/thread-self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        (void)sscanf(line, "CapPrm: %llx", (unsigned long long *)arg);
    }
    if (status != NULL) {
        fclose(status);
    }
}

/* Whatever the thread that gives it may do (nothing, when the test is no root's). */
START_TEST(work_is_done_without_rights)
{
    struct offload *o;
    unsigned long long before = ~0ULL, there = ~0ULL, after = ~0ULL;
    read_rights(&before);
    ck_assert_int_eq(offload_open(&o, 1), 0);
    offload_give(o, read_rights, &there, NULL, 0);
    offload_drain(o);
    read_rights(&after);
    ck_assert_uint_eq(there, 0);
    ck_assert_uint_eq(after, before);
    offload_close(o);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(each_is_told_once),
    SUITE_TEST(drained_is_done),
    SUITE_TEST(work_is_done_without_rights),
};
SUITE_MAIN("offload", tests)
