/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/download.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static const uint8_t value[] = "0123456789";

static cw_time at(int64_t seconds)
{
    return (cw_time){CW_SEC(seconds).ns};
}

static struct download_of of(cw_job job, const char *name, uint64_t version)
{
    return (struct download_of){job, name, strlen(name), version};
}

static int keep(struct downloads *s, const char *name, uint64_t version, cw_time now)
{
    struct download_of key = of(10, name, version);
    return download_keep(s, &key, 7, value, 10, now);
}

static const struct download *find(const struct downloads *s, cw_job job, const char *name, uint64_t version)
{
    struct download_of key = of(job, name, version);
    return download_find(s, &key);
}

START_TEST(a_value_is_that_of_a_job_a_name_and_a_version)
{
    struct downloads s = {0};
    ck_assert_int_eq(keep(&s, "ab", 5, at(1)), 0);
    const struct download *d = find(&s, 10, "ab", 5);
    ck_assert_ptr_nonnull(d);
    ck_assert_uint_eq(d->length, 10);
    ck_assert_uint_eq(d->flags, 7);
    ck_assert_mem_eq(d->bytes, value, 10);
    ck_assert_ptr_null(find(&s, 11, "ab", 5));
    ck_assert_ptr_null(find(&s, 10, "ac", 5));
    ck_assert_ptr_null(find(&s, 10, "a", 5));
    ck_assert_ptr_null(find(&s, 10, "ab", 6));
    download_close(&s);
    ck_assert_ptr_null(find(&s, 10, "ab", 5));
}
END_TEST

START_TEST(it_goes_with_its_last_byte_or_after_a_while)
{
    struct downloads s = {0};
    struct download_of a = of(10, "a", 1);
    ck_assert_int_eq(keep(&s, "a", 1, at(1)), 0);
    ck_assert_int_eq(keep(&s, "b", 1, at(1)), 0);
    download_was_read(&s, &a, 9, at(5));
    ck_assert_ptr_nonnull(find(&s, 10, "a", 1));
    ck_assert(download_expire(&s, at(2 + DOWNLOAD_LIFE_S))); /* some of it was read in time */
    ck_assert_ptr_null(find(&s, 10, "b", 1));
    download_was_read(&s, &a, 10, at(6));
    ck_assert_ptr_null(find(&s, 10, "a", 1));
    ck_assert(!download_expire(&s, at(6)));
    download_was_read(&s, &a, 10, at(7)); /* it is not kept: nothing happens */
}
END_TEST

START_TEST(few_at_one_time_and_each_once)
{
    struct downloads s = {0};
    char name[2] = "a";
    for (unsigned i = 0; i < DOWNLOADS; i++, name[0]++) {
        ck_assert_int_eq(keep(&s, name, 1, at(1)), 0);
    }
    ck_assert_int_eq(keep(&s, name, 1, at(2)), -EBUSY);
    ck_assert_int_eq(keep(&s, "a", 1, at(2)), 0); /* it is there already */
    ck_assert_int_eq(keep(&s, name, 1, at(2 + DOWNLOAD_LIFE_S)), 0);
    ck_assert_ptr_nonnull(find(&s, 10, "a", 1));
    ck_assert_ptr_null(find(&s, 10, "b", 1));
    download_close(&s);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_value_is_that_of_a_job_a_name_and_a_version),
                                          SUITE_TEST(it_goes_with_its_last_byte_or_after_a_while),
                                          SUITE_TEST(few_at_one_time_and_each_once)};
SUITE_MAIN("download", tests)
