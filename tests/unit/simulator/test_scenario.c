/* SPDX-License-Identifier: Apache-2.0 */
/* A scenario as a whole: what happens when, what is expected, and errors that say where. */
#include "simulator/scenario.h"

#include "suite.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static char error[LINES_ERROR];

static int reads(struct scenario *s, const char *text)
{
    return scenario_read(s, "shop.txt", text, strlen(text), error);
}

START_TEST(a_file_is_read)
{
    struct scenario s;
    ck_assert_msg(reads(&s,
                        "torus 3x3x3 # small\nseed 7\nat 100ms workload keys rate=1000\n"
                        "at 900ms start 1,0,2\nat 500ms kill 1,0,2\nfrom 1s to 2s workload all load=98%\n"
                        "at 2500ms stop\nat 3s quiet\nend 3s\nexpect misdelivered = 0\nexpect ratio >= 0.96\n") == 0,
                  "%s", error);
    ck_assert_uint_eq(s.config.seed, 7);
    ck_assert_uint_eq(s.plan.count, 2);
    ck_assert(s.plan.fault[0].kind == FAULT_KILL && s.plan.fault[1].kind == FAULT_START); /* by time */
    ck_assert_uint_eq(s.loads, 4);
    ck_assert(s.load[0].load.kind == WORKLOAD_KEYS && s.load[0].load.rate == 1000 && !s.load[0].stop);
    ck_assert(s.load[1].load.kind == WORKLOAD_ALL_TO_ALL && s.load[1].load.load_ppm == 980000);
    ck_assert(s.load[2].stop && s.load[2].at.ns == 2000000000);
    ck_assert_uint_eq(s.quiets, 1);
    ck_assert_int_eq(s.end.ns, 3000000000);
    ck_assert_uint_eq(s.expects, 2);
    ck_assert_str_eq(s.expect[1].field, "ratio");
    ck_assert(s.expect[1].relation == SCENARIO_LEAST && s.expect[1].millionths == 960000 && s.expect[1].line == 11);
    scenario_free(&s);
}
END_TEST

START_TEST(errors_say_where_what_and_what_instead)
{
    static const struct {
        const char *text, *says;
    } known[] = {
        {"sed 7\nend 1s", "shop.txt:1: found 'sed', expected a setting"},
        {"sed 7\nend 1s", "; did you mean seed?"},
        {"\n#\nat 1s kil 0,0,0\nend 1s", "shop.txt:3: found 'kil', expected what happens"},
        {"\n#\nat 1s kil 0,0,0\nend 1s", "; did you mean kill?"},
        {"at 80 heal\nend 1s", "shop.txt:1: found '80', expected a time with its unit"},
        {"at 1s\nend 1s", "shop.txt:1: found the end of the line, expected what happens"},
        {"from 1s 2s loss 5%\nend 3s", "shop.txt:1: found '2s', expected 'to' and a time"},
        {"from 2s to 2s loss 5%\nend 3s", "shop.txt:1: the second time must be after the first"},
        {"at 1s workload most\nend 3s", "found 'most', expected keys, all or neighbours"},
        {"at 1s workload keys load=5%\nend 3s", "found 'load=5%', expected bytes="},
        {"at 1s workload neighbours links=7\nend 3s", "found '7', expected a whole number up to 6"},
        {"at 1s quiet now\nend 1s", "shop.txt:1: found 'now', expected the end of the line"},
        {"expect misdeliverd = 0\nend 1s", "; did you mean misdelivered?"},
        {"expect lost == 0\nend 1s", "found '==', expected = != < <= > or >="},
        {"expect lost = many\nend 1s", "found 'many', expected a number"},
        {"at 2s heal\nend 1s", "something happens at 2s, after the end"},
        {"seed 7\n", "shop.txt:1: the file ends without an 'end TIME' line"},
        {"", "the file ends without an 'end TIME' line"},
        {"end 1s\ntimer hello 5s\nseed 7\n", "shop.txt:2: these timers cannot keep the guarantee"},
    };
    struct scenario s;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_int_eq(reads(&s, known[i].text), -EINVAL);
        ck_assert_msg(strstr(error, known[i].says) != NULL, "'%s' is not in: %s", known[i].says, error);
    }
}
END_TEST

/* Whatever can be said of an instant is in the list that an unknown word is answered with. */
START_TEST(the_list_of_what_happens_is_complete)
{
    struct scenario s;
    ck_assert_int_eq(reads(&s, "at 1s zzzzzzzz"), -EINVAL);
    for (size_t i = 0; i < scenario_fault_count(); i++) {
        const char *word = scenario_fault_nth(NULL, i);
        const char *at = strstr(error, word);
        while (at != NULL && (at[-1] != ' ' || isalpha((unsigned char)at[strlen(word)]) || at[strlen(word)] == '-')) {
            at = strstr(at + 1, word);
        }
        ck_assert_msg(at != NULL, "%s is not in: %s", word, error);
    }
}
END_TEST

START_TEST(relations_hold_as_they_are_written)
{
    static const char *const names[] = {"=", "!=", "<", "<=", ">", ">="};
    static const bool holds[][3] = {{0, 1, 0}, {1, 0, 1}, {1, 0, 0}, {1, 1, 0}, {0, 0, 1}, {0, 1, 1}};
    for (int r = SCENARIO_EQUAL; r <= SCENARIO_LEAST; r++) {
        ck_assert_str_eq(scenario_relation_name((enum scenario_relation)r), names[r]);
        for (int i = 0; i < 3; i++) {
            ck_assert(scenario_relation_holds((enum scenario_relation)r, 4 + i, 5000000) == holds[r][i]);
        }
    }
}
END_TEST

START_TEST(a_file_that_cannot_be_read_says_so)
{
    struct scenario s;
    ck_assert_int_eq(scenario_load_file(&s, "no/such/file", error), -EINVAL);
    ck_assert_str_eq(error, "no/such/file: No such file or directory");
    ck_assert_int_eq(scenario_load_file(&s, ".", error), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error, ".: "));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_file_is_read),
    SUITE_TEST(errors_say_where_what_and_what_instead),
    SUITE_TEST(the_list_of_what_happens_is_complete),
    SUITE_TEST(relations_hold_as_they_are_written),
    SUITE_TEST(a_file_that_cannot_be_read_says_so),
};
SUITE_MAIN("simulator/scenario", tests)
