/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/isolate.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct isolate {
    pid_t child;
    FILE *said; /* a file without a name: the child never waits for a reader */
    struct isolate_outcome *shared;
    bool ended;
    int status;
};

static void play_inside(const struct scenario *s, const char *file, const char *replay, struct isolate_outcome *out)
{
    const struct play_options options = {
        .command = "swarm", .file = file, .replay = replay, .quiet = true, .errors = stderr};
    struct play_result result;
    play_run(s, &options, &result);
    out->verdict = result.verdict;
    out->invariant = result.invariant;
    out->at = result.at;
    if (result.report != NULL) {
        out->packets = (uint64_t)report_value(result.report, "packets");
        out->delivered = (uint64_t)report_value(result.report, "delivered");
        out->packet_hops = (uint64_t)report_value(result.report, "packet_hops");
        out->events = (uint64_t)report_value(result.report, "events");
        out->digest = report_hash_value(result.report, "digest");
        report_close(result.report);
    }
}

int isolate_start(struct isolate **out, const struct scenario *s, const char *file, const char *replay,
                  unsigned seconds)
{
    struct isolate *i = calloc(1, sizeof *i);
    if (i == NULL) {
        return -ENOMEM;
    }
    i->said = tmpfile();
    i->shared = mmap(NULL, sizeof *i->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    fflush(NULL); /* the child must not write what is ours */
    i->child = i->said == NULL || i->shared == MAP_FAILED ? -1 : fork();
    if (i->child < 0) {
        int rc = -errno;
        if (i->said != NULL) {
            fclose(i->said);
        }
        if (i->shared != MAP_FAILED) {
            munmap(i->shared, sizeof *i->shared);
        }
        free(i);
        return rc;
    }
    if (i->child == 0) {
        if (dup2(fileno(i->said), STDERR_FILENO) < 0) {
            _exit(EXIT_FAILURE);
        }
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would read what it finds */
        (void)signal(SIGALRM, SIG_DFL);
        alarm(seconds);
        play_inside(s, file, replay, i->shared);
        fflush(stderr);
        _exit(EXIT_SUCCESS);
    }
    *out = i;
    return 0;
}

int isolate_wait_any(struct isolate *const list[], unsigned count)
{
    for (;;) {
        bool some = false;
        for (unsigned k = 0; k < count; k++) {
            if (list[k] == NULL) {
                continue;
            }
            if (list[k]->ended) {
                return (int)k;
            }
            some = true;
        }
        if (!some) {
            return -ECHILD;
        }
        int status;
        pid_t child = waitpid(-1, &status, 0);
        if (child < 0 && errno != EINTR) {
            return -errno;
        }
        for (unsigned k = 0; k < count && child > 0; k++) {
            if (list[k] != NULL && list[k]->child == child) {
                list[k]->ended = true;
                list[k]->status = status;
            }
        }
    }
}

void isolate_finish(struct isolate *i, struct isolate_outcome *out)
{
    *out = *i->shared;
    out->signal = WIFSIGNALED(i->status) ? WTERMSIG(i->status) : 0;
    if (out->signal == 0 && WEXITSTATUS(i->status) != EXIT_SUCCESS) {
        out->signal = SIGABRT; /* a sanitizer ended it */
    }
    long size = fseek(i->said, 0, SEEK_END) == 0 ? ftell(i->said) : 0;
    long from = size >= ISOLATE_SAID ? size - ISOLATE_SAID + 1 : 0;
    size_t length = 0;
    if (fseek(i->said, from, SEEK_SET) == 0) {
        length = fread(out->said, 1, ISOLATE_SAID - 1, i->said);
    }
    out->said[length] = '\0';
    fclose(i->said);
    munmap(i->shared, sizeof *i->shared);
    free(i);
}

int isolate_run(const struct scenario *s, const char *file, const char *replay, unsigned seconds,
                struct isolate_outcome *out)
{
    struct isolate *i;
    int rc = isolate_start(&i, s, file, replay, seconds);
    if (rc == 0) {
        rc = isolate_wait_any(&i, 1);
    }
    if (rc >= 0) {
        isolate_finish(i, out);
        rc = 0;
    }
    return rc;
}

bool isolate_failed(const struct isolate_outcome *o)
{
    return o->signal != 0 || o->verdict != PLAY_FINE;
}

bool isolate_same_failure(const struct isolate_outcome *a, const struct isolate_outcome *b)
{
    return isolate_failed(a) && a->signal == b->signal &&
           (a->signal != 0 || (a->verdict == b->verdict && a->invariant == b->invariant));
}
