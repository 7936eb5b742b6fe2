/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/watchdog.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOKS = 20, LOOK_MS_MOST = 500 /* it looks so often within its limit, and at least that often */ };

struct watchdog {
    volatile struct upcall_mark *mark; /* a value that is just being written is read anew the next time */
    cw_span limit;
    pthread_t watched, thread;
    int end[2]; /* a pipe: what comes out of it ends the thread */
};

/*
 * A stop of the process is one look, and not as many as there would have been. The mark is read while nodes write it,
 * without a lock that would cost each upcall something; the thread sanitizer need not say so.
 */
__attribute__((no_sanitize("thread"))) static void *watch(void *context)
{
    const struct watchdog *w = context;
    int64_t every_ms = cw_span_ms(w->limit) / LOOKS;
    every_ms = every_ms < 1 ? 1 : every_ms > LOOK_MS_MOST ? LOOK_MS_MOST : every_ms;
    struct pollfd end = {.fd = w->end[0], .events = POLLIN};
    uint64_t moves = 0;
    int64_t held_ns = 0;
    while (poll(&end, 1, (int)every_ms) == 0) {
        bool same = w->mark->service != NULL && w->mark->moves == moves;
        moves = w->mark->moves;
        held_ns = same ? held_ns + CW_MS(every_ms).ns : 0;
        if (held_ns >= w->limit.ns) {
            w->mark->watchdog_ns = held_ns;
            (void)pthread_kill(w->watched, SIGABRT);
            return NULL;
        }
    }
    return NULL;
}

struct watchdog *watchdog_open(struct upcall_mark *mark, cw_span limit)
{
    struct watchdog *w = calloc(1, sizeof *w);
    if (w == NULL || pipe(w->end) < 0) {
        free(w);
        return NULL;
    }
    w->mark = mark;
    w->limit = limit;
    w->watched = pthread_self();
    if (pthread_create(&w->thread, NULL, watch, w) != 0) {
        close(w->end[0]);
        close(w->end[1]);
        free(w);
        return NULL;
    }
    return w;
}

void watchdog_close(struct watchdog *w)
{
    if (w != NULL) {
        close(w->end[1]); /* the other end is ready then */
        (void)pthread_join(w->thread, NULL);
        close(w->end[0]);
        free(w);
    }
}
