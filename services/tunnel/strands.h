/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strands.h - all strands at their receiver: order restored, bounded in time and in memory.
 *
 * Packets go by whichever shortest link is free first, so they overtake one another (CamCubeOS 6.3). Nearly every hole
 * is a piece that was overtaken and will come: links lose nothing, and a sender numbers what it sends at the last
 * moment. So a strand waits for a hole, as long as pieces of that server were late before (lateness.h), and gives it up
 * when that time is over. It does so earlier when more waits than is allowed, when all shortest paths from that server
 * are one path, so that nothing can have been overtaken, and when the server is gone.
 *
 * The guarantee: a piece is kept for no longer than `bounds.most`, and what all strands keep is no more than
 * `memory_most` and one piece. Every piece that was taken is given to deliver() exactly once, or to drop().
 */
#ifndef SERVICES_TUNNEL_STRANDS_H
#define SERVICES_TUNNEL_STRANDS_H

#include "services/tunnel/head.h"
#include "services/tunnel/lateness.h"
#include "services/tunnel/strand.h"

#include "base/list.h"

#include <stdbool.h>

struct strands_config {
    /* Servers that pieces may come from: their ids are below it. */
    cw_server servers;
    struct lateness_bounds bounds;
    size_t memory_most;
    /* Takes a piece, in its turn. Must not call strands_take(), strands_tick() and their like. */
    void (*deliver)(void *context, cw_server from, void *piece);
    /* Takes a piece that came twice, or that still waited at strands_close(). */
    void (*drop)(void *context, void *piece);
    /* Is told how late each late piece was. May be NULL. */
    void (*was_late)(void *context, cw_span late);
    void *context;
};

/* How many pieces had each fate; given_up counts numbers. */
struct strands_counts {
    uint64_t in_order, waited, filled, given_up, late_after_all, former, doubles;
};

struct strands_peer;

struct strands {
    struct strands_config config;
    struct strands_counts counts;
    /* By server; NULL: nothing has come from there. */
    struct strands_peer **peer;
    /* Strands in which something waits, the one that is due first in front. */
    struct list open;
    /* Bytes that wait. */
    size_t held;
};

/* Copies config. -ENOMEM. */
CW_MUST_CHECK int strands_open(struct strands *s, const struct strands_config *config);
/* What still waits is dropped. */
void strands_close(struct strands *s);

/*
 * Takes a piece that came from that server with that head, which piece_decode() gave. bytes: what it costs to keep.
 * one_path: nothing can overtake on the way. Whatever is then in its turn is delivered before this returns.
 */
void strands_take(struct strands *s, cw_server from, const struct piece_head *head, void *piece, uint32_t bytes,
                  bool one_path, cw_time now);

/* When strands_tick() has something to do: CW_NEVER, nothing waits. */
cw_time strands_due(const struct strands *s);
/* Gives up holes that were waited for long enough. */
void strands_tick(struct strands *s, cw_time now);

/* The way of pieces has changed: no hole that is open now is waited for beyond that time. */
void strands_hurry(struct strands *s, cw_time by);
/* A server is gone: what waits is delivered, and what comes from it later begins anew. */
void strands_forget(struct strands *s, cw_server from);

/* How long holes of that server are waited for now. */
cw_span strands_wait(const struct strands *s, cw_server from);

#endif
