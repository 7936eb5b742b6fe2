/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/events.h"

#include "cubeway/time.h"
#include "keyspace/torus.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

uint64_t events_clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void events_add(struct events *e, const cw_coord *server, const char *kind, const char *format, ...)
{
    struct event *event = &e->ring[e->count++ % EVENTS_KEPT];
    uint64_t now = events_clock_us();
    va_list args;
    e->last_us = now > e->last_us ? now : e->last_us + 1; /* the clock may be set back */
    *event = (struct event){.at_us = e->last_us, .placed = server != NULL};
    if (server != NULL) {
        event->server = *server;
    }
    snprintf(event->kind, sizeof event->kind, "%s", kind);
    va_start(args, format);
    vsnprintf(event->text, sizeof event->text, format, args);
    va_end(args);
    if (e->heard != NULL) {
        e->heard(e->context, event);
    }
}

/* Places grow along the ring, from the oldest event that is kept on. */
const struct event *events_next(const struct events *e, uint64_t after)
{
    uint64_t first = e->count > EVENTS_KEPT ? e->count - EVENTS_KEPT : 0, end = e->count;
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (e->ring[middle % EVENTS_KEPT].at_us > after) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    return first < e->count ? &e->ring[first % EVENTS_KEPT] : NULL;
}

void events_tell(const struct event *event, const char *whose, const struct rows_reader *out)
{
    char server[TORUS_TEXT];
    out->integer(out->context, "at_us", (int64_t)event->at_us);
    if (event->placed) {
        torus_format(event->server, server);
        out->text(out->context, "server", server);
    } else if (whose[0] != '\0') {
        out->text(out->context, "server", whose);
    }
    out->text(out->context, "kind", event->kind);
    out->text(out->context, "text", event->text);
    out->row(out->context);
}
