/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/upload.h"

#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static cw_time at(int64_t seconds)
{
    return (cw_time){CW_SEC(seconds).ns};
}

START_TEST(pieces_become_one)
{
    struct uploads s = {0};
    size_t length;
    ck_assert_int_eq(upload_add(&s, 7, (const uint8_t *)"ab", 2, MOST, at(1)), 0);
    ck_assert_int_eq(upload_add(&s, 8, (const uint8_t *)"xy", 2, MOST, at(1)), 0);
    ck_assert_int_eq(upload_add(&s, 7, (const uint8_t *)"", 0, MOST, at(1)), 0);
    ck_assert_int_eq(upload_add(&s, 7, (const uint8_t *)"c", 1, MOST, at(2)), 0);
    uint8_t *bytes = upload_take(&s, 7, &length);
    ck_assert_uint_eq(length, 3);
    ck_assert(memcmp(bytes, "abc", 3) == 0);
    free(bytes);
    ck_assert_ptr_null(upload_take(&s, 7, &length));
    ck_assert_ptr_null(upload_take(&s, 0, &length));
    upload_close(&s);
    ck_assert_ptr_null(upload_take(&s, 8, &length));
}
END_TEST

START_TEST(few_and_not_for_long)
{
    struct uploads s = {0};
    for (uint64_t id = 1; id <= UPLOADS; id++) {
        ck_assert_int_eq(upload_add(&s, id, (const uint8_t *)"x", 1, MOST, at(10)), 0);
    }
    ck_assert_int_eq(upload_add(&s, 99, (const uint8_t *)"x", 1, MOST, at(10)), -EBUSY);
    ck_assert_int_eq(upload_add(&s, 1, (const uint8_t *)"x", 1, MOST, at(30)), 0);
    ck_assert_int_eq(upload_add(&s, 99, (const uint8_t *)"x", 1, MOST, at(11 + UPLOAD_LIFE_S)), 0);
    size_t length;
    uint8_t *bytes = upload_take(&s, 1, &length); /* it was added to in time */
    ck_assert_uint_eq(length, 2);
    free(bytes);
    ck_assert_ptr_null(upload_take(&s, 2, &length));
    upload_close(&s);
}
END_TEST

START_TEST(no_more_than_a_value)
{
    static uint8_t big[MOST];
    struct uploads s = {0};
    size_t length;
    ck_assert_int_eq(upload_add(&s, 1, big, sizeof big, MOST, at(1)), 0);
    ck_assert_int_eq(upload_add(&s, 1, big, 1, MOST, at(1)), -EMSGSIZE);
    ck_assert_ptr_null(upload_take(&s, 1, &length));
    upload_close(&s);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(pieces_become_one), SUITE_TEST(few_and_not_for_long),
                                          SUITE_TEST(no_more_than_a_value)};
SUITE_MAIN("upload", tests)
