/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_capture.c - the frames of one link, as rows, until the client has enough. A client that reads too slowly loses
 * frames, because the pump never waits for an observer; every row says how many were lost before it.
 */
#include "daemon/commands/commands.h"

#include "base/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum {
    UNREAD_MAX = 4 * 1024 * 1024, /* bytes that may wait for the client */
    FRAME_MAX = 9216,
};

struct capture {
    struct request *r;
    struct host_server *server;
    cw_link link;
    int64_t wall_ns; /* to add to the clock of the nodes, for the time of day */
    struct host *host;
    int64_t left;  /* frames still to give; INT64_MAX: until cancelled */
    uint64_t lost; /* frames lost since the last row */
    char text[(FRAME_MAX + 2) / 3 * 4 + 1];
};

static void encode(const uint8_t *bytes, uint32_t length, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < length; i += 3) {
        uint32_t left = length - i;
        uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        *out++ = digits[word >> 18];
        *out++ = digits[word >> 12 & 63];
        *out++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[word & 63] : '=';
    }
    *out = '\0';
}

/* Ends the capture, but not the request. */
static struct request *release(struct capture *c)
{
    struct request *r = c->r;
    (void)!host_tap(c->server, c->link, NULL, NULL);
    free(c);
    return r;
}

static void cancelled(struct request *r, void *context)
{
    (void)release(context);
    request_done(r, 0);
}

static void see(void *context, bool out, const uint8_t *bytes, uint32_t length, cw_time now)
{
    struct capture *c = context;
    if (request_backlog(c->r) > UNREAD_MAX || length > FRAME_MAX) {
        c->lost++;
        return;
    }
    encode(bytes, length, c->text);
    request_integer(c->r, "t_ns", now.ns + c->wall_ns);
    request_flag(c->r, "out", out);
    request_integer(c->r, "ethertype", host_ethertype(c->host, bytes, length));
    if (c->lost > 0) {
        request_integer(c->r, "lost", (int64_t)c->lost);
        c->lost = 0;
    }
    request_text(c->r, "frame", c->text);
    request_row(c->r);
    if (--c->left == 0) {
        request_done(release(c), 0);
    }
}

static int64_t wall_minus(cw_time now)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    return (int64_t)wall.tv_sec * CW_NS_PER_SEC + wall.tv_nsec - now.ns;
}

void cmd_capture(struct request *r)
{
    struct host_server *server = commands_server(r);
    int64_t count = INT64_MAX;
    cw_link link;
    if (server == NULL || !commands_read_link(r, request_line(r)->argv[0], &link) ||
        !commands_number(r, "count", 1, INT64_MAX, &count)) {
        return;
    }
    if (server->link[link].shim == NULL) {
        request_refuse(r, -ENODEV, "link %s of this server has no interface", quantity_link_name(link));
        return;
    }
    struct capture *c = malloc(sizeof *c);
    if (c == NULL) {
        request_done(r, -ENOMEM);
        return;
    }
    *c = (struct capture){.r = r, .server = server, .link = link, .host = commands_host(r), .left = count};
    c->wall_ns = wall_minus(host_now(c->host));
    int rc = host_tap(server, link, see, c);
    if (rc < 0) {
        free(c);
        request_refuse(r, rc,
                       rc == -EBUSY ? "link %s is being captured by somebody else" : "link %s cannot be captured",
                       quantity_link_name(link));
        return;
    }
    request_on_cancel(r, cancelled, c);
}
