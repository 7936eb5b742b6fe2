/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_events.c - what has happened, in order: on this daemon's servers, and with `all` on every server in view; with
 * `follow`, what happens from now on too, until the request is cancelled.
 */
#include "daemon/commands/commands.h"
#include "daemon/host/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNREAD_MAX = 1 << 20 }; /* bytes that a client has not read: from there on it misses events, and is told */

/* Somebody who follows the stream. The first of them is what the stream of events knows (events.context). */
struct follower {
    struct request *r;
    struct host *h;
    struct follower *next;
    uint64_t missed;
};

static void tell(struct request *r, const struct host *h, const struct event *event)
{
    const struct rows_reader out = commands_rows(r);
    char whose[TORUS_TEXT];
    events_tell(event, host_events_of(h, whose), &out);
}

static void on_event(void *context, const struct event *event)
{
    for (struct follower *f = context; f != NULL; f = f->next) {
        if (request_backlog(f->r) > UNREAD_MAX) {
            f->missed++;
            continue;
        }
        if (f->missed > 0) {
            request_integer(f->r, "missed", (int64_t)f->missed);
            request_row(f->r);
            f->missed = 0;
        }
        tell(f->r, f->h, event);
    }
}

static void cancelled(struct request *r, void *context)
{
    struct follower *f = context;
    struct events *events = host_events(f->h);
    struct follower *first = events->context, **at = &first;
    while (*at != f) {
        at = &(*at)->next;
    }
    *at = f->next;
    events->context = first;
    events->heard = events->context != NULL ? on_event : NULL;
    free(f);
    request_done(r, 0);
}

static void follow(struct request *r, struct host *h)
{
    struct events *events = host_events(h);
    struct follower *f = malloc(sizeof *f);
    if (f == NULL) {
        request_done(r, -ENOMEM);
        return;
    }
    *f = (struct follower){.r = r, .h = h, .next = events->context};
    events->context = f;
    events->heard = on_event;
    request_on_cancel(r, cancelled, f);
}

/* The places of events of all servers in one number: instants, which are the same everywhere as far as clocks agree. */
static void ask_all(struct request *r, struct host *h, int64_t after)
{
    struct commands_scope scope;
    char from[32];
    const char *words[] = {"about", "events", from};
    snprintf(from, sizeof from, "from=%" PRId64, after);
    if (commands_scope(r, &scope)) {
        commands_relay(r, host_server(h, scope.first), "inquiry", 3, words);
    }
}

void cmd_events(struct request *r)
{
    struct host *h = commands_host(r);
    const struct event *event;
    bool all = false, stay = false;
    int64_t after = 0;
    if (!commands_flag(r, "all", &all) || !commands_flag(r, "follow", &stay) ||
        !commands_number(r, "after_us", 0, INT64_MAX, &after)) {
        return;
    }
    if (all && stay) {
        request_refuse(r, -EINVAL, "events: follow is for this daemon's own events; ask again with after_us for all");
        return;
    }
    if (all && host_count(h) == 1) {
        ask_all(r, h, after);
        return;
    }
    for (uint64_t at = (uint64_t)after; (event = events_next(host_events(h), at)) != NULL; at = event->at_us) {
        tell(r, h, event);
    }
    if (stay) {
        follow(r, h);
    } else {
        request_done(r, 0);
    }
}
