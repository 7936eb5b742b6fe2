/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios carried out: fine ones, unexpected ones, impossible ones; and the same one twice. */
#include "simulator/cwsim/play.h"

#include "suite.h"

#include <string.h>

static const char fine[] = "torus 3x3x3\n"
                           "seed 7\n"
                           "timers fast\n"
                           "at 300ms workload keys rate=1000\n"
                           "at 500ms kill 1,0,2\n"
                           "at 600ms start 1,0,2\n"
                           "at 900ms stop\n"
                           "at 1500ms quiet\n"
                           "end 2s\n"
                           "expect misdelivered = 0\n";

/* Reads and plays the text; what was said is left in said. */
static struct play_result play_text(const char *text, char *said, size_t room)
{
    struct scenario s;
    struct play_result result;
    char error[SCENARIO_ERROR] = "";
    char *words = NULL;
    size_t length = 0;
    FILE *errors = open_memstream(&words, &length);
    ck_assert_ptr_nonnull(errors);
    ck_assert_msg(scenario_read(&s, "test", text, strlen(text), error) == 0, "%s", error);
    struct play_options options = {.command = "run", .file = "test", .quiet = true, .errors = errors};
    play_run(&s, &options, &result);
    fclose(errors);
    snprintf(said, room, "%s", words);
    free(words);
    scenario_free(&s);
    return result;
}

START_TEST(a_fine_scenario)
{
    char said[2000];
    struct play_result r = play_text(fine, said, sizeof said);
    double delivered = 0;
    ck_assert_msg(r.verdict == PLAY_FINE, "%s", said);
    ck_assert_str_eq(said, "");
    ck_assert_ptr_nonnull(r.report);
    ck_assert_int_eq(report_number(r.report, "delivered", &delivered), 0);
    ck_assert(delivered > 10000);
    report_close(r.report);
}
END_TEST

START_TEST(what_is_not_as_expected_is_told)
{
    char said[2000], text[2000];
    snprintf(text, sizeof text, "%sexpect delivered < 5\n", fine);
    struct play_result r = play_text(text, said, sizeof said);
    ck_assert_int_eq(r.verdict, PLAY_UNEXPECTED);
    ck_assert_ptr_nonnull(strstr(said, "test:11: expected delivered < 5, but it is"));
    report_close(r.report);
}
END_TEST

START_TEST(what_is_not_quiet_is_broken)
{
    static const char text[] = "torus 3x3x3\ntimers fast\nat 500ms kill 1,0,2\nat 501ms quiet\nend 1s\n";
    char said[2000];
    struct play_result r = play_text(text, said, sizeof said);
    ck_assert_int_eq(r.verdict, PLAY_BROKEN);
    ck_assert_uint_eq(r.invariant, 17);
    ck_assert_int_eq(r.at.ns, 501 * 1000 * 1000);
    ck_assert_ptr_nonnull(strstr(said, "invariant 17"));
    report_close(r.report);
}
END_TEST

START_TEST(an_impossible_cluster)
{
    char said[2000];
    struct play_result r = play_text("torus 2x2x200\nend 1s\n", said, sizeof said);
    ck_assert_int_eq(r.verdict, PLAY_IMPOSSIBLE);
    ck_assert_ptr_null(r.report);
    ck_assert_ptr_nonnull(strstr(said, "cannot be built"));
    ck_assert_int_eq(play_text("torus 256x256x256\nend 1s\n", said, sizeof said).verdict, PLAY_IMPOSSIBLE);
    ck_assert_ptr_nonnull(strstr(said, "more than 16777214 servers"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_fine_scenario),
    SUITE_TEST(what_is_not_as_expected_is_told),
    SUITE_TEST(what_is_not_quiet_is_broken),
    SUITE_TEST(an_impossible_cluster),
};
SUITE_MAIN("simulator/play", tests)
