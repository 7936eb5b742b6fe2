/* SPDX-License-Identifier: Apache-2.0 */
/* test_intake.c - programs feed the input of a run: in any order, with gaps, twice, and until they die. */
#include "services/aggregate/stream/intake.h"

#include "base/base64.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FEEDERS = 3 };

static struct fake_net *net;
static struct fake_result answers[FEEDERS];
static uint64_t sent[FEEDERS];

/* Program i hands the text in at server s; it is answered while time passes. */
static void give(unsigned i, cw_server s, const char *text, bool end)
{
    char line[1000], data[900];
    base64_encode((const uint8_t *)text, strlen(text), data);
    snprintf(line, sizeof line, "feed f keep_ms=3000 data=%s feeder=%u at=%u%s", data, i + 1, (unsigned)sent[i],
             end ? " end=1" : "");
    sent[i] += strlen(text);
    stream_town_begin(net, s, line, &answers[i]);
}

/* The same, and waits for the answer. */
static const struct fake_result *given(unsigned i, cw_server s, const char *text, bool end)
{
    give(i, s, text, end);
    fake_net_finish(net, &answers[i]);
    return &answers[i];
}

static void begin(void)
{
    net = stream_town_open(NULL);
    memset(sent, 0, sizeof sent);
}

START_TEST(a_run_takes_all)
{
    static struct fake_result run;
    begin();
    give(0, 6, "a\t1\nb", false); /* before there is a run */
    ck_assert(!answers[0].done);
    stream_town_begin(net, 0, "run map=kv from=feed:f to=1,0,0:out of=2,0,0 of=2,2,0", &run);
    fake_net_finish(net, &answers[0]);
    ck_assert_int_eq(answers[0].rc, 0);
    ck_assert_int_eq(fake_int(&answers[0], 0, "taken"), 1);
    ck_assert_int_eq(fake_int(&answers[0], 0, "done"), 0);
    ck_assert_int_eq(given(1, 8, "a\t5\n", false)->rc, 0); /* and after */
    ck_assert_int_eq(given(0, 6, "\t2\n", false)->rc, 0);
    ck_assert(!run.done);
    ck_assert_int_eq(fake_int(given(0, 6, "", true), 0, "done"), 1);
    ck_assert_int_eq(fake_int(given(1, 8, "c\t7\n", true), 0, "done"), 1);
    fake_net_finish(net, &run);
    ck_assert_int_eq(run.rc, 0);
    ck_assert_str_eq(stream_town_result(3), "a\t6\nb\t2\nc\t7\n");
    fake_net_run(net, CW_SEC(1));
    struct stream_overview look;
    stream_look(stream_town_at(net, 6), &look);
    ck_assert(look.feeds == 0 && look.tasks == 0 && look.memory == 0);
    stream_town_close(net);
}
END_TEST

START_TEST(who_waits_is_asked_whether_it_lives)
{
    begin();
    ck_assert_int_eq(given(0, 6, "", false)->rc, 0);
    const struct fake_result *r = given(0, 6, "a\t1\n", false); /* nobody takes it */
    ck_assert_int_eq(fake_int(r, 0, "taken"), 0);
    ck_assert_int_eq(fake_int(r, 0, "has_run"), 0);
    for (unsigned i = 0; i < 10; i++) {
        ck_assert_int_eq(fake_int(given(0, 6, "", false), 0, "taken"), 0);
    }
    ck_assert_int_eq(given(0, 6, "b\t1\n", false)->rc, -ESTALE); /* there is no room for it */
    fake_net_run(net, CW_SEC(4));
    struct stream_overview look;
    stream_look(stream_town_at(net, 6), &look);
    ck_assert_uint_eq(look.feeds, 0);
    stream_town_close(net);
}
END_TEST

START_TEST(each_byte_once)
{
    begin();
    give(0, 6, "a\t1\n", false);
    ck_assert_int_eq(given(1, 6, "b\t1\n", false)->rc, -EBUSY); /* another program */
    static struct fake_result again;                            /* while the first one waits */
    stream_town_begin(net, 6, "feed f keep_ms=3000 data=YQ== feeder=1 at=0", &again);
    ck_assert_int_eq(again.rc, -ESTALE);
    fake_net_run(net, CW_MS(1500));
    sent[0] = 2;
    ck_assert_int_eq(given(0, 6, "", false)->rc, -ESTALE);
    fake_net_run(net, CW_SEC(4)); /* it is forgotten, and does not begin in its middle */
    sent[0] = 4;
    const struct fake_result *r = given(0, 6, "b\t1\n", true);
    ck_assert_int_eq(r->rc, -ESTALE);
    ck_assert(strstr(fake_text(r, 0, "error"), "does not know the feed 'f' any more") != NULL);
    stream_town_close(net);
}
END_TEST

START_TEST(nothing_comes_behind_the_end)
{
    begin();
    give(0, 6, "", true); /* nobody takes it: it is answered, and the end stays */
    fake_net_finish(net, &answers[0]);
    ck_assert_int_eq(fake_int(&answers[0], 0, "done"), 0);
    ck_assert_int_eq(given(0, 6, "a\t1\n", false)->rc, -ESTALE);
    const struct fake_result *r = stream_town_ask(net, 0, "run map=kv from=feed:f to=1,0,0:out of=2,0,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(stream_town_result(3), "");
    stream_town_close(net);
}
END_TEST

START_TEST(a_program_dies)
{
    static struct fake_result run;
    begin();
    stream_town_begin(net, 0, "run map=kv from=feed:f to=1,0,0:out of=2,0,0 of=2,2,0", &run);
    ck_assert_int_eq(given(0, 6, "a\t1\n", true)->rc, 0);
    ck_assert_int_eq(given(1, 8, "a\t1\n", false)->rc, 0);
    fake_net_finish(net, &run);
    ck_assert_int_eq(run.rc, -EPIPE);
    ck_assert_str_eq(fake_text(&run, 0, "error"),
                     "server 2,2,0, feed:f: the program that fed it was gone before its input had ended");
    ck_assert_str_eq(stream_town_result(3), "-");
    memset(sent, 0, sizeof sent);
    stream_town_begin(net, 0, "run map=kv from=feed:f to=2,2,0:out of=2,0,0 of=2,2,0 without=1", &run);
    ck_assert_int_eq(given(0, 6, "a\t1\n", true)->rc, 0);
    ck_assert_int_eq(given(1, 8, "a\t1\n", false)->rc, 0);
    fake_net_finish(net, &run);
    ck_assert_int_eq(run.rc, 0);
    ck_assert_str_eq(fake_text(&run, 1, "server"), "2,2,0");
    ck_assert_int_eq(fake_int(&run, 1, "status"), -EPIPE);
    ck_assert_str_eq(stream_town_result(8), "a\t1\n"); /* its server writes all the same */
    stream_town_close(net);
}
END_TEST

START_TEST(nobody_comes)
{
    begin();
    const struct fake_result *r = stream_town_ask(net, 0, "run from=feed:f to=1,0,0:out of=2,0,0 limit_ms=500");
    ck_assert_int_eq(r->rc, -ENOTCONN);
    ck_assert_str_eq(fake_text(r, 0, "error"),
                     "server 2,0,0, feed:f: no program feeds that there (cwctl aggregate feed NAME)");
    r = stream_town_ask(net, 0, "run from=feed:f to=1,0,0:out of=2,0,0 of=0,0,0 limit_ms=500 without=1");
    ck_assert_int_eq(r->rc, -ENOTCONN);
    r = stream_town_ask(net, 0, "run from=feed:a.b to=1,0,0:out");
    ck_assert_int_eq(r->rc, -EINVAL);
    stream_town_close(net);
}
END_TEST

START_TEST(the_program_hears_why_not)
{
    static struct fake_result run, other;
    begin();
    stream_town_begin(net, 0, "run map=kv from=feed:f to=1,0,0:out of=2,0,0", &run);
    ck_assert_int_eq(given(0, 6, "a\t1\n", false)->rc, 0);
    stream_town_begin(net, 0, "run map=kv from=feed:f to=1,0,0:out2 of=2,0,0", &other);
    fake_net_finish(net, &other);
    ck_assert_int_eq(other.rc, -EALREADY);
    const struct fake_result *r = given(0, 6, "no value\n", false);
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert(strstr(fake_text(r, 0, "error"), "the run that took feed 'f' has ended without it") != NULL);
    fake_net_finish(net, &run);
    ck_assert(strstr(fake_text(&run, 0, "error"), "server 2,0,0, feed:f: line 2: ") != NULL);
    sent[0] = 0;
    stream_town_begin(net, 0, "run map=kv from=feed:f to=1,0,0:out of=2,0,0", &run);
    ck_assert_int_eq(given(0, 6, "a\t1\n", false)->rc, 0);
    ck_assert_int_eq(stream_town_ask(net, 0, "cancel 3")->rc, 0);
    fake_net_finish(net, &run);
    fake_net_run(net, CW_MS(100));
    ck_assert_int_eq(given(0, 6, "a\t1\n", false)->rc, -ECANCELED);
    ck_assert_int_eq(given(0, 6, "a\t1\n", false)->rc, -ESTALE);
    stream_town_close(net);
}
END_TEST

START_TEST(words)
{
    static const char *const wrong[] = {"feed", "feed f keep_ms=3000 data=", "feed f keep_ms=3000 data= feeder=0 at=0",
                                        "feed f keep_ms=3000 data= feeder=1 at=0 end=2",
                                        "feed a.b keep_ms=3000 data= feeder=1 at=0"};
    begin();
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_int_eq(stream_town_ask(net, 0, wrong[i])->rc, -EINVAL);
    }
    char line[80];
    for (unsigned i = 0; i <= INTAKES_MOST; i++) {
        snprintf(line, sizeof line, "feed f%u keep_ms=3000 data= feeder=1 at=0", i);
        ck_assert_int_eq(stream_town_ask(net, 0, line)->rc, i < INTAKES_EACH ? 0 : -ENOSPC);
    }
    ck_assert_str_eq(fake_text(stream_town_ask(net, 0, "status"), 3, "state"), "waits for a run");
    stream_town_close(net);
}
END_TEST

START_TEST(closes_in_the_middle)
{
    static struct fake_result run;
    for (int us = 0; us < 2000; us += 200) {
        begin();
        give(0, 6, "a\t1\n", false);
        give(1, 7, "b\t1\n", true);
        stream_town_begin(net, 0, "run map=kv from=feed:f to=1,0,0:out of=2,0,0 of=2,1,0", &run);
        fake_net_run(net, CW_US(us));
        stream_town_close(net);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(nothing_comes_behind_the_end),
                                          SUITE_TEST(a_run_takes_all),
                                          SUITE_TEST(who_waits_is_asked_whether_it_lives),
                                          SUITE_TEST(each_byte_once),
                                          SUITE_TEST(a_program_dies),
                                          SUITE_TEST(nobody_comes),
                                          SUITE_TEST(the_program_hears_why_not),
                                          SUITE_TEST(words),
                                          SUITE_TEST(closes_in_the_middle)};
SUITE_MAIN("intake", tests)
