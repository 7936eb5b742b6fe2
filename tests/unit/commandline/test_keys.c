/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* posix_openpt */
#include "commandline/keys.h"
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int here; /* the side of the pair that a terminal program has */

/* Runs fn in a process in the foreground of a terminal of its own. Gives its exit code. */
static int in_terminal(int (*fn)(void))
{
    here = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(here >= 0 && grantpt(here) == 0 && unlockpt(here) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setsid();
        int there = open(ptsname(here), O_RDWR);
        if (there < 0 || ioctl(there, TIOCSCTTY, 0) < 0 || dup2(there, 0) < 0 || tcsetpgrp(0, getpgrp()) < 0) {
            _exit(100);
        }
        _exit(fn());
    }
    int status;
    ck_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    close(here);
    return WEXITSTATUS(status);
}

static int press(void)
{
    struct keys k;
    struct termios now;
    keys_begin(&k);
    if (!k.on || tcgetattr(0, &now) < 0 || (now.c_lflag & (ICANON | ECHO)) != 0) {
        return 1;
    }
    if (keys_wait(&k, CW_MS(1)) || write(here, "x", 1) != 1 || keys_wait(&k, CW_SEC(60))) {
        return 2; /* no key, and one that means nothing */
    }
    if (write(here, "q", 1) != 1 || !keys_wait(&k, CW_SEC(60))) {
        return 3;
    }
    keys_end(&k);
    return tcgetattr(0, &now) == 0 && (now.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO) ? 0 : 4;
}

/* Letters, arrows as terminals send them, an escape alone, and the key that takes a letter back. */
static int read_keys(void)
{
    static const struct {
        const char *bytes;
        int key;
    } cases[] = {{"t", 't'},
                 {"\033[A", KEYS_UP},
                 {"\033OB", KEYS_DOWN},
                 {"\033[C", KEYS_RIGHT},
                 {"\033[D", KEYS_LEFT},
                 {"\033", KEYS_ESCAPE},
                 {"\177", KEYS_RUBOUT},
                 {"\n", '\n'}};
    struct keys k;
    keys_begin(&k);
    if (!k.on || keys_read(&k, CW_MS(1)) != KEYS_NONE) {
        return 1;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].bytes);
        if (write(here, cases[i].bytes, length) != (ssize_t)length || keys_read(&k, CW_SEC(60)) != cases[i].key) {
            return 10 + (int)i;
        }
    }
    keys_end(&k);
    return 0;
}

START_TEST(keys_have_names)
{
    ck_assert_int_eq(in_terminal(read_keys), 0);
}
END_TEST

START_TEST(q_ends_it)
{
    ck_assert_int_eq(in_terminal(press), 0);
}
END_TEST

START_TEST(without_a_terminal)
{
    struct keys k;
    int ends[2];
    ck_assert(pipe(ends) == 0 && dup2(ends[0], 0) == 0);
    ck_assert(write(ends[1], "q", 1) == 1);
    keys_begin(&k);
    ck_assert(!k.on && !keys_wait(&k, CW_MS(1)));
    keys_end(&k);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(q_ends_it), SUITE_TEST(keys_have_names),
                                          SUITE_TEST(without_a_terminal)};
SUITE_MAIN("keys", tests)
