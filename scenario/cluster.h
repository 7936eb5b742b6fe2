/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - what a cluster is, as plain values: its torus, its cables, its nodes, and the ways in which packets are
 * lost between them. The simulator simulates all of it; the testbed builds the part that one machine can have.
 */
#ifndef SCENARIO_CLUSTER_H
#define SCENARIO_CLUSTER_H

#include "core/node.h"

struct book_grant; /* nmu/book.h */

enum {
    WIRE_RING_MAX = 4,
    WIRE_MILLION = 1000000, /* chances are parts per million */
};

struct wire_config {
    uint64_t bits_per_second; /* 1,000,000,000; 8e12 / this is rounded to whole ps per byte */
    cw_span propagation;      /* through the cable and both cards: 1 us */
    cw_span hop_delay;        /* how long a frame waits in the host that it reaches, in parallel with other frames: 0 */
    uint32_t hop_ps_per_byte; /* the part of that delay which grows with the frame, in ps: 0 */
    uint8_t ring;             /* 1, 2 or 4 frames */
};
struct wire_config wire_config_default(void);

/* What goes wrong with frames on a cable. All zero: nothing. */
struct wire_harm {
    uint32_t loss, duplicate, corrupt; /* parts per million of the frames */
    uint32_t delayed;                  /* parts per million that are delayed, and with them all that follow */
    cw_span delay_most;                /* uniform up to this, at most 1 s */
};
static inline bool wire_harm_none(const struct wire_harm *h)
{
    return (h->loss | h->duplicate | h->corrupt | h->delayed) == 0;
}

struct world_service {
    const cw_service *table;           /* borrowed */
    struct node_service_policy policy; /* weight 0: the node's default */
    bool (*runs_on)(cw_server s);      /* NULL: on every server */
};

struct world_config {
    cw_dims dims;
    uint64_t seed;
    struct node_config node;              /* the world fills in self and incarnation; hop_limit 0: the default */
    const struct world_service *services; /* borrowed for the world's life */
    unsigned service_count;
    /* node_env.option, of every server; may be NULL. */
    const char *(*option)(void *context, const char *service, const char *name);
    void *option_context;
    /* What services may send (nmu/book.h), and nothing else; borrowed for world_open(). */
    const struct book_grant *grants;
    unsigned grant_count;
    /* What the host of server s offers its built-in services (node_env.objects) each time it starts; NULL: nothing. */
    const struct node_object *(*objects)(void *context, cw_server s);
    void *objects_context;
    struct wire_config wire;
    cw_span carrier; /* both ends see a cut cable, or a host without power, after this; negative: never (the default) */
    cw_span cpu_per_frame;    /* one processor handles a server's frames one after the other, each for so long: 0 */
    uint32_t cpu_ps_per_byte; /* the part of that time which grows with the frame, in ps: 0 */
    /* Frames that may wait for the processor, or for a paused server, before the card drops: 1,024. */
    uint32_t cpu_queue;
    uint32_t clock_ppm;   /* each server's clock is too fast or too slow by at most this: 0 */
    cw_span clock_offset; /* each server's clock starts at a value up to this: 0 */
    uint32_t packets_max; /* in the world at one time; 0 (the default): 512 a server, but at least 65,536 */
    /*
     * False: the card drops corrupted frames, as its check sequence makes it do. True: they get through with bits
     * flipped, to try the parsers. Nothing then protects what was flipped (there is no cluster key), so deliveries are
     * not judged.
     */
    bool corrupt_passes;
    uint32_t relay_ppm; /* share of the servers that have a relay (docs/relay.md), drawn at each start: 0 */
    bool settled;       /* world_start_all() starts with all servers at rest, as they are long after a start: false */
    bool checks_off;    /* to measure what the checks cost; a run without them shows nothing */
    /* The command that repeats this run, printed with a violation; borrowed. NULL: the seed alone is printed. */
    const char *replay;
    /* Where the nodes say in which upcall they are (node_env.mark); borrowed, may be NULL. */
    struct upcall_mark *mark;
    struct node_meter meter; /* of all nodes (core/node.h); all zero: upcalls are not measured */
};
/* 3x3x3, 1 Gb/s, 9,000-byte frames, default timers, no service. */
struct world_config world_config_default(void);

/* Packets lost outside of nodes. */
enum world_loss {
    WORLD_LOSS_INJECTED,  /* wire_harm.loss */
    WORLD_LOSS_CORRUPTED, /* dropped by the card's check sequence */
    WORLD_LOSS_CUT,       /* sent on a cable that does not work, or under way when it was cut */
    WORLD_LOSS_DEAD,      /* sent to a server that is dead */
    WORLD_LOSS_KILLED,    /* inside a server, or not wholly sent by it, when it died */
    WORLD_LOSS_CARD,      /* no room in the card of a server that was busy or paused */
    WORLD_LOSSES,
};
const char *world_loss_name(enum world_loss cause);

#endif
