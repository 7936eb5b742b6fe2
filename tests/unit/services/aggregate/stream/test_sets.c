/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

START_TEST(sets)
{
    struct fake_net *net = stream_town_open(NULL);
    const struct stream *st = stream_town_at(net, 0);
    uint64_t set[MESSAGE_SET_WORDS] = {0};
    ck_assert_uint_eq(stream_words(st), 1);
    ck_assert(stream_first(st, set) == CW_SERVER_NONE && stream_count_of(st, set) == 0);
    trees_set_add(set, 4);
    trees_set_add(set, 8);
    ck_assert(stream_first(st, set) == 4 && stream_count_of(st, set) == 2);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sets)};
SUITE_MAIN("sets", tests)
