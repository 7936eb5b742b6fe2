/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "testbed/launch.h"

#include "testbed/hold.h"
#include "testbed/keeper.h"
#include "testbed/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3000, ROUND_US = 10000 };

/* ---- Namespaces -------------------------------------------------------------------------------------------------- */

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : write(fd, text, strlen(text));
    int rc = length < 0 ? -errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

/* Makes an ordinary user root of a new user namespace, which has power only over what is made inside of it. */
static int enter_user_namespace(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "0 %u 1", (unsigned)geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
        return -errno;
    }
    (void)write_file("/proc/self/setgroups", "deny");
    int rc = write_file("/proc/self/uid_map", users);
    return rc < 0 ? rc : write_file("/proc/self/gid_map", groups);
}

static bool may_as_we_are(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(unshare(CLONE_NEWNET) < 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int launch_allowed(char why[static LAB_WHY])
{
    int ends[2], rc = -EIO;
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -errno;
    }
    bool own = may_as_we_are();
    pid_t pid = fork();
    if (pid == 0) {
        rc = own ? 0 : enter_user_namespace();
        rc = rc == 0 && unshare(CLONE_NEWNET) < 0 ? -errno : rc;
        (void)!write(ends[1], &rc, sizeof rc);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], &rc, sizeof rc) != (ssize_t)sizeof rc) {
        rc = -EIO;
    }
    close(ends[0]);
    if (pid > 0) {
        (void)waitpid(pid, NULL, 0);
    }
    if (rc < 0) {
        snprintf(
            why, LAB_WHY,
            "network namespaces cannot be made here (%s): be root, or let the system allow user namespaces, or use "
            "--driver process",
            strerror(-rc));
    }
    return rc;
}

/* ---- The keeper's beginning -------------------------------------------------------------------------------------- */

/* A lab of 512 servers needs some thousand descriptors, more than the usual soft limit. */
static void raise_limits(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &most);
    }
}

static void quieten(const struct lab *lab)
{
    char path[LAB_PATH];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(lab_path(lab, "keeper", ".log", path), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)dup2(null, 0);
    (void)dup2(log >= 0 ? log : null, 1);
    (void)dup2(log >= 0 ? log : null, 2);
}

static void complain(int lifeline, const char *what, int rc)
{
    char text[128];
    int length = snprintf(text, sizeof text, "failed %s: %s\n", what, strerror(-rc));
    (void)send(lifeline, text, (size_t)length, MSG_NOSIGNAL);
}

/*
 * Runs in a process between cwlab and the keeper, whose next child (the keeper) becomes the first process of a new
 * process namespace, if the system allows one. If it does not, prctl() still makes daemons die with their keeper.
 */
static int prepare(const struct lab *lab, int lifeline)
{
    (void)setsid();
    raise_limits();
    if (lab->driver == LAB_NETNS && !may_as_we_are()) {
        int rc = enter_user_namespace();
        if (rc < 0) {
            complain(lifeline, "a user namespace", rc);
            return rc;
        }
    }
    (void)unshare(CLONE_NEWPID);
    return 0;
}

_Noreturn static void begin(const struct lab *lab, int lifeline, int numbers)
{
    if (prepare(lab, lifeline) < 0) {
        _exit(1);
    }
    pid_t keeper = fork();
    if (keeper == 0) {
        close(numbers);
        quieten(lab);
        _exit(keeper_run(lab, lifeline));
    }
    (void)!write(numbers, &keeper, sizeof keeper);
    _exit(keeper < 0);
}

/* The folder is there already. 0: a dead lab had left it, and it may be removed. */
static int check_dead(const struct lab *lab, char *why)
{
    switch (hold_state(lab)) {
    case HOLD_UP:
        snprintf(why, LAB_WHY, "lab '%s' is up already: cwlab down --name %s ends it, or give another --name",
                 lab->name, lab->name);
        return -EEXIST;
    case HOLD_COMES:
        snprintf(why, LAB_WHY,
                 "a lab '%s' is coming up just now, by another cwlab: wait for it, or give another --name", lab->name);
        return -EBUSY;
    case HOLD_ENDS:
        snprintf(why, LAB_WHY, "lab '%s' is ending just now: cwlab down --name %s waits for its end", lab->name,
                 lab->name);
        return -EBUSY;
    default:
        return 0;
    }
}

/* Gives the hold on the new folder; -errno, and why. */
static int make_held(const struct lab *lab, bool *cleaned, char *why)
{
    int rc = lab_make_folder(lab);
    if (rc == -EEXIST) {
        struct lab dead;
        rc = check_dead(lab, why);
        if (rc < 0) {
            return rc;
        }
        if (lab_load(&dead, lab->name, why) == 0) {
            lab_remove_folder(&dead); /* its data may be elsewhere than ours */
        }
        lab_remove_folder(lab);
        *cleaned = true;
        rc = lab_make_folder(lab);
    }
    rc = rc < 0 ? rc : hold_take(lab);
    if (rc < 0) {
        snprintf(why, LAB_WHY, "%s: %s", lab->folder, strerror(-rc));
    }
    return rc;
}

/* Two that want one name take turns: the second one finds the first one's folder held. */
static int make_place(const struct lab *lab, bool *cleaned, char *why)
{
    *cleaned = false;
    int root = hold_root(lab);
    if (root < 0) {
        snprintf(why, LAB_WHY, "%s: %s", lab->folder, strerror(-root));
        return root;
    }
    int rc = make_held(lab, cleaned, why);
    close(root);
    return rc;
}

static void let_go(struct launch *l)
{
    if (l->hold >= 0) {
        close(l->hold);
    }
    l->hold = -1;
}

int launch_begin(struct launch *l, struct lab *lab, bool *cleaned, char why[static LAB_WHY])
{
    int line[2] = {-1, -1}, numbers[2] = {-1, -1};
    *l = (struct launch){.lifeline = -1, .hold = -1};
    int rc = make_place(lab, cleaned, why);
    if (rc < 0) {
        return rc;
    }
    l->hold = rc;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) < 0 || pipe2(numbers, O_CLOEXEC) < 0) {
        rc = -errno;
        snprintf(why, LAB_WHY, "%s", strerror(-rc));
        let_go(l);
        return rc;
    }
    pid_t between = fork();
    if (between == 0) {
        close(line[0]);
        close(numbers[0]);
        begin(lab, line[1], numbers[1]);
    }
    close(line[1]);
    close(numbers[1]);
    l->lifeline = line[0];
    if (between > 0) {
        if (read(numbers[0], &lab->keeper, sizeof lab->keeper) != (ssize_t)sizeof lab->keeper) {
            lab->keeper = 0; /* the lifeline says why */
        }
        (void)waitpid(between, NULL, 0);
    }
    close(numbers[0]);
    rc = between < 0 ? -EAGAIN : lab_save(lab);
    if (rc < 0) {
        snprintf(why, LAB_WHY, "%s", strerror(-rc));
        launch_close(l, lab);
    }
    return rc;
}

/* ---- What it says ------------------------------------------------------------------------------------------------ */

static char *next_line(struct launch *l, char *line, size_t room)
{
    for (;;) {
        char *end = memchr(l->bytes, '\n', l->used);
        if (end != NULL) {
            size_t length = (size_t)(end - l->bytes);
            snprintf(line, room, "%.*s", (int)length, l->bytes);
            l->used -= length + 1;
            memmove(l->bytes, end + 1, l->used);
            return line;
        }
        ssize_t got =
            l->used < sizeof l->bytes ? recv(l->lifeline, l->bytes + l->used, sizeof l->bytes - l->used, 0) : 0;
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return NULL;
        }
        l->used += (size_t)got;
    }
}

int launch_wait(struct launch *l, void (*progress)(void *context, unsigned done, unsigned total, const char *what),
                void *context, char why[static LAB_WHY])
{
    char line[512], what[32];
    unsigned done, total;
    while (next_line(l, line, sizeof line) != NULL) {
        if (sscanf(line, "at %u %u %31s", &done, &total, what) == 3) {
            if (progress != NULL) {
                progress(context, done, total, what);
            }
        } else if (strcmp(line, "up") == 0) {
            let_go(l); /* the keeper has it, and answers */
            return 0;
        } else if (strncmp(line, "failed ", 7) == 0) {
            snprintf(why, LAB_WHY, "%.300s", line + 7);
            return -EIO;
        }
    }
    snprintf(why, LAB_WHY, "the keeper of the lab died");
    return -ECONNRESET;
}

void launch_let_go(struct launch *l)
{
    (void)send(l->lifeline, "stay", 4, MSG_NOSIGNAL);
}

void launch_close(struct launch *l, const struct lab *lab)
{
    if (l->lifeline < 0) {
        return;
    }
    close(l->lifeline);
    l->lifeline = -1;
    let_go(l);
    /* The keeper removes the folder last. Its process may stay as a zombie until its parent has reaped it. */
    bool there = lab->keeper > 0;
    for (int i = 0; i < ROUNDS && there; i++) {
        there = access(lab->folder, F_OK) == 0 && kill(lab->keeper, 0) == 0;
        usleep(there ? ROUND_US : 0);
    }
    if (there) {
        (void)kill(lab->keeper, SIGKILL);
    }
    if (access(lab->folder, F_OK) == 0) { /* by now it may be another one's, who makes a lab of this name */
        (void)hold_clear(lab);
    }
}
