/* SPDX-License-Identifier: Apache-2.0 */
/* test_play.c - scenarios carried out: verdicts, messages, commands on the way (tell.c), and the same run from the same words. */
#include "simulator/play.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct play_result play_text(const char *text, const char *capture, char said[static 1000])
{
    struct scenario s;
    struct play_result result;
    char error[LINES_ERROR];
    int rc = scenario_read(&s, "t.txt", text, strlen(text), error);
    ck_assert_msg(rc == 0, "%s", error);
    memset(said, 0, 1000);
    FILE *errors = fmemopen(said, 1000, "w");
    play(
        &s,
        &(struct play_options){.command = "test", .file = "t.txt", .capture = capture, .quiet = true, .errors = errors},
        &result);
    fclose(errors);
    scenario_free(&s);
    return result;
}

static const char start[] = "torus 2x2x2\ntimers fast\nat 30ms workload keys rate=500 bytes=300\n"
                            "at 80ms kill 1,1,1\nat 160ms start 1,1,1\nat 250ms stop\nat 400ms quiet\nend 400ms\n";

START_TEST(fine)
{
    char text[1000], said[1000];
    snprintf(text, sizeof text, "%sexpect misdelivered = 0\nexpect delivered > 500\nexpect kills = 1\n", start);
    struct play_result a = play_text(text, NULL, said), b = play_text(text, NULL, said);
    ck_assert_msg(a.verdict == PLAY_FINE, "%s", said);
    ck_assert_str_eq(said, "");
    ck_assert(report_value(a.report, "delivered") > 500 && report_value(a.report, "quiet") <= 0);
    ck_assert(report_hash_value(a.report, "digest") == report_hash_value(b.report, "digest"));
    report_close(a.report);
    report_close(b.report);
    snprintf(text, sizeof text, "seed 2\n%s", start);
    b = play_text(text, NULL, said);
    ck_assert(report_hash_value(a.report, "digest") != report_hash_value(b.report, "digest") || a.report == NULL);
    report_close(b.report);
}
END_TEST

START_TEST(unexpected)
{
    char text[1000], said[1000];
    snprintf(text, sizeof text, "%sexpect kills = 2\nexpect delivered < 1\nexpect achieved_gbps > 1\n", start);
    struct play_result r = play_text(text, NULL, said);
    ck_assert_int_eq(r.verdict, PLAY_UNEXPECTED);
    ck_assert_ptr_nonnull(strstr(said, "t.txt:9: expected kills = 2, but it is 1\n"));
    ck_assert_ptr_nonnull(strstr(said, "t.txt:10: expected delivered < 1, but it is "));
    ck_assert_ptr_nonnull(strstr(said, "t.txt:11: expected achieved_gbps > 1; this run has no such number\n"));
    report_close(r.report);
}
END_TEST

/* Quiet is claimed while packets are on their way. */
START_TEST(not_quiet)
{
    char said[1000];
    struct play_result r =
        play_text("torus 2x2x2\nat 50ms workload all load=90%\nat 100ms quiet\nend 1s\n", NULL, said);
    ck_assert_int_eq(r.verdict, PLAY_BROKEN);
    ck_assert_ptr_nonnull(strstr(said, "commit "));
    ck_assert_ptr_nonnull(r.report);
    report_close(r.report);
}
END_TEST

START_TEST(impossible)
{
    char said[1000];
    struct play_result r = play_text("torus 2x2x2\nservice no/such.so\nend 1s\n", NULL, said);
    ck_assert(r.verdict == PLAY_IMPOSSIBLE && r.report == NULL);
    ck_assert_ptr_nonnull(strstr(said, "cwsim: no/such.so"));
    r = play_text("torus 2x2x2\nend 1ms\n", "no/such/folder/file", said);
    ck_assert(r.verdict == PLAY_IMPOSSIBLE && r.report == NULL);
    ck_assert_ptr_nonnull(strstr(said, "cwsim: no/such/folder/file: No such file or directory"));
    r = play_text("torus 2x2x2\nat 1ms workload keys bytes=20\nend 2ms\n", NULL, said);
    ck_assert(r.verdict == PLAY_IMPOSSIBLE && r.report == NULL);
    ck_assert_ptr_nonnull(strstr(said, "cwsim: the workload cannot be started: Invalid argument"));
}
END_TEST

START_TEST(names)
{
    ck_assert_str_eq(play_verdict_name(PLAY_FINE), "fine");
    ck_assert_str_eq(play_verdict_name(PLAY_IMPOSSIBLE), "impossible");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(fine), SUITE_TEST(unexpected), SUITE_TEST(not_quiet),
                                          SUITE_TEST(impossible), SUITE_TEST(names)};
SUITE_MAIN("play", tests)
