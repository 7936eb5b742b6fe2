/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/scenario.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_lines(const char *text, struct scenario *s, char error[static SCENARIO_ERROR])
{
    char all[8192];
    snprintf(all, sizeof all, "%s\nend 1s\n", text);
    return scenario_read(s, "g.txt", all, strlen(all), error);
}

START_TEST(lists_are_multiplied)
{
    struct scenario s;
    char error[SCENARIO_ERROR];
    ck_assert_int_eq(read_lines("grant 4096 -> 4096:*:*\ngrant 1 -> 2:0-3,7:5,8-9", &s, error), 0);
    ck_assert_uint_eq(s.grants, 7);
    ck_assert(s.grant[0].from == 4096 && s.grant[0].to == 4096 && s.grant[0].all_processes && s.grant[0].any_port);
    static const cw_port ports[] = {5, 8, 9};
    for (unsigned i = 1; i < 7; i++) {
        const struct scenario_grant *g = &s.grant[i];
        ck_assert(g->from == 1 && g->to == 2 && !g->all_processes && !g->any_port && g->port == ports[(i - 1) % 3]);
        ck_assert(g->first == (i < 4 ? 0 : 7) && g->last == (i < 4 ? 3 : 7));
    }
    scenario_free(&s);
}
END_TEST

START_TEST(what_is_written_reads_the_same)
{
    struct scenario s, again;
    char error[SCENARIO_ERROR], *text = NULL;
    size_t size;
    ck_assert_int_eq(read_lines("grant 9 -> 9:*:*\ngrant 9 -> 8:1-4294967295:65535\ngrant 8 -> 9:*:0", &s, error), 0);
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(scenario_write(&s, out), 0);
    fclose(out);
    ck_assert_msg(scenario_read(&again, "again", text, size, error) == 0, "%s\n%s", error, text);
    ck_assert_uint_eq(again.grants, s.grants);
    ck_assert_mem_eq(again.grant, s.grant, s.grants * sizeof *s.grant);
    free(text);
    scenario_free(&s);
    scenario_free(&again);
}
END_TEST

START_TEST(mistakes_are_told)
{
    static const char *const bad[] = {
        "grant",
        "grant 0 -> 1:*:*",
        "grant x -> 1:*:*",
        "grant 4294967296 -> 1:*:*",
        "grant 1",
        "grant 1 ->",
        "grant 1 => 1:*:*",
        "grant 1 -> 1",
        "grant 1 -> 1:*",
        "grant 1 -> 0:*:*",
        "grant 1 -> 1::*",
        "grant 1 -> 1:*:",
        "grant 1 -> 1:3-2:*",
        "grant 1 -> 1:1-:*",
        "grant 1 -> 1:4294967296:*",
        "grant 1 -> 1:*:65536",
        "grant 1 -> 1:1,:*",
        "grant 1 -> 1:1,*:*",
        "grant 1 -> 1:0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16:*",
        "grant 1 -> 1:*:* more",
    };
    struct scenario s;
    char error[SCENARIO_ERROR];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(read_lines(bad[i], &s, error) == -EINVAL, "%s", bad[i]);
        ck_assert_msg(strncmp(error, "g.txt:1: ", 9) == 0, "%s", error);
        ck_assert_msg(i == sizeof bad / sizeof *bad - 1 || strstr(error, "JOB -> JOB:PROCESSES:PORTS") != NULL, "%s",
                      error);
    }
    ck_assert_int_eq(read_lines("grant 1 -> 1:0,2,4:0-99", &s, error), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error, "more than 128 grants"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(lists_are_multiplied),
    SUITE_TEST(what_is_written_reads_the_same),
    SUITE_TEST(mistakes_are_told),
};
SUITE_MAIN("scenario_grant", tests)
