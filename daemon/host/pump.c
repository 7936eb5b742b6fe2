/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump.c - the loop: descriptors and timers become marks on servers; every marked server is served once, in the order
 * of the marks. What is called for a descriptor only marks, so that a server hears all of its six links before it acts.
 *
 * What the loop hears of descriptors, and of libevent, comes by outside.h.
 */
#include "daemon/host/internal.h"
#include "daemon/machine/outside.h"

#include "shim/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    ROUNDS = 8, /* servers of one process that wake one another are served so often before descriptors are looked at */
    SPINS = 16, /* rounds of busy polling between two looks at descriptors */
    RUSHES = 4, /* the same of turns that left frames in the sockets that they received from */
    RETRY_MS = 10,
};

struct host_watch;

struct pump {
    struct outside outside;
    struct outside_watch *timer, *offloaded;
    struct event *leave;
    int timer_fd;
    cw_time armed; /* CW_NEVER: it is not */
    unsigned spins;
    unsigned rushes; /* turns in a row that left frames */
    struct host_watch *watches;
};

struct outside *host_outside(struct host *h)
{
    return &h->pump->outside;
}

struct event_base *host_base(struct host *h)
{
    return h->pump->outside.base;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

static void on_readable(void *context)
{
    struct pump_link *l = context;
    l->server->readable |= cw_links_of(l->link);
    host_activate(l->server);
}

static void mark_urgent(struct pump_link *l)
{
    struct shim *shim = l->server->face.link[l->link].shim;
    if (shim != NULL) {
        shim->urgent = true;
    }
}

/* The urgent lane of the link's shim has something. */
static void on_urgent(void *context)
{
    mark_urgent(context);
    on_readable(context);
}

static void on_writable(void *context)
{
    struct pump_link *l = context;
    l->server->blocked &= (cw_links)~cw_links_of(l->link);
    host_activate(l->server);
}

static void on_changed(void *context)
{
    struct pump_link *l = context;
    l->server->changed |= cw_links_of(l->link);
    host_activate(l->server);
}

/* A shim woke us, and does not say why: everything is looked at. */
static void on_wake(void *context)
{
    struct pump_link *l = context;
    struct pump_server *s = l->server;
    cw_links link = cw_links_of(l->link);
    mark_urgent(l);
    s->readable |= link;
    s->changed |= link;
    s->blocked &= (cw_links)~link;
    host_activate(s);
}

static void on_timer(void *context)
{
    struct pump *pump = context;
    uint64_t ticks;
    ssize_t rc = read(pump->timer_fd, &ticks, sizeof ticks);
    (void)rc;
    pump->armed = CW_NEVER;
}

static void on_offloaded(void *context)
{
    host_collect(context);
}

static void on_leave(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    ((struct host *)context)->done = true;
}

static void drop(struct event *e)
{
    if (e != NULL) {
        event_free(e);
    }
}

struct host_watch {
    struct host_watch *next;
    struct event *event;
    struct host *host;
    void (*fn)(void *context, struct host *h);
    void *context;
};

static void on_watch(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct host_watch *w = context;
    w->fn(w->context, w->host);
}

static int add_watch(struct host *h, int fd, short what, const struct timeval *every,
                     void (*fn)(void *context, struct host *h), void *context)
{
    struct host_watch *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = (struct host_watch){.next = h->pump->watches, .host = h, .fn = fn, .context = context};
    w->event = event_new(h->pump->outside.base, fd, what, on_watch, w);
    if (w->event == NULL || event_add(w->event, every) < 0) {
        drop(w->event);
        free(w);
        return -ENOMEM;
    }
    h->pump->watches = w;
    return 0;
}

int host_on_signal(struct host *h, int signal, void (*fn)(void *context, struct host *h), void *context)
{
    return add_watch(h, signal, EV_SIGNAL | EV_PERSIST, NULL, fn, context);
}

static struct timeval timeval_of(cw_span span)
{
    return (struct timeval){span.ns / CW_NS_PER_SEC, span.ns % CW_NS_PER_SEC / CW_NS_PER_US};
}

int host_every(struct host *h, cw_span span, void (*fn)(void *context, struct host *h), void *context)
{
    struct timeval every = timeval_of(span);
    return add_watch(h, -1, EV_PERSIST, &every, fn, context);
}

void host_ask_soon(struct host *h)
{
    outside_ask_soon(&h->pump->outside);
}

void pump_want_write(struct pump_link *l)
{
    if (l->writable != NULL && outside_again(l->writable) < 0) {
        l->until = cw_time_add(clock_now(), CW_MS(RETRY_MS)); /* the kernel has no memory to watch it: time must do */
    }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int watch_link(struct outside *o, struct pump_link *l, struct shim *shim)
{
    int data = shim_data_fd(shim), urgent = shim_urgent_fd(shim), event = shim_event_fd(shim);
    shim->wake = on_wake;
    shim->wake_context = l;
    if (data >= 0) {
        l->readable = outside_watch(o, data, OUTSIDE_DATA, on_readable, l);
        l->writable = outside_watch(o, shim_room_fd(shim), OUTSIDE_ROOM, on_writable, l);
    }
    if (urgent >= 0) {
        l->urgent = outside_watch(o, urgent, OUTSIDE_CALM, on_urgent, l);
        shim->attentive = shim->urgent = true;
    }
    if (event >= 0) {
        l->changed = outside_watch(o, event, OUTSIDE_CALM, on_changed, l);
    }
    bool failed = (data >= 0 && (l->readable == NULL || l->writable == NULL)) || (urgent >= 0 && l->urgent == NULL) ||
                  (event >= 0 && l->changed == NULL);
    return failed ? -ENOMEM : 0;
}

int pump_watch(struct pump_server *s)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct shim *shim = s->face.link[link].shim;
        if (shim != NULL && watch_link(&s->face.host->pump->outside, &s->pump[link], shim) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void pump_unwatch(struct pump_server *s)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct pump_link *l = &s->pump[link];
        if (s->face.link[link].shim != NULL) {
            s->face.link[link].shim->attentive = false;
        }
        outside_unwatch(l->readable);
        outside_unwatch(l->writable);
        outside_unwatch(l->urgent);
        outside_unwatch(l->changed);
        l->readable = l->writable = l->urgent = l->changed = NULL;
    }
}

int pump_open(struct host *h)
{
    struct pump *pump = h->pump = calloc(1, sizeof *pump);
    if (pump == NULL) {
        return -ENOMEM;
    }
    pump->armed = CW_NEVER;
    /* Nodes are woken by this timer alone: the timers of libevent do not count suspension. They hold only spans. */
    pump->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    int rc = pump->timer_fd < 0 ? -errno : 0;
    int opened = outside_open(&pump->outside, offload_fd(h->offload));
    rc = rc < 0 ? rc : opened;
    if (rc < 0) {
        return rc;
    }
    if (!pump->outside.own) {
        LOG(h->log, CW_LOG_INFO, "libevent's descriptor was not found in /proc/self/fdinfo: each turn asks libevent");
    }
    if (h->config.busy_poll.ns == 0 && pump->outside.own && waits_are_fine()) {
        h->nap.span = h->config.nap;
    }
    if (h->nap.span.ns > 0) {
        /* Linux lets a thread sleep for up to 50 us longer than it asked for: a nap is shorter than that. */
        (void)prctl(PR_SET_TIMERSLACK, CW_US(1).ns);
    }
    pump->timer = outside_watch(&pump->outside, pump->timer_fd, OUTSIDE_CALM, on_timer, pump);
    pump->offloaded = outside_watch(&pump->outside, offload_fd(h->offload), OUTSIDE_CALM, on_offloaded, h);
    pump->leave = event_new(pump->outside.base, -1, EV_TIMEOUT, on_leave, h);
    if (pump->timer == NULL || pump->offloaded == NULL || pump->leave == NULL) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < h->count; i++) {
        if (pump_watch(&h->server[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void pump_close(struct host *h)
{
    struct pump *pump = h->pump;
    if (pump == NULL) {
        return;
    }
    for (unsigned i = 0; i < h->count; i++) {
        pump_unwatch(&h->server[i]);
    }
    while (pump->watches != NULL) {
        struct host_watch *w = pump->watches;
        pump->watches = w->next;
        drop(w->event);
        free(w);
    }
    outside_unwatch(pump->timer);
    outside_unwatch(pump->offloaded);
    drop(pump->leave);
    outside_close(&pump->outside);
    if (pump->timer_fd >= 0) {
        close(pump->timer_fd);
    }
    free(pump);
    h->pump = NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/*
 * The server was due at that time, and the loop runs only now; no service held it up for so long. A server without
 * links has none to lose.
 */
static void note_stall(struct host *h, const struct pump_server *s, cw_time due, cw_time now)
{
    cw_span late = {cw_time_since(now, due).ns - holds_since(&h->holds, due).ns};
    if (late.ns > h->config.timers.dead.ns / 2 && s->viewlog.live != CW_LINKS_NONE) {
        h->stalls.at[h->stalls.count++ % HOST_STALLS_KEPT] = now;
        h->stalls.longest = late.ns > h->stalls.longest.ns ? late : h->stalls.longest;
        h->stalls.last = now;
    }
}

static void wake_due(struct host *h, cw_time now)
{
    for (bool first = true; h->wakes.end > HEAP_ROOT; first = false) {
        cw_time due = {h->wakes.slots[HEAP_ROOT].at_ns};
        if (!cw_time_due(due, now)) {
            break;
        }
        struct pump_server *s = container_of(heap_pop(&h->wakes), struct pump_server, wake);
        if (first) { /* of all servers of this process it has waited longest */
            note_stall(h, s, due, now);
        }
        host_activate(s);
    }
    if (holds_is_due(&h->holds, now)) {
        holds_look(&h->holds, now, holds_waited_ns());
    }
}

/*
 * now: for the first server's turn. A turn takes time, so the clock is read again before the next one. Returns the
 * instant that was read last: nothing behind the last turn is worth another reading.
 */
static cw_time serve_round(struct host *h, cw_time now)
{
    struct pump_server *last = h->active_last;
    for (bool more = last != NULL; more;) {
        struct pump_server *s = h->active_first;
        more = s != last;
        h->active_first = s->next_active;
        h->active_last = h->active_first == NULL ? NULL : h->active_last;
        s->active = false;
        now = serve_turn(s, now);
        now = more ? clock_now() : now;
    }
    return now;
}

/*
 * A torus inside this process holds its clock back while servers wait to be served: for them a turn lasts no longer
 * than half the interval between hellos, however long the process had no processor. Otherwise a stall would be longer
 * than `dead` for all of them at once, each would be fenced, and the work of coming back would cause the next stall.
 */
static void let_time_pass(const struct host *h, cw_time from)
{
    clock_hold(cw_time_add(from, (cw_span){h->config.timers.hello.ns / 2}));
}

/* When the first server is due, if nothing comes in; CW_NEVER: none will be. */
static cw_time first_wake(const struct host *h)
{
    return h->wakes.end > HEAP_ROOT ? (cw_time){h->wakes.slots[HEAP_ROOT].at_ns} : CW_NEVER;
}

/*
 * Before the loop sleeps, the timer is set for the first server that will be due, and for libevent's time-outs. Ringing
 * too early costs one more look, no more.
 */
static void set_timer(struct host *h)
{
    struct pump *pump = h->pump;
    cw_time first = first_wake(h);
    first = cw_time_min(first, pump->outside.ask_at);
    if (!cw_time_before(first, pump->armed)) {
        return;
    }
    int64_t ns = clock_system(first).ns;
    struct itimerspec at = {.it_value = {ns / CW_NS_PER_SEC, ns % CW_NS_PER_SEC}};
    CHECK(timerfd_settime(pump->timer_fd, TFD_TIMER_ABSTIME, &at, NULL) == 0);
    pump->armed = first;
}

static bool all_left(struct host *h, cw_time now)
{
    for (unsigned i = 0; i < h->count; i++) {
        struct node *n = h->server[i].face.node;
        if (n != NULL && !node_left(n, now)) {
            return false;
        }
    }
    return true;
}

void host_defer(struct host *h, struct host_deferred *e)
{
    if (!list_is_linked(&e->node)) {
        list_push_back(&h->deferred, &e->node);
    }
}

void host_undefer(struct host_deferred *e)
{
    if (list_is_linked(&e->node)) {
        list_remove(&e->node);
    }
}

/*
 * Runs the calls that are queued now. Calls that these queue run at the end of the next turn, which then does not
 * sleep.
 */
static void run_deferred(struct host *h)
{
    struct list now;
    struct list_node *n;
    list_init(&now);
    list_splice_back(&now, &h->deferred);
    while ((n = list_pop_front(&now)) != NULL) {
        struct host_deferred *e = container_of(n, struct host_deferred, node);
        e->fn(e->context);
    }
}

/* ---- Inlets ------------------------------------------------------------------------------------------------------ */

static void on_inlet(void *context)
{
    struct host_inlet *i = context;
    if (!list_is_linked(&i->node)) {
        list_push_back(&i->host->inlets, &i->node);
    }
}

int host_inlet_open(struct host *h, struct host_inlet *i, int fd)
{
    i->host = h;
    i->watch = outside_watch(&h->pump->outside, fd, OUTSIDE_CALM, on_inlet, i);
    return i->watch == NULL ? -ENOMEM : 0;
}

void host_inlet_close(struct host_inlet *i)
{
    outside_unwatch(i->watch);
    i->watch = NULL;
    if (list_is_linked(&i->node)) {
        list_remove(&i->node);
    }
}

static void run_inlets(struct host *h, cw_time *now)
{
    struct list_node *n = list_pop_front(&h->inlets);
    if (n == NULL) {
        return;
    }
    for (; n != NULL; n = list_pop_front(&h->inlets)) {
        struct host_inlet *i = container_of(n, struct host_inlet, node);
        i->fn(i->context);
    }
    *now = clock_now();
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

/* Takes events of descriptors; waits for one until the timer rings, and no longer than `limit`. */
static void look_outside(struct host *h, cw_span limit)
{
    if (limit.ns != 0) {
        if (h->config.place == CONFIG_WHOLE) {
            let_time_pass(h, cw_time_max(first_wake(h), clock_now()));
        }
        set_timer(h);
    }
    outside_look(&h->pump->outside, WAITS_ALL, limit);
}

/* Sleeps for a while without waiting for data (nap.h), and then looks for it on the links that had some. */
static void take_nap(struct host *h)
{
    set_timer(h);
    outside_look(&h->pump->outside, WAITS_CALM, h->nap.span);
    nap_taken(&h->nap);
    for (unsigned i = 0; i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        s->readable |= s->stream;
        host_activate(s);
    }
}

/* While polling busily: receives from all links without asking the system which of them have frames. */
static void mark_all(struct host *h)
{
    for (unsigned i = 0; i < h->count; i++) {
        h->server[i].readable = CW_LINKS_ALL;
        host_activate(&h->server[i]);
    }
}

/* limit: how long the turn waits at most for something to do. */
static void turn(struct host *h, cw_span limit)
{
    bool busy = h->config.busy_poll.ns > 0 && cw_time_before(clock_now(), h->busy_until);
    if (busy && h->pump->spins++ % SPINS != 0) {
        mark_all(h);
    } else if (h->pump->rushes % RUSHES == 0) {
        bool rest = h->active_first == NULL && list_is_empty(&h->deferred) && !busy && !h->done;
        if (rest && limit.ns != 0 && nap_is_due(&h->nap)) {
            take_nap(h);
        } else {
            look_outside(h, rest ? limit : CW_NS(0));
        }
    }
    if (h->config.place == CONFIG_WHOLE) {
        let_time_pass(h, clock_now());
    }
    cw_time now = clock_now();
    cw_time begun = now;
    outside_ask(&h->pump->outside, &now);
    run_inlets(h, &now);
    wake_due(h, now);
    for (unsigned round = 0; round < ROUNDS && h->active_first != NULL; round++) {
        now = serve_round(h, now);
    }
    run_deferred(h);
    nap_turn(&h->nap, h->received, begun, now);
    h->pump->rushes = h->received >= SHIM_BATCH && h->active_first != NULL ? h->pump->rushes + 1 : 0;
    h->received = 0;
    if (h->leaving && !h->done && all_left(h, clock_now())) {
        for (unsigned i = 0; i < h->count; i++) {
            serve_turn(&h->server[i], clock_now()); /* the last goodbyes */
        }
        h->left = h->done = true;
    }
}

void host_run(struct host *h)
{
    while (!h->done) {
        turn(h, WAITS_FOR_EVER);
    }
}

void host_turn(struct host *h, cw_span wait)
{
    turn(h, wait);
}

void host_leave(struct host *h)
{
    if (h->leaving) {
        h->done = true;
        event_base_loopbreak(h->pump->outside.base);
        return;
    }
    struct timeval limit = timeval_of(CW_MS(HOST_LEAVE_MS));
    h->leaving = true;
    for (unsigned i = 0; i < h->count; i++) {
        struct pump_server *s = &h->server[i];
        if (s->face.node != NULL) {
            node_leave(s->face.node, clock_now());
        }
        host_activate(s);
    }
    event_add(h->pump->leave, &limit);
}
