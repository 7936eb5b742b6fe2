/* SPDX-License-Identifier: Apache-2.0 */
/* test_wanted.c - a daemon is wanted, or an answer; the command line goes before the file. */
#include "daemon/start/wanted.h"

#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct daemon_config config;
static char file[40];

static void begin(void)
{
    strcpy(file, "/tmp/cubeway-wish-XXXXXX");
    int fd = mkstemp(file), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    static const char text[] = "torus { dims = 2x1x1; coordinate = all } log { level = warn } user = nobody\n";
    ck_assert_int_eq(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    (void)dup2(nowhere, STDOUT_FILENO); /* what is said there is looked at by tests/net */
    (void)dup2(nowhere, STDERR_FILENO);
    (void)unsetenv("CUBEWAY_STRICT");
}

static void end(void)
{
    unlink(file);
}

/* The words of the line, among which FILE is the file, and NONE is none. */
static int read_line(const char *line)
{
    static char words[400], none[60];
    char *argv[12] = {(char *)(uintptr_t) "cubewayd"}, *save = NULL;
    int argc = 1;
    snprintf(words, sizeof words, "%s", line);
    snprintf(none, sizeof none, "%s.none", file);
    for (char *at = strtok_r(words, " ", &save); at != NULL; at = strtok_r(NULL, " ", &save)) {
        argv[argc++] = strcmp(at, "FILE") == 0 ? file : strcmp(at, "NONE") == 0 ? none : at;
    }
    return wanted_read(argc, argv, &config);
}

START_TEST(a_daemon_is_wanted)
{
    begin();
    ck_assert_int_eq(read_line("-c FILE"), -1);
    ck_assert_int_eq(config.log_level, CW_LOG_WARN);
    ck_assert_str_eq(config.user, "nobody");
    ck_assert(config.watcher && !config.strict);
    (void)setenv("CUBEWAY_STRICT", "1", 1);
    ck_assert_int_eq(read_line("-c FILE --log-level debug --user root --no-watcher"), -1);
    ck_assert_int_eq(config.log_level, CW_LOG_DEBUG);
    ck_assert_str_eq(config.user, "root");
    ck_assert(!config.watcher && config.strict);
    end();
}
END_TEST

START_TEST(an_answer_is_wanted)
{
    begin();
    ck_assert_int_eq(read_line("--help"), WANTED_FINE);
    ck_assert_int_eq(read_line("--version --nonsense"), WANTED_FINE);
    ck_assert_int_eq(read_line("complete --"), WANTED_FINE);
    ck_assert_int_eq(read_line("--show-config -c FILE"), WANTED_FINE);
    ck_assert_int_eq(read_line("--check-config FILE"), WANTED_FINE);
    end();
}
END_TEST

START_TEST(what_is_wrong_is_refused)
{
    begin();
    ck_assert_int_eq(read_line("--nonsense"), WANTED_USAGE);
    ck_assert_int_eq(read_line("-c FILE more"), WANTED_USAGE);
    ck_assert_int_eq(read_line("-c FILE --log-level loud"), WANTED_USAGE);
    ck_assert_int_eq(read_line("-c NONE"), WANTED_USAGE);
    ck_assert_int_eq(read_line("--check-config NONE"), WANTED_USAGE);
    end();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_daemon_is_wanted), SUITE_TEST(an_answer_is_wanted),
                                          SUITE_TEST(what_is_wrong_is_refused)};
SUITE_MAIN("wanted", tests)
