/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "testbed/crew.h"

#include "testbed/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 1000, ROUND_US = 1000 };

const char *crew_state_name(const struct crew *c)
{
    static const char *const names[] = {[CREW_DEAD] = "dead", [CREW_RUNS] = "running", [CREW_PAUSED] = "paused"};
    return c->state == CREW_RUNS && c->leaves ? "leaving" : names[c->state];
}

/*
 * What a new process writes to the keeper: at first its number, and again with an error if it cannot become the daemon.
 * When exec succeeds the pipe closes without a second one.
 */
struct news {
    int outside; /* the process's number outside of the lab, as /proc has it */
    int error;
};

static void say(int pipe, int outside, int error)
{
    struct news news = {outside, error};
    (void)!write(pipe, &news, sizeof news);
}

/* /proc is the machine's and not of the lab's process namespace, so /proc/self names the number used outside. */
int crew_number_outside(void)
{
    char text[16] = "";
    ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    return length > 0 ? atoi(text) : (int)getpid();
}

static int prepare(const struct crew_order *order, pid_t keeper)
{
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    /*
     * The group is killed as a whole, and the terminal's keys do not reach it. A session of its own is also a group of
     * its own for the kernel's scheduler (autogroups): daemons that shared one would together get no more of a
     * processor than any other busy session of this machine.
     */
    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) {
        return -ESRCH; /* the keeper died before prctl() could have us killed with it */
    }
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int log = open(order->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (null < 0 || log < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 || chdir(order->folder) < 0 ||
        (order->ns >= 0 && setns(order->ns, CLONE_NEWNET) < 0)) {
        return -errno;
    }
    for (const char *const *e = order->extra; e != NULL && *e != NULL; e++) {
        if (putenv((char *)(uintptr_t)*e) != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

_Noreturn static void become(const struct crew_order *order, pid_t keeper, int pipe)
{
    int rc = prepare(order, keeper);
    say(pipe, crew_number_outside(), 0);
    if (rc == 0) {
        execve(order->argv[0], (char *const *)(uintptr_t)order->argv, environ);
        rc = -errno;
    }
    say(pipe, 0, rc);
    _exit(127);
}

/* Also reaps the orphans of the group: as the first process of its namespace the keeper is their parent. */
static bool group_lives(pid_t group)
{
    while (waitpid(-group, NULL, WNOHANG) > 0) {
    }
    return kill(-group, 0) == 0;
}

static void wait_for_group(const struct crew *c)
{
    for (int i = 0; i < ROUNDS && c->group > 0 && group_lives(c->group); i++) {
        (void)usleep(ROUND_US);
    }
    if (c->group > 0) {
        (void)kill(-c->group, SIGKILL);
    }
}

int crew_start(struct crew *c, const struct crew_order *order)
{
    int ends[2];
    pid_t keeper = getpid();
    if (c->state != CREW_DEAD) {
        return -EALREADY;
    }
    wait_for_group(c);
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -errno;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become(order, keeper, ends[1]);
    }
    int failed = pid < 0 ? -errno : 0;
    close(ends[1]);
    struct news news;
    while (failed == 0 && read(ends[0], &news, sizeof news) == (ssize_t)sizeof news) {
        c->outside = news.outside != 0 ? news.outside : c->outside;
        failed = news.error;
    }
    close(ends[0]);
    if (failed < 0) {
        if (pid > 0) {
            (void)waitpid(pid, NULL, 0);
        }
        return failed;
    }
    c->state = CREW_RUNS;
    c->pid = c->group = pid;
    c->started = peer_clock();
    c->resume = CW_NEVER;
    c->starts++;
    c->pauses = 0;
    c->pause_longest = (cw_span){0};
    c->asked = c->leaves = false;
    return 0;
}

int crew_kill(struct crew *c, bool whole)
{
    if (c->state == CREW_DEAD) {
        return -ESRCH;
    }
    c->asked = true;
    return kill(whole ? -c->pid : c->pid, SIGKILL) < 0 ? -errno : 0;
}

int crew_terminate(struct crew *c)
{
    if (c->state == CREW_DEAD) {
        return -ESRCH;
    }
    if (c->leaves) {
        return -EALREADY;
    }
    if (kill(c->pid, SIGTERM) < 0) {
        return -errno;
    }
    c->asked = c->leaves = true;
    (void)crew_continue(c); /* it may have been paused */
    return 0;
}

int crew_pause(struct crew *c, cw_time resume)
{
    if (c->state != CREW_RUNS) {
        return c->state == CREW_DEAD ? -ESRCH : -EALREADY;
    }
    if (kill(c->pid, SIGSTOP) < 0) {
        return -errno;
    }
    c->state = CREW_PAUSED;
    c->resume = resume;
    c->paused = peer_clock();
    c->pauses++;
    return 0;
}

int crew_continue(struct crew *c)
{
    if (c->state != CREW_PAUSED) {
        return c->state == CREW_DEAD ? -ESRCH : -EALREADY;
    }
    c->state = CREW_RUNS;
    c->resume = CW_NEVER;
    c->continued = peer_clock();
    cw_span lasted = cw_time_since(c->continued, c->paused);
    c->pause_longest = lasted.ns > c->pause_longest.ns ? lasted : c->pause_longest;
    return kill(c->pid, SIGCONT) < 0 ? -errno : 0;
}

void crew_ended(struct crew *c, int status)
{
    c->state = CREW_DEAD;
    c->pid = 0;
    c->outside = 0;
    c->status = status;
    c->leaves = false;
    c->resume = CW_NEVER;
    c->ended = peer_clock();
}
