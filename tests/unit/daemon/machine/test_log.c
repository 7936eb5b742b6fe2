/* SPDX-License-Identifier: Apache-2.0 */
/* test_log.c - lines in logfmt, whole and quoted; repetition is counted; a pipe that is full stops nobody. */
#include "daemon/machine/log.h"
#include "shim/clock.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int ends[2];

static struct log *open_piped(cw_level level)
{
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    struct log *log = log_open(ends[1], level, false);
    ck_assert_ptr_nonnull(log);
    return log;
}

static const char *heard(void)
{
    static char text[100000];
    ssize_t n = read(ends[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

START_TEST(a_line)
{
    struct log *log = open_piped(CW_LOG_INFO);
    LOG(log, CW_LOG_WARN, "no light", {"link", "+x"}, {"why", "cable \"blue\"\nis out\x01"}, {"left_out", NULL},
        {"empty", ""});
    ck_assert_str_eq(heard(),
                     "level=warn msg=\"no light\" link=+x why=\"cable \\\"blue\\\"\\nis out\\x01\" empty=\"\"\n");
    LOG(log, CW_LOG_INFO, "bare");
    ck_assert_str_eq(heard(), "level=info msg=bare\n");
    LOG(NULL, CW_LOG_ERROR, "nobody listens");
    log_close(log);
    log_close(NULL);
}
END_TEST

START_TEST(levels)
{
    struct log *log = open_piped(CW_LOG_WARN);
    LOG(log, CW_LOG_INFO, "no");
    ck_assert_str_eq(heard(), "");
    log_set_level(log, CW_LOG_DEBUG);
    ck_assert_int_eq(log_level(log), CW_LOG_DEBUG);
    LOG(log, CW_LOG_DEBUG, "yes");
    ck_assert_str_eq(heard(), "level=debug msg=yes\n");
    cw_level level = CW_LOG_ERROR;
    ck_assert(log_level_parse("info", &level) && level == CW_LOG_INFO);
    ck_assert(!log_level_parse("loud", &level) && level == CW_LOG_INFO);
    ck_assert_str_eq(log_level_name(CW_LOG_ERROR), "error");
    log_close(log);
}
END_TEST

START_TEST(long_lines_are_cut)
{
    struct log *log = open_piped(CW_LOG_INFO);
    char value[3000];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    LOG(log, CW_LOG_INFO, "long", {"value", value});
    const char *text = heard();
    ck_assert_uint_le(strlen(text), LOG_LINE);
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
    log_close(log);
}
END_TEST

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        n++;
    }
    return n;
}

START_TEST(repetition_is_counted)
{
    struct log *log = open_piped(CW_LOG_INFO);
    for (int i = 0; i < 1000; i++) {
        LOG(log, CW_LOG_INFO, "again");
    }
    unsigned said = count(heard(), "msg=again");
    ck_assert_uint_ge(said, LOG_BURST);
    ck_assert_uint_le(said, 3 * LOG_BURST); /* were the second to end meanwhile */
    LOG(log, CW_LOG_INFO, "other");
    ck_assert_uint_eq(count(heard(), "msg=other"), 1);
    log_close(log);
    const char *text = heard();
    ck_assert_msg(strstr(text, "level=info msg=\"repeats were left out\" count=") != NULL, "%s", text);
}
END_TEST

/* Whoever reads the log learns the last of many states in the second after it, though nothing more is logged. */
START_TEST(the_newest_repeat_is_written)
{
    struct log *log = open_piped(CW_LOG_INFO);
    char number[8];
    for (int i = 0; i <= 3 * LOG_BURST; i++) {
        snprintf(number, sizeof number, "%d", i);
        LOG(log, CW_LOG_INFO, "state", {"number", number});
    }
    cw_time later = cw_time_add(clock_now(), CW_SEC(2));
    log_settle(log, later);
    const char *text = heard(), *last = strstr(text, "level=info msg=state number=30\n");
    ck_assert_msg(strstr(text, "level=info msg=\"repeats were left out\" count=") != NULL, "%s", text);
    ck_assert_msg(last != NULL && strchr(last, '\n')[1] == '\0', "%s", text);
    log_settle(log, later);
    ck_assert_str_eq(heard(), "");
    log_close(log);
    ck_assert_str_eq(heard(), "");
}
END_TEST

/* A single line too many is not counted, for it is written. */
START_TEST(one_repeat_is_only_late)
{
    struct log *log = open_piped(CW_LOG_INFO);
    for (int i = 0; i <= LOG_BURST; i++) {
        LOG(log, CW_LOG_INFO, "state");
    }
    log_settle(log, cw_time_add(clock_now(), CW_SEC(2)));
    const char *text = heard();
    ck_assert_uint_eq(count(text, "msg=state"), LOG_BURST + 1);
    ck_assert_uint_eq(count(text, "repeats"), 0);
    log_close(log);
}
END_TEST

START_TEST(a_full_pipe_stops_nobody)
{
    struct log *log = open_piped(CW_LOG_INFO);
    static const char *const messages[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    char value[1000];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    for (int i = 0; i < 100; i++) {
        LOG(log, CW_LOG_INFO, messages[i % 10], {"v", value});
    }
    (void)heard();
    LOG(log, CW_LOG_INFO, "after");
    const char *text = heard();
    ck_assert_msg(strstr(text, "lines were lost") != NULL && strstr(text, "msg=after") != NULL, "%s", text);
    log_close(log);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_line),
    SUITE_TEST(levels),
    SUITE_TEST(long_lines_are_cut),
    SUITE_TEST(repetition_is_counted),
    SUITE_TEST(the_newest_repeat_is_written),
    SUITE_TEST(one_repeat_is_only_late),
    SUITE_TEST(a_full_pipe_stops_nobody),
};
SUITE_MAIN("log", tests)
