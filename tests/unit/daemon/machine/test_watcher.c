/* SPDX-License-Identifier: Apache-2.0 */
/* test_watcher.c - who is killed has said goodbye; who ends in order says nothing more. */
#define _GNU_SOURCE /* sched_setaffinity() */
#include "daemon/machine/watcher.h"
#include "services/crash.h"
#include "shim/clock.h"
#include "suite.h"
#include "wire/relay_publish.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A shim whose last words go into a socket. */
struct mouth {
    struct shim shim;
    int fd;
};

/* Shared with the watchers: a relay that is live until the daemon dies, and what it was when goodbye was said. */
static struct both {
    struct relay_state relay;
    uint32_t live_when_said;
} * both;

static int last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    both->live_when_said |= RELAY_READ(both->relay.live) | (RELAY_READ(both->relay.lease) != 0);
    const struct mouth *m = (const struct mouth *)(const void *)s;
    return send(m->fd, bytes, length, MSG_DONTWAIT) < 0 ? -errno : 0;
}
static const struct shim_ops mouth_ops = {.last_words = last_words};

static int ears;

enum end { KILLED, IN_ORDER, CRASHED, KILLED_AFTER_IT };

/* Its watcher dies first, and another one takes its place; one that ends too often does not. */
static void lose_watcher(struct watcher *w)
{
    for (unsigned i = 0; i <= WATCHER_TRIES; i++) {
        pid_t before = watcher_process(w);
        if (watcher_look(w) != 0 || kill(before, SIGKILL) != 0) {
            _exit(2);
        }
        int rc;
        while ((rc = watcher_look(w)) == 0) {
            usleep(1000);
        }
        if (i == WATCHER_TRIES / 2) {
            if (rc != 1 || watcher_process(w) == before) {
                _exit(3);
            }
            return;
        }
    }
}

/* A process with a watcher that has left a will on two links, then dies as told. */
static void live_and_die(enum end how)
{
    int ends[2];
    both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(both, MAP_FAILED);
    both->relay.live = 3;
    both->relay.lease = UINT64_MAX;
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        static struct mouth mouth;
        mouth = (struct mouth){.shim.ops = &mouth_ops, .fd = ends[1]};
        struct shim *shims[CW_LINK_COUNT] = {[1] = &mouth.shim, [3] = &mouth.shim, [4] = &mouth.shim};
        struct watcher *w;
        close(ends[0]);
        if (watcher_start(&w, shims, &both->relay, NULL, NULL) != 0) {
            _exit(1);
        }
        watcher_will(w, 1, (const uint8_t *)"old", 3);
        watcher_will(w, 1, (const uint8_t *)"one", 3);
        watcher_will(w, 3, (const uint8_t *)"three", 5);
        if (how == IN_ORDER) {
            watcher_end(w);
            _exit(0);
        }
        if (how == KILLED_AFTER_IT) {
            lose_watcher(w);
        }
        if (how == CRASHED) {
            signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler of its own, which is left alone */
            watcher_on_crash(w);
            crash_watch(&(struct crash_report){.then = watcher_crashed});
            if (fork() == 0) { /* as a dump that takes long, it keeps the descriptors open */
                sleep(5);
                _exit(0);
            }
            raise(SIGSEGV);
        }
        raise(SIGKILL);
    }
    close(ends[1]);
    ears = ends[0];
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, how == IN_ORDER  ? 0
                                                                 : how == CRASHED ? SIGSEGV
                                                                                  : SIGKILL);
}

/* The next words, or "" when nobody will say any more. */
static const char *heard(void)
{
    static char text[64];
    struct pollfd fd = {.fd = ears, .events = POLLIN};
    ck_assert_int_eq(poll(&fd, 1, 10000), 1);
    ssize_t n = recv(ears, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

START_TEST(the_killed_say_goodbye)
{
    live_and_die(KILLED);
    ck_assert_str_eq(heard(), "one");
    ck_assert_str_eq(heard(), "three");
    ck_assert_str_eq(heard(), ""); /* link 4 has no will, and the watcher has ended */
    ck_assert_uint_eq(both->relay.live, 0);
    ck_assert_uint_eq(both->live_when_said, 0); /* the relay stood still before anybody was told */
}
END_TEST

START_TEST(who_ends_in_order_says_nothing)
{
    live_and_die(IN_ORDER);
    ck_assert_str_eq(heard(), "");
    ck_assert_uint_eq(both->relay.live, 3); /* the node sees to that itself */
    watcher_end(NULL);
}
END_TEST

START_TEST(a_watcher_that_died_is_replaced)
{
    live_and_die(KILLED_AFTER_IT);
    ck_assert_str_eq(heard(), "one");
    ck_assert_str_eq(heard(), "three");
    ck_assert_str_eq(heard(), "");
}
END_TEST

/* Before the last descriptor is closed, that is before the core is written. */
START_TEST(the_crashed_say_goodbye_at_once)
{
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    live_and_die(CRASHED);
    ck_assert_str_eq(heard(), "one");
    ck_assert_str_eq(heard(), "three");
    clock_gettime(CLOCK_MONOTONIC, &to);
    ck_assert_int_lt(to.tv_sec - from.tv_sec, 4);
}
END_TEST

START_TEST(a_watcher_that_dies_again_and_again_is_given_up)
{
    struct shim *none[CW_LINK_COUNT] = {NULL};
    struct watcher *w;
    int rc = 1;
    ck_assert_int_eq(watcher_start(&w, none, NULL, NULL, NULL), 0);
    for (unsigned i = 0; rc == 1; i++) {
        ck_assert_uint_le(i, WATCHER_TRIES);
        ck_assert_int_eq(kill(watcher_process(w), SIGKILL), 0);
        while ((rc = watcher_look(w)) == 0) {
            usleep(1000);
        }
    }
    ck_assert_int_eq(rc, -ELOOP);
    ck_assert_int_eq(watcher_look(w), 0);
    watcher_end(w);
}
END_TEST

/* The pipe by which the watcher learns of the end is the first descriptor that the kernel closes: the highest. */
START_TEST(the_pipe_goes_first)
{
    struct shim *none[CW_LINK_COUNT] = {NULL};
    struct watcher *w;
    ck_assert_int_eq(watcher_start(&w, none, NULL, NULL, NULL), 0);
    int highest = 0;
    for (int fd = 0; fd < 1024; fd++) {
        highest = fcntl(fd, F_GETFD) >= 0 ? fd : highest;
    }
    ck_assert_int_ge(highest, 1000);
    watcher_end(w);
    ck_assert_int_lt(fcntl(highest, F_GETFD), 0);
}
END_TEST

/* Neither is the end of its daemon delayed for ever, nor is a word said. */
START_TEST(a_stopped_watcher_holds_nobody_up)
{
    struct shim *none[CW_LINK_COUNT] = {NULL};
    struct watcher *w;
    ck_assert_int_eq(watcher_start(&w, none, NULL, NULL, NULL), 0);
    pid_t child = watcher_process(w);
    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    watcher_end(w);
    ck_assert_int_lt(kill(child, 0), 0);
    ck_assert_int_eq(errno, ESRCH);
}
END_TEST

/* A process that hangs in an upcall is asked where, and is ended when that lasts too long. */
START_TEST(a_daemon_that_hangs_says_so_and_is_ended)
{
    int ends[2], status;
    char said[8192];
    size_t size = 0;
    ssize_t got;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct shim *none[CW_LINK_COUNT] = {NULL};
        struct watcher *w;
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        if (watcher_start(&w, none, NULL, NULL, NULL) != 0) {
            _exit(1);
        }
        struct upcall_mark *mark = watcher_mark(w);
        crash_watch(&(struct crash_report){.mark = mark, .then = watcher_crashed});
        crash_say_on(WATCHER_ASKS, clock_now);
        watcher_limit(w, CW_MS(2500));
        *mark = (struct upcall_mark){
            .service = "lock", .upcall = UPCALL_PACKET, .server = {0, 1, 0}, .now = clock_now(), .moves = 7};
        while (true) {
            (void)pause(); /* it sleeps in the upcall, and does not come back */
        }
    }
    close(ends[1]);
    while ((got = read(ends[0], said + size, sizeof said - 1 - size)) > 0) {
        size += (size_t)got;
    }
    said[size] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT);
    const char *first = strstr(said, "service lock, in on_packet, on server 0,1,0: has held the thread for ");
    ck_assert_msg(first != NULL, "%s", said);
    ck_assert_msg(
        strstr(first, "ended by the watchdog: service lock, in on_packet, on server 0,1,0, has held the thread") !=
            NULL,
        "%s", said);
}
END_TEST

static void spin(void)
{
    for (volatile unsigned n = 0;; n++) {
    }
}

/* All on one processor: what computes without an end beside three others gets a quarter of it, and is ended as well. */
START_TEST(a_share_of_a_busy_machine_counts)
{
    int status;
    pid_t other[3], child;
    cpu_set_t all, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
        }
    }
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct shim *none[CW_LINK_COUNT] = {NULL};
        struct watcher *w;
        if (watcher_start(&w, none, NULL, NULL, NULL) != 0) {
            _exit(1);
        }
        watcher_limit(w, CW_MS(300));
        *watcher_mark(w) = (struct upcall_mark){.service = "lock", .upcall = UPCALL_PACKET, .moves = 7};
        (void)sched_setaffinity(0, sizeof one, &one);
        spin();
    }
    for (int i = 0; i < 3; i++) {
        other[i] = fork();
        ck_assert_int_ge(other[i], 0);
        if (other[i] == 0) {
            (void)alarm(60);
            (void)sched_setaffinity(0, sizeof one, &one);
            spin();
        }
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(kill(other[i], SIGKILL), 0);
        ck_assert_int_eq(waitpid(other[i], NULL, 0), other[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_share_of_a_busy_machine_counts),
    SUITE_TEST(a_daemon_that_hangs_says_so_and_is_ended),
    SUITE_TEST(the_pipe_goes_first),
    SUITE_TEST(a_stopped_watcher_holds_nobody_up),
    SUITE_TEST(a_watcher_that_died_is_replaced),
    SUITE_TEST(the_crashed_say_goodbye_at_once),
    SUITE_TEST(a_watcher_that_dies_again_and_again_is_given_up),
    SUITE_TEST(the_killed_say_goodbye),
    SUITE_TEST(who_ends_in_order_says_nothing),
};
SUITE_MAIN("watcher", tests)
