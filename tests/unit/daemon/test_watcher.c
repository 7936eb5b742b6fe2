/* SPDX-License-Identifier: Apache-2.0 */
/* test_watcher.c - who is killed has said goodbye; who ends in order says nothing more. */
#include "daemon/watcher.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A shim whose last words go into a socket. */
struct mouth {
    struct shim shim;
    int fd;
};

static int last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    const struct mouth *m = (const struct mouth *)(const void *)s;
    return send(m->fd, bytes, length, MSG_DONTWAIT) < 0 ? -errno : 0;
}
static const struct shim_ops mouth_ops = {.last_words = last_words};

static int ears;

/* A process with a watcher that has left a will on two links, then dies as told. */
static void live_and_die(bool in_order)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        static struct mouth mouth;
        mouth = (struct mouth){.shim.ops = &mouth_ops, .fd = ends[1]};
        struct shim *shims[CW_LINK_COUNT] = {[1] = &mouth.shim, [3] = &mouth.shim, [4] = &mouth.shim};
        struct watcher *w;
        close(ends[0]);
        if (watcher_start(&w, shims, NULL, NULL) != 0) {
            _exit(1);
        }
        watcher_will(w, 1, (const uint8_t *)"old", 3);
        watcher_will(w, 1, (const uint8_t *)"one", 3);
        watcher_will(w, 3, (const uint8_t *)"three", 5);
        if (in_order) {
            watcher_end(w);
            _exit(0);
        }
        raise(SIGKILL);
    }
    close(ends[1]);
    ears = ends[0];
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
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
    live_and_die(false);
    ck_assert_str_eq(heard(), "one");
    ck_assert_str_eq(heard(), "three");
    ck_assert_str_eq(heard(), ""); /* link 4 has no will, and the watcher has ended */
}
END_TEST

START_TEST(who_ends_in_order_says_nothing)
{
    live_and_die(true);
    ck_assert_str_eq(heard(), "");
    watcher_end(NULL);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_killed_say_goodbye),
    SUITE_TEST(who_ends_in_order_says_nothing),
};
SUITE_MAIN("watcher", tests)
