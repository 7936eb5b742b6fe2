/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "daemon/watcher.h"

#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 5, PAUSE_US = 1000 };

/* In shared memory: odd while it is being written; who died then leaves no will for the link. */
struct will {
    _Atomic uint32_t version;
    uint32_t length;
    uint8_t bytes[WATCHER_WILL];
};

struct watcher {
    struct will *will; /* CW_LINK_COUNT */
    int pipe;          /* our end; closing it is dying */
    pid_t child;
};

static const char fine = 'f';

static void say(const struct shim *s, const struct will *will)
{
    uint8_t frame[SHIM_HEADROOM + WATCHER_WILL];
    uint32_t length = will->length;
    if (length == 0 || length > WATCHER_WILL) {
        return;
    }
    for (int i = 0; i < TRIES; i++) {
        memcpy(frame + SHIM_HEADROOM, will->bytes, length);
        int rc = shim_last_words(s, frame + SHIM_HEADROOM, length);
        if (rc != -EAGAIN && rc != -ENOBUFS) {
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_US * 1000}, NULL);
    }
}

static _Noreturn void watch(int pipe, struct shim *const shims[], const struct will *will)
{
    char word = 0;
    ssize_t n;
    do {
        n = read(pipe, &word, 1);
    } while (n < 0 && errno == EINTR);
    if (n == 0) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (shims[link] != NULL && atomic_load_explicit(&will[link].version, memory_order_acquire) % 2 == 0) {
                say(shims[link], &will[link]);
            }
        }
    }
    _exit(0);
}

/* Signals to the whole group (a terminal's ^C, a manager's SIGTERM) are for the daemon; the watcher ends when it does. */
static void settle(void)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        signal(ours[i], SIG_IGN);
    }
    (void)prctl(PR_SET_NAME, "cubewayd-watch", 0, 0, 0);
}

int watcher_start(struct watcher **out, struct shim *const shims[static CW_LINK_COUNT], void (*first)(void *context),
                  void *context)
{
    size_t size = CW_LINK_COUNT * sizeof(struct will);
    int ends[2];
    struct watcher *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    w->will = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->will == MAP_FAILED || pipe2(ends, O_CLOEXEC) < 0) {
        int rc = -errno;
        if (w->will != MAP_FAILED) {
            munmap(w->will, size);
        }
        free(w);
        return rc;
    }
    w->child = fork();
    if (w->child == 0) {
        close(ends[1]);
        settle();
        if (first != NULL) {
            first(context);
        }
        watch(ends[0], shims, w->will);
    }
    int rc = w->child < 0 ? -errno : 0;
    close(ends[0]);
    w->pipe = ends[1];
    if (rc < 0) {
        close(ends[1]);
        munmap(w->will, size);
        free(w);
        return rc;
    }
    *out = w;
    return 0;
}

void watcher_will(void *context, cw_link link, const uint8_t *bytes, uint32_t length)
{
    struct watcher *w = context;
    struct will *will = &w->will[link];
    CHECK(link < CW_LINK_COUNT && length <= WATCHER_WILL);
    if (will->length == length && memcmp(will->bytes, bytes, length) == 0) {
        return;
    }
    atomic_fetch_add_explicit(&will->version, 1, memory_order_acq_rel);
    will->length = length;
    memcpy(will->bytes, bytes, length);
    atomic_fetch_add_explicit(&will->version, 1, memory_order_release);
}

void watcher_end(struct watcher *w)
{
    if (w == NULL) {
        return;
    }
    ssize_t rc = write(w->pipe, &fine, 1);
    (void)rc;
    close(w->pipe);
    while (waitpid(w->child, NULL, 0) < 0 && errno == EINTR) {
    }
    munmap(w->will, CW_LINK_COUNT * sizeof(struct will));
    free(w);
}
