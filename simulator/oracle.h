/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - who is connected with whom in truth, and whether a delivery was right (semantics 4.1).
 *
 *   link up        the cable works both ways, both servers live, and each end calls the link up with the incarnation
 *   that the other
 *                  end has now
 *   component      servers connected by links that are up misdelivered   a server hands over a key packet as its root,
 *   although another active server that precedes it in the key's
 *                  sequence is in its component; or although it has been given up (a zombie) by others that may deliver
 *
 * Plain arrays in, answers out: it knows no node, so that it can be shown right without one. Components are searched
 * when somebody asks after a change, never before; a key whose home delivers it costs a multiplication.
 */
#ifndef SIMULATOR_ORACLE_H
#define SIMULATOR_ORACLE_H

#include "cubeway/types.h"
#include "keyspace/torus.h"

struct oracle {
    const struct torus *torus;
    const cw_server *neighbours; /* torus.servers * 6, borrowed */
    /* What is true, by server; write through the functions below. */
    uint64_t *incarnation; /* now; 0: not running */
    /* [server * 6 + link]: the incarnation of the far end with which this end calls the link up; 0: not up. */
    uint64_t *claim;
    cw_links *cable; /* cables that work, outwards */
    uint8_t *active;
    /* What follows. */
    uint64_t changes; /* grows with each change above */
    uint64_t searched, searched_cables;
    cw_server *component; /* smallest member, by server; CW_SERVER_NONE: not running */
    cw_server *island;    /* likewise over cables and running servers only, whatever they believe */
    cw_server *stack;
};

/* -ENOMEM leaves nothing behind. All cables work, nobody runs. Borrows torus and neighbours. */
CW_MUST_CHECK int oracle_open(struct oracle *o, const struct torus *torus, const cw_server *neighbours);
void oracle_close(struct oracle *o);
size_t oracle_bytes(const struct oracle *o);

/* A server runs with this incarnation (0: it is gone, and its claims with it). */
void oracle_runs(struct oracle *o, cw_server s, uint64_t incarnation);
void oracle_claims(struct oracle *o, cw_server s, cw_link link, uint64_t incarnation);
void oracle_active(struct oracle *o, cw_server s, bool active);
/* The direction of a cable outwards from s works or not. */
void oracle_cable(struct oracle *o, cw_server s, cw_link link, bool works);

/* Links of s that are up in truth. */
cw_links oracle_links(const struct oracle *o, cw_server s);
cw_server oracle_component(struct oracle *o, cw_server s);
cw_server oracle_island(struct oracle *o, cw_server s);

/*
 * A key packet with these routing bits is delivered at s as root. CW_SERVER_NONE when nobody of its component
 * precedes it, else the first who does.
 */
cw_server oracle_precedes(struct oracle *o, uint64_t route, cw_server s);

/*
 * True when s believes in links that are not up in truth and in none that is: a delivery by it is wrong when another
 * server of its island may deliver the same key (the caller asks them).
 */
bool oracle_given_up(struct oracle *o, cw_server s);

#endif
