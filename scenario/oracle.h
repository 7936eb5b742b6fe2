/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oracle.h - who is connected with whom in truth, and whether a delivery was right (semantics 4.1).
 *
 *   link up        the cable works both ways, both servers live, and each end calls the link up with the incarnation
 *                  that the other end has now
 *   component      servers connected by links that are up
 *   misdelivered   a server hands over a key packet as its root although another active server of its component
 *                  precedes it in the key's sequence; or although other servers have given it up (it is a zombie) and
 *                  may deliver
 *
 * The simulator and the judge of real daemons (cwlab judge) both judge by it.
 *
 * Plain arrays in, answers out: the oracle knows no node, so that it can be tested without one. Components are searched
 * when somebody asks for one after a change, and not before; a key that its home delivers costs a multiplication.
 */
#ifndef SCENARIO_ORACLE_H
#define SCENARIO_ORACLE_H

#include "cubeway/types.h"
#include "keyspace/torus.h"

struct oracle {
    const struct torus *torus;
    const cw_server *neighbours; /* torus.servers * 6, borrowed */
    /* The truth, by server; written by the functions below only. */
    uint64_t *incarnation; /* of the life that runs now; 0: the server does not run */
    /* [server * 6 + link]: the incarnation of the far end with which this end calls the link up; 0: not up. */
    uint64_t *claim;
    cw_links *cable; /* the directions outwards that work */
    uint8_t *active; /* 1: may deliver keys (semantics 4.1) */
    /* What follows from it. */
    uint64_t changes;         /* grows with each change of the above */
    uint64_t searched;        /* `changes` when components were searched last */
    uint64_t searched_cables; /* the same of islands */
    cw_server *component;     /* by server: the smallest member of its component; CW_SERVER_NONE: it does not run */
    cw_server *island; /* the same over cables that work and servers that run, whatever these believe of one another */
    cw_server *stack;  /* scratch of a search */
};

/* -ENOMEM leaves nothing behind. All cables work, nobody runs. Borrows torus and neighbours. */
CW_MUST_CHECK int oracle_open(struct oracle *o, const struct torus *torus, const cw_server *neighbours);
void oracle_close(struct oracle *o);
size_t oracle_bytes(const struct oracle *o);

/* The server runs with this incarnation. 0: it has ended, and its claims with it. */
void oracle_runs(struct oracle *o, cw_server s, uint64_t incarnation);
/* From now on s calls the link up, with this incarnation of the far end; 0: it does not call it up. */
void oracle_claims(struct oracle *o, cw_server s, cw_link link, uint64_t incarnation);
void oracle_active(struct oracle *o, cw_server s, bool active);
/* The direction of a cable outwards from s works or not. */
void oracle_cable(struct oracle *o, cw_server s, cw_link link, bool works);

/* Links of s that are up in truth. */
cw_links oracle_links(const struct oracle *o, cw_server s);
/* The smallest member of the component, or of the island, that s is in; CW_SERVER_NONE: s does not run. */
cw_server oracle_component(struct oracle *o, cw_server s);
cw_server oracle_island(struct oracle *o, cw_server s);

/*
 * For a key packet with these routing bits that s delivers as its root: the first active server of s's component that
 * precedes s in the key's sequence. CW_SERVER_NONE when there is none: the delivery is right.
 */
cw_server oracle_precedes(struct oracle *o, uint64_t route, cw_server s);

/* In the key's sequence s comes before `other`, so that `other` delivers the key only when it does without s. */
bool oracle_passes_over(const struct oracle *o, uint64_t route, cw_server s, cw_server other);

/*
 * True when s calls some links up and none of them is up in truth. A delivery by such a server is wrong when others
 * have taken its place. Who has is for the caller to find out: the simulator asks the others' nodes whether they may
 * deliver the key now (simulator/check_internal.h, check_rival()); the judge of real daemons looks for keys of s that
 * others delivered since s was given up (testbed/cwlab/outcome/judge.c).
 */
bool oracle_given_up(struct oracle *o, cw_server s);

#endif
