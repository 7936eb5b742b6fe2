/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/book.h"

#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct job_record record_of(struct book *b, cw_job job)
{
    size_t size = 0;
    const uint8_t *bytes = book_record(b, job, &size);
    struct job_record r;
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(job_record_decode(bytes, size, &r), WIRE_OK);
    return r;
}

static struct book *opened(uint32_t servers)
{
    struct book *b;
    ck_assert_int_eq(book_open(&b, servers), 0);
    return b;
}

START_TEST(a_job_has_a_process_on_each_server)
{
    struct book *b = opened(27);
    size_t size;
    ck_assert_int_eq(book_add(b, 7, "kv"), 0);
    ck_assert_int_eq(book_add(b, 7, "other"), 0);
    ck_assert_int_eq(book_add(b, 1234567890, NULL), 0);
    struct job_record r = record_of(b, 7);
    struct job_range range = job_record_range(&r, 0);
    ck_assert(r.job == 7 && r.version == 1 && r.generation == 1 && r.ranges == 1 && r.grants == 0);
    ck_assert(range.first == 0 && range.count == 27 && range.server == 0);
    ck_assert_str_eq(r.name, "kv");
    ck_assert_str_eq(record_of(b, 1234567890).name, "job-1234567890");
    ck_assert_ptr_null(book_record(b, 8, &size));
    book_close(b);
    book_close(NULL);
}
END_TEST

START_TEST(what_is_no_job_is_refused)
{
    struct book *b = opened(1);
    const struct book_grant none = {.from = 0, .to = 1, .all_processes = true};
    const struct book_grant upside = {.from = 1, .to = 1, .processes = {2, 1}};
    ck_assert_int_eq(book_add(b, 0, "zero"), -EINVAL);
    ck_assert_int_eq(book_add(b, 1, "a b"), -EINVAL);
    ck_assert_int_eq(book_add(b, 1, ""), -EINVAL);
    ck_assert_int_eq(book_add(b, 1, "abcdefghijabcdefghijabcdefghij12"), -EINVAL);
    ck_assert_int_eq(book_allow(b, &none), -EINVAL);
    ck_assert_int_eq(book_allow(b, &upside), -EINVAL);
    for (cw_job job = 1; job <= BOOK_JOBS_MAX; job++) {
        ck_assert_int_eq(book_add(b, job, NULL), 0);
    }
    ck_assert_int_eq(book_add(b, 1000, NULL), -ENOSPC);
    book_close(b);
}
END_TEST

START_TEST(grants_add_up)
{
    struct book *b = opened(8);
    const struct book_grant some[] = {
        {.from = 1, .to = 2, .port = 9, .processes = {4, 5}},
        {.from = 1, .to = 2, .port = 9, .processes = {0, 1}},
        {.from = 1, .to = 2, .port = 9, .processes = {2, 2}}, /* closes up to the left */
        {.from = 1, .to = 2, .any_port = true, .all_processes = true},
        {.from = 1, .to = 2, .any_port = true, .processes = {1, 1}}, /* is there already */
        {.from = 1, .to = 1, .port = 0, .processes = {3, 3}},
        {.from = 1, .to = 1, .port = 0, .all_processes = true},
        {.from = 3, .to = 1, .port = 0, .all_processes = true},
    };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        ck_assert_int_eq(book_allow(b, &some[i]), 0);
    }
    struct job_record r = record_of(b, 1);
    ck_assert_uint_eq(r.grants, 3);
    const uint8_t *at = r.grant_bytes;
    struct job_grant g = job_record_next_grant(&at);
    ck_assert(g.job == 1 && g.all_processes && !g.all_ports && g.ports == 1 && job_grant_port(&g, 0) == 0);
    g = job_record_next_grant(&at);
    ck_assert(g.job == 2 && g.all_processes && g.all_ports);
    g = job_record_next_grant(&at);
    ck_assert(g.job == 2 && g.spans == 2 && g.ports == 1 && job_grant_port(&g, 0) == 9);
    ck_assert(job_grant_span(&g, 0).first == 0 && job_grant_span(&g, 0).last == 2);
    ck_assert(job_grant_span(&g, 1).first == 4 && job_grant_span(&g, 1).last == 5);
    ck_assert_uint_eq(record_of(b, 3).grants, 1);
    ck_assert_uint_eq(record_of(b, 2).grants, 0);
    book_close(b);
}
END_TEST

START_TEST(it_can_be_full)
{
    struct book *b = opened(1);
    struct book_grant g = {.from = 1, .to = 2};
    for (unsigned i = 0; i < BOOK_SPANS_MAX; i++) {
        g.processes = (struct job_span){2 * i, 2 * i};
        ck_assert_int_eq(book_allow(b, &g), 0);
    }
    g.processes = (struct job_span){1000, 1000};
    ck_assert_int_eq(book_allow(b, &g), -ENOSPC);
    g.processes = (struct job_span){0, UINT32_MAX};
    ck_assert_int_eq(book_allow(b, &g), 0);
    for (unsigned i = 1; i < BOOK_GRANTS_MAX; i++) {
        g.port = (cw_port)i;
        ck_assert_int_eq(book_allow(b, &g), 0);
    }
    g.port = BOOK_GRANTS_MAX;
    ck_assert_int_eq(book_allow(b, &g), -ENOSPC);
    ck_assert_uint_eq(record_of(b, 1).grants, BOOK_GRANTS_MAX);
    book_close(b);
}
END_TEST

/* Whatever is granted in whatever order, the record says the same as the list. */
START_TEST(random_grants_are_what_they_say)
{
    enum { PROCESSES = 12, PORTS = 3 };
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng rng = {seed};
        struct book *b = opened(PROCESSES);
        bool may[PORTS + 1][PROCESSES] = {{false}};
        for (unsigned i = 0; i < 12; i++) {
            struct book_grant g = {.from = 5, .to = 6, .any_port = rng_below(&rng, 6) == 0};
            g.port = (cw_port)rng_below(&rng, PORTS);
            g.processes.first = (cw_process)rng_below(&rng, PROCESSES);
            g.processes.last = g.processes.first + (cw_process)rng_below(&rng, PROCESSES - g.processes.first);
            ck_assert_int_eq(book_allow(b, &g), 0);
            for (cw_process p = g.processes.first; p <= g.processes.last; p++) {
                may[g.any_port ? PORTS : g.port][p] = true;
            }
        }
        bool says[PORTS + 1][PROCESSES] = {{false}};
        struct job_record r = record_of(b, 5);
        const uint8_t *at = r.grant_bytes;
        for (unsigned i = 0; i < r.grants; i++) {
            struct job_grant g = job_record_next_grant(&at);
            unsigned port = g.all_ports ? PORTS : job_grant_port(&g, 0);
            for (unsigned k = 0; k < g.spans; k++) {
                struct job_span span = job_grant_span(&g, k);
                for (cw_process p = span.first; p <= span.last; p++) {
                    says[port][p] = true;
                }
            }
        }
        ck_assert_msg(memcmp(may, says, sizeof may) == 0, "seed %llu", (unsigned long long)seed);
        book_close(b);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_job_has_a_process_on_each_server),
    SUITE_TEST(what_is_no_job_is_refused),
    SUITE_TEST(grants_add_up),
    SUITE_TEST(it_can_be_full),
    SUITE_TEST(random_grants_are_what_they_say),
};
SUITE_MAIN("book", tests)
