/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_relay.c - what a relay goes by, against what its server knows, and what its neighbours know.
 */
#include "simulator/check_relay.h"

#include "simulator/check_internal.h"

#include "keyspace/owner.h"
#include "wire/frame.h"
#include "wire/position.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 4096, PAIRS = 2 };

/* How far a server has said what it knows, by its own frames on a link. */
struct said {
    uint16_t session, position;
    bool any;
};

struct check_relay {
    uint64_t names;       /* that were given */
    struct version *ring; /* [name % NAMES][origin] */
    uint64_t *name;       /* by server: of what it knows */
    uint64_t *digest;     /* by server: of the database that has this name */
    struct said *said;    /* [server * 6 + link] */
    uint64_t *looked;     /* [(server * 6 + link) * PAIRS]: two kinds of knowledge that were compared last */
    uint8_t *way;         /* [server][RELAY_SERVERS]: routes that were looked at last, */
    uint64_t *way_digest; /* by server: and the database that they were compared with */
    uint16_t *distance;   /* scratch */
    cw_server *queue;     /* scratch */
    struct reach group;   /* scratch */
    uint64_t *words;
};

int check_relay_open(struct check_relay **out, struct world *w)
{
    *out = NULL;
    if (w->config.relay_ppm == 0 || w->servers > CHECK_ALL_SERVERS) {
        return 0;
    }
    size_t n = w->servers, links = n * CW_LINK_COUNT;
    struct check_relay *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return -ENOMEM;
    }
    r->ring = calloc(NAMES * n, sizeof *r->ring);
    r->name = calloc(n, sizeof *r->name);
    r->digest = calloc(n, sizeof *r->digest);
    r->said = calloc(links, sizeof *r->said);
    r->looked = calloc(links * PAIRS, sizeof *r->looked);
    r->way = calloc(n, n);
    r->way_digest = calloc(n, sizeof *r->way_digest);
    r->distance = calloc(n, sizeof *r->distance);
    r->queue = calloc(n, sizeof *r->queue);
    r->words = calloc(1, reach_bytes(w->servers));
    if (r->ring == NULL || r->name == NULL || r->digest == NULL || r->said == NULL || r->looked == NULL ||
        r->way == NULL || r->way_digest == NULL || r->distance == NULL || r->queue == NULL || r->words == NULL) {
        check_relay_close(r);
        return -ENOMEM;
    }
    reach_init(&r->group, w->servers, r->words);
    *out = r;
    return 0;
}

void check_relay_close(struct check_relay *r)
{
    if (r == NULL) {
        return;
    }
    free(r->ring);
    free(r->name);
    free(r->digest);
    free(r->said);
    free(r->looked);
    free(r->way);
    free(r->way_digest);
    free(r->distance);
    free(r->queue);
    free(r->words);
    free(r);
}

/* ---- Knowledge --------------------------------------------------------------------------------------------------- */

/* The name of what s knows now. */
static uint64_t name_of(struct check *c, cw_server s)
{
    struct check_relay *r = c->relay;
    struct world *w = c->world;
    struct linkstate *ls = w->server[s].linkstate;
    uint64_t digest = ls_digest(ls);
    if (r->name[s] != 0 && r->digest[s] == digest && r->names - r->name[s] < NAMES) {
        return r->name[s];
    }
    uint64_t name = ++r->names;
    for (cw_server origin = 0; origin < w->servers; origin++) {
        const struct record *record = ls_record(ls, origin);
        r->ring[name % NAMES * w->servers + origin] =
            record == NULL ? (struct version){0, 0} : (struct version){record->incarnation, record->seq};
    }
    r->name[s] = name;
    r->digest[s] = digest;
    return name;
}

static bool is_known(const struct check_relay *r, uint64_t name)
{
    return name != 0 && name <= r->names && r->names - name < NAMES;
}

void check_relay_sent(struct check *c, cw_server s, cw_link link, struct cw_packet *frame)
{
    struct check_relay *r = c->relay;
    struct frame_head head;
    struct frame_walk walk;
    frame->order = 0;
    if (r == NULL || c->world->server[s].linkstate == NULL ||
        frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk) != WIRE_OK) {
        return;
    }
    frame->order = name_of(c, s);
    r->said[(size_t)s * CW_LINK_COUNT + link] = (struct said){head.session, head.position, true};
}

/* Invariant 41: whoever relays knew all that the sender knew, but for what the sender knows of the relaying server. */
static void check_knowledge(struct check *c, const struct check_pass *pass, const struct cw_packet *frame)
{
    struct check_relay *r = c->relay;
    struct world *w = c->world;
    uint64_t *looked = &r->looked[((size_t)pass->server * CW_LINK_COUNT + pass->in) * PAIRS];
    uint64_t theirs = frame->order, own = pass->known;
    if (!is_known(r, theirs) || !is_known(r, own) || (looked[0] == theirs && looked[1] == own)) {
        return;
    }
    looked[0] = theirs;
    looked[1] = own;
    for (cw_server origin = 0; origin < w->servers; origin++) {
        struct version had = r->ring[theirs % NAMES * w->servers + origin];
        struct version has = r->ring[own % NAMES * w->servers + origin];
        if (origin != pass->server && version_before(has, had)) {
            check_violated(w, 41, 2, (cw_server[]){pass->server, origin},
                           "the first server named relayed, by a view of version %llu.%u of the second, a frame whose "
                           "sender knew %llu.%u",
                           (unsigned long long)has.incarnation, has.seq, (unsigned long long)had.incarnation, had.seq);
            return;
        }
    }
}

/* ---- Published --------------------------------------------------------------------------------------------------- */

/* Do both ends list the link of s in their records, each with the other's incarnation? */
static bool is_edge(const struct world *w, struct linkstate *ls, cw_server s, cw_link link)
{
    cw_link back = cw_link_opposite(link);
    const struct record *one = ls_record(ls, s);
    const struct record *two = ls_record(ls, w->neighbours[(size_t)s * CW_LINK_COUNT + link]);
    return one != NULL && two != NULL && (one->up & cw_links_of(link)) && (two->up & cw_links_of(back)) &&
           one->neighbour[link] == (uint16_t)two->incarnation && two->neighbour[back] == (uint16_t)one->incarnation;
}

/* distance[]: of each server from `from`, over the edges of the database; UINT16_MAX: there is no path. */
static void search(struct check *c, struct linkstate *ls, cw_server from)
{
    struct check_relay *r = c->relay;
    const struct world *w = c->world;
    uint32_t first = 0, end = 0;
    memset(r->distance, 0xff, w->servers * sizeof *r->distance);
    r->distance[from] = 0;
    r->queue[end++] = from;
    while (first < end) {
        cw_server s = r->queue[first++];
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
            if (r->distance[far] == UINT16_MAX && (w->links & cw_links_of(link)) && is_edge(w, ls, s, link)) {
                r->distance[far] = (uint16_t)(r->distance[s] + 1);
                r->queue[end++] = far;
            }
        }
    }
}

/* Invariant 39: the routes are those of the database, which has all that was received. */
static void check_ways(struct check *c, cw_server s, const struct relay_view *view)
{
    struct check_relay *r = c->relay;
    struct world *w = c->world;
    struct linkstate *ls = w->server[s].linkstate;
    uint8_t *way = r->way + (size_t)s * w->servers, right[CHECK_ALL_SERVERS] = {0};
    if (r->way_digest[s] == ls_digest(ls) && memcmp(way, view->way, w->servers) == 0) {
        return;
    }
    r->way_digest[s] = ls_digest(ls);
    memcpy(way, view->way, w->servers);
    search(c, ls, s);
    uint16_t from_here[CHECK_ALL_SERVERS];
    memcpy(from_here, r->distance, w->servers * sizeof *from_here);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
        if (!(w->links & cw_links_of(link)) || !is_edge(w, ls, s, link)) {
            continue;
        }
        search(c, ls, far);
        for (cw_server to = 0; to < w->servers; to++) {
            if (r->distance[to] != UINT16_MAX && r->distance[to] + 1u == from_here[to]) {
                right[to] |= cw_links_of(link);
            }
        }
    }
    for (cw_server to = 0; to < w->servers; to++) {
        const struct record *record = ls_record(ls, to);
        bool there = from_here[to] != UINT16_MAX && !(record != NULL && (record->flags & RECORD_LEAVING));
        uint8_t should = (uint8_t)(right[to] | (there ? RELAY_WAY_HOME : 0));
        if (view->way[to] != should) {
            check_violated(w, 39, 2, (cw_server[]){s, to},
                           "the first server named has published way %#x to the second, and by its records it is %#x",
                           view->way[to], should);
            return;
        }
    }
}

/* Invariant 40: all that a link in `out` is owed was sent at or before `top`. */
static void check_tops(struct check *c, cw_server s, const struct relay_view *view)
{
    struct check_relay *r = c->relay;
    struct world *w = c->world;
    struct linkstate *ls = w->server[s].linkstate;
    for (unsigned out = view->out; out != 0; out &= out - 1) {
        cw_link link = (cw_link)__builtin_ctz(out);
        const struct said *said = &r->said[(size_t)s * CW_LINK_COUNT + link];
        if ((ls_owed_links(ls) & cw_links_of(link)) || !said->any || said->session != view->link[link].session ||
            said->position != view->link[link].top) {
            check_violated(w, 40, 1, &s,
                           "link %u is a way out at position %u, and what was sent there ends at %u; control is %s",
                           link, view->link[link].top, said->position,
                           ls_owed_links(ls) & cw_links_of(link) ? "owed" : "not owed");
            return;
        }
    }
}

uint64_t check_relay_published(struct check *c, cw_server s, const struct relay_view *view)
{
    struct world *w = c->world;
    if (c->relay == NULL || w->config.corrupt_passes) {
        return 0;
    }
    w->totals.checks += 2;
    if (view->in != 0) {
        check_ways(c, s, view);
    }
    check_tops(c, s, view);
    return name_of(c, s);
}

/* ---- Passed ------------------------------------------------------------------------------------------------------ */

/* Invariant 43: a key's packet is relayed towards the first of its sequence in C, and that is another server. */
static void check_key(struct check *c, const struct check_pass *pass, const uint8_t *packet)
{
    struct check_relay *r = c->relay;
    struct world *w = c->world;
    uint64_t route = 0;
    for (unsigned i = 0; i < 8; i++) {
        route = route << 8 | packet[PACKET_AT_DESTINATION + i];
    }
    reach_clear(&r->group);
    for (cw_server s = 0; s < w->servers; s++) {
        if (pass->view->way[s] & RELAY_WAY_HOME) {
            reach_add(&r->group, s);
        }
    }
    cw_server root = owner_root(&w->torus, route, &r->group);
    if (root == pass->server || root == CW_SERVER_NONE || !(pass->view->way[root] & cw_links_of(pass->out))) {
        check_violated(w, 43, 1, &pass->server, "key %016llx was relayed by link %u, which does not lead to its root",
                       (unsigned long long)route, pass->out);
    }
}

void check_relay_passed(struct check *c, const struct check_pass *pass, const struct cw_packet *frame)
{
    struct world *w = c->world;
    const struct sim_server *h = &w->server[pass->server];
    if (c->relay == NULL || w->config.corrupt_passes) {
        return;
    }
    const uint8_t *packet = frame->data + FRAME_HEAD_BYTES;
    w->totals.checks += 4;
    check_knowledge(c, pass, frame);
    if (pass->lease.ns == 0 || !cw_time_before(pump_local(w, h), pass->lease)) {
        check_violated(w, 42, 1, &pass->server, "a frame was relayed behind the server's lease, or without one");
    }
    if (pass->ended) {
        check_violated(w, 42, 1, &pass->server, "a frame was relayed after goodbye had been said in the server's name");
    }
    if (packet_kind_of(packet) == PACKET_KEY) {
        check_key(c, pass, packet);
    }
    if (pass->passed_by & cw_links_of(pass->out)) {
        check_violated(w, 23, 1, &pass->server, "a frame was relayed past those that wait for link %u", pass->out);
    }
    /* Two full frames may wait, and the first of those that come at one instant finds them. */
    int64_t most = 4 * (int64_t)wire_bytes(w->config.node.mtu) * w->ps_per_byte / 1000;
    const struct wire *wire = &w->wire[(size_t)pass->server * CW_LINK_COUNT + pass->out];
    int64_t left = wire->done_ps[(wire->frames - 1) & (w->config.wire.ring - 1u)] / 1000 - w->now.ns;
    if (left > most) {
        check_violated(w, 23, 1, &pass->server, "a frame was relayed to link %u, whose device has work for %lld ns",
                       pass->out, (long long)left);
    }
}

/* ---- Paused ------------------------------------------------------------------------------------------------------ */

/* A clock may be slow by a hundredth; what waits in a socket or on a wire is heard late. */
static cw_span silence_limit(const struct world *w)
{
    const struct ls_timers *t = &w->config.node.timers;
    return (cw_span){t->dead.ns + t->dead.ns / 3 + t->flood_bound.ns + CW_MS(2).ns};
}

/* Invariant 44. */
static void look_at_paused(struct world *w, void *arg)
{
    cw_server s = (cw_server)(uintptr_t)arg;
    struct sim_server *h = &w->server[s];
    if (h->state != WORLD_PAUSED || w->now.ns - h->since_ns < silence_limit(w).ns) {
        return;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_server far = w->neighbours[(size_t)s * CW_LINK_COUNT + link];
        const struct sim_server *other = &w->server[far];
        if (!(w->links & cw_links_of(link)) || other->state != WORLD_RUNS || other->since_ns > h->since_ns) {
            continue;
        }
        if (ls_link_peer(other->linkstate, cw_link_opposite(link)) != 0) {
            check_violated(w, 44, 2, (cw_server[]){s, far},
                           "the first server named has stood still since %lld ns, and the second calls its link up",
                           (long long)h->since_ns);
        }
    }
    w->totals.checks++;
}

void check_relay_paused(struct check *c, cw_server s)
{
    struct world *w = c->world;
    if (c->relay == NULL || w->busy) {
        return;
    }
    world_at(w, cw_time_add(w->now, silence_limit(w)), look_at_paused, (void *)(uintptr_t)s);
}
