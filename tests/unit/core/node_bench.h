/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_bench.h - whole nodes on a bench: a small torus of them in one process, cables with a rate and a delay, virtual
 * time.
 *
 * The least pump that keeps the contract of node.h: a link is pulled when it has room, frames arrive in order, a wake
 * is kept. One run is a function of its inputs. Every node has one service, the probe (job PROBE_JOB), whose upcalls
 * are hooks that a test sets; tests add services of their own.
 */
#ifndef UNIT_CORE_NODE_BENCH_H
#define UNIT_CORE_NODE_BENCH_H

#include "base/heap.h"
#include "core/node_internal.h"
#include "keyspace/torus.h"
#include "nmu/book.h"

enum { BENCH_SERVERS = 64, PROBE_JOB = 77, PROBE_NOTES = 4096 };

struct bench;

/* What the probe saw, in order. */
enum note_kind { NOTE_PACKET = 1, NOTE_TRANSIT, NOTE_EVENT, NOTE_REPLY, NOTE_TIMER, NOTE_WRITABLE };
struct note {
    enum note_kind kind;
    cw_time at;
    cw_rx rx;           /* packets and replies */
    cw_event event;     /* events */
    int status;         /* replies */
    size_t length, pad; /* of the payload */
    uint8_t first[32];  /* its first bytes */
};

/* Hooks of the probe: NULL does nothing. on_packet's default verdict: drop when it arrived, forward in transit. */
struct probe_hooks {
    cw_verdict (*on_packet)(cw_svc *s, cw_packet *p, const cw_rx *rx);
    void (*on_event)(cw_svc *s, const cw_event *event);
    int (*on_command)(cw_svc *s, cw_request *r, int argc, const char *const *argv);
    cw_packet *(*next_packet)(cw_svc *s, cw_link link);
    bool (*peek_packet)(cw_svc *s, cw_place place, cw_link link, cw_peek *out);
    uint8_t on_path;
    bool background;
    cw_place asked; /* the place that next_packet() was asked for last */
    cw_span mark_after;
};

struct probe {
    struct bench *bench;
    unsigned count; /* of notes, those that found no place too */
    struct note note[PROBE_NOTES];
};

struct bench_link {
    bool busy;
    bool cut;
    cw_time last; /* arrival of the last frame sent: the next is later */
};

struct bench {
    struct torus torus;
    cw_server neighbours[BENCH_SERVERS * CW_LINK_COUNT];
    struct pkt_home *home;
    struct heap heap;
    void *heap_memory;
    uint64_t sequence;
    cw_time now;
    struct node_config config;      /* of nodes started from now on */
    struct book *book;              /* who may send what: see bench_open() */
    struct nmu_source records;      /* it; for nodes started from now on */
    const struct siphash_key *seal; /* of their NMU's tables; NULL: none */
    struct probe_hooks hooks;
    struct upcall_mark *mark; /* node_env.mark and node_env.meter of nodes started from now on */
    struct node_meter meter;
    uint64_t bits_per_second;
    cw_span delay;
    uint64_t incarnation;
    struct node *node[BENCH_SERVERS];
    struct bench_link link[BENCH_SERVERS][CW_LINK_COUNT];
    unsigned turn[BENCH_SERVERS];
    uint64_t watched[4]; /* by enum node_point */
    uint64_t dropped[CW_DROP_COUNT];
    uint64_t lost;           /* data packets on a cable to nobody */
    uint64_t data_under_way; /* data packets on cables */
    unsigned logs;
    char logged[160]; /* the last line */
};

/*
 * A torus of dims, no server started. config and hooks may be changed before nodes are started. The probe, and the jobs
 * that a test names with bench_allow(), may send anything to one another; to have it otherwise, change records.
 */
struct bench *bench_open(cw_dims dims);
/* Closes what runs; every packet must come home. */
void bench_close(struct bench *b);

/* Job a may reach all of b, on all ports. Before a node with a starts. */
void bench_allow(struct bench *bench, cw_job a, cw_job b);

void bench_start(struct bench *b, cw_server s);
void bench_start_all(struct bench *b);
/* The server is gone at once; its neighbours see the carrier go, or hear nothing more. */
void bench_kill(struct bench *b, cw_server s, bool carrier);
/* Both directions of the cable at that link of s carry nothing any more, or something again; both ends see it. */
void bench_cut(struct bench *b, cw_server s, cw_link link, bool cut);

/* Runs all that happens until then, and sets the clock to it. */
void bench_run(struct bench *b, cw_span span);
/* Until all that run see one another and serve: fails the test when that takes longer than five seconds. */
void bench_settle(struct bench *b);
/* After something was done to node s outside an entry that returns links. */
void bench_kick(struct bench *b, cw_server s);

cw_svc *bench_svc(struct bench *b, cw_server s);
struct probe *bench_probe(struct bench *b, cw_server s);
/* Notes of a kind at s; the last of them in *last (may be NULL). */
unsigned bench_notes(struct bench *b, cw_server s, enum note_kind kind, const struct note **last);
void bench_forget_notes(struct bench *b);

cw_to to_server(struct bench *b, cw_server s);
cw_to to_route(uint64_t route);
/* A packet of the probe at s with this text as its payload, and pad. */
cw_packet *packet_of(struct bench *b, cw_server s, const char *text, size_t pad);
/* Sends it and pumps: the result of cw_send. */
int send_text(struct bench *b, cw_server s, const char *text, const cw_to *to, const cw_send_options *options);

/* cw_reply_fn and cw_timer_fn of the probe: they note. */
void probe_reply(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx);
void probe_timer(cw_svc *s, void *state, void *arg);

#endif
