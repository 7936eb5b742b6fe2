/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/memcached/gateway_internal.h"

#include "base/container.h"
#include "services/kvcache/memcached/system.h"

#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READS = 4,  /* reads of one connection in a turn */
    ROUNDS = 2, /* times that a connection goes on in a turn because its answers were taken */
    /*
     * Bytes of all connections in a turn of the loop, some 2 to 5 ms: the server has links to serve, and neighbours
     * that call it dead when they hear nothing for `dead`.
     */
    TURN_BYTES = 2 * 1024 * 1024,
};

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

void connection_mark(struct connection *c)
{
    struct gateway *g = c->gateway;
    if (!c->marked) {
        c->marked = true;
        if (list_is_empty(&g->ready)) {
            gateway_work_later(g);
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

void connection_spend(struct gateway *g, size_t bytes)
{
    if (g->spent == 0 && !g->working) {
        gateway_work_later(g);
    }
    g->spent += bytes;
}

static bool is_tired(const struct gateway *g)
{
    return g->spent >= TURN_BYTES;
}

/* ---- A connection ------------------------------------------------------------------------------------------------ */

static void alive(struct connection *c)
{
    c->alive_ns = mc_system_ns();
    list_remove(&c->by_time);
    list_push_back(&c->gateway->by_time, &c->by_time);
}

static void free_connection(struct connection *c)
{
    gateway_drop_event(c->readable);
    gateway_drop_event(c->writable);
    if (c->session != NULL) {
        mc_session_close(c->session);
    }
    free(c);
}

void connection_hang_up(struct connection *c)
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
            connection_hang_up(c);
            return false;
        }
        mc_session_taken(c->session, (size_t)sent);
        connection_spend(c->gateway, (size_t)sent);
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
    gateway_enter(c->gateway, &t);
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
            connection_hang_up(c);
            return false;
        }
        bool stuck = !mc_session_wants(c->session) && !mc_session_waits(c->session);
        if (!empty || !stuck || mc_session_over(c->session)) {
            break;
        }
        later = round == ROUNDS || is_tired(c->gateway);
        if (later) {
            connection_mark(c);
            break;
        }
        resume(c);
    }
    bool idle = mc_buffer_length(out) == 0;
    if (c->ended && idle && !later && !mc_session_waits(c->session)) {
        connection_hang_up(c);
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
        ssize_t got = recv(c->fd, g->bytes, GATEWAY_READ_BYTES, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            if (errno != EAGAIN) {
                connection_hang_up(c);
            }
            return;
        }
        if (got == 0) {
            c->ended = true;
            (void)settle(c);
            return;
        }
        alive(c);
        connection_spend(g, (size_t)got);
        struct task t = {.run = run_feed, .connection = c, .bytes = g->bytes, .length = (size_t)got};
        gateway_enter(g, &t);
        if (!settle(c) || got < GATEWAY_READ_BYTES) {
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
    connection_mark(c);
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
        gateway_work_later(g);
    }
}

/* ---- Coming ------------------------------------------------------------------------------------------------------ */

int connection_open(struct gateway *g, int fd)
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
        return -ENOMEM;
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
    return 0;
}
