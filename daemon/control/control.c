/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4() */
#include "daemon/control/control.h"

#include "base/check.h"
#include "daemon/control/socket.h"
#include "message/answer_line.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_BYTES = 16 * 1024, FILES_AT_ONCE = 4 };

/* One client. Only callbacks of the loop free it, and never while one of its requests begins (`taking`). */
struct connection {
    struct list_node node;
    struct control *control;
    struct bufferevent *io; /* only writes: an open file may come with what is read, and a bufferevent would lose it */
    struct event *readable;
    struct evbuffer *input;
    int file; /* an open file that the client sent last, which nobody has taken; -1: none */
    struct request_port port;
    bool taking; /* request_take() runs */
    bool paused; /* the client has too much unread: its requests wait */
    bool ended;  /* the client writes no more: what it has written is still taken */
    bool over;   /* nothing more is taken or written: it is closed when all that was written has gone */
};

struct control {
    struct event_base *base;
    const struct request_table *table;
    void (*soon)(void *context); /* as control_config */
    void *context;
    struct control_socket socket;
    struct event *listener;
    struct event *again; /* tries again after descriptors had run out */
    struct list connections;
    unsigned count;
};

static const struct timeval patience = {CONTROL_PATIENCE_S, 0};

static struct connection *connection_at(struct list_node *node)
{
    return container_of(node, struct connection, node);
}

static size_t unread(const struct connection *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->io));
}

static void drop_file(struct connection *c)
{
    if (c->file >= 0) {
        close(c->file);
        c->file = -1;
    }
}

static void hang_up(struct connection *c)
{
    CHECK(!c->taking);
    c->over = true;
    request_port_leave(&c->port);
    drop_file(c);
    event_free(c->readable);
    evbuffer_free(c->input);
    bufferevent_free(c->io);
    list_remove(&c->node);
    c->control->count--;
    free(c);
}

/* Reads nothing more, and hangs up at once when nothing is left to write. For callbacks of the loop only. */
static void wind_up(struct connection *c)
{
    c->over = true;
    event_del(c->readable);
    request_port_leave(&c->port);
    if (unread(c) == 0) {
        hang_up(c);
    }
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* Writes an end that belongs to no request. */
static void say(struct connection *c, int rc, const char *error)
{
    size_t length = 0;
    char *line = answer_line_done(false, 0, rc, error, &length);
    if (line != NULL) {
        bufferevent_write(c->io, line, length);
    }
    free(line);
}

static void port_write(struct request_port *port, const char *bytes, size_t length)
{
    struct connection *c = container_of(port, struct connection, port);
    if (c->over) {
        return;
    }
    if (unread(c) + length > CONTROL_BACKLOG) {
        say(c, -ENOBUFS, "cut off: too much of the answers was left unread; read faster, or ask for less");
        c->over = true; /* the next callback of the loop winds it up */
        event_del(c->readable);
        return;
    }
    bufferevent_write(c->io, bytes, length);
}

static size_t port_backlog(const struct request_port *port)
{
    return unread(container_of_const(port, struct connection, port));
}

static int port_file(struct request_port *port)
{
    struct connection *c = container_of(port, struct connection, port);
    int file = c->file;
    c->file = -1;
    return file;
}

/* Waits for more to read. at_once: what has been read already is handled in the next round of the loop. */
static void listen_on(struct connection *c, bool at_once)
{
    const struct control *control = c->control;
    event_add(c->readable, at_once ? &(struct timeval){0, 0} : NULL);
    if (at_once && control->soon != NULL) {
        control->soon(control->context);
    }
}

/* The client has read all that was written. */
static void on_drained(struct bufferevent *io, void *context)
{
    struct connection *c = context;
    (void)io;
    if (c->over) {
        hang_up(c);
        return;
    }
    if (c->paused) {
        c->paused = false;
        listen_on(c, true);
    }
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Takes one line. False: there is no whole one. */
static bool take_line(struct connection *c, struct evbuffer *input)
{
    size_t length;
    char *line = evbuffer_readln(input, &length, EVBUFFER_EOL_LF);
    if (line == NULL) {
        return false;
    }
    if (length > 0 && line[length - 1] == '\r') {
        length--;
    }
    if (length > REQUEST_LINE_MAX) {
        say(c, -EMSGSIZE, "a request longer than 65536 bytes");
    } else if (length > 0) {
        c->taking = true;
        request_take(&c->port, c->control->table, line, length);
        c->taking = false;
    }
    free(line);
    return true;
}

/* Keeps the first file of the message and closes all others. */
static void take_files(struct connection *c, struct msghdr *message)
{
    for (struct cmsghdr *m = CMSG_FIRSTHDR(message); m != NULL; m = CMSG_NXTHDR(message, m)) {
        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t count = (m->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int file;
            memcpy(&file, CMSG_DATA(m) + i * sizeof file, sizeof file);
            if (i == 0) {
                drop_file(c);
                c->file = file;
            } else {
                close(file);
            }
        }
    }
}

/* Reads as much as there is room for, and sets c->ended at the end. -errno: the client has gone. */
static int take_bytes(struct connection *c)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(FILES_AT_ONCE * sizeof(int))];
    uint8_t bytes[READ_BYTES];
    size_t length = evbuffer_get_length(c->input), room = REQUEST_LINE_MAX + 2; /* reads no more than a line ahead */
    struct iovec into = {bytes, length < room ? room - length : 0};
    if (into.iov_len > sizeof bytes) {
        into.iov_len = sizeof bytes;
    }
    if (into.iov_len == 0 || c->ended) {
        return 0;
    }
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(bufferevent_getfd(c->io), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    }
    take_files(c, &message);
    c->ended = n == 0;
    return evbuffer_add(c->input, bytes, (size_t)n) < 0 ? -ENOMEM : 0;
}

static void on_readable(int fd, short what, void *context)
{
    struct connection *c = context;
    (void)fd;
    if ((what & EV_READ) != 0 && take_bytes(c) < 0) {
        hang_up(c);
        return;
    }
    for (unsigned taken = 0; !c->over && !c->paused; taken++) {
        if (taken == CONTROL_BURST) {
            listen_on(c, true); /* other clients first */
            return;
        }
        if (unread(c) > CONTROL_PAUSE) {
            c->paused = true;
            return;
        }
        if (!take_line(c, c->input)) {
            break;
        }
    }
    if (c->over || c->paused) {
        return;
    }
    if (evbuffer_get_length(c->input) > REQUEST_LINE_MAX) {
        say(c, -EMSGSIZE, "cut off: a request longer than 65536 bytes");
        wind_up(c);
    } else if (c->ended) {
        wind_up(c); /* answers that are written by now still go out */
    } else {
        listen_on(c, false);
    }
}

static void on_event(struct bufferevent *io, short what, void *context)
{
    (void)io;
    if (what & (BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT)) {
        hang_up(context);
    }
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void refuse_client(int fd, const char *error)
{
    size_t length = 0;
    char *line = answer_line_done(false, 0, -EBUSY, error, &length);
    if (line != NULL) {
        (void)!send(fd, line, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    free(line);
    close(fd);
}

static void welcome(struct control *control, int fd)
{
    struct connection *c = calloc(1, sizeof *c);
    struct bufferevent *io = c != NULL ? bufferevent_socket_new(control->base, fd, BEV_OPT_CLOSE_ON_FREE) : NULL;
    struct event *readable = io != NULL ? event_new(control->base, fd, EV_READ, on_readable, c) : NULL;
    struct evbuffer *input = readable != NULL ? evbuffer_new() : NULL;
    if (input == NULL) {
        refuse_client(io != NULL ? dup(fd) : fd, "the daemon is out of memory");
        if (readable != NULL) {
            event_free(readable);
        }
        if (io != NULL) {
            bufferevent_free(io);
        }
        free(c);
        return;
    }
    c->control = control;
    c->io = io;
    c->readable = readable;
    c->input = input;
    c->file = -1;
    request_port_init(&c->port);
    c->port.write = port_write;
    c->port.backlog = port_backlog;
    c->port.file = port_file;
    list_push_back(&control->connections, &c->node);
    control->count++;
    bufferevent_setcb(io, NULL, on_drained, on_event, c);
    bufferevent_set_timeouts(io, NULL, &patience);
    bufferevent_disable(io, EV_READ);
    bufferevent_enable(io, EV_WRITE);
    listen_on(c, false);
}

static void on_client(int listening, short what, void *context)
{
    struct control *control = context;
    (void)what;
    for (unsigned i = 0; i < CONTROL_BURST; i++) {
        int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                event_del(control->listener); /* otherwise the loop would spin on it */
                event_add(control->again, &(struct timeval){1, 0});
            }
            return;
        }
        if (control->count >= CONTROL_CONNECTIONS) {
            refuse_client(fd, "64 clients are connected to this daemon; close one and try again");
        } else {
            welcome(control, fd);
        }
    }
}

static void on_again(int fd, short what, void *context)
{
    struct control *control = context;
    (void)fd, (void)what;
    event_add(control->listener, NULL);
}

int control_open(struct control **out, struct event_base *base, const struct control_config *config,
                 char why[static CONTROL_WHY])
{
    struct control *control = calloc(1, sizeof *control);
    if (control == NULL) {
        snprintf(why, CONTROL_WHY, "no control socket: out of memory");
        return -ENOMEM;
    }
    int rc = control_socket_open(&control->socket, config->path, config->mode, config->group, why);
    if (rc < 0) {
        free(control);
        return rc;
    }
    control_socket_give(&control->socket, config->user != NULL ? config->user : "");
    signal(SIGPIPE, SIG_IGN);
    control->base = base;
    control->table = config->table;
    control->soon = config->soon;
    control->context = config->context;
    list_init(&control->connections);
    control->listener = event_new(base, control->socket.fd, EV_READ | EV_PERSIST, on_client, control);
    control->again = evtimer_new(base, on_again, control);
    if (control->listener == NULL || control->again == NULL || event_add(control->listener, NULL) < 0) {
        snprintf(why, CONTROL_WHY, "no control socket: out of memory");
        control_close(control);
        return -ENOMEM;
    }
    *out = control;
    return 0;
}

void control_close(struct control *control)
{
    if (control == NULL) {
        return;
    }
    while (!list_is_empty(&control->connections)) {
        struct connection *c = connection_at(list_first(&control->connections));
        request_port_leave(&c->port);
        /* as much as goes without waiting */
        (void)evbuffer_write(bufferevent_get_output(c->io), bufferevent_getfd(c->io));
        hang_up(c);
    }
    if (control->listener != NULL) {
        event_free(control->listener);
    }
    if (control->again != NULL) {
        event_free(control->again);
    }
    control_socket_close(&control->socket);
    free(control);
}

unsigned control_clients(const struct control *control)
{
    return control->count;
}
