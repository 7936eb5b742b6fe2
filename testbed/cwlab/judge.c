/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/judge.h"

#include "keyspace/facet.h"
#include "keyspace/owner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct court {
    const struct torus *torus;
    cw_links *claim;  /* by server: links it calls up */
    bool *active;     /* by server: it has called a link up since it started, and does not leave */
    bool *leaving;    /* by server: its keys belong to others already, but packets still pass through it */
    int64_t *alone;   /* by server: when it lost its last true link; INT64_MAX: it has one */
    int64_t changed;  /* when anything in the lab changed last */
    cw_server *group; /* by server: its component, up to date while `fresh` */
    cw_server *stack;
    bool fresh;
    const struct trail *trail;
    struct judge_result *result;
};

/* ---- Truth ------------------------------------------------------------------------------------------------------- */

static cw_links true_links(const struct court *c, cw_server s)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_links left = c->claim[s]; left != 0; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        cw_server far = torus_neighbour(c->torus, s, link);
        if (c->claim[far] & cw_links_of(cw_link_opposite(link))) {
            links |= cw_links_of(link);
        }
    }
    return links;
}

static void search(struct court *c)
{
    for (cw_server s = 0; s < c->torus->servers; s++) {
        c->group[s] = CW_SERVER_NONE;
    }
    for (cw_server first = 0; first < c->torus->servers; first++) {
        uint32_t top = 0;
        if (c->group[first] == CW_SERVER_NONE) {
            c->stack[top++] = first;
            c->group[first] = first;
        }
        while (top > 0) {
            cw_server s = c->stack[--top];
            for (cw_links left = true_links(c, s); left != 0; left &= (cw_links)(left - 1)) {
                cw_server far = torus_neighbour(c->torus, s, (cw_link)__builtin_ctz(left));
                if (c->group[far] == CW_SERVER_NONE) {
                    c->group[far] = first;
                    c->stack[top++] = far;
                }
            }
        }
    }
    c->fresh = true;
}

/* The first server before `last` in the key's sequence for which right() is true; CW_SERVER_NONE: there is none. */
static cw_server before(const struct court *c, uint64_t key, cw_server last,
                        bool (*right)(const struct court *c, cw_server s, cw_server last))
{
    struct facet_walk walk;
    cw_server home = key_home(c->torus, key);
    facet_walk_init(&walk, c->torus, home, owner_index(c->torus, key));
    for (cw_server u = home; u != last; u = facet_walk_server(&walk)) {
        if (right(c, u, last)) {
            return u;
        }
        if (!facet_walk_next(&walk)) {
            break;
        }
    }
    return CW_SERVER_NONE;
}

static bool connected(const struct court *c, cw_server s, cw_server last)
{
    return c->active[s] && c->group[s] == c->group[last];
}

/* ---- Charges ----------------------------------------------------------------------------------------------------- */

static void charge(struct court *c, const struct trail_event *e, cw_server rightful, const char *why)
{
    char at[TORUS_TEXT], who[TORUS_TEXT];
    if (c->result->misdelivered++ == 0) {
        torus_format(torus_coord(c->torus, e->server), at);
        torus_format(torus_coord(c->torus, rightful), who);
        snprintf(c->result->first, JUDGE_TEXT,
                 "at %" PRId64 " ns %s delivered key %016" PRIx64 ", but %s %s (its turn had begun %" PRId64
                 " us before)",
                 e->at, at, e->record.key, who, why, (e->record.written_ns - e->record.turn_ns) / 1000);
    }
}

/*
 * For a delivery at a server without a true link: the server that, since the last link was lost, delivered a key which
 * the first one precedes in the key's sequence; CW_SERVER_NONE: there is none.
 */
static cw_server replaced_by(const struct court *c, const struct trail_event *e)
{
    for (const struct trail_event *p = e; p > c->trail->event && (p - 1)->at > c->alone[e->server]; p--) {
        const struct trail_event *d = p - 1;
        if (d->record.kind != WITNESS_DELIVERED || d->server == e->server || d->record.turn_ns <= c->alone[e->server]) {
            continue;
        }
        struct facet_walk walk;
        cw_server home = key_home(c->torus, d->record.key);
        facet_walk_init(&walk, c->torus, home, owner_index(c->torus, d->record.key));
        for (cw_server u = home; u != d->server; u = facet_walk_server(&walk)) {
            if (u == e->server) {
                return d->server; /* the server that delivered d passed over us: it took us for dead */
            }
            if (!facet_walk_next(&walk)) {
                break;
            }
        }
    }
    return CW_SERVER_NONE;
}

/*
 * True when a neighbour was about to record that a link to the server is up. The neighbour's link-state record leaves
 * in the same turn of its loop, and may arrive before the neighbour's witness has written its own, by as long as the
 * neighbour is kept waiting for a processor.
 */
static bool rising(const struct court *c, const struct trail_event *e)
{
    for (const struct trail_event *p = e + 1; p < c->trail->event + c->trail->count; p++) {
        if (p->record.kind == WITNESS_LINK_UP && p->record.turn_ns <= e->at &&
            torus_neighbour(c->torus, p->server, p->record.link) == e->server &&
            (c->claim[e->server] & cw_links_of(cw_link_opposite(p->record.link)))) {
            return true;
        }
    }
    return false;
}

static void judge_delivery(struct court *c, const struct trail_event *e, bool cut)
{
    uint64_t turn = (uint64_t)(e->record.written_ns - e->record.turn_ns);
    c->result->delivered++;
    c->result->turn_worst_ns = turn > c->result->turn_worst_ns ? turn : c->result->turn_worst_ns;
    if (c->changed >= e->record.turn_ns) {
        return; /* something changed while the packet was delivered: not judged */
    }
    c->result->judged++;
    if (!c->fresh) {
        search(c);
    }
    cw_server first = before(c, e->record.key, e->server, connected);
    if (first != CW_SERVER_NONE) {
        charge(c, e, first, "is active, connected with it, and before it in the key's sequence");
        return;
    }
    if (!cut && c->claim[e->server] != CW_LINKS_NONE && true_links(c, e->server) == CW_LINKS_NONE) {
        cw_server other = replaced_by(c, e);
        if (other != CW_SERVER_NONE && !rising(c, e)) {
            charge(c, e, other, "has replaced it");
        }
    }
}

/* ---- What happened ----------------------------------------------------------------------------------------------- */

static void change(struct court *c, const struct trail_event *e)
{
    cw_server s = e->server;
    const struct witness_record *r = &e->record;
    switch (r->kind) {
    case WITNESS_LINK_UP:
        c->claim[s] |= cw_links_of(r->link);
        c->active[s] = !c->leaving[s];
        break;
    case TRAIL_LEAVES:
        c->leaving[s] = true;
        c->active[s] = false;
        break;
    case WITNESS_LINK_DOWN:
        c->claim[s] &= (cw_links)~cw_links_of(r->link);
        break;
    case WITNESS_OPENED:
    case WITNESS_CLOSED:
    case TRAIL_KILLED:
        c->claim[s] = CW_LINKS_NONE;
        c->active[s] = c->leaving[s] = false;
        break;
    default:
        return;
    }
    c->fresh = false;
    c->changed = e->at > c->changed ? e->at : c->changed;
    for (cw_server u = 0; u < c->torus->servers; u++) {
        bool has = true_links(c, u) != CW_LINKS_NONE;
        c->alone[u] = has ? INT64_MAX : c->alone[u] == INT64_MAX ? e->at : c->alone[u];
    }
}

int judge_trail(const struct trail *t, const struct torus *torus, int64_t from, int64_t to, bool cut,
                struct judge_result *out)
{
    struct court c = {.torus = torus, .trail = t, .result = out, .changed = INT64_MIN};
    *out = (struct judge_result){.delivered = 0};
    c.claim = calloc(torus->servers, sizeof *c.claim);
    c.active = calloc(torus->servers, sizeof *c.active);
    c.leaving = calloc(torus->servers, sizeof *c.leaving);
    c.alone = calloc(torus->servers, sizeof *c.alone);
    c.group = calloc(torus->servers, sizeof *c.group);
    c.stack = calloc(torus->servers, sizeof *c.stack);
    int rc = c.claim && c.active && c.leaving && c.alone && c.group && c.stack ? 0 : -ENOMEM;
    for (size_t i = 0; i < t->count && rc == 0; i++) {
        const struct trail_event *e = &t->event[i];
        if (e->record.kind != WITNESS_DELIVERED) {
            change(&c, e);
        } else if (e->at >= from && e->at < to) {
            judge_delivery(&c, e, cut);
        }
    }
    free(c.claim);
    free(c.active);
    free(c.leaving);
    free(c.alone);
    free(c.group);
    free(c.stack);
    return rc;
}

/* ---- The stream -------------------------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Follows the deliveries of the stream in order. late[]: their latencies; seen[]: 2 for each number that arrived. */
static size_t follow(const struct trail *t, cw_server source, int64_t from, int64_t to, struct judge_stream *out,
                     int64_t *late, uint8_t *seen, uint32_t numbers)
{
    size_t count = 0;
    int64_t last = 0;
    cw_server where = CW_SERVER_NONE;
    for (size_t i = 0; i < t->count; i++) {
        const struct witness_record *r = &t->event[i].record;
        if (r->job != WITNESS_JOB || r->source != source || r->kind != WITNESS_DELIVERED || r->sent_ns < from ||
            r->sent_ns >= to) {
            continue;
        }
        if (count > 0 && r->written_ns - last > out->gap_worst_ns) {
            out->gap_worst_ns = r->written_ns - last;
            out->gap_worst_at_ns = last;
        }
        last = r->written_ns;
        out->receivers += t->event[i].server != where;
        where = t->event[i].server;
        if (r->number < numbers) {
            out->duplicated += seen[r->number] == 2;
            seen[r->number] = 2;
        }
        late[count++] = r->written_ns - r->sent_ns;
    }
    return count;
}

int judge_stream(const struct trail *t, cw_server source, int64_t from, int64_t to, struct judge_stream *out)
{
    uint32_t numbers = 0;
    *out = (struct judge_stream){.sent = 0};
    for (size_t i = 0; i < t->count; i++) {
        const struct trail_event *e = &t->event[i];
        if (e->server == source && e->record.kind == WITNESS_SENT && e->record.number >= numbers) {
            numbers = e->record.number + 1;
        }
    }
    uint8_t *seen = calloc((size_t)numbers + 1, 1);
    int64_t *late = calloc(t->count + 1, sizeof *late);
    if (seen == NULL || late == NULL) {
        free(seen);
        free(late);
        return -ENOMEM;
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct witness_record *r = &t->event[i].record;
        if (t->event[i].server == source && r->sent_ns >= from && r->sent_ns < to) {
            out->sent += r->kind == WITNESS_SENT;
            out->refused += r->kind == WITNESS_REFUSED;
            if (r->kind == WITNESS_SENT) {
                seen[r->number] = 1;
            }
        }
    }
    out->delivered = follow(t, source, from, to, out, late, seen, numbers);
    for (uint32_t n = 0; n < numbers; n++) {
        out->lost += seen[n] == 1;
    }
    qsort(late, out->delivered, sizeof *late, by_value);
    if (out->delivered > 0) {
        out->latency_median_ns = late[out->delivered / 2];
        out->latency_worst_ns = late[out->delivered - 1];
    }
    free(seen);
    free(late);
    return 0;
}
