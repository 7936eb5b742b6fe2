/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, close_range, tgkill */
#include "daemon/machine/watcher.h"

#include "base/check.h"
#include "wire/relay_publish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 5, PAUSE_US = 1000, END_TRIES = 200, KNOWN_FDS = 1024, HIGH_FD = 1000, STAT_BYTES = 512 };

/*
 * In shared memory. The number is odd while the will is being written: a daemon that dies then leaves no will for the
 * link.
 */
struct will {
    _Atomic uint32_t version;
    uint32_t length;
    uint8_t bytes[WATCHER_WILL];
};

/* What the daemon and its watcher share. */
struct shared {
    struct will will[CW_LINK_COUNT];
    struct upcall_mark mark;
    _Atomic int64_t limit_ns;
};

struct watcher {
    struct shared *shared;
    /*
     * The daemon's /proc/self/stat, which watchers inherit: its number among processes may be another one in the
     * namespace that /proc is of. -1: there is no such file.
     */
    int stat;
    int pipe;       /* our end of the pipe; the kernel closes it when we die */
    pid_t child;    /* 0: there is none */
    unsigned again; /* watchers that were started since the first */
    struct shim *shim[CW_LINK_COUNT];
    struct relay_state *relay; /* NULL: there is none */
    void (*first)(void *context);
    void *context;
    bool keep[KNOWN_FDS]; /* descriptors that were open before the first watcher, which later ones keep */
};

static const char fine = 'f', crashed = 'c';
static atomic_int crash_pipe = -1; /* for the signal handler, which has no argument */

static void pause_for(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

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
        pause_for(PAUSE_US);
    }
}

/* ---- A daemon that hangs ----------------------------------------------------------------------------------------- */

/* What the watcher has seen of the upcall that the daemon is in. */
struct hang {
    pid_t daemon;
    int stat;        /* its /proc/self/stat, or -1 */
    uint64_t moves;  /* of the mark, when it looked last */
    int64_t cpu_ns;  /* the processor time that the daemon had used then */
    int64_t held_ns; /* how long it has hung in this upcall */
    int64_t next_ns; /* when that long, it is asked again */
};

static int64_t processor_time(pid_t process)
{
    clockid_t clock;
    struct timespec used = {0, 0};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) < 0) {
        return 0;
    }
    return used.tv_sec * CW_NS_PER_SEC + used.tv_nsec;
}

/* True: it sleeps, by its own will. False: it runs, wants to run, is stopped, or cannot be looked at. */
static bool sleeps(int stat)
{
    char text[STAT_BYTES];
    ssize_t n = stat >= 0 ? pread(stat, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')'); /* "123 (name) S ...": the name may hold anything */
    return state != NULL && state[1] == ' ' && (state[2] == 'S' || state[2] == 'D');
}

static void tell_daemon(const struct hang *h, int signal)
{
    (void)tgkill(h->daemon, h->daemon, signal); /* its first thread, which runs the node */
}

/* Every WATCHER_EVERY_MS. What the daemon writes meanwhile may be seen or not: the next look sees it. */
static void look_for_hang(struct hang *h, volatile struct shared *shared)
{
    const int64_t every = CW_MS(WATCHER_EVERY_MS).ns, limit = shared->limit_ns;
    uint64_t moves = shared->mark.moves;
    if (shared->mark.service == NULL || moves != h->moves) {
        *h = (struct hang){.daemon = h->daemon, .stat = h->stat, .moves = moves, .next_ns = CW_SEC(1).ns};
        return;
    }
    int64_t used = processor_time(h->daemon), before = h->cpu_ns;
    h->cpu_ns = used;
    if (before == 0) {
        return;
    }
    /* A share of a busy machine counts as such: an upcall without an end is ended there, too, only later. */
    h->held_ns += sleeps(h->stat) || used - before > every ? every : used - before;
    if (limit > 0 && h->held_ns >= limit) {
        shared->mark.watchdog_ns = h->held_ns; /* its last words say that it was ended, and did not crash */
        tell_daemon(h, SIGABRT);
        h->held_ns = 0; /* it dies of it, or is asked again */
    } else if (h->held_ns >= h->next_ns) {
        h->next_ns *= 2;
        tell_daemon(h, WATCHER_ASKS);
    }
}

/* ---- The watcher's life ------------------------------------------------------------------------------------------ */

/* Waits for a word of the daemon's, or for its end: as read() gives them. */
static ssize_t listen_to(int pipe, pid_t daemon, const struct watcher *w, char *word)
{
    struct hang hang = {.daemon = daemon, .stat = w->stat, .next_ns = CW_SEC(1).ns};
    struct pollfd fd = {.fd = pipe, .events = POLLIN};
    ssize_t n;
    while (poll(&fd, 1, WATCHER_EVERY_MS) <= 0) {
        look_for_hang(&hang, w->shared);
    }
    do {
        n = read(pipe, word, 1);
    } while (n < 0 && errno == EINTR);
    return n;
}

static _Noreturn void watch(int pipe, pid_t daemon, const struct watcher *w)
{
    struct shim *const *shims = w->shim;
    const struct will *will = w->shared->will;
    char word = 0;
    ssize_t n = listen_to(pipe, daemon, w, &word);
    if (n == 1 && word == crashed) {
        pause_for(WATCHER_CRASH_MS * 1000);
    }
    if (n == 0 || word == crashed) {
        if (w->relay != NULL) { /* before anybody is told, and before the descriptors of its attachments go with us */
            relay_stop(w->relay);
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (shims[link] != NULL && atomic_load_explicit(&will[link].version, memory_order_acquire) % 2 == 0) {
                say(shims[link], &will[link]);
            }
        }
    }
    _exit(0);
}

/*
 * Signals to the whole process group (^C of a terminal, SIGTERM of a manager) are for the daemon; the watcher ends when
 * it does.
 */
static void become_watcher(void)
{
    static const int reset[] = {SIGCHLD, SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE, SIGSYS}; /* the daemon's handlers */
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, WATCHER_ASKS};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        signal(ours[i], SIG_IGN);
    }
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++) {
        signal(reset[i], SIG_DFL);
    }
    (void)prctl(PR_SET_NAME, "cubewayd-watch", 0, 0, 0);
}

static void note_descriptors(struct watcher *w)
{
    for (int fd = 0; fd < KNOWN_FDS; fd++) {
        w->keep[fd] = fcntl(fd, F_GETFD) >= 0;
    }
}

/*
 * A watcher must not keep what the daemon has opened since: a listening socket would go on listening after the daemon
 * died.
 */
static void close_others(const struct watcher *w, int pipe)
{
    for (int fd = 0; fd < KNOWN_FDS; fd++) {
        if (!w->keep[fd] && fd != pipe) {
            close(fd);
        }
    }
    int beyond = pipe >= KNOWN_FDS ? pipe : KNOWN_FDS - 1;
    if (beyond > KNOWN_FDS) {
        (void)close_range(KNOWN_FDS, (unsigned)beyond - 1, 0);
    }
    (void)close_range((unsigned)beyond + 1, UINT_MAX, 0);
}

/*
 * Linux lets go of the descriptors of a process that has ended from the highest on. That of a network takes some
 * milliseconds: so the pipe's end gets a high number, and the goodbye does not wait for it.
 */
static int lift(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high < 0) {
        return fd; /* the process may not have so many: the goodbye comes later */
    }
    close(fd);
    return high;
}

/* Calls only what is safe in the child of a process with threads. */
static int start(struct watcher *w)
{
    int ends[2];
    pid_t daemon = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -errno;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        become_watcher();
        if (w->again > 0) {
            close_others(w, ends[0]);
        }
        if (w->first != NULL) {
            w->first(w->context);
        }
        watch(ends[0], daemon, w);
    }
    int rc = child < 0 ? -errno : 0;
    close(ends[0]);
    if (rc < 0) {
        close(ends[1]);
        return rc;
    }
    w->child = child;
    w->pipe = lift(ends[1]);
    return 0;
}

int watcher_start(struct watcher **out, struct shim *const shims[static CW_LINK_COUNT], struct relay_state *relay,
                  void (*first)(void *context), void *context)
{
    size_t size = sizeof(struct shared);
    struct watcher *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = (struct watcher){.relay = relay, .first = first, .context = context};
    memcpy(w->shim, shims, sizeof w->shim);
    w->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w->shared == MAP_FAILED) {
        int rc = -errno;
        free(w);
        return rc;
    }
    w->stat = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    note_descriptors(w);
    int rc = start(w);
    if (rc < 0) {
        if (w->stat >= 0) {
            close(w->stat);
        }
        munmap(w->shared, size);
        free(w);
        return rc;
    }
    *out = w;
    return 0;
}

int watcher_look(struct watcher *w)
{
    if (w->child == 0 || waitpid(w->child, NULL, WNOHANG) != w->child) {
        return 0;
    }
    bool handled = atomic_exchange(&crash_pipe, -1) >= 0;
    close(w->pipe);
    w->child = 0;
    w->pipe = -1;
    if (w->again >= WATCHER_TRIES) {
        return -ELOOP;
    }
    w->again++;
    int rc = start(w);
    if (rc == 0 && handled) {
        atomic_store(&crash_pipe, w->pipe);
    }
    return rc < 0 ? rc : 1;
}

pid_t watcher_process(const struct watcher *w)
{
    return w->child;
}

struct upcall_mark *watcher_mark(struct watcher *w)
{
    return w != NULL ? &w->shared->mark : NULL;
}

void watcher_limit(struct watcher *w, cw_span limit)
{
    atomic_store(&w->shared->limit_ns, limit.ns);
}

void watcher_crashed(int signal)
{
    int pipe = atomic_load(&crash_pipe);
    (void)signal;
    if (pipe >= 0) {
        ssize_t rc = write(pipe, &crashed, 1);
        (void)rc;
    }
}

void watcher_on_crash(struct watcher *w)
{
    atomic_store(&crash_pipe, w->pipe);
}

void watcher_will(void *context, cw_link link, const uint8_t *bytes, uint32_t length)
{
    struct watcher *w = context;
    struct will *will = &w->shared->will[link];
    CHECK(link < CW_LINK_COUNT && length <= WATCHER_WILL);
    if (will->length == length && memcmp(will->bytes, bytes, length) == 0) {
        return;
    }
    atomic_fetch_add_explicit(&will->version, 1, memory_order_acq_rel);
    will->length = length;
    memcpy(will->bytes, bytes, length);
    atomic_fetch_add_explicit(&will->version, 1, memory_order_release);
}

/*
 * A watcher that has been stopped, or has no processor, keeps nobody waiting: our links are free for the next daemon
 * once we are gone.
 */
static void wait_for(pid_t child)
{
    pid_t ended = 0;
    for (unsigned i = 0; i < END_TRIES && (ended = waitpid(child, NULL, WNOHANG)) == 0; i++) {
        pause_for(PAUSE_US);
    }
    if (ended == 0) {
        (void)kill(child, SIGKILL);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

void watcher_end(struct watcher *w)
{
    if (w == NULL) {
        return;
    }
    atomic_store(&crash_pipe, -1);
    if (w->child != 0) {
        ssize_t rc = write(w->pipe, &fine, 1);
        (void)rc;
        close(w->pipe);
        wait_for(w->child);
    }
    if (w->stat >= 0) {
        close(w->stat);
    }
    munmap(w->shared, sizeof(struct shared));
    free(w);
}
