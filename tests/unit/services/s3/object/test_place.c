/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/place.h"

#include "services/s3/protocol/name.h"
#include "suite.h"

#include <string.h>

#define ID "0123456789abcdef0123456789abcdef"

START_TEST(names)
{
    struct s3_place p;
    uint8_t lot[S3_LOT_ID] = {0x01, 0xff};
    s3_place_bucket(&p, "bucket!", 6);
    ck_assert_str_eq(p.text, "B/bucket");
    s3_place_object(&p, "bucket", 6, "a/b", 3);
    ck_assert_str_eq(p.text, "O/bucket/a/b");
    ck_assert_uint_eq(p.length, 12);
    s3_place_chunk(&p, lot, 0x1234);
    ck_assert_str_eq(p.text, "D/01ff0000000000000000000000000000/000000001234");
    s3_place_lot(&p, lot);
    ck_assert_str_eq(p.text, "L/01ff0000000000000000000000000000");
    s3_place_upload(&p, ID);
    ck_assert_str_eq(p.text, "U/" ID);
    s3_place_part(&p, ID, 0);
    ck_assert_str_eq(p.text, "P/" ID "/");
    s3_place_part(&p, ID, 10000);
    ck_assert_str_eq(p.text, "P/" ID "/10000");
    s3_place_part(&p, ID, 7);
    ck_assert_str_eq(p.text, "P/" ID "/00007");
}
END_TEST

START_TEST(the_longest_key_has_room)
{
    struct s3_place p;
    char key[S3_NAMES_MOST];
    memset(key, 'k', sizeof key);
    ck_assert_int_eq(s3_name_key(key, S3_NAMES_MOST - 3, 3), S3_OK);
    s3_place_object(&p, "abc", 3, key, S3_NAMES_MOST - 3);
    ck_assert_uint_le(p.length, S3_PLACE_MOST - 1); /* a byte is left for a list that goes on behind it */
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(names), SUITE_TEST(the_longest_key_has_room)};
SUITE_MAIN("place", tests)
