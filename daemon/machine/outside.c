/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/machine/outside.h"

#include "shim/clock.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct outside_watch {
    struct outside *outside;
    enum outside_kind kind;
    void (*fn)(void *context);
    void *context;
    struct waits_item item; /* with outside.own */
    int copy;               /* of the descriptor, which another watch may have too; -1: none */
    struct event *event;    /* without outside.own */
};

static void on_nothing(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    (void)context;
}

static void on_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    const struct outside_watch *w = context;
    w->fn(w->context);
}

static void on_item(void *context)
{
    struct outside_watch *w = context;
    if (w->kind == OUTSIDE_ROOM) {
        waits_remove(&w->outside->waits, &w->item);
    }
    w->fn(w->context);
}

static void on_inner(void *context)
{
    ((struct outside *)context)->inner_ready = true;
}

static void drop(struct event *e)
{
    if (e != NULL) {
        event_free(e);
    }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* libevent's descriptor, or -errno. */
static int find_inner(const struct outside *o, int probe)
{
    struct event *told = event_new(o->base, probe, EV_READ, on_nothing, NULL);
    int inner = told != NULL && event_add(told, NULL) == 0 ? waits_find(probe) : -ENOMEM;
    drop(told);
    return inner;
}

static int open_waits(struct outside *o, int probe)
{
    int inner = find_inner(o, probe);
    int rc = waits_open(&o->waits);
    rc = inner < 0 ? inner : rc;
    o->inner = (struct waits_item){.fn = on_inner, .context = o, .calm = true};
    return rc < 0 ? rc : waits_add(&o->waits, &o->inner, inner, EPOLLIN);
}

int outside_open(struct outside *o, int probe)
{
    *o = (struct outside){.base = event_base_new(), .ask_at = CW_NEVER};
    if (o->base == NULL) {
        return -ENOMEM;
    }
    o->own = open_waits(o, probe) == 0;
    if (o->own) {
        o->ask_at = clock_now();
        return 0;
    }
    waits_close(&o->waits);
    o->limit = event_new(o->base, -1, EV_TIMEOUT, on_nothing, NULL);
    return o->limit == NULL ? -ENOMEM : 0;
}

void outside_close(struct outside *o)
{
    drop(o->limit);
    if (o->own) {
        waits_close(&o->waits);
    }
    if (o->base != NULL) {
        event_base_free(o->base);
    }
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

int outside_again(struct outside_watch *w)
{
    if (w->event != NULL) {
        return event_add(w->event, NULL) < 0 ? -ENOMEM : 0;
    }
    if (w->item.watched) {
        return 0;
    }
    struct waits *waits = &w->outside->waits;
    uint32_t events = w->kind == OUTSIDE_ROOM ? EPOLLOUT : EPOLLIN;
    int rc = waits_add(waits, &w->item, w->item.fd, events);
    if (rc == -EEXIST && w->copy < 0) { /* a set holds a descriptor once: another watch of the same has it */
        w->copy = fcntl(w->item.fd, F_DUPFD_CLOEXEC, 0);
        rc = w->copy < 0 ? -errno : waits_add(waits, &w->item, w->copy, events);
    }
    return rc;
}

struct outside_watch *outside_watch(struct outside *o, int fd, enum outside_kind kind, void (*fn)(void *context),
                                    void *context)
{
    struct outside_watch *w = malloc(sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    *w = (struct outside_watch){.outside = o, .kind = kind, .fn = fn, .context = context, .copy = -1};
    if (o->own) {
        w->item = (struct waits_item){.fn = on_item, .context = w, .fd = fd, .calm = kind != OUTSIDE_DATA};
    } else {
        w->event = event_new(o->base, fd, kind == OUTSIDE_ROOM ? EV_WRITE : EV_READ | EV_PERSIST, on_event, w);
    }
    if ((!o->own && w->event == NULL) || (kind != OUTSIDE_ROOM && outside_again(w) < 0)) {
        outside_unwatch(w);
        return NULL;
    }
    return w;
}

void outside_unwatch(struct outside_watch *w)
{
    if (w == NULL) {
        return;
    }
    drop(w->event);
    waits_remove(&w->outside->waits, &w->item);
    if (w->copy >= 0) {
        close(w->copy);
    }
    free(w);
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

/* Does libevent have calls to make that no descriptor tells of? */
static bool is_pending(const struct outside *o)
{
    return event_base_get_num_events(o->base, EVENT_BASE_COUNT_ACTIVE) > 0;
}

static void look_by_libevent(const struct outside *o, cw_span limit)
{
    struct timeval span = {limit.ns / CW_NS_PER_SEC, limit.ns % CW_NS_PER_SEC / CW_NS_PER_US};
    if (limit.ns > 0) {
        event_add(o->limit, &span);
    }
    event_base_loop(o->base, limit.ns != 0 ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
}

void outside_look(struct outside *o, enum waits_set set, cw_span limit)
{
    if (!o->own) {
        look_by_libevent(o, limit);
        return;
    }
    waits_look(&o->waits, set, limit.ns != 0 && is_pending(o) ? CW_NS(0) : limit);
}

void outside_ask(struct outside *o, cw_time *now)
{
    cw_time early = cw_time_add(o->ask_at, CW_MS(-OUTSIDE_EARLY_MS));
    if (!o->own || !(o->inner_ready || cw_time_due(early, *now) || is_pending(o))) {
        return;
    }
    o->inner_ready = false;
    o->ask_at = cw_time_add(*now, CW_MS(OUTSIDE_ASK_MS)); /* before its calls, which may want it sooner */
    event_base_loop(o->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
    *now = clock_now();
}

void outside_ask_soon(struct outside *o)
{
    if (o->own) {
        o->ask_at = clock_now();
    }
}
