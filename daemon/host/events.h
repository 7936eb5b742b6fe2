/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what has happened on the servers of this process: links and carriers, servers that came and went, keys
 * that have come to be delivered here or are not any more, services, and what services say (job records, files).
 *
 * One stream: each event has an instant of the time of day, in us, that no other event of this process has and that
 * only grows; it is the place of the event in the stream. The last EVENTS_KEPT are kept, older ones are forgotten.
 * Memory is bounded, nothing is written to a disk. One thread, the loop's.
 */
#ifndef DAEMON_HOST_EVENTS_H
#define DAEMON_HOST_EVENTS_H

#include "cubeway/types.h"
#include "services/inquiry/rows.h"

enum { EVENTS_KEPT = 1024, EVENTS_KIND = 16, EVENTS_TEXT = 160 };

struct event {
    uint64_t at_us; /* its place in the stream; 0: nothing */
    cw_coord server;
    bool placed; /* server is known */
    char kind[EVENTS_KIND];
    char text[EVENTS_TEXT];
};

struct events {
    struct event ring[EVENTS_KEPT];
    uint64_t count; /* since the process began */
    uint64_t last_us;
    void (*heard)(void *context, const struct event *event); /* called for each new event; NULL: nobody listens */
    void *context;
};

/* The time of day, in us. */
uint64_t events_clock_us(void);
/* Adds an event of now. The texts are cut to what fits. server NULL: it has no place yet. */
__attribute__((format(printf, 4, 5))) void events_add(struct events *e, const cw_coord *server, const char *kind,
                                                      const char *format, ...);
/* The first kept event whose place is above `after`; NULL: there is none. */
const struct event *events_next(const struct events *e, uint64_t after);
/*
 * Writes an event as a row: at_us, server, kind, text. whose: what the daemon as a whole is called, for events of no
 * single server (host_events_of()); "": it has no place yet, and its events have no field server.
 */
void events_tell(const struct event *event, const char *whose, const struct rows_reader *out);

#endif
