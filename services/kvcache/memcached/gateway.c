/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4() */
#include "services/kvcache/memcached/gateway.h"

#include "base/container.h"
#include "base/list.h"
#include "services/kvcache/memcached/session.h"
#include "services/kvcache/memcached/system.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    ACCEPTS = 64,           /* clients accepted in one turn of the loop */
    READ_BYTES = 64 * 1024, /* read at once, into one piece of memory for all connections */
    READS = 4,              /* reads of one connection in a turn */
    ROUNDS = 2,             /* times that a connection goes on in a turn because its answers were taken */
    /*
     * Bytes of all connections in a turn of the loop, some 2 to 5 ms: the server has links to serve, and neighbours
     * that call it dead when they hear nothing for `dead`. A command counts as STEP_BYTES, besides the bytes that come
     * and go.
     */
    TURN_BYTES = 2 * 1024 * 1024,
    STEP_BYTES = 2048,
};

struct connection {
    struct list_node by_time; /* in gateway->by_time, by its latest sign of life, oldest first */
    struct list_node ready;   /* in gateway->ready while marked */
    struct gateway *gateway;
    struct mc_session *session;
    struct event *readable, *writable;
    int fd;
    bool marked, reading, writing;
    bool unread; /* while marked: it has bytes to be read, and other connections come first */
    bool ended;  /* the client sends nothing more, and still takes answers */
    int64_t alive_ns;
};

/* Lives until the cache has answered all its sessions: after gateway_close() only the hub is left of it. */
struct gateway {
    struct mc_hub hub;
    struct mc_config config;
    struct gateway_host host;
    struct event_base *base;
    struct event *listener, *again, *clock, *work;
    int fd;
    bool closed;
    unsigned count;
    struct list by_time, ready;
    size_t spent;    /* bytes of this turn, of TURN_BYTES */
    bool working;    /* gateway_work() is running, at the end of the turn */
    unsigned unread; /* connections that are unread */
    int64_t started_ns;
    int64_t flush_ns; /* when to drop all; 0: never */
    cw_svc *kvcache;  /* while inside of enter(), as is api */
    const struct kvcache_api *api;
    uint8_t *bytes; /* READ_BYTES */
};

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

static void work_later(struct gateway *g)
{
    if (g->host.later != NULL) {
        g->host.later(g->host.context);
    } else {
        event_active(g->work, EV_TIMEOUT, 0);
    }
}

static void mark(struct connection *c)
{
    struct gateway *g = c->gateway;
    if (!c->marked) {
        c->marked = true;
        if (list_is_empty(&g->ready)) {
            work_later(g);
        }
        list_push_back(&g->ready, &c->ready);
    }
}

static void unmark(struct connection *c)
{
    if (c->marked) {
        c->marked = false;
        list_remove(&c->ready);
        c->gateway->unread -= c->unread;
        c->unread = false;
    }
}

/* An operation of the client has ended. Called from within the server: the rest is for later. */
static void hub_ready(void *context, void *owner)
{
    (void)context;
    mark(owner);
}

/* Counts bytes of this turn; gateway_work(), at the end of the turn, begins anew. */
static void spend(struct gateway *g, size_t bytes)
{
    if (g->spent == 0 && !g->working) {
        work_later(g);
    }
    g->spent += bytes;
}

static bool is_tired(const struct gateway *g)
{
    return g->spent >= TURN_BYTES;
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

/* Something to be done inside the server, in an upcall of the service. */
struct task {
    struct gateway *gateway;
    void (*run)(struct task *t);
    struct connection *connection;
    const uint8_t *bytes;
    size_t length;
};

static void visit(void *arg, cw_svc *kvcache, const struct kvcache_api *api)
{
    struct task *t = arg;
    t->gateway->kvcache = kvcache;
    t->gateway->api = api;
    t->run(t);
    t->gateway->kvcache = NULL;
    t->gateway->api = NULL;
}

/* Runs the task inside the server; if the service does not run, outside: then every operation is refused. */
static void enter(struct gateway *g, struct task *t)
{
    t->gateway = g;
    g->hub.clock.unix_seconds = time(NULL);
    uint64_t steps = g->hub.steps;
    if (g->host.enter(g->host.context, visit, t) < 0) {
        visit(t, NULL, NULL);
    }
    spend(g, (size_t)(g->hub.steps - steps + 1) * STEP_BYTES);
}

/* ---- A connection ------------------------------------------------------------------------------------------------ */

static void alive(struct connection *c)
{
    c->alive_ns = mc_system_ns();
    list_remove(&c->by_time);
    list_push_back(&c->gateway->by_time, &c->by_time);
}

static void drop_event(struct event *e)
{
    if (e != NULL) {
        event_free(e);
    }
}

static void free_connection(struct connection *c)
{
    drop_event(c->readable);
    drop_event(c->writable);
    if (c->session != NULL) {
        mc_session_close(c->session);
    }
    free(c);
}

static void hang_up(struct connection *c)
{
    int fd = c->fd;
    unmark(c);
    list_remove(&c->by_time);
    c->gateway->count--;
    free_connection(c);
    close(fd);
}

static void want(struct event *e, bool *is, bool should)
{
    if (*is != should) {
        *is = should;
        (void)(should ? event_add(e, NULL) : event_del(e));
    }
}

/* Sends the answers that there are. False: hung up. */
static bool send_answers(struct connection *c)
{
    const struct mc_buffer *out = mc_session_answers(c->session);
    while (mc_buffer_length(out) > 0) {
        ssize_t sent = send(c->fd, mc_buffer_bytes(out), mc_buffer_length(out), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) {
            break;
        }
        if (sent < 0) {
            if (errno == EINTR) {
                continue;
            }
            hang_up(c);
            return false;
        }
        mc_session_taken(c->session, (size_t)sent);
        spend(c->gateway, (size_t)sent);
        alive(c);
    }
    return true;
}

static void run_feed(struct task *t)
{
    mc_session_feed(t->connection->session, t->bytes, t->length);
}

static void run_resume(struct task *t)
{
    mc_session_resume(t->connection->session);
}

static void resume(struct connection *c)
{
    struct task t = {.run = run_resume, .connection = c};
    enter(c->gateway, &t);
}

/* Sends answers, and goes on with what had to wait for that, until nothing more can be done now. False: hung up. */
static bool settle(struct connection *c)
{
    const struct mc_buffer *out = mc_session_answers(c->session);
    bool later = false;
    for (unsigned round = 0;; round++) {
        if (!send_answers(c)) {
            return false;
        }
        bool empty = mc_buffer_length(out) == 0;
        if (empty && mc_session_over(c->session)) {
            hang_up(c);
            return false;
        }
        bool stuck = !mc_session_wants(c->session) && !mc_session_waits(c->session);
        if (!empty || !stuck || mc_session_over(c->session)) {
            break;
        }
        later = round == ROUNDS || is_tired(c->gateway);
        if (later) {
            mark(c);
            break;
        }
        resume(c);
    }
    bool idle = mc_buffer_length(out) == 0;
    if (c->ended && idle && !later && !mc_session_waits(c->session)) {
        hang_up(c);
        return false;
    }
    want(c->writable, &c->writing, !idle);
    want(c->readable, &c->reading, !c->ended && mc_session_wants(c->session));
    return true;
}

static void read_some(struct connection *c)
{
    struct gateway *g = c->gateway;
    for (unsigned i = 0; i < READS && c->reading && !is_tired(g); i++) {
        ssize_t got = recv(c->fd, g->bytes, READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            if (errno != EAGAIN) {
                hang_up(c);
            }
            return;
        }
        if (got == 0) {
            c->ended = true;
            (void)settle(c);
            return;
        }
        alive(c);
        spend(g, (size_t)got);
        struct task t = {.run = run_feed, .connection = c, .bytes = g->bytes, .length = (size_t)got};
        enter(g, &t);
        if (!settle(c) || got < READ_BYTES) {
            return;
        }
    }
}

/* A connection whose turn did not come is not passed by others. */
static void on_readable(evutil_socket_t fd, short what, void *context)
{
    struct connection *c = context;
    struct gateway *g = c->gateway;
    (void)fd, (void)what;
    if (c->unread) {
        return;
    }
    if (!is_tired(g) && g->unread == 0) {
        read_some(c);
        return;
    }
    mark(c);
    c->unread = true;
    g->unread++;
}

static void on_writable(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    (void)settle(context);
}

/* A marked connection goes on: its operations have ended meanwhile, or it has bytes to be read. */
static void take_turn(struct connection *c)
{
    bool unread = c->unread;
    unmark(c);
    if (!mc_session_wants(c->session)) {
        resume(c);
    }
    if (settle(c) && unread) {
        read_some(c);
    }
}

void gateway_work(struct gateway *g)
{
    struct list_node *last = list_is_empty(&g->ready) ? NULL : list_last(&g->ready);
    g->spent = 0;
    g->working = true;
    for (bool more = last != NULL; more && !is_tired(g);) {
        struct list_node *first = list_first(&g->ready);
        more = first != last;
        take_turn(container_of(first, struct connection, ready));
    }
    g->working = false;
    if (list_is_empty(&g->ready)) {
        g->spent = 0;
    } else {
        work_later(g);
    }
}

static void on_work(evutil_socket_t fd, short what, void *context)
{
    (void)fd, (void)what;
    gateway_work(context);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void turn_away(struct gateway *g, int fd, const char *words)
{
    g->hub.tally.connections_refused++;
    (void)!send(fd, words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static void welcome(struct gateway *g, int fd)
{
    struct connection *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->session = mc_session_open(&g->hub, c);
        c->readable = event_new(g->base, fd, EV_READ | EV_PERSIST, on_readable, c);
        c->writable = event_new(g->base, fd, EV_WRITE | EV_PERSIST, on_writable, c);
    }
    if (c == NULL || c->session == NULL || c->readable == NULL || c->writable == NULL ||
        event_add(c->readable, NULL) < 0) {
        if (c != NULL) {
            free_connection(c);
        }
        turn_away(g, fd, "SERVER_ERROR out of memory\r\n");
        return;
    }
    int one = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->gateway = g;
    c->fd = fd;
    c->reading = true;
    c->alive_ns = mc_system_ns();
    list_push_back(&g->by_time, &c->by_time);
    g->count++;
    g->hub.tally.connections_came++;
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
            welcome(g, fd);
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
            hang_up(c);
        } else if (idle > 0 && silent > idle) {
            g->hub.tally.idle_kicks++;
            hang_up(c);
        }
    }
    if (g->flush_ns != 0 && g->flush_ns <= now) {
        struct task t = {.run = run_flush};
        g->flush_ns = 0;
        enter(g, &t);
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
    g->bytes = malloc(READ_BYTES);
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
        hang_up(container_of(list_first(&g->by_time), struct connection, by_time));
    }
    drop_event(g->listener);
    drop_event(g->again);
    drop_event(g->clock);
    drop_event(g->work);
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
