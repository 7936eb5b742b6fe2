/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - the tree along which a question goes from the server that asks to all others, and what they answer comes
 * back: shortest ways between servers that live, as the asker sees it. A pure function of the torus, the asker and the
 * dead: every server that is told these makes the same tree, and nobody's own view goes in.
 *
 * A server's parent is the neighbour that was reached first, of those that are nearer to the asker. Time: six looks a
 * server.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SPREAD_H
#define SERVICES_AGGREGATE_QUERY_SPREAD_H

#include "keyspace/torus.h"

enum { SPREAD_NONE = UINT16_MAX };

/* By server. Memory of the caller, for servers servers each. */
struct spread {
    cw_server *parent;  /* CW_SERVER_NONE: the asker, the dead, and those that are cut off */
    cw_server *order;   /* all that can be reached, the asker first, and each behind its parent */
    uint16_t *distance; /* from the asker; SPREAD_NONE: it cannot be reached */
    uint16_t *height;   /* links down to the furthest member below; 0: it has none below it, or is none */
    bool *needed;       /* it is a member, or a member is below it */
    cw_server count;    /* in order */
};

/* Memory for a torus of so many servers. -ENOMEM. */
CW_MUST_CHECK int spread_open(struct spread *t, cw_server servers);
void spread_close(struct spread *t);
/* dead and members are sets, a bit for each server: bit s % 64 of word s / 64. The asker is not dead. */
void spread_make(struct spread *t, const struct torus *torus, cw_server asker, const uint64_t *dead,
                 const uint64_t *members);

#endif
