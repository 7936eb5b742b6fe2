/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/identity.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(the_newer_whole_block_counts)
{
    static uint8_t file[IDENTITY_BYTES];
    struct identity id = {.sequence = 1, .class_id = 2, .store_id = 3, .before = 4, .boot = 5, .block = 6}, back;
    ck_assert_int_eq(identity_decode(&back, file, sizeof file), -EBADMSG);
    identity_encode(&id, file + identity_offset(id.sequence));
    ck_assert_int_eq(identity_decode(&back, file, sizeof file), 0);
    ck_assert_uint_eq(back.store_id, 3);
    id.sequence = 2;
    id.boot = 6;
    id.dead = true;
    ck_assert_uint_ne(identity_offset(1), identity_offset(2));
    identity_encode(&id, file + identity_offset(id.sequence));
    ck_assert_int_eq(identity_decode(&back, file, sizeof file), 0);
    ck_assert_uint_eq(back.boot, 6);
    ck_assert(back.dead);
    file[identity_offset(2) + 20] ^= 1; /* torn while it was written */
    ck_assert_int_eq(identity_decode(&back, file, sizeof file), 0);
    ck_assert_uint_eq(back.boot, 5);
    ck_assert(!back.dead);
    file[identity_offset(1) + 20] ^= 1;
    ck_assert_int_eq(identity_decode(&back, file, sizeof file), -EBADMSG);
}
END_TEST

START_TEST(a_file_cut_short_has_what_is_left)
{
    static uint8_t file[IDENTITY_BYTES];
    struct identity id = {.sequence = 2, .store_id = 3}, back;
    identity_encode(&id, file + identity_offset(2));
    ck_assert_int_eq(identity_decode(&back, file, IDENTITY_BLOCK), 0);
    ck_assert_int_eq(identity_decode(&back, file, IDENTITY_BLOCK - 1), -EBADMSG);
    ck_assert_int_eq(identity_decode(&back, file, 0), -EBADMSG);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_newer_whole_block_counts),
    SUITE_TEST(a_file_cut_short_has_what_is_left),
};
SUITE_MAIN("identity", tests)
