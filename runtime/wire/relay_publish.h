/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_publish.h - the node's side of relay_state.h: in which order its stores are made, so that a program that runs
 * at any moment makes its verdict of one generation (I3 there).
 *
 * A publication (1) takes out what has gone: links, jobs, a lease that is over, and puts in what an operator captures;
 * (2) writes the view that no program reads; (3) turns `gen` to that view; (4) puts in what has come. The view that
 * programs read is not written before `gen` has turned away from it, and a program looks at `gen` again before it
 * changes a frame: so whoever finds it unchanged has read one generation as a whole. Nobody waits for a program.
 *
 * When a link fails, the node does not wait for the end of its turn: relay_cut() comes before anything is said or sent
 * about the failure, and the publication at the end of the turn has the new routes.
 *
 * One thread writes a state: the node's, or after its death the watcher's. The functions allocate nothing and borrow
 * all that they are given for the call; the writer keeps the state borrowed.
 */
#ifndef WIRE_RELAY_PUBLISH_H
#define WIRE_RELAY_PUBLISH_H

#include "base/check.h"
#include "cubeway/types.h"
#include "wire/mutant.h"
#include "wire/relay_state.h"

#include <string.h>

/* What a view is made of. */
struct relay_draft {
    cw_dims dims;
    cw_links in, out;
    struct relay_link link[CW_LINK_COUNT];
    const uint8_t *way; /* a set of enum relay_way for each server of the torus */
    uint64_t way_epoch; /* moves with every change of `way`; not 0 */
};

/* A job whose service is loaded here. */
struct relay_job {
    uint32_t job;   /* not 0, and each only once */
    uint32_t place; /* 0..RELAY_PLACES - 1, or RELAY_UP when its service wants to see its transit */
};

struct relay_jobs {
    uint32_t count;
    const struct relay_job *job;
};

struct relay_news {
    uint64_t lease;                                           /* ns of CLOCK_BOOTTIME; 0: none */
    cw_links live;                                            /* links that are up and without a fault */
    cw_links waits, tapped;                                   /* as in struct relay_state */
    uint64_t taken[CW_LINK_COUNT], sent_until[CW_LINK_COUNT]; /* as in struct relay_queue */
    const struct relay_draft *view;                           /* NULL: as it was */
    const struct relay_jobs *jobs;                            /* NULL: as they were */
};

struct relay_writer {
    struct relay_state *state;
    uint64_t way_epoch[2]; /* of the routes that each of the two views holds */
};

/* The torus may have a relay: it is not larger than the table of routes. */
static inline bool relay_torus_fits(cw_dims dims)
{
    return (uint32_t)dims.x * dims.y * dims.z <= RELAY_SERVERS;
}

/* Begins to write a state, of which nothing is live and no lease runs until the first publication. */
static inline void relay_writer_open(struct relay_writer *w, struct relay_state *state, uint16_t ethertype)
{
    *w = (struct relay_writer){.state = state};
    RELAY_WRITE(state->live, 0);
    RELAY_WRITE(state->lease, 0);
    RELAY_WRITE(state->ethertype, ethertype);
}

/*
 * From now on no program that begins relays from or to these links. One that has begun may still send one frame: it
 * carries the session and the position of the adjacency that has ended, by which the neighbour knows it.
 */
static inline void relay_cut(struct relay_state *state, cw_links links)
{
    RELAY_WRITE(state->live, RELAY_READ(state->live) & ~(uint32_t)links);
}

/* From now on no program that begins relays anything: the server is fenced, or leaves, or its daemon has died. */
static inline void relay_stop(struct relay_state *state)
{
    RELAY_WRITE(state->live, 0);
    RELAY_WRITE(state->lease, 0);
}

/* The medium of a link, as its shim knows it: ns for 1024 bytes (0: not known), and what may wait in the device. */
static inline void relay_pace(struct relay_state *state, cw_link link, uint64_t ns_per_kib, uint64_t slack)
{
    RELAY_WRITE(state->queue[link].slack, slack);
    RELAY_WRITE(state->queue[link].ns_per_kib, ns_per_kib);
}

/*
 * How many frames were handed up because the link was not free. The node reads it before it receives; when the sockets
 * then gave all they had and nothing waits for the link, that number is `taken`.
 */
static inline uint64_t relay_handed(const struct relay_state *state, cw_link link)
{
    return RELAY_READ(state->queue[link].handed);
}

/* The entry that the table is to have for a job; 0: none. */
static inline uint64_t relay_wanted_entry(const struct relay_jobs *jobs, uint32_t job)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        if (jobs->job[i].job == job) {
            return relay_job_entry(job, jobs->job[i].place);
        }
    }
    return 0;
}

/* Takes the jobs out of the table that have gone, or that have another place now. */
static inline void relay_take_jobs(struct relay_state *state, const struct relay_jobs *jobs)
{
    for (uint32_t at = 0; at < RELAY_JOBS; at++) {
        uint64_t entry = RELAY_READ(state->job[at]);
        if (entry != 0 && relay_wanted_entry(jobs, (uint32_t)(entry >> 32)) != entry) {
            RELAY_WRITE(state->job[at], 0);
        }
    }
}

/* Puts a job into the first entry that is free of those that a program looks at; false when none is. */
static inline bool relay_put_job(struct relay_state *state, struct relay_job job)
{
    CHECK(job.job != 0 && (job.place < RELAY_PLACES || job.place == RELAY_UP));
    uint64_t entry = relay_job_entry(job.job, job.place), *free = NULL;
    for (uint32_t i = 0; i < RELAY_JOB_TRIES; i++) {
        uint64_t *at = &state->job[(relay_job_at(job.job) + i) % RELAY_JOBS];
        if (RELAY_READ(*at) == entry) {
            return true;
        }
        free = free == NULL && RELAY_READ(*at) == 0 ? at : free;
    }
    if (free != NULL) {
        RELAY_WRITE(*free, entry);
    }
    return free != NULL;
}

static inline void relay_put_jobs(struct relay_state *state, const struct relay_jobs *jobs)
{
    bool all = true;
    for (uint32_t i = 0; i < jobs->count; i++) {
        if (!relay_put_job(state, jobs->job[i])) {
            all = false;
            RELAY_WRITE(state->others_up, RELAY_MUTANT(NO_OTHERS_UP) ? 0 : 1);
        }
    }
    if (all) {
        RELAY_WRITE(state->others_up, 0);
    }
}

static inline void relay_write_link(struct relay_link *to, const struct relay_link *link)
{
    RELAY_WRITE(to->ifindex, link->ifindex);
    RELAY_WRITE(to->session, link->session);
    RELAY_WRITE(to->peer, link->peer);
    RELAY_WRITE(to->top, link->top);
    RELAY_WRITE(to->received, link->received);
    RELAY_WRITE(to->mtu, link->mtu);
    for (unsigned i = 0; i < 3; i++) {
        RELAY_WRITE(to->mac[i], link->mac[i]);
    }
}

/* Writes the view of a generation into the place that no program reads. */
static inline void relay_write_view(struct relay_writer *w, const struct relay_draft *draft, uint32_t gen)
{
    struct relay_view *view = &w->state->view[gen & 1];
    cw_dims dims = draft->dims;
    uint32_t servers = (uint32_t)dims.x * dims.y * dims.z;
    CHECK(relay_torus_fits(dims) && draft->way_epoch != 0);
    RELAY_WRITE(view->in, draft->in);
    RELAY_WRITE(view->out, draft->out);
    RELAY_WRITE(view->dims[0], dims.x);
    RELAY_WRITE(view->dims[1], dims.y);
    RELAY_WRITE(view->dims[2], dims.z);
    RELAY_WRITE(view->servers, servers);
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        relay_write_link(&view->link[i], &draft->link[i]);
    }
    if (w->way_epoch[gen & 1] != draft->way_epoch) {
        for (uint32_t server = 0; server < servers; server++) {
            RELAY_WRITE(view->way[server], draft->way[server]);
        }
        w->way_epoch[gen & 1] = draft->way_epoch;
    }
}

/* Publishes the news, in the order that is told above. */
static inline void relay_publish(struct relay_writer *w, const struct relay_news *news)
{
    struct relay_state *state = w->state;
    uint32_t live = RELAY_READ(state->live);
    if (!RELAY_MUTANT(LIVE_LAST)) {
        live &= news->live;
    }
    RELAY_WRITE(state->live, RELAY_MUTANT(LIVE_FIRST) ? news->live : live);
    if (news->lease < RELAY_READ(state->lease)) {
        RELAY_WRITE(state->lease, news->lease);
    }
    RELAY_WRITE(state->tapped, RELAY_READ(state->tapped) | news->tapped);
    if (news->jobs != NULL && !RELAY_MUTANT(JOBS_LAST)) {
        relay_take_jobs(state, news->jobs);
    }
    if (news->view != NULL) {
        uint32_t gen = RELAY_READ(state->gen) + 1;
        relay_write_view(w, news->view, RELAY_MUTANT(IN_PLACE) ? gen - 1 : gen);
        relay_turn(&state->gen, RELAY_MUTANT(IN_PLACE) ? gen - 1 : gen);
    }
    if (news->jobs != NULL) {
        if (RELAY_MUTANT(JOBS_LAST)) {
            relay_take_jobs(state, news->jobs);
        }
        relay_put_jobs(state, news->jobs);
    }
    for (cw_link i = 0; i < CW_LINK_COUNT; i++) {
        RELAY_WRITE(state->queue[i].sent_until, news->sent_until[i]);
        RELAY_WRITE(state->queue[i].taken, news->taken[i]);
    }
    RELAY_WRITE(state->tapped, news->tapped);
    RELAY_WRITE(state->waits, news->waits);
    RELAY_WRITE(state->lease, news->lease);
    relay_release(&state->live, news->live);
}

#endif
