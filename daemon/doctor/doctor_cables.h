/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_cables.h - strangers at the ends of cables: which plugs were exchanged, who has the wrong coordinate, and
 * whose configuration differs in what. For doctor.c alone, with which it shares struct doctor.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_CABLES_H
#define DAEMON_DOCTOR_DOCTOR_CABLES_H

#include "daemon/doctor/differ.h"
#include "daemon/doctor/doctor.h"

enum { DOCTOR_TEXT = 420 };

/* One look at one server. */
struct doctor {
    struct host_server *s;
    struct linkstate *ls;
    const struct rows_reader *out;
    char self[TORUS_TEXT];
    struct ls_link_info info[CW_LINK_COUNT];
    cw_links wrong;       /* doctor_stranger() has met a wrong server or port there: for doctor_cables() */
    cw_links bad;         /* these were told of as bad cables, which rest or will soon again */
    cw_links copies;      /* over these a server with this one's id is heard, and that is told */
    cw_links told;        /* something was told of these */
    cw_links silent;      /* nothing is heard there, while this server reaches nobody */
    cw_links flapped;     /* their flaps are to be told: for doctor_flaps() */
    cw_links switched;    /* interfaces here that were switched off and on again: for doctor_flaps() */
    cw_links stood;       /* they went down last because this server stood still */
    unsigned stood_flaps; /* so many of the flaps of each of these are explained by that */
    bool held;            /* it was told that a service held the thread */
    unsigned found;       /* findings that are more than a note */
    bool sought, differs; /* differ_find() was called, once, for this number, and gave this */
    uint32_t sought_hash;
    struct differ differ;
    cw_link link; /* of the finding under way */
};

/* Begins a finding: its sentence. doctor_do() or doctor_advise() ends it. */
__attribute__((format(printf, 5, 6))) void doctor_say(struct doctor *d, enum doctor_severity severity,
                                                      const char *cause, cw_link link, const char *format, ...);
/*
 * What to do about it: a command that is to be typed on this server, which the field "where" says: who reads the
 * findings of many servers must know it. The finding is then told.
 */
__attribute__((format(printf, 2, 3))) void doctor_do(struct doctor *d, const char *format, ...);
/* The same for words that say by themselves where to do it, or are about more than one server. */
__attribute__((format(printf, 2, 3))) void doctor_advise(struct doctor *d, const char *format, ...);

/* The links of this server are memory: all servers of the torus are in this process, and no interface is to be seen. */
bool doctor_is_memory(const struct doctor *d);
/* Tells of a link without a carrier there, where nothing but cwctl cut takes one; alive: others reach its far end. */
void doctor_cut(struct doctor *d, cw_link link, bool alive);
/* doctor_do() with the command that shows what the link has carried and lost. */
void doctor_do_count(struct doctor *d, cw_link link);

/*
 * In doctor.c: tells of a link that is damped and that nothing has told of as a cable. Call after doctor_flaps() and
 * all that looks at links.
 */
void doctor_rest(struct doctor *d, cw_link link);

/* Somebody is heard who does not belong there. What only all links together can tell is left to doctor_cables(). */
void doctor_stranger(struct doctor *d, cw_link link);
/* Call once, after all links. */
void doctor_cables(struct doctor *d);

#endif
