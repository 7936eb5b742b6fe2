/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/offload.h"

#include "base/check.h"
#include "daemon/machine/privileges.h"
#include "shim/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { THREADS_MAX = 16 };

struct job {
    struct job *next;
    void (*work)(void *);
    void *arg;
    struct offload_done done;
};

struct jobs {
    struct job *first, *last;
};

struct offload {
    pthread_mutex_t lock;
    pthread_cond_t more, quiet;
    struct jobs waiting, done;
    unsigned under_way; /* pieces of work that wait or run */
    bool ending;
    int fd;
    unsigned threads_most, threads;
    pthread_t thread[THREADS_MAX];
};

static void push(struct jobs *jobs, struct job *job)
{
    job->next = NULL;
    if (jobs->first == NULL) {
        jobs->first = job;
    } else {
        jobs->last->next = job;
    }
    jobs->last = job;
}

static struct job *pop(struct jobs *jobs)
{
    struct job *job = jobs->first;
    if (job != NULL) {
        jobs->first = job->next;
    }
    return job;
}

/* Called with the lock held. */
static void finished(struct offload *o, struct job *job)
{
    uint64_t one = 1;
    push(&o->done, job);
    o->under_way--;
    ssize_t rc = write(o->fd, &one, sizeof one); /* a full counter is readable too */
    (void)rc;
    if (o->under_way == 0) {
        pthread_cond_broadcast(&o->quiet);
    }
}

static void *run(void *arg)
{
    struct offload *o = arg;
    privileges_take_time(); /* offloaded work is not urgent */
    privileges_have_none(); /* a service may offload work while it opens, before the daemon has given up its rights */
    pthread_mutex_lock(&o->lock);
    for (;;) {
        struct job *job;
        while ((job = pop(&o->waiting)) == NULL && !o->ending) {
            pthread_cond_wait(&o->more, &o->lock);
        }
        if (job == NULL) {
            break;
        }
        pthread_mutex_unlock(&o->lock);
        job->work(job->arg);
        pthread_mutex_lock(&o->lock);
        finished(o, job);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

static void start_thread(struct offload *o)
{
    o->threads += thread_start(&o->thread[o->threads], run, o) == 0;
}

int offload_open(struct offload **out, unsigned threads)
{
    CHECK(threads >= 1 && threads <= THREADS_MAX);
    struct offload *o = calloc(1, sizeof *o);
    if (o == NULL) {
        return -ENOMEM;
    }
    o->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (o->fd < 0) {
        int rc = -errno;
        free(o);
        return rc;
    }
    o->threads_most = threads;
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->more, NULL);
    pthread_cond_init(&o->quiet, NULL);
    *out = o;
    return 0;
}

static void free_all(struct jobs *jobs)
{
    struct job *job;
    while ((job = pop(jobs)) != NULL) {
        free(job);
    }
}

void offload_close(struct offload *o)
{
    pthread_mutex_lock(&o->lock);
    o->ending = true;
    free_all(&o->waiting);
    pthread_cond_broadcast(&o->more);
    pthread_mutex_unlock(&o->lock);
    for (unsigned i = 0; i < o->threads; i++) {
        pthread_join(o->thread[i], NULL);
    }
    free_all(&o->done);
    close(o->fd);
    pthread_cond_destroy(&o->quiet);
    pthread_cond_destroy(&o->more);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

int offload_fd(const struct offload *o)
{
    return o->fd;
}

void offload_give(struct offload *o, void (*work)(void *), void *arg, void *owner, uint64_t ticket)
{
    struct job *job = malloc(sizeof *job);
    CHECK(job != NULL); /* the ticket must come back: a service waits for it */
    *job = (struct job){.work = work, .arg = arg, .done = {owner, ticket}};
    pthread_mutex_lock(&o->lock);
    if (o->threads < o->threads_most && o->under_way >= o->threads) {
        start_thread(o);
    }
    o->under_way++;
    if (o->threads > 0) {
        push(&o->waiting, job);
        pthread_cond_signal(&o->more);
        pthread_mutex_unlock(&o->lock);
        return;
    }
    pthread_mutex_unlock(&o->lock);
    work(arg);
    pthread_mutex_lock(&o->lock);
    finished(o, job);
    pthread_mutex_unlock(&o->lock);
}

unsigned offload_collect(struct offload *o, struct offload_done *out, unsigned count)
{
    uint64_t seen;
    unsigned n = 0;
    ssize_t rc = read(o->fd, &seen, sizeof seen);
    (void)rc;
    pthread_mutex_lock(&o->lock);
    while (n < count && o->done.first != NULL) {
        struct job *job = pop(&o->done);
        out[n++] = job->done;
        free(job);
    }
    if (o->done.first != NULL) {
        uint64_t one = 1;
        rc = write(o->fd, &one, sizeof one);
        (void)rc;
    }
    pthread_mutex_unlock(&o->lock);
    return n;
}

void offload_drain(struct offload *o)
{
    pthread_mutex_lock(&o->lock);
    while (o->under_way > 0) {
        pthread_cond_wait(&o->quiet, &o->lock);
    }
    pthread_mutex_unlock(&o->lock);
}
