/* SPDX-License-Identifier: Apache-2.0 */
/* test_patron.c - services feed a run, order it, and take its result; and close in the middle. */
#include "services/aggregate/stream/lead.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { JOB_A = 2000, JOB_B = 2001 };

static struct fake_net *net;
static char text[1000];
static unsigned ends, fed;
static int status, fed_status;
static struct cw_run_result last;
static int alice, bob; /* their addresses are two owners */

static void take(void *arg, const void *bytes, size_t length)
{
    (void)arg;
    strncat(text, bytes, length);
}

static void done(void *arg, const cw_run_result *result)
{
    (void)arg;
    ends++;
    status = result->status;
    last = *result;
}

static void heard(void *arg, int rc)
{
    (void)arg;
    fed++;
    fed_status = rc;
}

static void begin(void)
{
    net = stream_town_open(NULL);
    text[0] = '\0';
    ends = fed = 0;
    status = fed_status = 1;
}

static int order(const char *to, bool takes, uint32_t number)
{
    const char *const words[] = {"from=feed:f", "map=kv", "of=2,0,0", "of=2,2,0", to};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 5, .take = takes ? take : NULL};
    return stream_run(stream_town_at(net, 0), &alice, JOB_A, &run, done, NULL, number);
}

static int give(cw_server s, const void *owner, const char *bytes, bool end)
{
    return stream_give(stream_town_at(net, s), owner, JOB_A, "f", bytes, strlen(bytes), end, heard, NULL);
}

START_TEST(feeds_and_takes)
{
    begin();
    ck_assert_int_eq(give(6, &alice, "a\t1\n", false), 0);
    ck_assert_int_eq(give(6, &alice, "b\t1\n", false), -EBUSY);
    fake_net_run(net, CW_SEC(5)); /* a service is there, whether it says so or not */
    ck_assert_uint_eq(fed, 0);
    ck_assert_int_eq(order("to=-", true, 7), 0);
    fake_net_run(net, CW_MS(100));
    ck_assert(fed == 1 && fed_status == 0);
    ck_assert_int_eq(give(6, &alice, "b\t2\n", true), 0);
    ck_assert_int_eq(give(8, &bob, "a\t4\n", true), 0);
    fake_net_run(net, CW_MS(500));
    ck_assert(fed == 3 && fed_status == 0);
    ck_assert_uint_eq(ends, 1);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(last.count, 2);
    ck_assert_uint_eq(last.keys, 2);
    ck_assert_str_eq(text, "a\t5\nb\t2\n");
    fake_net_run(net, CW_MS(200));
    struct stream_overview look;
    stream_look(stream_town_at(net, 6), &look);
    ck_assert(look.feeds == 0 && look.tasks == 0);
    stream_town_close(net);
}
END_TEST

START_TEST(to_files)
{
    begin();
    ck_assert_int_eq(order("to=1,0,0:out", false, 7), 0);
    ck_assert_int_eq(give(6, &bob, "a\t1\n", true), 0);
    ck_assert_int_eq(give(8, &bob, "", true), 0);
    fake_net_run(net, CW_MS(500));
    ck_assert(ends == 1 && status == 0 && last.keys == 1);
    ck_assert_str_eq(stream_town_result(3), "a\t1\n");
    stream_town_close(net);
}
END_TEST

START_TEST(closes)
{
    begin();
    ck_assert_int_eq(order("to=-", true, 7), 0);
    ck_assert_int_eq(give(6, &bob, "a\t1\n", false), 0);
    fake_net_run(net, CW_MS(100));
    ck_assert_uint_eq(fed, 1);
    ck_assert_int_eq(give(8, &bob, "a\t1\n", true), 0);
    stream_disown(stream_town_at(net, 6), &bob); /* before its end: the run is told */
    fake_net_run(net, CW_MS(500));
    ck_assert(ends == 1 && status == -EPIPE && last.named && last.who.x == 2 && last.who.y == 0);
    ck_assert_int_eq(order("to=-", true, 8), 0);
    stream_disown(stream_town_at(net, 0), &alice);
    ck_assert(ends == 2 && status == -ECANCELED);
    ck_assert_int_eq(order("to=-", true, 9), 0);
    ck_assert_int_eq(stream_end(stream_town_at(net, 0), &bob, 9), -ENOENT);
    ck_assert_int_eq(stream_end(stream_town_at(net, 0), &alice, 9), 0);
    ck_assert_int_eq(stream_end(stream_town_at(net, 0), &alice, 9), -ENOENT);
    ck_assert(ends == 3 && status == -ECANCELED);
    fed = 0;
    ck_assert_int_eq(give(7, &bob, "a\t1\n", false), 0);
    stream_disown(stream_town_at(net, 7), &bob);
    ck_assert(fed == 1 && fed_status == -ECANCELED);
    fake_net_run(net, CW_MS(500));
    stream_town_close(net);
}
END_TEST

START_TEST(bad_input)
{
    begin();
    ck_assert_int_eq(order("to=-", false, 7), -EINVAL);
    ck_assert_int_eq(order("to=1,0,0:out", true, 7), -EINVAL);
    ck_assert_int_eq(order("to=nobody", true, 7), -EINVAL);
    ck_assert_int_eq(stream_run(stream_town_at(net, 0), &alice, JOB_A, NULL, done, NULL, 7), -EINVAL);
    ck_assert_int_eq(give(6, &alice, "", false), -EINVAL);
    ck_assert_int_eq(stream_give(stream_town_at(net, 6), &alice, JOB_A, "a.b", "x", 1, false, heard, NULL), -EINVAL);
    ck_assert_int_eq(order("to=-", true, 7), 0);
    ck_assert_int_eq(give(6, &alice, "no value\n", false), 0);
    fake_net_run(net, CW_MS(200));
    ck_assert(fed == 1 && fed_status == -EINVAL);
    ck_assert_int_eq(give(8, &alice, "", true), 0);
    fake_net_run(net, CW_MS(500));
    ck_assert(ends == 1 && status == -EINVAL && last.named && last.count == 0);
    stream_town_close(net);
}
END_TEST

START_TEST(closes_in_the_middle)
{
    for (int us = 0; us < 3000; us += 300) {
        begin();
        ck_assert_int_eq(order("to=-", true, 7), 0);
        ck_assert_int_eq(give(6, &alice, "a\t1\n", true), 0);
        ck_assert_int_eq(give(8, &alice, "a\t1\n", true), 0);
        fake_net_run(net, CW_US(us));
        stream_town_close(net);
    }
}
END_TEST

/* Who has ordered as many runs as one may keeps nobody else from ordering some. */
START_TEST(too_many)
{
    begin();
    const char *const words[] = {"from=feed:g", "map=kv", "of=2,0,0", "to=-", "limit_ms=1000"};
    const cw_run run = {CW_RUN_INIT, .word = words, .words = 5, .take = take};
    struct stream *st = stream_town_at(net, 0);
    uint32_t n = 1;
    for (; n <= STREAM_LEADS_EACH; n++) {
        ck_assert_int_eq(stream_run(st, &alice, JOB_A, &run, done, NULL, n), 0);
    }
    ck_assert_int_eq(stream_run(st, &alice, JOB_A, &run, done, NULL, n), -EBUSY);
    ck_assert_int_eq(stream_run(st, &bob, JOB_B, &run, done, NULL, n + 1), 0);
    stream_town_put(1, "a\t1\n");
    ck_assert_int_eq(stream_town_ask(net, 0, "run map=kv from=in to=0,0,0:out of=0,1,0")->rc, 0);
    ck_assert_int_eq(stream_end(st, &alice, 1), 0);
    ck_assert_int_eq(stream_run(st, &alice, JOB_A, &run, done, NULL, n), 0);
    stream_disown(st, &alice);
    stream_disown(st, &bob);
    ck_assert_uint_eq(ends, STREAM_LEADS_EACH + 2);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(too_many),  SUITE_TEST(feeds_and_takes),
                                          SUITE_TEST(to_files),  SUITE_TEST(closes),
                                          SUITE_TEST(bad_input), SUITE_TEST(closes_in_the_middle)};
SUITE_MAIN("patron", tests)
