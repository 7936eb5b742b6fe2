/* SPDX-License-Identifier: Apache-2.0 */
/* One question to all servers. */
#include "kv_town.h"
#include "services/kvcache/survey.h"
#include "suite.h"

#include <string.h>

static struct {
    unsigned rows, silent, done;
    bool seen[9];
} heard;

static void row(void *arg, cw_server s, const uint8_t *bytes, size_t length)
{
    (void)arg;
    heard.rows++;
    heard.silent += bytes == NULL;
    ck_assert(bytes == NULL || length > 0);
    ck_assert(s < 9 && !heard.seen[s]);
    heard.seen[s] = true;
}

static void done(void *arg)
{
    (void)arg;
    heard.done++;
}

static void ask(struct fake_net *net, cw_server at)
{
    memset(&heard, 0, sizeof heard);
    ck_assert_int_eq(survey_begin(kv_town_cache(net, at), KV_ASK_STATS, row, done, NULL), 0);
    fake_net_run(net, CW_SEC(3));
    ck_assert_uint_eq(heard.done, 1);
    ck_assert_uint_eq(heard.rows, 9);
}

START_TEST(each_answers_once)
{
    struct fake_net *net = kv_town_open(9, 0);
    ask(net, 4);
    ck_assert_uint_eq(heard.silent, 0);
    net->lose = 1;
    ask(net, 8);
    ck_assert_uint_eq(heard.silent, 8);
    net->lose = 0;
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(one_alone_answers_at_once)
{
    struct fake_net *net = kv_town_open(1, 0);
    memset(&heard, 0, sizeof heard);
    ck_assert_int_eq(survey_begin(kv_town_cache(net, 0), KV_ASK_STATS, row, done, NULL), 0);
    ck_assert(heard.done == 1 && heard.rows == 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_answers_once), SUITE_TEST(one_alone_answers_at_once)};
SUITE_MAIN("survey", tests)
