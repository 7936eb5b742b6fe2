/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setresuid, setresgid, syscall */
#include "daemon/machine/privileges.h"

#include "cubeway/time.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SESSION_TRIES = 5, SESSION_PAUSE_MS = 110 };

/* CAP_PERFMON and CAP_BPF, which headers before Linux 5.8 do not name: the relay is loaded with them (transit.h). */
enum { RIGHT_PERFMON = 38, RIGHT_BPF = 39 };

/* Those of namespaces, which few daemons have to do with, come last. */
static const unsigned opening[] = {
    RIGHT_PERFMON, RIGHT_BPF,  CAP_NET_RAW, CAP_NET_ADMIN, CAP_NET_BIND_SERVICE, CAP_CHOWN,      CAP_DAC_OVERRIDE,
    CAP_FOWNER,    CAP_SETUID, CAP_SETGID,  CAP_SETPCAP,   CAP_SYS_ADMIN,        CAP_SYS_PTRACE,
};
enum { OF_NAMESPACES = 2 };

static int because(int rc, char why[static PRIVILEGES_WHY], const char *what)
{
    snprintf(why, PRIVILEGES_WHY, "%s: %s", what, strerror(-rc));
    return rc;
}

/* Limits also the set that executed programs could have, where we may. */
static capng_select_t reach(void)
{
    return capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS;
}

int privileges_limit(bool namespaces, char why[static PRIVILEGES_WHY])
{
    bool held[sizeof opening / sizeof *opening];
    const size_t count = sizeof opening / sizeof *opening - (namespaces ? 0 : OF_NAMESPACES);
    why[0] = '\0';
    if (capng_get_caps_process() != 0) {
        return because(-EIO, why, "capabilities cannot be read");
    }
    for (size_t i = 0; i < count; i++) {
        held[i] = capng_have_capability(CAPNG_PERMITTED, opening[i]);
    }
    capng_select_t set = reach();
    capng_clear(set);
    for (size_t i = 0; i < count; i++) {
        if (held[i]) {
            capng_update(CAPNG_ADD, (capng_type_t)(CAPNG_EFFECTIVE | CAPNG_PERMITTED), opening[i]);
        }
    }
    if (capng_apply(set) != 0) {
        return because(-EPERM, why, "capabilities cannot be limited");
    }
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? because(-errno, why, "no_new_privs") : 0;
}

static int become(const char *user, char why[static PRIVILEGES_WHY])
{
    errno = 0;
    const struct passwd *who = getpwnam(user);
    if (who == NULL) {
        snprintf(why, PRIVILEGES_WHY, "user %.100s: no such user (key user)", user);
        return -ENOENT;
    }
    if (initgroups(user, who->pw_gid) < 0 || setresgid(who->pw_gid, who->pw_gid, who->pw_gid) < 0 ||
        setresuid(who->pw_uid, who->pw_uid, who->pw_uid) < 0) {
        int rc = -errno;
        snprintf(why, PRIVILEGES_WHY, "user %.100s: cannot become this user: %s", user, strerror(-rc));
        return rc;
    }
    return 0;
}

static int be_nice(void)
{
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    if (nice <= PRIVILEGES_NICE && errno == 0) {
        return 0;
    }
    return setpriority(PRIO_PROCESS, 0, PRIVILEGES_NICE) < 0 ? -EACCES : 0;
}

int privileges_hurry(bool realtime)
{
    int nice = be_nice();
    if (!realtime) {
        return nice;
    }
    struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};
    return sched_setscheduler(0, SCHED_RR, &lowest) < 0 ? -EACCES : 0;
}

/*
 * The nice value of this session's group; PRIVILEGES_NICE where the kernel makes no groups, or a control group is in
 * its place. Whether it makes groups stands in /proc/sys, which is hidden from a daemon under the unit of the package
 * (ProcSubset=pid): then the group is there, and may have no effect, and is raised all the same.
 */
static int session_nice(void)
{
    int enabled = 1, nice = PRIVILEGES_NICE;
    FILE *on = fopen("/proc/sys/kernel/sched_autogroup_enabled", "re");
    FILE *group = fopen("/proc/self/autogroup", "re");
    if (on != NULL && fscanf(on, "%d", &enabled) != 1) {
        enabled = 1;
    }
    if (group != NULL && enabled != 0 && fscanf(group, "%*s nice %d", &nice) != 1) {
        nice = PRIVILEGES_NICE; /* the process is in no group */
    }
    if (on != NULL) {
        fclose(on);
    }
    if (group != NULL) {
        fclose(group);
    }
    return nice;
}

int privileges_hurry_session(void)
{
    char text[16];
    if (session_nice() <= PRIVILEGES_NICE) {
        return 0;
    }
    if (getsid(0) != getpid()) {
        return -EXDEV;
    }
    int fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    int length = snprintf(text, sizeof text, "%d", PRIVILEGES_NICE), rc = fd < 0 ? -EACCES : -EAGAIN;
    /* The kernel takes ten changes a second from all processes without CAP_SYS_ADMIN together. */
    for (int i = 0; i < SESSION_TRIES && rc == -EAGAIN; i++) {
        rc = write(fd, text, (size_t)length) == length ? 0 : errno == EAGAIN ? -EAGAIN : -EACCES;
        nanosleep(&(struct timespec){.tv_nsec = rc == -EAGAIN ? CW_MS(SESSION_PAUSE_MS).ns : 0}, NULL);
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc == -EAGAIN ? -EACCES : rc;
}

/* Both calls change the calling thread, not the process (Linux). */
void privileges_take_time(void)
{
    if (sched_getscheduler(0) == SCHED_RR) {
        (void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){.sched_priority = 0});
    }
    if (getpriority(PRIO_PROCESS, 0) < 0) {
        (void)setpriority(PRIO_PROCESS, 0, 0);
    }
}

/* Without libcap-ng, which keeps one state for all threads. */
void privileges_have_none(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    (void)syscall(SYS_capset, &head, none); /* giving up rights is not refused */
}

int privileges_drop(const char *user, char why[static PRIVILEGES_WHY])
{
    why[0] = '\0';
    if (capng_get_caps_process() != 0) {
        return because(-EIO, why, "capabilities cannot be read");
    }
    capng_select_t set = reach();
    if (set == CAPNG_SELECT_BOTH) {
        capng_clear(CAPNG_SELECT_BOUNDS); /* while we still may */
        if (capng_apply(CAPNG_SELECT_BOUNDS) != 0) {
            return because(-EPERM, why, "capabilities cannot be given up");
        }
    }
    if (user[0] != '\0') {
        int rc = become(user, why);
        if (rc < 0) {
            return rc;
        }
    }
    capng_clear(CAPNG_SELECT_CAPS);
    if (capng_apply(CAPNG_SELECT_CAPS) != 0) {
        return because(-EPERM, why, "capabilities cannot be given up");
    }
    return 0;
}
