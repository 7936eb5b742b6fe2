/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - the little of HTTP/1.1 that a collector speaks: one GET or HEAD on a connection, which is answered in
 * full and closed.
 *
 * libevent's evhttp is not used: it does not bound connections, and its timeout begins anew with every byte. Here there
 * are at most METRICS_CLIENTS, each for at most PATIENCE_S from its coming to its end, so that nobody who can reach the
 * address can hold memory or descriptors of the daemon.
 */
#include "daemon/listeners/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUEST_BYTES = 8192, PATIENCE_S = 10, LINE_BYTES = 256 };

struct client {
    struct metrics *metrics; /* NULL: free */
    struct bufferevent *stream;
    struct event *deadline;
    bool answered;
};

struct metrics {
    struct evconnlistener *listener;
    struct host *host;
    struct client client[METRICS_CLIENTS];
};

static void let_go(struct client *c)
{
    if (c->deadline != NULL) {
        event_free(c->deadline);
    }
    if (c->stream != NULL) {
        bufferevent_free(c->stream);
    }
    *c = (struct client){.metrics = NULL};
}

static void add_text(void *context, const char *text)
{
    evbuffer_add(context, text, strlen(text));
}

/* Writes head and body; for HEAD without the body, whose length the head still tells. */
static void answer(struct client *c, const char *status, const char *type, struct evbuffer *body, bool head_only)
{
    struct evbuffer *out = bufferevent_get_output(c->stream);
    c->answered = true;
    bufferevent_disable(c->stream, EV_READ);
    evbuffer_add_printf(out,
                        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nAllow: GET, HEAD\r\n"
                        "Connection: close\r\n\r\n",
                        status, type, evbuffer_get_length(body));
    if (!head_only) {
        evbuffer_add_buffer(out, body);
    }
}

static void answer_line(struct client *c, const char *line, bool head_only)
{
    char status[LINE_BYTES], text[LINE_BYTES];
    struct evbuffer *body = evbuffer_new();
    snprintf(status, sizeof status, "%.*s", (int)strcspn(line, ":"), line);
    snprintf(text, sizeof text, "%s\n", line);
    if (body != NULL) {
        add_text(body, text);
        answer(c, status, "text/plain; charset=utf-8", body, head_only);
        evbuffer_free(body);
    }
}

static void answer_metrics(struct client *c, bool plain, bool head_only)
{
    struct evbuffer *body = evbuffer_new();
    if (body == NULL) {
        let_go(c);
        return;
    }
    const struct metrics_out out = {add_text, body, plain};
    metrics_write(c->metrics->host, &out);
    answer(c, "200 OK",
           plain ? "text/plain; version=0.0.4; charset=utf-8"
                 : "application/openmetrics-text; version=1.0.0; charset=utf-8",
           body, head_only);
    evbuffer_free(body);
}

/* line: "GET /metrics HTTP/1.1"; fields: the lines behind it. */
static void serve_request(struct client *c, const char *line, const char *fields)
{
    char method[8] = "", path[LINE_BYTES] = "", version[16] = "";
    if (sscanf(line, "%7s %255s %15s", method, path, version) != 3 || strncmp(version, "HTTP/1.", 7) != 0) {
        answer_line(c, "400 Bad Request: GET /metrics HTTP/1.1 is what is expected", false);
        return;
    }
    bool head = strcmp(method, "HEAD") == 0;
    path[strcspn(path, "?")] = '\0';
    if (!head && strcmp(method, "GET") != 0) {
        answer_line(c, "405 Method Not Allowed: the numbers are for GET", false);
    } else if (strcmp(path, "/metrics") != 0) {
        answer_line(c, "404 Not Found: the numbers are at /metrics", head);
    } else {
        answer_metrics(c, metrics_wants_plain(fields), head);
    }
}

/* A request is complete with its empty line; of the header fields before that, only Accept is looked at. */
static void on_read(struct bufferevent *stream, void *context)
{
    struct client *c = context;
    struct evbuffer *in = bufferevent_get_input(stream);
    struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
    if (end.pos >= 0) {
        char *line = evbuffer_readln(in, NULL, EVBUFFER_EOL_CRLF);
        char fields[REQUEST_BYTES + 1];
        ssize_t length = evbuffer_copyout(in, fields, REQUEST_BYTES);
        fields[length > 0 ? length : 0] = '\0';
        serve_request(c, line != NULL ? line : "", fields);
        free(line);
    } else if (evbuffer_get_length(in) >= REQUEST_BYTES) {
        answer_line(c, "431 Request Header Fields Too Large: at most 8192 bytes", false);
    }
}

static void on_written(struct bufferevent *stream, void *context)
{
    struct client *c = context;
    if (c->answered && evbuffer_get_length(bufferevent_get_output(stream)) == 0) {
        let_go(c);
    }
}

static void on_event(struct bufferevent *stream, short what, void *context)
{
    (void)stream;
    (void)what;
    let_go(context);
}

static void on_deadline(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    let_go(context);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *from, int length,
                      void *context)
{
    (void)from;
    (void)length;
    struct metrics *metrics = context;
    struct event_base *base = evconnlistener_get_base(listener);
    struct client *c = metrics->client;
    while (c < metrics->client + METRICS_CLIENTS && c->metrics != NULL) {
        c++;
    }
    if (c == metrics->client + METRICS_CLIENTS) {
        evutil_closesocket(fd);
        return;
    }
    *c = (struct client){.metrics = metrics, .stream = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE)};
    c->deadline = event_new(base, -1, EV_TIMEOUT, on_deadline, c);
    if (c->stream == NULL) {
        evutil_closesocket(fd);
    }
    if (c->stream == NULL || c->deadline == NULL ||
        event_add(c->deadline, &(struct timeval){.tv_sec = PATIENCE_S}) < 0) {
        let_go(c);
        return;
    }
    bufferevent_setcb(c->stream, on_read, on_written, on_event, c);
    bufferevent_setwatermark(c->stream, EV_READ, 0, REQUEST_BYTES);
    bufferevent_enable(c->stream, EV_READ | EV_WRITE);
}

/* Reads an address in numbers, such as 127.0.0.1 or ::1. Gives its length; 0: it is none. */
static socklen_t read_address(const char *host, uint16_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    *out = (struct sockaddr_storage){.ss_family = AF_UNSPEC};
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return sizeof *four;
    }
    if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(port);
        return sizeof *six;
    }
    return 0;
}

int metrics_open(struct metrics **out, struct host *h, char why[static CONTROL_WHY])
{
    const char *listen = host_config(h)->metrics_listen;
    char address[CONFIG_TEXT];
    struct sockaddr_storage at;
    socklen_t length = 0;
    uint16_t port;
    *out = NULL;
    if (listen[0] == '\0') {
        return 0;
    }
    if (metrics_address(listen, address, sizeof address, &port) == 0) {
        length = read_address(address, port, &at);
    }
    if (length == 0) {
        snprintf(
            why, CONTROL_WHY,
            "metrics.listen = \"%s\": expected address:port, as 127.0.0.1:9464, [::1]:9464, or 0.0.0.0:9464 for all "
            "addresses",
            listen);
        return -EINVAL;
    }
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (metrics == NULL) {
        snprintf(why, CONTROL_WHY, "no metrics: out of memory");
        return -ENOMEM;
    }
    metrics->host = h;
    errno = 0;
    metrics->listener = evconnlistener_new_bind(host_base(h), on_accept, metrics,
                                                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                                                METRICS_CLIENTS, (struct sockaddr *)&at, (int)length);
    if (metrics->listener == NULL) {
        int rc = errno != 0 ? -errno : -EINVAL;
        snprintf(why, CONTROL_WHY, "metrics.listen = \"%s\": %s; choose another address, or leave it out", listen,
                 rc == -EADDRINUSE ? "somebody listens there already" : strerror(-rc));
        metrics_close(metrics);
        return rc;
    }
    *out = metrics;
    return 0;
}

void metrics_close(struct metrics *metrics)
{
    if (metrics == NULL) {
        return;
    }
    for (unsigned i = 0; i < METRICS_CLIENTS; i++) {
        if (metrics->client[i].metrics != NULL) {
            let_go(&metrics->client[i]);
        }
    }
    if (metrics->listener != NULL) {
        evconnlistener_free(metrics->listener);
    }
    free(metrics);
}
