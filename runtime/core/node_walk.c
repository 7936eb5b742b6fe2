/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_walk.c - what must hold of a node between two entries. Called by node_leave_entry() in debug and sanitizer
 * builds.
 *
 * What costs more than a look at each service is done in turns, one part an entry: the instant of the entry says whose
 * turn it is. So a node whose queues are full is walked at the price of one queue, and every part is looked at often.
 */
#include "core/node_internal.h"

#include "base/check.h"

#include <string.h>

const char *node_who(const struct node *n, char text[static NODE_WHO])
{
    memcpy(text, "server ", NODE_WHO - TORUS_TEXT);
    torus_format(n->place, text + NODE_WHO - TORUS_TEXT);
    return text;
}

static uint32_t hands_of(const struct cw_svc *svc)
{
    uint32_t count = 0;
    for (const struct cw_packet *p = svc->hands; p != NULL && count <= svc->in_hand; p = p->next) {
        count++;
    }
    return count;
}

static void walk_service(const struct node *n, const struct cw_svc *svc)
{
    CHECK_RULE(hands_of(svc) == svc->in_hand, "invariant 22: a service is charged for the packets in its hands",
               node_who(n, (char[NODE_WHO]){0}));
}

/* The part whose turn it is: one place and its service, or one of the tables. */
static void walk_part(const struct node *n)
{
    enum { TABLES = 4 };
    unsigned turn = (unsigned)((uint64_t)n->now.ns % (FAIRQ_PLACES + TABLES));
    if (turn < FAIRQ_PLACES) {
        CHECK_RULE(n->places[turn] == NULL || place_valid(n, n->places[turn]),
                   "invariant 22: a queue's counts are those of the packets inside", node_who(n, (char[NODE_WHO]){0}));
        if (n->service[turn] != NULL) {
            walk_service(n, n->service[turn]);
        }
    } else if (turn == FAIRQ_PLACES) {
        CHECK_RULE(holdq_valid(&n->held), "invariant 22: what is held is counted, within its limit",
                   node_who(n, (char[NODE_WHO]){0}));
    } else if (turn == FAIRQ_PLACES + 1) {
        CHECK_RULE(calls_valid(&n->calls), "invariant 22: calls are counted by service",
                   node_who(n, (char[NODE_WHO]){0}));
    } else if (turn == FAIRQ_PLACES + 2) {
        CHECK_RULE(timers_valid(&n->timers), "invariant 22: timers are counted by service",
                   node_who(n, (char[NODE_WHO]){0}));
    } else {
        CHECK_RULE(guests_valid(&n->guests), "invariant 22: guests are counted, and found by all their names",
                   node_who(n, (char[NODE_WHO]){0}));
    }
}

bool node_walk(const struct node *n)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        uint64_t waiting = 0;
        for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
            bool waits = n->places[i] != NULL && (place_links(n, n->places[i]) & cw_links_of(link));
            waiting |= waits ? place_bit(i) : 0;
        }
        CHECK_RULE((waiting & ~n->ready[link]) == 0, "a place that has something for a link is asked for it",
                   node_who(n, (char[NODE_WHO]){0}));
        CHECK_RULE((n->ready[link] != 0) == ((n->wanted & cw_links_of(link)) != 0),
                   "a link is wanted when some place is ready for it", node_who(n, (char[NODE_WHO]){0}));
    }
    CHECK_RULE((n->local.head == NULL) == (n->local.packets == 0), "packets to ourselves are counted",
               node_who(n, (char[NODE_WHO]){0}));
    walk_part(n);
    return true;
}
