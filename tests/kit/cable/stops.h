/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stops.h - planted damage: does a walker of invariants stop the program, and name the rule that is broken?
 *
 *     STOPS(name, "groups G1: groups ascend", setup(); swap_two(); (void)group_table_audit(&table))
 *
 * defines the test `name`. Its statements run in a child process, so that they need not clean up. They call the walker
 * themselves, without CHECK_SLOW, so that debug and release builds are tested alike.
 */
#ifndef KIT_STOPS_H
#define KIT_STOPS_H

#include "suite.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static inline void stops_naming(void (*damage)(void), const char *rule)
{
    char text[1024];
    int ends[2], status;
    size_t size = 0;
    ssize_t got;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        damage();
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + size, sizeof text - 1 - size)) > 0) {
        size += (size_t)got;
    }
    text[size] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "nothing stopped it: %s", text);
    ck_assert_msg(strstr(text, rule) != NULL, "'%s' is not named: %s", rule, text);
}

#define STOPS(name, rule, ...)             \
    static void damage_##name(void)        \
    {                                      \
        __VA_ARGS__;                       \
    }                                      \
    START_TEST(name)                       \
    {                                      \
        stops_naming(damage_##name, rule); \
    }                                      \
    END_TEST

#endif
