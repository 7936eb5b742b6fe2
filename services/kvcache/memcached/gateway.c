/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4() */
#include "services/kvcache/memcached/gateway_internal.h"

#include "base/container.h"
#include "services/kvcache/memcached/system.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ACCEPTS = 64 }; /* clients accepted in one turn of the loop */

static void hub_gone(void *context)
{
    struct gateway *g = context;
    if (g->closed && g->hub.sessions == 0) {
        mc_hub_close(&g->hub);
        free(g->bytes);
        free(g);
    }
}

/* ---- The cache --------------------------------------------------------------------------------------------------- */

static int hub_run(void *context, const struct kv_request *r, kv_done_fn done, void *arg)
{
    struct gateway *g = context;
    if (g->api == NULL) {
        return -ESHUTDOWN;
    }
    struct kv_request mine = *r;
    mine.job = KVCACHE_JOB;
    return g->api->run(g->kvcache, &mine, done, arg);
}

static int flush_now(struct gateway *g, kv_done_fn done, void *arg)
{
    if (g->api == NULL) {
        return -ESHUTDOWN;
    }
    bool can = g->api->size >= offsetof(struct kvcache_api, flush) + sizeof g->api->flush && g->api->flush != NULL;
    return can ? g->api->flush(g->kvcache, KVCACHE_JOB, done, arg) : -EOPNOTSUPP;
}

static int hub_flush(void *context, cw_span delay, kv_done_fn done, void *arg)
{
    struct gateway *g = context;
    g->flush_ns = 0; /* a flush replaces one that was delayed */
    if (delay.ns <= 0) {
        return flush_now(g, done, arg);
    }
    g->flush_ns = mc_system_ns() + delay.ns;
    done(arg, &(struct kv_result){.size = sizeof(struct kv_result), .status = KV_OK});
    return 0;
}

void gateway_work_later(struct gateway *g)
{
    if (g->host.later != NULL) {
        g->host.later(g->host.context);
    } else {
        event_active(g->work, EV_TIMEOUT, 0);
    }
}

/* An operation of the client has ended. Called from within the server: the rest is for later. */
static void hub_ready(void *context, void *owner)
{
    (void)context;
    connection_mark(owner);
}

static void hub_facts(void *context, struct mc_facts *out)
{
    struct gateway *g = context;
    *out = (struct mc_facts){
        .config = &g->config,
        .uptime = {mc_system_ns() - g->started_ns},
        .unix_seconds = time(NULL),
        .connections = g->count,
        .answers = g->hub.answers,
        .pid = getpid(),
    };
    mc_system_usage(&out->user_us, &out->system_us);
}

static void visit(void *arg, cw_svc *kvcache, const struct kvcache_api *api)
{
    struct task *t = arg;
    t->gateway->kvcache = kvcache;
    t->gateway->api = api;
    t->run(t);
    t->gateway->kvcache = NULL;
    t->gateway->api = NULL;
}

void gateway_enter(struct gateway *g, struct task *t)
{
    t->gateway = g;
    g->hub.clock.unix_seconds = time(NULL);
    uint64_t steps = g->hub.steps;
    if (g->host.enter(g->host.context, visit, t) < 0) {
        visit(t, NULL, NULL);
    }
    connection_spend(g, (size_t)(g->hub.steps - steps + 1) * GATEWAY_STEP_BYTES);
}

static void on_work(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    gateway_work(context);
}

void gateway_drop_event(struct event *e)
{
    if (e != NULL) {
        event_free(e);
    }
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void turn_away(struct gateway *g, int fd, const char *words)
{
    g->hub.tally.connections_refused++;
    (void)!send(fd, words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static void on_client(evutil_socket_t listening, short what, void *context)
{
    struct gateway *g = context;
    (void)what;
    for (unsigned i = 0; i < ACCEPTS; i++) {
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                event_del(g->listener); /* or the loop would spin on it */
                event_add(g->again, &(struct timeval){1, 0});
            }
            return;
        }
        if (g->count >= g->config.connections) {
            turn_away(g, fd, "ERROR Too many open connections\r\n");
        } else {
            int rc = connection_open(g, fd);
            if (rc < 0) {
                turn_away(g, fd, "SERVER_ERROR out of memory\r\n");
            }
        }
    }
}

static void on_again(evutil_socket_t fd, short what, void *context)
{
    struct gateway *g = context;
    (void)fd, (void)what;
    event_add(g->listener, NULL);
}

static void ignore_result(void *arg, const struct kv_result *r)
{
    (void)arg, (void)r;
}

static void run_flush(struct task *t)
{
    (void)flush_now(t->gateway, ignore_result, NULL);
}

/* Every second: hangs up on clients that were silent for too long, and does a delayed flush when it is due. */
static void on_clock(evutil_socket_t fd, short what, void *context)
{
    struct gateway *g = context;
    int64_t now = mc_system_ns(), idle = g->config.idle.ns, slow = g->config.slow.ns;
    (void)fd, (void)what;
    for (struct list_node *n = list_first(&g->by_time), *next; n != NULL; n = next) {
        struct connection *c = container_of(n, struct connection, by_time);
        int64_t silent = now - c->alive_ns;
        next = list_next(&g->by_time, n);
        if (silent <= slow && (idle == 0 || silent <= idle)) {
            break; /* all others gave a later sign of life */
        }
        if (mc_session_waits(c->session)) {
            continue; /* the cache is slow, not the client */
        }
        if (mc_session_owes(c->session) && silent > slow) {
            g->hub.tally.slow_kicks++;
            connection_hang_up(c);
        } else if (idle > 0 && silent > idle) {
            g->hub.tally.idle_kicks++;
            connection_hang_up(c);
        }
    }
    if (g->flush_ns != 0 && g->flush_ns <= now) {
        struct task t = {.run = run_flush};
        g->flush_ns = 0;
        gateway_enter(g, &t);
    }
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int because(int rc, const char *listen, const char *problem, char why[static GATEWAY_WHY])
{
    snprintf(why, GATEWAY_WHY, "memcached front end: %s: %s", listen, problem);
    return rc;
}

static int open_events(struct gateway *g)
{
    g->listener = event_new(g->base, g->fd, EV_READ | EV_PERSIST, on_client, g);
    g->again = evtimer_new(g->base, on_again, g);
    g->clock = event_new(g->base, -1, EV_PERSIST, on_clock, g);
    g->work = event_new(g->base, -1, 0, on_work, g);
    g->bytes = malloc(GATEWAY_READ_BYTES);
    bool good = g->listener != NULL && g->again != NULL && g->clock != NULL && g->work != NULL && g->bytes != NULL &&
                event_add(g->listener, NULL) == 0 && event_add(g->clock, &(struct timeval){1, 0}) == 0;
    return good ? 0 : -ENOMEM;
}

int gateway_open(struct gateway **out, struct event_base *base, const struct mc_config *config,
                 const struct gateway_host *host, char why[static GATEWAY_WHY])
{
    struct gateway *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return because(-ENOMEM, config->listen, "out of memory", why);
    }
    g->config = *config;
    g->host = *host;
    g->base = base;
    g->started_ns = mc_system_ns();
    list_init(&g->by_time);
    list_init(&g->ready);
    g->hub = (struct mc_hub){
        .config = &g->config,
        .context = g,
        .run = hub_run,
        .flush = hub_flush,
        .ready = hub_ready,
        .facts = hub_facts,
        .gone = hub_gone,
    };
    g->fd = mc_system_listen(config->listen);
    int rc = g->fd < 0 ? because(g->fd, config->listen, mc_system_problem(-g->fd), why) : open_events(g);
    if (rc < 0) {
        if (g->fd >= 0) {
            because(rc, config->listen, "out of memory", why);
        }
        gateway_close(g);
        return rc;
    }
    *out = g;
    return 0;
}

void gateway_close(struct gateway *g)
{
    if (g == NULL) {
        return;
    }
    while (!list_is_empty(&g->by_time)) {
        connection_hang_up(container_of(list_first(&g->by_time), struct connection, by_time));
    }
    gateway_drop_event(g->listener);
    gateway_drop_event(g->again);
    gateway_drop_event(g->clock);
    gateway_drop_event(g->work);
    if (g->fd >= 0) {
        close(g->fd);
    }
    g->closed = true;
    hub_gone(g);
}

unsigned gateway_clients(const struct gateway *g)
{
    return g->count;
}
