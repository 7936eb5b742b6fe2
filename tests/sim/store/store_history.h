/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_history.h - what was asked of the store and what came of it, and whether that is linearizable.
 *
 * A name is a register whose states have versions. A successful write tells the version of the state that it made; a
 * read, and a refusal, the version of the state that they met: so the order of the states is known, and only where each
 * read stands has to be decided. All events of one state form a block, in which the write comes first. For a given
 * order of blocks a history is linearizable exactly when nothing ends before something begins that stands in a block
 * ahead of it: real time is an interval order.
 *
 * What is not known: a write without an answer may have made any state whose maker nobody knows. By its value a read
 * tells which; a delete, or a state that was only named by its version, may be of any such write. Then only that is
 * demanded which is true whoever it was. And a refusal that met no value does not tell which absence it met: it is put
 * into the first block where it can be.
 */
#ifndef SIM_STORE_HISTORY_H
#define SIM_STORE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum store_event_kind {
    STORE_EVENT_NONE,    /* left out */
    STORE_EVENT_PUT,     /* made the state `version` with the value `value`; version 0: there was no answer */
    STORE_EVENT_DELETE,  /* made the state `version`, which has no value; the same */
    STORE_EVENT_READ,    /* met the state `version` with the value `value`; value 0: not told */
    STORE_EVENT_ABSENT,  /* met the absence `version`: that of a delete; 0: of the beginning */
    STORE_EVENT_NOTHING, /* met some absence */
    STORE_EVENT_SOME,    /* met some value */
    STORE_EVENT_FAILED,  /* a put of `value` that was told that nothing was done */
};

#define STORE_NO_END INT64_MAX

struct store_event {
    enum store_event_kind kind;
    uint32_t key;
    uint64_t version;
    uint64_t value; /* unique */
    /* PUT, DELETE with an answer: the state that it found; with `any`, it asked for none. 0: no value was there. */
    uint64_t found;
    bool any;
    int64_t ttl;  /* PUT: the value may go by itself, not before so long after the put was asked for; 0: it stays */
    bool expires; /* DELETE without an answer: nobody asked for it, a value may go so by itself */
    int64_t begun, ended;
    unsigned server;
    uint32_t node; /* events of one node happen at one instant: store_groups.h */
};

/* Sorts and changes the events. True: linearizable; else *why says of which key and what. */
bool store_history_check(struct store_event *events, size_t count, char *why, size_t room);

#endif
