/* SPDX-License-Identifier: Apache-2.0 */
/* test_privileges.c - what is given up is gone. Each test in a process of its own (Check forks). */
#define _GNU_SOURCE
#include "daemon/machine/privileges.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned long long effective(void)
{
    char line[256];
    unsigned long long caps = ~0ULL;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (sscanf(line, "CapEff: %llx", &caps) == 1) {
            break;
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return caps;
}

START_TEST(nothing_is_left)
{
    char why[PRIVILEGES_WHY];
    unsigned long long before = effective();
    ck_assert_msg(privileges_limit(false, why) == 0, "%s", why);
    ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
    ck_assert_uint_eq(effective() & ~before, 0);
    ck_assert_uint_eq(effective() & 1ULL << 21, 0); /* CAP_SYS_ADMIN */
    ck_assert_msg(privileges_drop("", why) == 0, "%s", why);
    ck_assert_uint_eq(effective(), 0);
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    ck_assert_int_lt(fd, 0);
}
END_TEST

/* For a device in another network namespace: until all rights are given up. */
START_TEST(namespaces_take_more)
{
    char why[PRIVILEGES_WHY];
    const unsigned long long more = 1ULL << 21 | 1ULL << 19; /* CAP_SYS_ADMIN, CAP_SYS_PTRACE */
    unsigned long long before = effective();
    ck_assert_msg(privileges_limit(true, why) == 0, "%s", why);
    ck_assert_uint_eq(effective() & more, before & more);
    ck_assert_msg(privileges_drop("", why) == 0, "%s", why);
    ck_assert_uint_eq(effective(), 0);
}
END_TEST

START_TEST(in_a_hurry)
{
    char why[PRIVILEGES_WHY];
    int before = getpriority(PRIO_PROCESS, 0);
    int rc = privileges_hurry(false);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), rc == 0 && before > PRIVILEGES_NICE ? PRIVILEGES_NICE : before);
    ck_assert(rc == 0 || rc == -EACCES);
    ck_assert_int_eq(privileges_limit(false, why), 0);
    ck_assert_int_eq(privileges_drop("", why), 0);
    ck_assert_int_eq(privileges_hurry(false), rc); /* what is there stays */
}
END_TEST

/* "nice N" of this session's group; INT_MIN: the kernel makes no groups. */
static int session_nice(void)
{
    int nice = INT_MIN, enabled = 0;
    FILE *on = fopen("/proc/sys/kernel/sched_autogroup_enabled", "re");
    FILE *group = fopen("/proc/self/autogroup", "re");
    if (on == NULL || group == NULL || fscanf(on, "%d", &enabled) != 1 || enabled == 0 ||
        fscanf(group, "%*s nice %d", &nice) != 1) {
        nice = INT_MIN;
    }
    if (on != NULL) {
        fclose(on);
    }
    if (group != NULL) {
        fclose(group);
    }
    return nice;
}

START_TEST(before_other_sessions)
{
    int before = session_nice();
    if (before > PRIVILEGES_NICE) { /* Check's own session is not ours */
        ck_assert_int_eq(privileges_hurry_session(), -EXDEV);
        ck_assert_int_eq(session_nice(), before);
    }
    pid_t pid = fork(); /* Check's children lead a process group, and such a process cannot begin a session */
    if (pid == 0) {
        (void)setsid();
        int rc = privileges_hurry_session(), after = session_nice();
        bool no_groups = after == INT_MIN && rc == 0;
        bool refused = rc == -EACCES && after > PRIVILEGES_NICE;
        _exit(!(no_groups || refused || (rc == 0 && after == PRIVILEGES_NICE)));
    }
    int status;
    ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
}
END_TEST

/*
 * LimitNICE=-10 of the unit is RLIMIT_NICE 30 (systemd.exec: a value with a sign is a nice value), and the kernel lets
 * a process without CAP_SYS_NICE go down to 20 less the limit: so 30 is enough for nice -10, and 29 is not.
 */
START_TEST(the_limit_of_the_unit)
{
    for (rlim_t limit = 29; limit <= 30; limit++) {
        pid_t pid = fork();
        if (pid == 0) {
            const struct rlimit most = {limit, limit};
            if (setrlimit(RLIMIT_NICE, &most) < 0) {
                _exit(0); /* who may not raise it cannot try */
            }
            privileges_have_none();
            (void)setpriority(PRIO_PROCESS, 0, 0);
            int rc = privileges_hurry(false), nice = getpriority(PRIO_PROCESS, 0);
            _exit(limit == 30 ? !(rc == 0 && nice == PRIVILEGES_NICE) : !(rc == -EACCES && nice == 0));
        }
        int status;
        ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
    }
}
END_TEST

/* The group of the process that opens it, as the kernel writes it; INT_MIN: it is in none. */
static int group_nice(void)
{
    int nice = INT_MIN;
    FILE *group = fopen("/proc/self/autogroup", "re");
    if (group == NULL || fscanf(group, "%*s nice %d", &nice) != 1) {
        nice = INT_MIN;
    }
    if (group != NULL) {
        fclose(group);
    }
    return nice;
}

/*
 * As under the unit of the package, where /proc has processes and nothing else. A process without the right says so;
 * one with it gets the priority. 77: no such /proc can be made here.
 */
static int in_a_proc_of_processes(bool right)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("proc", "/proc", "proc", 0, "subset=pid") < 0 || access("/proc/sys", F_OK) == 0) {
        return 77;
    }
    (void)setsid();
    if (!right) {
        privileges_have_none();
    }
    int before = group_nice(), rc = privileges_hurry_session(), after = group_nice();
    struct rlimit most = {0};
    bool may = right || (getrlimit(RLIMIT_NICE, &most) == 0 && most.rlim_cur >= 20 - PRIVILEGES_NICE);
    if (before == INT_MIN || before <= PRIVILEGES_NICE) {
        return rc != 0;
    }
    return may ? !(rc == -EACCES ? after == before : rc == 0 && after == PRIVILEGES_NICE)
               : !(rc == -EACCES && after == before);
}

START_TEST(before_other_sessions_with_little_of_proc)
{
    for (unsigned right = 0; right < 2; right++) {
        pid_t pid = fork();
        if (pid == 0) {
            _exit(in_a_proc_of_processes(right != 0));
        }
        int status;
        ck_assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
        ck_assert_msg(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77, "right %u: %d", right,
                      WEXITSTATUS(status));
    }
}
END_TEST

START_TEST(in_real_time)
{
    int rc = privileges_hurry(true);
    ck_assert(rc == 0 || rc == -EACCES);
    ck_assert_int_eq(sched_getscheduler(0), rc == 0 ? SCHED_RR : SCHED_OTHER);
    privileges_take_time();
    ck_assert_int_eq(sched_getscheduler(0), SCHED_OTHER);
    ck_assert_int_ge(getpriority(PRIO_PROCESS, 0), 0);
}
END_TEST

START_TEST(another_user)
{
    char why[PRIVILEGES_WHY];
    if (geteuid() != 0) {
        return; /* who is no root becomes nobody else: what no_such_user shows */
    }
    ck_assert_int_eq(privileges_limit(false, why), 0);
    ck_assert_msg(privileges_drop("nobody", why) == 0, "%s", why);
    ck_assert_uint_ne(geteuid(), 0);
    ck_assert_int_lt(setresuid(0, 0, 0), 0);
    ck_assert_uint_eq(effective(), 0);
}
END_TEST

START_TEST(no_such_user)
{
    char why[PRIVILEGES_WHY];
    ck_assert_int_eq(privileges_drop("no-such-user-here", why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "no-such-user-here"));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_is_left),
    SUITE_TEST(namespaces_take_more),
    SUITE_TEST(in_a_hurry),
    SUITE_TEST(before_other_sessions),
    SUITE_TEST(the_limit_of_the_unit),
    SUITE_TEST(before_other_sessions_with_little_of_proc),
    SUITE_TEST(in_real_time),
    SUITE_TEST(another_user),
    SUITE_TEST(no_such_user),
};
SUITE_MAIN("privileges", tests)
