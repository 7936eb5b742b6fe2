/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "testbed/cwlab/scale.h"

#include "base/quantity.h"

#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Measured (docs/testbed.md): 512 daemons come together on two processors from 25 times on, and need 53 by this. */
enum { HELLOS_PER_CPU = 5000, PAIRS_PER_CPU = 2500 };
/* All servers of one process share one thread, but none of their frames passes through the kernel. */
enum { HELLOS_INSIDE = 100000, PAIRS_INSIDE = 8192 };
/*
 * How often, and how far apart, scale_wanted() looks at the machine's run queue. The load average alone would not do,
 * because it still has the work that ended a minute ago. But a machine that compiles has bursts and pauses: from STORM
 * processes for each processor on, in the mean of the last minute, the next burst is to be expected.
 */
enum { STORM = 3, STORM_SCALE = 3 };
enum { HURRIED = -10 /* the nice value that a daemon asks for (daemon/machine/privileges.h) */ };
enum { LOOKS = 20, LOOK_US = 5000 };
enum { PATIENCE_MS = 20000, PATIENCE_A_SERVER_MS = 200 };

unsigned scale_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

static uint64_t times_needed(uint64_t work, uint64_t most)
{
    return (work + most - 1) / most;
}

uint64_t scale_needed(const struct lab *lab, unsigned processors)
{
    uint64_t servers = lab->torus.servers;
    uint64_t links = servers * (uint64_t)__builtin_popcount(torus_links(&lab->torus));
    bool inside = lab->driver == LAB_PROCESS;
    uint64_t hellos = times_needed(links * (UINT64_C(1000000000) / (uint64_t)lab->timers.hello.ns),
                                   inside ? HELLOS_INSIDE : (uint64_t)processors * HELLOS_PER_CPU);
    uint64_t pairs = times_needed(servers * servers, inside ? PAIRS_INSIDE : (uint64_t)processors * PAIRS_PER_CPU);
    return servers <= SCALE_SMALL ? 1 : hellos > pairs ? hellos : pairs;
}

unsigned scale_machine(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

double scale_wanted(void)
{
    unsigned sum = 0, looks = 0;
    double minute = 0;
    for (; looks < LOOKS; looks++) {
        unsigned runnable = 0;
        FILE *f = fopen("/proc/loadavg", "re");
        bool known = f != NULL && fscanf(f, "%lf %*s %*s %u", &minute, &runnable) == 2;
        if (f != NULL) {
            fclose(f);
        }
        if (!known) {
            return 0;
        }
        sum += runnable > 0 ? runnable - 1 : 0; /* less this process, which is running while it looks */
        nanosleep(&(struct timespec){.tv_nsec = LOOK_US * 1000}, NULL);
    }
    double now = (double)sum / looks;
    return minute >= STORM * scale_machine() && minute > now ? minute : now;
}

bool scale_sessions(void)
{
    int enabled = 0;
    FILE *on = fopen("/proc/sys/kernel/sched_autogroup_enabled", "re");
    if (on != NULL) {
        (void)!fscanf(on, "%d", &enabled);
        fclose(on);
    }
    return enabled != 0;
}

/* Of a session that has just begun. */
static bool hurry_session(void)
{
    FILE *group = fopen("/proc/self/autogroup", "r+e");
    bool done = group != NULL && fprintf(group, "%d", HURRIED) > 0 && fflush(group) == 0;
    if (group != NULL) {
        fclose(group);
    }
    return done || !scale_sessions();
}

bool scale_hurries(void)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setsid();
        _exit(!(setpriority(PRIO_PROCESS, 0, HURRIED) == 0 && hurry_session()));
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

uint64_t scale_busy(double wanted, unsigned processors)
{
    double queue = wanted / processors; /* processes that wait before a daemon when it wakes */
    if (queue < 0.75) {
        return 1; /* there is a processor free most of the time */
    }
    return queue + 2 < SCALE_BUSY_MOST ? (uint64_t)(queue + 2) : SCALE_BUSY_MOST;
}

uint64_t scale_now(const struct lab *lab, double wanted)
{
    struct lab plain = *lab;
    lab_set_timers(&plain, lab->fast, 1);
    uint64_t busy = scale_busy(scale_sessions() ? wanted / SCALE_SESSION : wanted, scale_machine());
    if (lab->hurries) {
        /* The others wait, but for their share of a burst they do not: daemons of nice -10 were late by 60 ms then. */
        busy = wanted >= STORM * scale_machine() ? STORM_SCALE : 1;
    }
    uint64_t scale = scale_needed(&plain, scale_processors()) * busy;
    return scale < SCALE_MOST ? scale : SCALE_MOST;
}

cw_span scale_patience(const struct lab *lab)
{
    return CW_MS(PATIENCE_MS + (int64_t)lab->torus.servers * PATIENCE_A_SERVER_MS);
}

char *scale_describe(const struct lab *lab, unsigned processors, double wanted, char out[static SCALE_TEXT])
{
    char hello[QUANTITY_TEXT], dead[QUANTITY_TEXT], hold[QUANTITY_TEXT], by[64] = "", others[64] = "";
    quantity_span_format(lab->timers.hello, hello);
    quantity_span_format(lab->timers.dead, dead);
    quantity_span_format(lab->timers.hold, hold);
    if (lab->scale > 1) {
        snprintf(by, sizeof by, "%lu times ", (unsigned long)lab->scale);
    }
    if (wanted >= 1) {
        snprintf(others, sizeof others, ", which %.0f other process%s now", wanted,
                 wanted < 1.5 ? " wants" : "es want");
    }
    snprintf(out, SCALE_TEXT, "hello %s, dead %s, hold %s: %sthe %s ones, for %u server%s on %u processor%s%s", hello,
             dead, hold, by, lab->fast ? "fast" : "default", lab->torus.servers, lab->torus.servers == 1 ? "" : "s",
             processors, processors == 1 ? "" : "s", others);
    return out;
}
