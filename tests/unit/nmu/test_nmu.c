/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs.h"
#include "nmu/nmu.h"
#include "suite.h"

#include <errno.h>

static int put(struct nmu *n, const struct plain_job *job)
{
    uint8_t bytes[JOBS_BYTES];
    struct job_record record = plain_record(job, bytes, sizeof bytes);
    return nmu_job_put(n, &record);
}

/* A job of processes 0..9 on servers 100.. that may reach all processes of `remote` on all ports; 0: nobody. */
static struct plain_job job_of(cw_job job, uint64_t version, cw_job remote)
{
    struct plain_job j = {.job = job, .version = version, .generation = 1, .ranges = 1};
    j.range[0] = (struct job_range){0, 10, 100};
    if (remote != 0) {
        j.grants = 1;
        j.grant[0] = (struct plain_grant){.job = remote, .all_processes = true, .all_ports = true};
    }
    return j;
}

static bool may(struct nmu *n, uint32_t speaker, cw_job job, cw_process process)
{
    struct nmu_pass pass;
    return nmu_ask(n, speaker, &(struct nmu_to){.job = job, .process = process}, &pass) == NMU_ALLOWED;
}

static void open_small(struct nmu *n)
{
    struct nmu_config c = nmu_config_default();
    c.speakers = c.jobs = c.privileges = 4;
    c.spans = c.ranges = 4;
    ck_assert_int_eq(nmu_open(n, &c), 0);
    ck_assert_uint_gt(nmu_bytes(n), 0);
}

START_TEST(only_what_is_needed_is_held)
{
    struct nmu n;
    open_small(&n);
    struct plain_job one = job_of(1, 1, 2), two = job_of(2, 1, 3);
    ck_assert_int_eq(put(&n, &one), 0); /* nobody of it is here */
    ck_assert_ptr_null(nmu_job(&n, 1));
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 5, 0), 0);
    uint32_t from = 0;
    ck_assert_uint_eq(nmu_missing(&n, &from), 1);
    ck_assert_uint_eq(nmu_missing(&n, &from), 0);
    ck_assert_int_eq(put(&n, &one), 1);
    from = 0;
    ck_assert_uint_eq(nmu_missing(&n, &from), 2);
    ck_assert(!may(&n, 0, 2, 0));
    ck_assert_int_eq(put(&n, &two), 1);
    ck_assert(may(&n, 0, 2, 0));
    ck_assert(!may(&n, 0, 2, 10));
    ck_assert_ptr_null(nmu_job(&n, 3)); /* two reaches it, and two is not resident */
    ck_assert(!may(&n, 0, 1, 0));       /* its own job is a remote job like any other */
    one = job_of(1, 2, 3);
    ck_assert_int_eq(put(&n, &one), 1);
    ck_assert_ptr_null(nmu_job(&n, 2)); /* nobody reaches it any more */
    ck_assert(!may(&n, 0, 2, 0));
    nmu_vacate(&n, 0);
    ck_assert_ptr_null(nmu_job(&n, 1));
    ck_assert_ptr_null(nmu_job(&n, 3));
    ck_assert_uint_eq(n.tables.privilege.used, 0);
    nmu_vacate(&n, 0);
    ck_assert_uint_eq(n.denied.total, 4);
    nmu_close(&n);
}
END_TEST

START_TEST(an_older_record_is_refused)
{
    struct nmu n;
    open_small(&n);
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 0, 0), 0);
    struct plain_job v2 = job_of(1, 2, 1), v1 = job_of(1, 1, 2), v3 = job_of(1, 3, 0);
    ck_assert_int_eq(put(&n, &v2), 1);
    ck_assert_int_eq(put(&n, &v1), -ESTALE);
    ck_assert_int_eq(put(&n, &v2), 0);
    ck_assert(may(&n, 0, 1, 0));
    ck_assert_int_eq(put(&n, &v3), 1);
    ck_assert(!may(&n, 0, 1, 0));
    ck_assert_int_eq(put(&n, &v2), -ESTALE);
    v3.version = 4;
    v3.destroyed = true;
    v3.ranges = 0;
    ck_assert_int_eq(put(&n, &v3), 1);
    struct nmu_pass pass;
    ck_assert_uint_eq(nmu_ask(&n, 0, &(struct nmu_to){.job = 1}, &pass), NMU_DESTROYED);
    struct plain_job again = job_of(1, 5, 1);
    again.generation = 2;
    ck_assert_int_eq(put(&n, &again), 1);
    ck_assert(may(&n, 0, 1, 0));
    again.version = 6;
    again.generation = 1;
    ck_assert_int_eq(put(&n, &again), -ESTALE);
    nmu_close(&n);
}
END_TEST

/* What does not fit changes nothing: privileges, spans, ranges, places. */
START_TEST(a_record_is_taken_in_whole_or_not_at_all)
{
    struct nmu n;
    open_small(&n);
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 0, 0), 0);
    struct plain_job good = job_of(1, 1, 1);
    ck_assert_int_eq(put(&n, &good), 1);

    struct plain_job bad = job_of(1, 2, 2);
    bad.grant[0].all_ports = false;
    bad.grant[0].ports = 5;
    for (cw_port i = 0; i < 5; i++) {
        bad.grant[0].port[i] = i;
    }
    ck_assert_int_eq(put(&n, &bad), -ENOSPC);
    bad = job_of(1, 2, 2);
    bad.grant[0].all_processes = false;
    bad.grant[0].spans = 5;
    for (cw_process i = 0; i < 5; i++) {
        bad.grant[0].span[i] = (struct job_span){2 * i, 2 * i};
    }
    ck_assert_int_eq(put(&n, &bad), -ENOSPC);
    bad = job_of(1, 2, 2);
    bad.ranges = 5;
    for (uint32_t i = 0; i < 5; i++) {
        bad.range[i] = (struct job_range){2 * i, 1, 0};
    }
    ck_assert_int_eq(put(&n, &bad), -ENOSPC);
    bad = job_of(1, 2, 2);
    bad.grants = 4;
    for (unsigned i = 0; i < 4; i++) {
        bad.grant[i] = bad.grant[0];
        bad.grant[i].job = 2 + i;
    }
    ck_assert_int_eq(put(&n, &bad), -ENOSPC);

    ck_assert(may(&n, 0, 1, 9));
    ck_assert(!may(&n, 0, 2, 0));
    ck_assert_uint_eq(nmu_job(&n, 1)->version, 1);
    bad.grants = 3;
    ck_assert_int_eq(put(&n, &bad), 1);
    ck_assert_int_eq(nmu_reside(&n, 1, 9, 0, 0), -ENOSPC);
    nmu_close(&n);
}
END_TEST

static bool could(const struct nmu *n, const struct plain_job *job)
{
    uint8_t bytes[JOBS_BYTES];
    struct job_record record = plain_record(job, bytes, sizeof bytes);
    return nmu_could_hold(n, &record);
}

/* Whatever else is held: jobs with its own, pairs, spans, ranges. */
START_TEST(what_no_tables_of_that_size_hold)
{
    struct nmu n;
    open_small(&n);
    struct plain_job job = job_of(1, 1, 0);
    job.grants = 4; /* to itself and three others */
    for (unsigned i = 0; i < 5; i++) {
        job.grant[i] = (struct plain_grant){.job = 1 + i, .all_processes = true, .ports = 1, .port = {7}};
    }
    ck_assert(could(&n, &job));
    job.grant[3].ports = 2;
    job.grant[3].port[1] = 8;
    ck_assert(!could(&n, &job));
    job.grants = 3;
    ck_assert(could(&n, &job));
    job = job_of(1, 1, 2);
    job.grants = 4;
    for (unsigned i = 0; i < 4; i++) {
        job.grant[i] = (struct plain_grant){.job = 2 + i, .all_processes = true, .all_ports = true};
    }
    ck_assert(!could(&n, &job));
    job.grants = 1;
    job.grant[0].all_processes = false;
    job.grant[0].spans = 5;
    for (cw_process i = 0; i < 5; i++) {
        job.grant[0].span[i] = (struct job_span){2 * i, 2 * i};
        job.range[i] = (struct job_range){2 * i, 1, 0};
    }
    ck_assert(!could(&n, &job));
    job.grant[0].spans = 4;
    ck_assert(could(&n, &job));
    job.ranges = 5;
    ck_assert(!could(&n, &job));
    nmu_close(&n);
}
END_TEST

START_TEST(speakers_come_and_go)
{
    struct nmu n;
    open_small(&n);
    ck_assert_int_eq(nmu_reside(&n, 4, 1, 0, 0), -EINVAL);
    ck_assert_int_eq(nmu_reside(&n, 0, 0, 0, 0), -EINVAL);
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 7, 0), 0);
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 8, 0), -EBUSY);
    ck_assert_int_eq(nmu_reside(&n, 2, 1, 8, 1), 0);
    ck_assert_uint_eq(nmu_speaker_of(&n, 1, 8), 2);
    ck_assert_uint_eq(nmu_speaker_of(&n, 1, 9), UINT32_MAX);
    struct plain_job job = job_of(1, 1, 1);
    ck_assert_int_eq(put(&n, &job), 1);
    ck_assert(may(&n, 0, 1, 0));
    ck_assert(may(&n, 2, 1, 0));
    nmu_job_drop(&n, 1);
    ck_assert(!may(&n, 0, 1, 0));
    nmu_job_drop(&n, 1);
    nmu_job_drop(&n, 77);
    job.generation = 2; /* as if it had been destroyed and made anew meanwhile */
    ck_assert_int_eq(put(&n, &job), 1);
    ck_assert(may(&n, 0, 1, 0));
    ck_assert(!may(&n, 2, 1, 0));
    nmu_vacate(&n, 0);
    ck_assert_ptr_nonnull(nmu_job(&n, 1));
    nmu_vacate(&n, 2);
    ck_assert_ptr_null(nmu_job(&n, 1));
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 7, 0), 0);
    uint32_t from = 0;
    ck_assert_uint_eq(nmu_missing(&n, &from), 1);
    nmu_close(&n);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(only_what_is_needed_is_held),
    SUITE_TEST(an_older_record_is_refused),
    SUITE_TEST(a_record_is_taken_in_whole_or_not_at_all),
    SUITE_TEST(what_no_tables_of_that_size_hold),
    SUITE_TEST(speakers_come_and_go),
};
SUITE_MAIN("nmu", tests)
