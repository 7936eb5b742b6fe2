/* SPDX-License-Identifier: Apache-2.0 */
/* boot_internal.h - struct boot, for the files of this folder that see the whole of it, one per entry point. */
#ifndef BOOT_BOOT_INTERNAL_H
#define BOOT_BOOT_INTERNAL_H

#include "base/prng.h"
#include "boot/atlas.h"
#include "boot/boot.h"
#include "boot/graph.h"
#include "boot/inspect.h"

enum { BOOT_ACKS_MAX = 512 };

struct boot_port {
    uint32_t session; /* ours on this port, for our life */
    bool carrier;
    bool heard;     /* far is what the neighbour said last */
    bool both_ways; /* and it has heard us */
    bool probe_now;
    uint16_t sequence; /* of the next frame */
    struct probe far;
    cw_time heard_at;
    cw_time probe_due;
    cw_time resend_due; /* CW_NEVER: nothing waits for an acknowledgement */
    cw_time batch_due;  /* adverts are not sent before */
    uint8_t strange;    /* 0, or the local fault that this port has: CLUSTER, SAME_ID, LOOP; who is then in far */
    uint32_t acks;
    struct cabling_ack ack[BOOT_ACKS_MAX];
};

struct boot {
    struct boot_config config; /* place points nowhere */
    struct prng chance;
    enum boot_state state;
    bool placed;             /* it has a place, and the place is stored */
    struct boot_place place; /* from AGREED on */
    struct boot_port port[CW_LINK_COUNT];

    struct atlas atlas;    /* of all while searching; of this server alone when placed */
    struct cabling advert; /* this server's own, as announced last */
    bool advert_stale;     /* it would be another by now */
    cw_time advert_due;    /* not announced again before */

    cw_time changed_at; /* when the graph changed last */
    bool looked;        /* graph, solution and faults are those since then */
    uint32_t missing;
    struct graph graph;
    struct solution solution;
    uint64_t digest; /* of a solution without faults; 0 */
    uint32_t agreeing;
    bool recount;         /* somebody announced something since agreeing was counted */
    cw_time recount_due;  /* not counted again before */
    cw_time unanimous_at; /* since when all agree; CW_NEVER */

    struct fault_list faults;
    struct boot_fault fault[BOOT_FAULTS_MAX];
    uint64_t refused_frames;
};

/* boot_rx.c */
void boot_lose(struct boot *b, unsigned port); /* nobody is at the other end any more */
/* boot_decide.c */
void boot_graph_changed(struct boot *b, cw_time now);
void boot_announce(struct boot *b, cw_time now); /* announces this server's advert when it is stale and due */
void boot_decide(struct boot *b, cw_time now);   /* looks at the graph when it is settled, and agrees */
cw_time boot_decide_wake(const struct boot *b);
struct boot_who boot_self(const struct boot *b);
struct boot_who boot_far_who(const struct boot_port *port);
bool boot_same_advert(const struct cabling *a, const struct cabling *b); /* but for version and solution */
/* boot_check.c */
void boot_check_ports(struct boot *b); /* faults of this server's own ports, added to those there are */
/* boot_tx.c */
cw_links boot_links(const struct boot *b, cw_time now);
bool boot_port_waits(const struct boot *b, unsigned port); /* adverts or acknowledgements for its neighbour */
/* Somebody here or at the other end of the port searches. */
static inline bool boot_port_is_busy(const struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    return !b->placed || (p->heard && (p->far.flags & PROBE_PLACED) == 0);
}
/* The neighbour wants adverts: it searches, and hears us. */
static inline bool boot_port_is_fed(const struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    return p->both_ways && p->strange == 0 && (p->far.flags & PROBE_PLACED) == 0;
}

#endif
