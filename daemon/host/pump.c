/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pump.c - libevent: events of descriptors and timers become marks on servers; every marked server is served once, in
 * the order of the marks. Callbacks only mark, so that a server hears all of its six links before it acts.
 */
#include "daemon/host/internal.h"

#include "shim/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    ROUNDS = 8, /* servers of one process that wake one another are served so often before descriptors are looked at */
    SPINS = 16, /* rounds of busy polling between two looks at descriptors */
};

struct host_watch;

struct pump {
    struct event_base *base;
    struct event *timer, *offloaded, *leave, *nap;
    int timer_fd;
    cw_time armed; /* CW_NEVER: it is not */
    unsigned spins;
    struct host_watch *watches;
};

struct event_base *host_base(struct host *h)
{
    return h->pump->base;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

static void on_readable(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
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
static void on_urgent(evutil_socket_t fd, short what, void *context)
{
    mark_urgent(context);
    on_readable(fd, what, context);
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct pump_link *l = context;
    l->server->blocked &= (cw_links)~cw_links_of(l->link);
    host_activate(l->server);
}

static void on_changed(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
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

static void on_timer(evutil_socket_t fd, short what, void *context)
{
    (void)what;
    struct pump *pump = context;
    uint64_t ticks;
    ssize_t rc = read(fd, &ticks, sizeof ticks);
    (void)rc;
    pump->armed = CW_NEVER;
}

static void on_offloaded(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    host_collect(context);
}

static void on_leave(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    ((struct host *)context)->done = true;
}

static void on_end_of_wait(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static void unwatch(struct event *e)
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
    w->event = event_new(h->pump->base, fd, what, on_watch, w);
    if (w->event == NULL || event_add(w->event, every) < 0) {
        unwatch(w->event);
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

void pump_want_write(struct pump_link *l)
{
    if (l->writable != NULL) {
        event_add(l->writable, NULL);
    }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static struct event *watch(struct host *h, int fd, short what, event_callback_fn fn, void *context)
{
    struct event *e = event_new(h->pump->base, fd, what, fn, context);
    if (e != NULL && (what & EV_PERSIST) && event_add(e, NULL) < 0) {
        event_free(e);
        e = NULL;
    }
    return e;
}

static int watch_link(struct host *h, struct pump_link *l, struct shim *shim)
{
    int data = shim_data_fd(shim), urgent = shim_urgent_fd(shim), event = shim_event_fd(shim);
    shim->wake = on_wake;
    shim->wake_context = l;
    if (data >= 0) {
        l->readable = watch(h, data, EV_READ | EV_PERSIST, on_readable, l);
        l->writable = watch(h, shim_room_fd(shim), EV_WRITE, on_writable, l);
    }
    if (urgent >= 0) {
        l->urgent = watch(h, urgent, EV_READ | EV_PERSIST, on_urgent, l);
        shim->attentive = shim->urgent = true;
    }
    if (event >= 0) {
        l->changed = watch(h, event, EV_READ | EV_PERSIST, on_changed, l);
    }
    bool failed = (data >= 0 && (l->readable == NULL || l->writable == NULL)) || (urgent >= 0 && l->urgent == NULL) ||
                  (event >= 0 && l->changed == NULL);
    return failed ? -ENOMEM : 0;
}

int pump_watch(struct pump_server *s)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct shim *shim = s->face.link[link].shim;
        if (shim != NULL && watch_link(s->face.host, &s->pump[link], shim) < 0) {
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
        unwatch(l->readable);
        unwatch(l->writable);
        unwatch(l->urgent);
        unwatch(l->changed);
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
    pump->base = event_base_new();
    if (pump->timer_fd < 0 || pump->base == NULL) {
        return pump->timer_fd < 0 ? -errno : -ENOMEM;
    }
    pump->timer = watch(h, pump->timer_fd, EV_READ | EV_PERSIST, on_timer, pump);
    pump->offloaded = watch(h, offload_fd(h->offload), EV_READ | EV_PERSIST, on_offloaded, h);
    pump->leave = watch(h, -1, EV_TIMEOUT, on_leave, h);
    pump->nap = watch(h, -1, EV_TIMEOUT, on_end_of_wait, NULL);
    if (pump->timer == NULL || pump->offloaded == NULL || pump->leave == NULL || pump->nap == NULL) {
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
        unwatch(w->event);
        free(w);
    }
    unwatch(pump->timer);
    unwatch(pump->offloaded);
    unwatch(pump->leave);
    unwatch(pump->nap);
    if (pump->base != NULL) {
        event_base_free(pump->base);
    }
    if (pump->timer_fd >= 0) {
        close(pump->timer_fd);
    }
    free(pump);
    h->pump = NULL;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* The server was due at that time, and the loop runs only now. A server without links has none to lose. */
static void note_stall(struct host *h, const struct pump_server *s, cw_time due, cw_time now)
{
    cw_span late = cw_time_since(now, due);
    if (late.ns > h->config.timers.dead.ns / 2 && s->viewlog.live != CW_LINKS_NONE) {
        h->stalls.count++;
        h->stalls.longest = late.ns > h->stalls.longest.ns ? late : h->stalls.longest;
        h->stalls.last = now;
    }
}

static void wake_due(struct host *h, cw_time now)
{
    for (bool first = true; h->wakes.end > HEAP_ROOT; first = false) {
        cw_time due = {h->wakes.slots[HEAP_ROOT].at_ns};
        if (!cw_time_due(due, now)) {
            return;
        }
        struct pump_server *s = container_of(heap_pop(&h->wakes), struct pump_server, wake);
        if (first) { /* of all servers of this process it has waited longest */
            note_stall(h, s, due, now);
        }
        host_activate(s);
    }
}

/* now: for the first server's turn. A turn takes time, so the clock is read again before the next one. */
static void serve_round(struct host *h, cw_time now)
{
    struct pump_server *last = h->active_last;
    for (bool more = last != NULL; more;) {
        struct pump_server *s = h->active_first;
        more = s != last;
        h->active_first = s->next_active;
        h->active_last = h->active_first == NULL ? NULL : h->active_last;
        s->active = false;
        serve_turn(s, now);
        now = more ? clock_now() : now;
    }
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
 * Before the loop sleeps, the timer is set for the first server that will be due. Ringing too early costs one more
 * look, no more.
 */
static void set_timer(struct host *h)
{
    struct pump *pump = h->pump;
    cw_time first = first_wake(h);
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

/* Takes events of descriptors. may_sleep: waits until there is one, or the timer rings. */
static void look_outside(struct host *h, bool may_sleep)
{
    if (may_sleep) {
        if (h->config.place == CONFIG_WHOLE) {
            let_time_pass(h, cw_time_max(first_wake(h), clock_now()));
        }
        set_timer(h);
    }
    event_base_loop(h->pump->base, may_sleep ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

/* While polling busily: receives from all links without asking the system which of them have frames. */
static void mark_all(struct host *h)
{
    for (unsigned i = 0; i < h->count; i++) {
        h->server[i].readable = CW_LINKS_ALL;
        host_activate(&h->server[i]);
    }
}

static void turn(struct host *h, bool may_sleep)
{
    bool busy = h->config.busy_poll.ns > 0 && cw_time_before(clock_now(), h->busy_until);
    if (busy && h->pump->spins++ % SPINS != 0) {
        mark_all(h);
    } else {
        bool rest = h->active_first == NULL && list_is_empty(&h->deferred);
        look_outside(h, may_sleep && !busy && rest && !h->done);
    }
    if (h->config.place == CONFIG_WHOLE) {
        let_time_pass(h, clock_now());
    }
    cw_time now = clock_now();
    wake_due(h, now);
    for (unsigned round = 0; round < ROUNDS && h->active_first != NULL; round++) {
        serve_round(h, now);
        now = clock_now();
    }
    run_deferred(h);
    if (h->leaving && !h->done && all_left(h, clock_now())) {
        for (unsigned i = 0; i < h->count; i++) {
            serve_turn(&h->server[i], clock_now()); /* the last goodbyes */
        }
        h->done = true;
    }
}

void host_run(struct host *h)
{
    while (!h->done) {
        turn(h, true);
    }
}

void host_turn(struct host *h, cw_span wait)
{
    struct timeval span = timeval_of(wait);
    event_add(h->pump->nap, &span);
    turn(h, wait.ns > 0);
}

void host_leave(struct host *h)
{
    if (h->leaving) {
        h->done = true;
        event_base_loopbreak(h->pump->base);
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
