/* SPDX-License-Identifier: Apache-2.0 */
/* test_crash.c - a process that crashes says where, and dies of the signal; one that is asked says so, and lives. */
#include "services/crash.h"
#include "suite.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct upcall_mark mark;
static char said[16384];

static const struct upcall_mark in_lock = {
    .service = "lock",
    .upcall = UPCALL_COMMAND,
    .server = {1, 2, 0},
    .now = {INT64_C(1234000567)},
};

START_TEST(the_sentence)
{
    char text[CRASH_TEXT];
    size_t length = crash_sentence(SIGSEGV, &(uintptr_t){0x1f0}, &in_lock, text);
    ck_assert_str_eq(
        text, "crashed: SIGSEGV at address 0x1f0 in service lock, in on_command, on server 1,2,0, at 1.234000567 s");
    ck_assert_uint_eq(length, strlen(text));
    crash_sentence(SIGABRT, NULL, &in_lock, text);
    ck_assert_str_eq(text, "crashed: SIGABRT in service lock, in on_command, on server 1,2,0, at 1.234000567 s");
    crash_sentence(SIGBUS, &(uintptr_t){0}, &mark, text);
    ck_assert_str_eq(text, "crashed: SIGBUS at address 0x0 outside of any service");
    crash_sentence(SIGABRT, NULL, NULL, text);
    ck_assert_str_eq(text, "crashed: SIGABRT outside of any service");
}
END_TEST

START_TEST(the_watchdogs_end_is_called_so)
{
    char text[CRASH_TEXT];
    struct upcall_mark held = in_lock;
    held.watchdog_ns = CW_MS(10000).ns;
    crash_sentence(SIGABRT, NULL, &held, text);
    ck_assert_str_eq(text, "ended by the watchdog: service lock, in on_command, on server 1,2,0, has held the thread "
                           "for 10.0 s");
    crash_sentence(SIGSEGV, NULL, &held, text);
    ck_assert_ptr_nonnull(strstr(text, "crashed: SIGSEGV in service lock"));
}
END_TEST

/* A name that is broken too is shown as far as it can be. */
START_TEST(a_broken_name_breaks_nothing)
{
    char text[CRASH_TEXT], name[CRASH_TEXT];
    struct upcall_mark broken = in_lock;
    broken.service = "lo\x01ck";
    crash_sentence(SIGABRT, NULL, &broken, text);
    ck_assert_ptr_nonnull(strstr(text, "in service lo, in on_command"));
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    broken.service = name;
    ck_assert_uint_lt(crash_sentence(SIGABRT, NULL, &broken, text), CRASH_TEXT);
}
END_TEST

/* As the loader spells the path of a module, and as people do. */
START_TEST(a_path_is_told_as_people_write_it)
{
    static const char *const paths[][2] = {
        {"//././//./tmp/x.so(+0x11)[0x7f]\n", "/tmp/x.so(+0x11)[0x7f]\n"},
        {".///.///././x/./y.so(f+0x11)[0x7f]\n", "./x/y.so(f+0x11)[0x7f]\n"},
        {"../a.b/.so(a//b/./c+0x1)[0x7f]", "../a.b/.so(a//b/./c+0x1)[0x7f]"},
        {"[0x7f]", "[0x7f]"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char line[64];
        strcpy(line, paths[i][0]);
        line[crash_plain_path(line, strlen(line))] = '\0';
        ck_assert_str_eq(line, paths[i][1]);
    }
}
END_TEST

static void then(int number)
{
    static const char word[] = "then\n";
    ssize_t rc = write(STDERR_FILENO, word, number == SIGSEGV ? strlen(word) : 0);
    (void)rc;
}

static cw_time later(void)
{
    return cw_time_add(in_lock.now, CW_MS(1250));
}

/* Runs fn in a process of its own; what it wrote is in said[]. Gives the signal that ended it, or 0. */
static int run(void (*fn)(void))
{
    int ends[2], status;
    size_t size = 0;
    ssize_t got;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler of its own, which is left alone */
        mark = in_lock;
        fn();
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    while ((got = read(ends[0], said + size, sizeof said - 1 - size)) > 0) {
        size += (size_t)got;
    }
    said[size] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void crash(void)
{
    crash_watch(&(struct crash_report){.mark = &mark, .repeat = "cwsim replay 4711", .then = then});
    raise(SIGSEGV);
}

START_TEST(a_crash_is_reported_in_plain_words)
{
    ck_assert_int_eq(run(crash), SIGSEGV);
    ck_assert_msg(strncmp(said, "crashed: SIGSEGV in service lock", 32) == 0, "%s", said);
    ck_assert_msg(strstr(said, " in service lock, in on_command, on server 1,2,0, at 1.234000567 s\n") != NULL, "%s",
                  said);
    ck_assert_msg(strstr(said, "test_services_crash") != NULL, "no backtrace: %s", said);
    const char *repeat = strstr(said, "\nthis makes it happen again: cwsim replay 4711\n");
    ck_assert_msg(repeat != NULL && strstr(repeat, "then\n") != NULL, "%s", said);
}
END_TEST

static void crash_in_log(void)
{
    crash_watch(&(struct crash_report){.mark = NULL, .logfmt = true});
    crash_watch(&(struct crash_report){.mark = &mark, .logfmt = true}); /* the later one holds */
    raise(SIGSEGV);
}

START_TEST(a_crash_is_a_line_of_the_log)
{
    ck_assert_int_eq(run(crash_in_log), SIGSEGV);
    unsigned year, month, day, hour, minute, second;
    char zone;
    ck_assert_int_eq(sscanf(said, "time=%4u-%2u-%2uT%2u:%2u:%2u.%*6u%c level=error msg=\"crashed: SIGSEGV", &year,
                            &month, &day, &hour, &minute, &second, &zone),
                     7);
    ck_assert(year >= 2024 && month >= 1 && month <= 12 && day >= 1 && day <= 31 && zone == 'Z');
    ck_assert_msg(strstr(said, "in service lock, in on_command, on server 1,2,0, at 1.234000567 s\"\n") != NULL, "%s",
                  said);
    ck_assert_ptr_null(strstr(said, "happen again"));
}
END_TEST

static void ask(void)
{
    crash_watch(&(struct crash_report){.mark = &mark});
    crash_say_on(SIGURG, later);
    raise(SIGURG);
    mark.service = NULL;
    raise(SIGURG); /* in no upcall by now: nothing is said */
}

START_TEST(who_hangs_says_so_when_asked)
{
    ck_assert_int_eq(run(ask), 0);
    ck_assert_msg(strncmp(said,
                          "service lock, in on_command, on server 1,2,0: has held the thread for 1.2 s, and still "
                          "does\n",
                          92) == 0,
                  "%s", said);
    ck_assert_ptr_null(strstr(said + 1, "service lock"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_sentence),
    SUITE_TEST(the_watchdogs_end_is_called_so),
    SUITE_TEST(a_broken_name_breaks_nothing),
    SUITE_TEST(a_path_is_told_as_people_write_it),
    SUITE_TEST(a_crash_is_reported_in_plain_words),
    SUITE_TEST(a_crash_is_a_line_of_the_log),
    SUITE_TEST(who_hangs_says_so_when_asked),
};
SUITE_MAIN("crash", tests)
