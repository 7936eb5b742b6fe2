/* SPDX-License-Identifier: Apache-2.0 */
/* boot_internal.h - struct boot, for those files of this folder that see the whole of it: one for each entry point. */
#ifndef BOOT_BOOT_INTERNAL_H
#define BOOT_BOOT_INTERNAL_H

#include "base/prng.h"
#include "boot/atlas.h"
#include "boot/boot.h"
#include "boot/graph.h"
#include "boot/inspect.h"

enum { BOOT_ACKS_MAX = 512 };

struct boot_port {
    uint32_t session; /* ours on this port, as long as this bootstrap lives */
    bool carrier;
    bool heard;        /* somebody is heard: far is what the neighbour said last */
    bool both_ways;    /* and the neighbour hears us */
    bool probe_now;    /* the next frame has a probe */
    uint16_t sequence; /* of the next frame */
    struct probe far;
    cw_time heard_at;   /* when far came */
    cw_time probe_due;  /* when the next probe is due */
    cw_time resend_due; /* CW_NEVER: nothing waits for an acknowledgement */
    cw_time batch_due;  /* adverts and acknowledgements are not sent before */
    uint8_t strange;    /* 0, or what is wrong with the neighbour that `far` describes: CLUSTER, SAME_ID, LOOP, ... */
    uint32_t acks;      /* acknowledgements in ack[], which wait to be sent */
    struct cabling_ack ack[BOOT_ACKS_MAX];
};

struct boot {
    struct boot_config config; /* its place is NULL */
    struct prng chance;
    enum boot_state state;
    bool placed;             /* it has a place, and the place is stored */
    struct boot_place place; /* in BOOT_AGREED */
    struct boot_port port[CW_LINK_COUNT];

    struct atlas atlas;    /* the adverts of all servers while searching; only this server's own when placed */
    struct cabling advert; /* this server's own, as announced last */
    bool advert_stale;     /* the advert may have to change */
    cw_time advert_due;    /* no new version is announced before */

    cw_time changed_at; /* when the graph changed last */
    bool looked;        /* graph, solution and faults were computed after that change */
    uint32_t missing;   /* cables that only one end names, as boot_survey() counted them */
    struct graph graph;
    struct solution solution;
    uint64_t digest;      /* of the solution when it has no faults; otherwise 0 */
    uint32_t agreeing;    /* servers that announce that digest or have a place */
    bool recount;         /* an advert came since agreeing was counted */
    cw_time recount_due;  /* agreeing is not counted again before */
    cw_time unanimous_at; /* since when all servers agree; CW_NEVER: they do not */

    struct fault_list faults;
    struct boot_fault fault[BOOT_FAULTS_MAX];
    uint64_t refused_frames;
};

/* ---- boot_rx.c ---- */
/* Nobody is at the other end of the port any more. */
void boot_lose(struct boot *b, unsigned port);

/* ---- boot_decide.c ---- */
/* The graph is no longer what the solution was made of: the search begins again, unless a place was agreed on. */
void boot_graph_changed(struct boot *b, cw_time now);
/* Announces a new version of this server's advert when the advert has changed, and a new version is due. */
void boot_announce(struct boot *b, cw_time now);
/* Solves the graph when it has settled, counts who agrees, and takes the place when all do. */
void boot_decide(struct boot *b, cw_time now);
/* When boot_decide() may have something to do. */
cw_time boot_decide_wake(const struct boot *b);
struct boot_who boot_self(const struct boot *b);
struct boot_who boot_far_who(const struct boot_port *port);
/* True when the adverts are equal but for version and solution. */
bool boot_same_advert(const struct cabling *a, const struct cabling *b);

/* ---- boot_check.c ---- */
/* Adds the faults of this server's own ports to the list. */
void boot_check_ports(struct boot *b);

/* ---- boot_tx.c ---- */
/* The ports that have something to send now. */
cw_links boot_links(const struct boot *b, cw_time now);
/* True when adverts or acknowledgements wait for the port's neighbour. */
bool boot_port_waits(const struct boot *b, unsigned port);

/* True when this server or the port's neighbour searches. */
static inline bool boot_port_is_busy(const struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    return !b->placed || (p->heard && (p->far.flags & PROBE_PLACED) == 0);
}
/* True when the neighbour wants adverts: it searches, and hears us. */
static inline bool boot_port_is_fed(const struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    return p->both_ways && p->strange == 0 && (p->far.flags & PROBE_PLACED) == 0;
}

#endif
