/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "testbed/overload.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool overload_allowed(const struct lab *lab)
{
    return lab->driver == LAB_NETNS && lab->wanted >= 0 && lab->plays == NULL && lab->torus.servers <= OVERLOAD_SERVERS;
}

bool overload_note(struct overload *v, unsigned runnable, unsigned processors)
{
    v->busy = runnable > processors ? v->busy + 1 : 0;
    v->rest -= v->rest > 0;
    v->next = v->busy == 0 || v->next < OVERLOAD_REST ? OVERLOAD_REST : v->next;
    if (v->busy < OVERLOAD_ROW || v->rest > 0 || v->looking != 0) {
        return false;
    }
    v->rest = v->next;
    v->next = v->next * 2 < OVERLOAD_HELD ? v->next * 2 : OVERLOAD_HELD;
    return true;
}

unsigned overload_runnable(void)
{
    unsigned runnable = 0;
    FILE *f = fopen("/proc/loadavg", "re");
    if (f != NULL) {
        runnable = fscanf(f, "%*s %*s %*s %u", &runnable) == 1 ? runnable : 0;
        fclose(f);
    }
    return runnable > 0 ? runnable - 1 : 0;
}

unsigned overload_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

/*
 * The folder says outright where the lab is: in a user namespace the keeper of an ordinary user takes itself for root,
 * whose labs are elsewhere.
 */
_Noreturn static void become_look(const struct lab *lab, bool told)
{
    char root[LAB_PATH];
    snprintf(root, sizeof root, "%s", lab->folder);
    char *slash = strrchr(root, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (setenv("CWLAB_DIR", root, 1) == 0 && (!told || setenv("CWLAB_TOLD", "1", 1) == 0)) {
        execl("/proc/self/exe", "cwlab", "rescale", "--name", lab->name, "--if-needed", "--quiet", (char *)NULL);
    }
    _exit(1);
}

void overload_look_begin(struct overload *v, const struct lab *lab)
{
    pid_t pid = v->looking == 0 ? fork() : -1;
    if (pid == 0) {
        become_look(lab, v->told);
    }
    v->looking = pid > 0 ? pid : v->looking;
}

bool overload_look_ended(struct overload *v, pid_t pid, int status)
{
    bool looked = v->looking != 0 && v->looking == pid;
    if (looked) {
        v->looking = 0;
        v->told = WIFEXITED(status) && WEXITSTATUS(status) == 1; /* needed_judge(): held */
        v->rest = status != 0 ? OVERLOAD_HELD : v->rest;
    }
    return looked;
}
