/* SPDX-License-Identifier: Apache-2.0 */
/* test_tell.c - notes there and back; every reason has words. */
#include "services/multicast/file/progress.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(notes)
{
    uint8_t bytes[FILE_PROGRESS_BYTES];
    struct file_progress n = {.state = FILE_PART_FINISHING,
                              .status = -28,
                              .there = UINT64_C(0x123456789a),
                              .id = {1, 2, 3}},
                         back;
    file_progress_encode(&n, bytes);
    ck_assert_int_eq(file_progress_decode(bytes, sizeof bytes, &back), 0);
    ck_assert_int_eq(back.state, FILE_PART_FINISHING);
    ck_assert_int_eq(back.status, -28);
    ck_assert_uint_eq(back.there, n.there);
    ck_assert_mem_eq(back.id, n.id, sizeof n.id);
    ck_assert_int_eq(file_progress_decode(bytes, sizeof bytes - 1, &back), -EBADMSG);
    for (unsigned i = 0; i < 4; i++) {
        uint8_t was = bytes[i];
        bytes[i] = 9;
        ck_assert_int_eq(file_progress_decode(bytes, sizeof bytes, &back), -EBADMSG);
        bytes[i] = was;
    }
}
END_TEST

START_TEST(rivals)
{
    uint8_t bytes[FILE_PROGRESS_BYTES];
    struct file_progress n = {.contested = true, .rival = 0x123456, .id = {4, 5}}, back;
    file_progress_encode(&n, bytes);
    ck_assert_int_eq(file_progress_decode(bytes, sizeof bytes, &back), 0);
    ck_assert(back.contested);
    ck_assert_uint_eq(back.rival, 0x123456);
    ck_assert_mem_eq(back.id, n.id, sizeof n.id);
    for (unsigned i = 1; i < 16; i += i == 3 ? 5 : 1) { /* all but the source */
        bytes[i] = 1;
        ck_assert_int_eq(file_progress_decode(bytes, sizeof bytes, &back), -EBADMSG);
        bytes[i] = 0;
    }
}
END_TEST

START_TEST(words)
{
    ck_assert_str_eq(file_state_word(FILE_PART_OPENING), "opening");
    ck_assert_str_eq(file_state_word(FILE_PART_OVER), "over");
    ck_assert_str_eq(file_reason(-ENOSPC), "its disk is full (cwctl events there names the folder)");
    ck_assert_ptr_nonnull(strstr(file_reason(-EOPNOTSUPP), "folder"));
    ck_assert_str_eq(file_reason(-EXDEV), strerror(EXDEV));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(notes), SUITE_TEST(rivals), SUITE_TEST(words)};
SUITE_MAIN("file_tell", tests)
