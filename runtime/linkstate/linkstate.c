/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linkstate.c - opening and closing, carrier and leaving, questions.
 */
#include "linkstate/internal.h"

#include "base/check.h"
#include "linkstate/mutant.h"
#include "wire/goodbye.h"
#include "wire/mutant.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/*
 * The log's bound: six exchanges of the whole database at once and as much again in news, rounded up. Reached only by a
 * link that takes nothing, which is then cut off.
 */
static uint32_t flood_limit(uint32_t servers)
{
    uint32_t limit = 4096;
    while (limit < 8 * servers) {
        limit *= 2;
    }
    return limit;
}

/* Everything whose size follows from the torus: run once to measure, once to carve. */
static struct linkstate *lay_out(struct arena *arena, const struct ls_config *config)
{
    struct linkstate scratch, *ls = arena_carve(arena, 1, sizeof *ls, 64);
    struct linkstate *to = ls == NULL ? &scratch : ls;
    uint32_t servers = config->torus.servers;
    lsdb_init(&to->db, &config->torus, config->neighbours, arena);
    views_init(&to->views, config->self, servers, config->timers.hold, arena);
    flood_init(&to->flood, servers, flood_limit(servers), arena);
    admission_init(&to->admission, config->self, servers, arena);
    return ls;
}

static void start(struct linkstate *ls, const struct ls_config *config)
{
    const struct ls_timers *t = &config->timers;
    ls->config = *config;
    ls->spans = ls_spans_of(&config->timers);
    ls->timing = (struct adjacency_timing){
        .dead = t->dead,
        .limit = t->pending_limit,
        .damp = t->damp,
        .damp_max = t->damp_max,
    };
    ls->self = torus_coord(&config->torus, config->self);
    ls->prng = prng_stream(config->seed, config->self, config->incarnation);
    ls->incarnation = config->incarnation;
    ls->nonce = (uint16_t)prng_next(&ls->prng);
    ls->now = ls->judge_from = ls->version_at = (cw_time){INT64_MIN};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link *l = &ls->links[link];
        l->exists = (torus_links(&config->torus) & cw_links_of(link)) != 0;
        l->peer = torus_coord(&config->torus, linkstate_peer(ls, link));
        adjacency_init(&l->adj, (uint32_t)prng_next(&ls->prng) | 1);
        feed_stop(&l->feed);
        l->hello_last = (cw_time){INT64_MIN};
    }
    linkstate_publish(ls);
    ls->refresh_at = CW_NEVER; /* nobody has heard the first version yet */
    linkstate_note(ls);
}

int ls_open(struct linkstate **out, const struct ls_config *config)
{
    int rc = ls_timers_check(&config->timers);
    if (rc != 0 || config->incarnation == 0 || config->self >= config->torus.servers) {
        return -EINVAL;
    }
    struct arena arena = arena_measure();
    (void)lay_out(&arena, config);
    rc = arena_open(&arena, arena_used(&arena));
    if (rc != 0) {
        return rc;
    }
    struct linkstate *ls = lay_out(&arena, config);
    CHECK(arena_is_full(&arena));
    ls->arena = arena;
    start(ls, config);
    *out = ls;
    return 0;
}

void ls_close(struct linkstate *ls)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        free(ls->links[link].batch.records);
    }
    flood_close(&ls->flood);
    struct arena arena = ls->arena;
    arena_close(&arena);
}

size_t ls_bytes(const struct linkstate *ls)
{
    size_t bytes = arena_used(&ls->arena) + flood_bytes(&ls->flood);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        bytes += ls->links[link].batch.room * sizeof(struct record);
    }
    return bytes;
}

void ls_carrier(struct linkstate *ls, cw_link link, bool up, cw_time now)
{
    linkstate_enter(ls, now);
    if (!ls->links[link].exists) {
        return;
    }
    if (up && ls->links[link].adj.state == ADJ_NO_CARRIER) {
        ls->links[link].hello_at = now;
        ls->moved |= cw_links_of(link);
    }
    linkstate_step(ls, link, up ? ADJ_CARRIER_UP : ADJ_CARRIER_DOWN);
    linkstate_settle(ls, false);
}

void ls_leave(struct linkstate *ls, cw_time now)
{
    linkstate_enter(ls, now);
    if (!ls->leaving) {
        ls->leaving = true;
        ls->said = false;
        /* One flood time to tell everyone, another to forward what was under way to us or through us. */
        ls->left_at = cw_time_add(cw_time_add(now, ls->config.timers.flood_bound), ls->config.timers.flood_bound);
        ls->epoch++;
    }
    linkstate_settle(ls, true);
}

bool ls_left(const struct linkstate *ls, cw_time now)
{
    if (!ls->parted || cw_time_before(now, ls->left_at)) {
        return false;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (ls->links[link].goodbye != 0 && ls->links[link].adj.state != ADJ_NO_CARRIER) {
            return false;
        }
    }
    return true;
}

uint64_t ls_epoch(const struct linkstate *ls)
{
    return ls->epoch + ls->views.epoch + ls->views.renewals;
}

const struct reach *ls_touched(const struct linkstate *ls)
{
    return &ls->views.touched;
}

void ls_forget_touched(struct linkstate *ls)
{
    views_forget_touched(&ls->views);
}

uint64_t ls_routes_epoch(const struct linkstate *ls)
{
    return ls->views.routes_epoch;
}

const struct reach *ls_committed(const struct linkstate *ls)
{
    return views_committed(&ls->views);
}

const struct reach *ls_optimistic(const struct linkstate *ls)
{
    return views_optimistic(&ls->views);
}

/* A cluster of one needs no neighbour to prove anything, until it has had one. */
static bool is_lone(const struct linkstate *ls)
{
    return ls->config.alone && !ls->linked;
}

bool ls_serving(const struct linkstate *ls, cw_time now)
{
    if (ls->leaving) {
        return false;
    }
    return is_lone(ls) || (ls->linked && (cw_time_before(now, ls->lease) || MUTANT(NO_FENCE)));
}

bool ls_active(const struct linkstate *ls)
{
    return ls->linked || is_lone(ls);
}

cw_links ls_next_hops(struct linkstate *ls, cw_server to)
{
    /*
     * While nothing is broken arithmetic is nearer than a table of all servers: a node in transit reads it at random.
     */
    if (ls->whole) {
        return torus_minimal_links(&ls->config.torus, ls->config.self, to);
    }
    return views_next_hops(&ls->views, to);
}

void ls_expect(const struct linkstate *ls, cw_server to)
{
    views_expect(&ls->views, to);
}

unsigned ls_hops(struct linkstate *ls, cw_server to)
{
    unsigned hops = views_hops(&ls->views, ls->db.neighbours, to);
    return hops == ROUTES_UNREACHABLE ? UINT_MAX : hops;
}

size_t ls_within(const struct linkstate *ls, unsigned hops)
{
    return views_within(&ls->views, ls->db.neighbours, hops);
}

uint64_t ls_digest(const struct linkstate *ls)
{
    return lsdb_digest(&ls->db);
}

uint32_t ls_link_session(const struct linkstate *ls, cw_link link)
{
    CHECK(link < CW_LINK_COUNT);
    return ls->links[link].adj.session;
}

void ls_transit(const struct linkstate *ls, struct ls_transit *out)
{
    bool may_act = ls->linked && !ls->parted;
    *out = (struct ls_transit){
        .live = may_act ? ls->live : CW_LINKS_NONE,
        .out = ls->up & (cw_links)~ls->owed,
        .lease = ls->lease,
    };
    if (RELAY_MUTANT(OWED_OUT) || RELAY_MUTANT(TOP_QUEUED)) {
        out->out = ls->live;
    }
    out->out &= out->live;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct ls_gate_link *gate = &ls->gate[link];
        uint32_t queued = RELAY_MUTANT(TOP_QUEUED) ? ls->links[link].feed.unsent : 0;
        out->link[link] = (struct ls_transit_link){
            .session = gate->session,
            .peer = gate->peer_session,
            .top = (uint16_t)(gate->top + queued),
            .received = gate->received,
        };
    }
}

struct ls_stranger ls_link_stranger(const struct linkstate *ls, cw_link link)
{
    CHECK(link < CW_LINK_COUNT);
    return ls->links[link].stranger;
}

struct ls_foreign ls_link_foreign(const struct linkstate *ls, cw_link link)
{
    CHECK(link < CW_LINK_COUNT);
    return ls->links[link].foreign;
}

struct ls_lossy ls_lossy_links(const struct linkstate *ls)
{
    struct ls_lossy lossy = {CW_LINKS_NONE, CW_LINKS_NONE};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        lossy.in |= ls->links[link].loss.in.bad ? cw_links_of(link) : CW_LINKS_NONE;
        lossy.out |= ls->links[link].loss.out.bad ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return lossy;
}

uint64_t ls_incarnation(const struct linkstate *ls)
{
    return ls->incarnation;
}

uint64_t ls_link_peer(const struct linkstate *ls, cw_link link)
{
    const struct adjacency *adj = &ls->links[link].adj;
    return adj->state == ADJ_UP ? adj->peer_incarnation : 0;
}

static struct ls_loss loss_of(const struct loss_rate *rate)
{
    return (struct ls_loss){.hellos = rate->sent,
                            .lost = rate->lost,
                            .ppm = loss_ppm(rate),
                            .before_ppm = loss_before_ppm(rate),
                            .bad = rate->bad};
}

void ls_link_info(const struct linkstate *ls, cw_link link, struct ls_link_info *out)
{
    const struct ls_link *l = &ls->links[link];
    *out = (struct ls_link_info){
        .exists = l->exists,
        .state = adjacency_state_name(l->adj.state),
        .since = l->adj.since,
        .up = l->adj.state == ADJ_UP,
        .committed = l->exists && linkstate_is_committed(ls, link),
        .miswired = l->adj.state == ADJ_MISWIRED,
        .expected = l->peer,
        .incarnation = l->adj.state >= ADJ_INIT ? l->adj.peer_incarnation : 0,
        .flaps = adjacency_flaps(&l->adj, ls->now),
        .flapped = l->adj.flapped,
        .flapped_life = l->adj.flapped_life,
        .rest = l->adj.rest,
        .heard = l->seen,
        .loss_in = loss_of(&l->loss.in),
        .loss_out = loss_of(&l->loss.out),
        .about = l->about,
    };
    if (l->adj.state >= ADJ_INIT) { /* data frames prove life as hellos do */
        out->heard.at = cw_time_max(out->heard.at, cw_time_max(l->adj.heard, ls->heard[link]));
    }
}

const struct record *ls_record(const struct linkstate *ls, cw_server origin)
{
    return lsdb_record(&ls->db, origin);
}

uint64_t ls_count(const struct linkstate *ls, enum ls_counter counter)
{
    return ls->counts[counter];
}

const char *ls_counter_name(enum ls_counter counter)
{
    static const char *const names[LS_COUNTERS] = {
        [LS_VERSIONS] = "versions",     [LS_ADMISSIONS] = "admissions", [LS_SHORTCUTS] = "shortcuts",
        [LS_DOUBTS] = "doubts",         [LS_TEARDOWNS] = "teardowns",   [LS_SILENCES] = "silences",
        [LS_OVERDUE] = "overdue",       [LS_REPEATS] = "repeats",       [LS_STRAYS] = "strays",
        [LS_ACKS_LOST] = "acks-lost",   [LS_FENCES] = "fences",         [LS_OUTBIDS] = "outbids",
        [LS_DUPLICATES] = "duplicates", [LS_MISWIRED] = "miswired",     [LS_CONFLICTS] = "conflicts",
        [LS_REFUSED] = "refused",       [LS_REPAIRS] = "repairs",       [LS_OVERFLOWS] = "overflows",
    };
    return (unsigned)counter < LS_COUNTERS ? names[counter] : "?";
}
