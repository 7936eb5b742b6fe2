/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - a server's work on disks, done away from its thread: at most FILE_CREW_AT_ONCE works at a time, so that a
 * disk that stands still does not hold up what else has to be done away from the thread. The rest waits in the order it
 * was given.
 */
#ifndef SERVICES_MULTICAST_FILE_CREW_H
#define SERVICES_MULTICAST_FILE_CREW_H

#include "cubeway/service.h"

enum { FILE_CREW_AT_ONCE = 2 };

struct file_crew;

/* A work: part of the object that it works on, which lives until done() is called or the service closes. */
struct file_work {
    void (*work)(struct file_work *w); /* away from the thread; must call nothing of the service API */
    void (*done)(struct file_work *w); /* on the server's thread, later */
    cw_span cost;                      /* how long it takes in the simulator */
    /* The members below are the crew's. */
    struct file_crew *crew;
    struct file_work *next;
};

struct file_crew {
    cw_svc *s;
    unsigned running;
    struct file_work *first, *last;
};

/* Gives it a work, borrowed until it is done. This cannot fail: a work that cannot be begun now waits. */
void file_crew_give(struct file_crew *c, struct file_work *w);
/*
 * Begins works that wait, as far as there is room; to be called now and then, for room that other services gave back.
 */
void file_crew_push(struct file_crew *c);

#endif
