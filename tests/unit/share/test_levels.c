/* SPDX-License-Identifier: Apache-2.0 */
#include "share/levels.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;

START_TEST(words)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    struct share_levels *l = &k.levels;
    ck_assert_int_eq(share_words_allow(l, 3, 2, 4), 0);
    ck_assert_int_eq(share_word_change(l, 3, 2, SHARE_SET, 10), 0);
    ck_assert_int_eq(share_word_change(l, 3, 2, SHARE_ADD, 5), 0);
    ck_assert_uint_eq(share_word(&k.process_com, 2), 15);
    ck_assert_int_eq(share_word_change(l, 3, 2, SHARE_OR, 16), 0);
    ck_assert_uint_eq(share_word(&k.process_com, 2), 31);
    ck_assert_int_eq(share_word_change(l, 3, 2, SHARE_MAX, 30), 0);
    ck_assert_uint_eq(share_word(&k.process_com, 2), 31);
    ck_assert_int_eq(share_word_change(l, 3, 2, SHARE_MAX, UINT64_MAX), 0);
    ck_assert_int_eq(share_word_change(l, 3, 2, SHARE_ADD, 1), 0);
    ck_assert_uint_eq(share_word(&k.process_com, 2), 0);
    ck_assert_int_eq(share_word_change(l, 3, 5, SHARE_SET, 1), 0);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* Nobody's word changes but in the range that was opened to the endpoint. */
START_TEST(not_open)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    struct share_levels *l = &k.levels;
    ck_assert_int_eq(share_words_allow(l, 3, 2, 4), 0);
    ck_assert_int_eq(share_word_change(l, 3, 1, SHARE_SET, 1), -EACCES);
    ck_assert_int_eq(share_word_change(l, 3, 6, SHARE_SET, 1), -EACCES);
    ck_assert_int_eq(share_word_change(l, 2, 3, SHARE_SET, 1), -EACCES);
    ck_assert_int_eq(share_word_change(l, 3, KIT_WORDS, SHARE_SET, 1), -EINVAL);
    ck_assert_int_eq(share_word_change(l, 3, 3, SHARE_CHANGES, 1), -EINVAL);
    ck_assert_int_eq(share_words_allow(l, 4, 3, 1), 0); /* from endpoint 3 */
    ck_assert_int_eq(share_word_change(l, 3, 3, SHARE_SET, 1), -EACCES);
    share_words_forget(l, 4);
    ck_assert_int_eq(share_word_change(l, 4, 3, SHARE_SET, 1), -EACCES);
    ck_assert_int_eq(share_words_allow(l, 3, KIT_WORDS, 1), -EINVAL);
    ck_assert_int_eq(share_words_allow(l, 3, 1, UINT32_MAX), -EINVAL);
    ck_assert_int_eq(share_words_allow(l, 3, UINT32_MAX, 2), -EINVAL);
    for (uint32_t w = 0; w < KIT_WORDS; w++) {
        SUITE_HOLDS(share_word(&k.process_com, w) == 0, "word %u", w);
    }
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(the_others)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    share_gone_set(&k.levels, 70, true);
    share_gone_set(&k.levels, SHARE_PEERS_MOST - 1, true);
    ck_assert(share_gone(&k.process_com, 70) && !share_gone(&k.process_com, 71));
    ck_assert(share_gone(&k.process_com, SHARE_PEERS_MOST - 1));
    share_gone_set(&k.levels, 70, false);
    ck_assert(!share_gone(&k.process_com, 70) && share_gone(&k.process_com, SHARE_PEERS_MOST - 1));
    share_lane_show(&k.levels, 63, UINT64_C(1) << 63);
    ck_assert_uint_eq(share_lane_endpoints(&k.process_com, 63), UINT64_C(1) << 63);
    ck_assert_uint_eq(share_lane_endpoints(&k.process_com, 62), 0);
    share_lane_show(&k.levels, 63, 0);
    ck_assert_uint_eq(share_lane_endpoints(&k.process_com, 63), 0);
    share_state_show(&k.levels, SHARE_STATE_EVICTED);
    ck_assert_uint_eq(share_state(&k.process_com), SHARE_STATE_EVICTED);
    ck_assert(share_kit_close(&k));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(words), SUITE_TEST(not_open), SUITE_TEST(the_others)};
SUITE_MAIN("levels", tests)
