/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/records.h"

#include "jobs_kit.h"
#include "suite.h"

#include <errno.h>

static uint8_t room[KIT_RECORD_MAX];

static int put(struct records *s, const struct kit_job *job)
{
    size_t size = kit_record(job, KIT_KEY, KIT_CLUSTER, room, sizeof room);
    struct jobs_mark mark = kit_mark(room, size);
    bool fork;
    struct records_item *item;
    enum records_verdict verdict = records_judge(s, &mark, &fork);
    if (verdict != RECORDS_NEWER) {
        return verdict == RECORDS_SAME ? 0 : fork ? -EEXIST : -ESTALE;
    }
    int rc = records_put(s, &mark, room, size, &item);
    if (rc == 0) {
        ck_assert_uint_eq(item->mark.digest, mark.digest);
        ck_assert_uint_eq(item->blob->size, size);
        ck_assert_int_eq(memcmp(item->blob->bytes, room, size), 0);
        ck_assert(!item->kept && item->owed == 0);
    }
    return rc < 0 ? rc : fork ? 2 : 1;
}

START_TEST(up_and_never_down)
{
    struct records s = {0};
    struct kit_job job = {.job = 9, .version = 2, .generation = 1, .processes = 3};
    ck_assert_int_eq(put(&s, &job), 1);
    ck_assert_int_eq(put(&s, &job), 0);
    job.version = 1;
    ck_assert_int_eq(put(&s, &job), -ESTALE);
    job.version = 3;
    job.destroyed = true;
    ck_assert_int_eq(put(&s, &job), 1);
    /* Whatever its version: the generation has ended. */
    job.version = 99;
    job.destroyed = false;
    ck_assert_int_eq(put(&s, &job), -ESTALE);
    job.generation = 2;
    job.version = 4;
    ck_assert_int_eq(put(&s, &job), 1);
    ck_assert(!records_find(&s, 9)->mark.destroyed);
    ck_assert_uint_eq(s.count, 1);
    records_close(&s);
}
END_TEST

START_TEST(one_version_has_one_winner)
{
    struct records a = {0}, b = {0};
    struct kit_job first = {.job = 9, .version = 2, .generation = 1, .processes = 3}, second = first;
    second.processes = 4;
    int ab = put(&a, &first) == 1 ? put(&a, &second) : 0;
    int ba = put(&b, &second) == 1 ? put(&b, &first) : 0;
    ck_assert((ab == 2 && ba == -EEXIST) || (ab == -EEXIST && ba == 2));
    ck_assert_uint_eq(a.sum.value, b.sum.value);
    ck_assert_uint_eq(records_find(&a, 9)->mark.digest, records_find(&b, 9)->mark.digest);
    records_close(&a);
    records_close(&b);
}
END_TEST

/* Any records in any two orders: the same shelves. */
static void any_order(uint64_t random)
{
    enum { JOBS = 40, RECORDS = 400 };
    static struct kit_job jobs[RECORDS];
    for (unsigned i = 0; i < RECORDS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        jobs[i] = (struct kit_job){
            .job = 1 + (cw_job)(random >> 33) % JOBS,
            .version = 1 + (random >> 40) % 6,
            .generation = 1 + (random >> 50) % 2,
            .destroyed = (random >> 55) % 5 == 0,
            .processes = (uint32_t)(random >> 60) % 3,
        };
    }
    struct records a = {0}, b = {0};
    for (unsigned i = 0; i < RECORDS; i++) {
        (void)put(&a, &jobs[i]);
        (void)put(&b, &jobs[(i * 7 + 3) % RECORDS]);
    }
    ck_assert_uint_eq(a.sum.value, b.sum.value);
    ck_assert_uint_eq(a.count, b.count);
    ck_assert_uint_eq(a.bytes, b.bytes);
    for (uint32_t i = 0; i < a.count; i++) {
        ck_assert_int_eq(jobs_mark_compare(&a.item[i].mark, &b.item[i].mark, NULL), 0);
        ck_assert(i == 0 || a.item[i - 1].mark.job < a.item[i].mark.job);
        ck_assert_uint_eq(records_from(&a, a.item[i].mark.job), i);
    }
    ck_assert_uint_eq(records_from(&a, 1000), a.count);
    ck_assert_ptr_null(records_find(&a, 1000));
    records_close(&a);
    records_close(&b);
    ck_assert_uint_eq(a.count, 0);
}

START_TEST(order_does_not_matter)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        any_order(seed);
    }
}
END_TEST

START_TEST(bounded)
{
    struct records s = {0};
    struct kit_job job = {.version = 1, .generation = 1, .processes = 1};
    for (job.job = 1; job.job <= RECORDS_JOBS_MAX; job.job++) {
        ck_assert_int_eq(put(&s, &job), 1);
    }
    uint64_t sum = s.sum.value;
    ck_assert_int_eq(put(&s, &job), -ENOSPC);
    ck_assert_uint_eq(s.sum.value, sum);
    job.job = 7;
    job.version = 2;
    ck_assert_int_eq(put(&s, &job), 1); /* those that are held can change */
    job.grants = 15000;
    unsigned large = 0;
    for (job.job = 1; put(&s, &(struct kit_job){.job = job.job, .version = 3, .generation = 1, .grants = 15000}) == 1;
         job.job++) {
        large++;
    }
    ck_assert_uint_eq(large, (RECORDS_BYTES_MAX - RECORDS_JOBS_MAX * 140) / (15000 * 16));
    ck_assert_uint_le(s.bytes, RECORDS_BYTES_MAX);
    ck_assert_uint_eq(s.count, RECORDS_JOBS_MAX);
    records_close(&s);
}
END_TEST

START_TEST(a_reader_keeps_its_bytes)
{
    struct records s = {0};
    struct kit_job job = {.job = 9, .version = 1, .generation = 1};
    ck_assert_int_eq(put(&s, &job), 1);
    struct records_blob *blob = records_find(&s, 9)->blob;
    records_hold(blob);
    job.version = 2;
    ck_assert_int_eq(put(&s, &job), 1);
    struct jobs_mark mark = kit_mark(blob->bytes, blob->size);
    ck_assert_uint_eq(mark.version, 1);
    records_release(blob);
    records_release(NULL);
    records_close(&s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(up_and_never_down), SUITE_TEST(one_version_has_one_winner), SUITE_TEST(order_does_not_matter),
    SUITE_TEST(bounded),           SUITE_TEST(a_reader_keeps_its_bytes),
};
SUITE_MAIN("records", tests)
