/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - cubewayd: reads its configuration, opens all that the configuration asks for, gives up the rights that it no
 * longer needs, and runs. It only composes.
 *
 * The order is: configuration, stable storage, links (which take rights), watcher, servers and services, the control
 * socket and the listeners; then the rights are given up, and the daemon is ready.
 */
#include "boot/place.h"
#include "cubeway/version.h"
#include "daemon/commands/commands.h"
#include "daemon/config/config.h"
#include "daemon/config/lint.h"
#include "daemon/files/file_host.h"
#include "daemon/files/job_host.h"
#include "daemon/files/state.h"
#include "daemon/host/host.h"
#include "daemon/listeners/memcached.h"
#include "daemon/listeners/metrics.h"
#include "daemon/listeners/tun_door.h"
#include "daemon/machine/links.h"
#include "daemon/machine/log.h"
#include "daemon/machine/notify.h"
#include "daemon/machine/priority.h"
#include "daemon/machine/privileges.h"
#include "daemon/machine/reload.h"
#include "daemon/machine/transit.h"
#include "daemon/machine/watcher.h"
#include "daemon/start/wanted.h"
#include "services/crash.h"
#include "shim/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { INCARNATIONS = 1 << 20, PATIENCE_SEC = 5 };

/* ---- What a running daemon holds, in the order of its opening ---------------------------------------------------- */

struct daemon {
    struct daemon_config config;
    struct log *log;
    struct state_file state_file;
    bool stored;               /* state_file is open */
    bool dropped;              /* the rights were given up */
    bool looked;               /* missing neighbours were logged */
    bool signalled;            /* it was told to end by a signal */
    struct upcall_mark mark;   /* without a watcher, which has one of its own */
    const char *priority_note; /* what is missing of the priority that is configured; NULL: nothing is */
    struct shim *shim[CW_LINK_COUNT];
    struct transit *transit;
    struct watcher *watcher;
    struct job_host *jobs;
    struct file_host *files;
    struct host *host;
    struct request_table table;
    struct control *control;
    struct metrics *metrics;
    struct memcached_listener *memcached;
    struct tun_door *tun;
};

static bool fail(struct daemon *d, const char *what, const char *why)
{
    LOG(d->log, CW_LOG_ERROR, what, {"why", why});
    return false;
}

static uint64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* A torus inside this process begins anew as a whole, and nobody outside remembers its incarnations. */
static bool open_state(struct daemon *d, uint64_t *incarnation)
{
    char why[STATE_WHY];
    if (d->config.place == CONFIG_WHOLE) {
        *incarnation = clock_us();
        return true;
    }
    if (state_open(&d->state_file, d->config.state_dir, d->config.name, why) < 0) {
        return fail(d, "stable storage cannot be had", why);
    }
    d->stored = true;
    while (d->state_file.state.id == 0) { /* kept with the incarnations */
        if (getrandom(&d->state_file.state.id, sizeof d->state_file.state.id, 0) < 0) {
            return fail(d, "no random number can be had", strerror(errno));
        }
    }
    if (state_incarnations(&d->state_file, clock_us(), INCARNATIONS, incarnation, why) < 0) {
        return fail(d, "stable storage cannot be had", why);
    }
    return true;
}

static void drop_in_watcher(void *context)
{
    struct daemon *d = context;
    char why[PRIVILEGES_WHY];
    if (!d->dropped) { /* else the watcher has no rights to drop, and was forked from a process with threads */
        (void)!privileges_drop(d->config.user, why);
    }
    if (d->stored) {
        state_close(&d->state_file); /* the lock on it is the daemon's */
    }
}

/* From now on a crash names the service that was being called, and is told to the watcher when there is one. */
static void report_crashes(struct daemon *d)
{
    const struct crash_report report = {
        .mark = d->watcher != NULL ? watcher_mark(d->watcher) : &d->mark,
        .logfmt = true,
        .then = watcher_crashed,
    };
    crash_watch(&report);
}

static bool open_links(struct daemon *d)
{
    char why[LINKS_WHY];
    if (d->config.place == CONFIG_WHOLE) {
        return true;
    }
    if (links_open_patiently(&d->config, d->shim, why) < 0) {
        return fail(d, "links cannot be opened", why);
    }
    if (why[0] != '\0') {
        LOG(d->log, CW_LOG_WARN, "waits for interfaces that are not there yet", {"links", why});
    }
    if (transit_open(&d->transit, &d->config, d->shim, d->log, why) < 0) { /* before the watcher, its heir */
        return fail(d, "transit = kernel cannot be had", why);
    }
    if (d->config.watcher) {
        int rc = watcher_start(&d->watcher, d->shim, transit_state(d->transit), drop_in_watcher, d);
        if (rc < 0) {
            return fail(d, "the watcher cannot be started", strerror(-rc));
        }
        watcher_on_crash(d->watcher);
        watcher_limit(d->watcher, d->config.watchdog);
        crash_say_on(WATCHER_ASKS, clock_now);
        report_crashes(d);
    }
    return true;
}

/* Once this has returned 0, the server keeps this coordinate for ever (CamCubeOS 3.1). */
static int keep_place(void *context, const struct boot_place *place)
{
    struct daemon *d = context;
    char why[STATE_WHY];
    struct state state = d->state_file.state;
    state.assigned = true;
    state.dims = place->dims;
    state.self = place->self;
    memcpy(state.direction, place->direction, sizeof state.direction);
    int rc = state_save(&d->state_file, &state, why);
    if (rc < 0) {
        fail(d, "the place that was found cannot be kept", why);
    }
    return rc;
}

static bool open_jobs(struct daemon *d)
{
    char why[JOB_HOST_WHY];
    return job_host_open(&d->jobs, &d->config, d->log, why) == 0 || fail(d, "job records cannot be had", why);
}

static bool open_files(struct daemon *d)
{
    int rc = file_host_open(&d->files, &d->config, d->log);
    return rc == 0 || fail(d, "files cannot be had", strerror(-rc));
}

static bool open_host(struct daemon *d, uint64_t incarnation)
{
    char why[HOST_WHY];
    const struct state *state = &d->state_file.state;
    struct boot_place place = {.dims = state->dims, .self = state->self};
    memcpy(place.direction, state->direction, sizeof place.direction);
    bool kept = d->config.place == CONFIG_AUTO && state->assigned;
    struct host_options options = {
        .config = &d->config,
        .log = d->log,
        .jobs = d->jobs,
        .files = d->files,
        .incarnation = incarnation,
        .id = state->id,
        .place = kept ? &place : NULL,
        .priority_note = d->priority_note,
        .placed = keep_place,
        .placed_context = d,
        .transit = d->transit,
        .shim = d->config.place == CONFIG_WHOLE ? NULL : d->shim,
        .will = d->watcher != NULL ? watcher_will : NULL,
        .will_context = d->watcher,
        .mark = d->watcher != NULL ? watcher_mark(d->watcher) : &d->mark,
    };
    if (host_open(&d->host, &options, why) < 0) {
        return fail(d, "the server cannot be opened", why);
    }
    memset(d->shim, 0, sizeof d->shim); /* the host has taken them */
    if (host_load_configured(d->host, why) < 0) {
        return fail(d, "a service cannot be loaded", why);
    }
    return true;
}

/* The doors for operators, for collectors of metrics, for memcached's clients and for programs that speak IP. */
static bool open_doors(struct daemon *d)
{
    char why[CONTROL_WHY];
    if (commands_open(&d->control, d->host, &d->table, why) < 0) {
        return fail(d, "the control socket cannot be opened", why);
    }
    if (metrics_open(&d->metrics, d->host, why) < 0) {
        return fail(d, "metrics cannot be served", why);
    }
    if (memcached_listener_open(&d->memcached, d->host, why) < 0) {
        return fail(d, "memcached's clients cannot be served", why);
    }
    return tun_door_open(&d->tun, d->host, why) == 0 || fail(d, "the network cannot be opened", why);
}

/* A server that leaves because it was asked to over the control socket is not cut short by the first signal. */
static void on_end(void *context, struct host *h)
{
    struct daemon *d = context;
    bool again = d->signalled;
    d->signalled = true;
    notify_send("STOPPING=1");
    LOG(host_log(h), CW_LOG_INFO, again ? "ends at once" : "leaves in order; another signal ends at once");
    if (again || !host_leaving(h)) {
        host_leave(h);
    }
}

static void on_hangup(void *context, struct host *h)
{
    (void)context;
    notify_send("RELOADING=1");
    reload_level(host_config_change(h), host_log(h));
    notify_send("READY=1");
}

static void on_watchdog(void *context, struct host *h)
{
    (void)context;
    (void)h;
    notify_send("WATCHDOG=1");
}

static void on_child(void *context, struct host *h)
{
    struct daemon *d = context;
    int rc = watcher_look(d->watcher);
    if (rc == 1) {
        LOG(host_log(h), CW_LOG_WARN, "the watcher has died; another one watches now");
    } else if (rc < 0) {
        LOG(host_log(h), CW_LOG_ERROR, "the watcher has died, and no other one watches: nobody will say goodbye for us",
            {"why", rc == -ELOOP ? "it has died too often" : strerror(-rc)});
    }
}

static void log_warning(void *context, const char *text)
{
    struct daemon *d = context;
    LOG(d->log, CW_LOG_WARN, "the configuration leaves a link out", {"why", text});
}

/*
 * Servers that start together find one another within two seconds: a neighbour that is still missing is logged, once.
 */
static void on_patience(void *context, struct host *h)
{
    struct daemon *d = context;
    d->looked = d->looked || host_log_neighbours(h);
}

/* What was left out of the log in a second is written when that second is over. */
static void on_second(void *context, struct host *h)
{
    struct daemon *d = context;
    (void)h;
    log_settle(d->log, clock_now());
}

static bool listen_to_signals(struct daemon *d)
{
    cw_span watchdog = notify_watchdog(), patience = CW_SEC(PATIENCE_SEC);
    signal(SIGPIPE, SIG_IGN);
    bool good = host_on_signal(d->host, SIGTERM, on_end, d) == 0 && host_on_signal(d->host, SIGINT, on_end, d) == 0 &&
                host_on_signal(d->host, SIGHUP, on_hangup, NULL) == 0 &&
                (d->config.place == CONFIG_WHOLE || host_every(d->host, patience, on_patience, d) == 0) &&
                (d->log == NULL || host_every(d->host, CW_SEC(1), on_second, d) == 0) &&
                (d->watcher == NULL || host_on_signal(d->host, SIGCHLD, on_child, d) == 0) &&
                (watchdog.ns == 0 || host_every(d->host, watchdog, on_watchdog, NULL) == 0);
    return good || fail(d, "signals cannot be heard", strerror(ENOMEM));
}

static bool open_all(struct daemon *d)
{
    char why[PRIVILEGES_WHY + STATE_WHY];
    uint64_t incarnation = 0;
    d->priority_note = priority_take(&d->config, d->log);
    if (privileges_limit(config_has_option(&d->config, "netns"), why) < 0) {
        return fail(d, "rights cannot be limited", why);
    }
    (void)lint_links(&d->config, log_warning, d);
    (void)lint_timers(&d->config, log_warning, d);
    if (!open_state(d, &incarnation) || !open_links(d) || !open_jobs(d) || !open_files(d) ||
        !open_host(d, incarnation) || !listen_to_signals(d) || !open_doors(d)) {
        return false;
    }
    if (d->stored && state_give(&d->state_file, d->config.user, why) < 0) {
        return fail(d, "stable storage cannot be had", why);
    }
    if (privileges_drop(d->config.user, why) < 0) {
        return fail(d, "rights cannot be given up", why);
    }
    d->dropped = true;
    bool seeks = d->stored && d->config.place == CONFIG_AUTO && !d->state_file.state.assigned;
    if (seeks && state_check(&d->state_file, why) < 0) {
        return fail(d, "stable storage cannot be had", why); /* now, and not when the whole torus has been found */
    }
    return true;
}

static void close_all(struct daemon *d)
{
    control_close(d->control);
    metrics_close(d->metrics);
    tun_door_close(d->tun);
    memcached_listener_close(d->memcached);
    if (d->host != NULL) {
        host_close(d->host);
    }
    job_host_close(d->jobs);
    file_host_close(d->files);
    transit_close(d->transit);
    watcher_end(d->watcher);
    links_close_all(d->shim);
    if (d->stored) {
        state_close(&d->state_file);
    }
}

int main(int argc, char **argv)
{
    static struct daemon daemon; /* large, and there is one */
    struct daemon *d = &daemon;
    int rc = wanted_read(argc, argv, &d->config);
    if (rc >= 0) {
        return rc;
    }
    d->log = log_open(STDERR_FILENO, d->config.log_level, getenv("JOURNAL_STREAM") == NULL);
    report_crashes(d);
    bool good = open_all(d);
    if (good) {
        LOG(d->log, CW_LOG_INFO, "ready", {"version", CW_VERSION}, {"name", d->config.name}, {"file", d->config.file});
        notify_send("READY=1");
        host_run(d->host);
        good = !host_failed(d->host);
        bool order = good && host_left(d->host);
        LOG(d->log,
            order  ? CW_LOG_INFO
            : good ? CW_LOG_WARN
                   : CW_LOG_ERROR,
            order  ? "ended in order"
            : good ? "ended before it had left in order"
                   : "ended: the server could not go on");
        sigset_t ends; /* who tells it to end while it tidies up has nothing to add: its exit code is 0 */
        sigemptyset(&ends);
        sigaddset(&ends, SIGTERM);
        sigaddset(&ends, SIGINT);
        (void)sigprocmask(order ? SIG_BLOCK : SIG_UNBLOCK, &ends, NULL);
    }
    close_all(d);
    log_close(d->log);
    return good ? WANTED_FINE : WANTED_FAILED;
}
