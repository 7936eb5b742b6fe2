/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/outcome/judge.h"

#include "scenario/oracle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct court {
    struct oracle oracle;
    cw_server *neighbours;
    bool *leaving;  /* by server: its keys belong to others already, but packets still pass through it */
    int64_t *alone; /* by server: when it lost its last true link; INT64_MAX: it has one */
    int64_t *rose;  /* by server: when it called a link up last */
    /* By server, and by component before the last change: the smallest member of it. */
    cw_server *before;
    /* [server * servers + other]: they were in one component when the server lost its last true link. */
    bool *together;
    int64_t changed; /* when anything in the lab changed last */
    const struct trail *trail;
    struct judge_result *result;
};

/* ---- Charges ----------------------------------------------------------------------------------------------------- */

static void charge(struct court *c, const struct trail_event *e, cw_server rightful, const char *why)
{
    char at[TORUS_TEXT], who[TORUS_TEXT];
    if (c->result->misdelivered++ == 0) {
        torus_format(torus_coord(c->oracle.torus, e->server), at);
        torus_format(torus_coord(c->oracle.torus, rightful), who);
        snprintf(c->result->first, JUDGE_TEXT,
                 "at %" PRId64 " ns %s delivered key %016" PRIx64 ", but %s %s (its turn had begun %" PRId64
                 " us before)",
                 e->at, at, e->record.key, who, why, (e->record.written_ns - e->record.turn_ns) / 1000);
    }
}

/*
 * The server believes in links of which none is up in truth, and delivers: has it been replaced? Gives who delivered a
 * key of the server's, which it could only do when it had given the server up. Only what was delivered after the server
 * lost its last true link counts, and after it called a link up last: before a server calls a link up, everybody whom
 * the link joins to it has acknowledged that it comes (semantics 4.2, adding). So what others delivered until then was
 * theirs, also when the far end of that link has not yet come to calling it up.
 *
 * And only what those delivered who were connected with it until then: a torus whose links are lost to a busy machine
 * falls into parts, and who was in another part delivered the key there already, by right, and replaced nobody.
 */
static cw_server replaced_by(const struct court *c, const struct trail_event *e)
{
    int64_t alone = c->alone[e->server], rose = c->rose[e->server], since = alone > rose ? alone : rose;
    for (const struct trail_event *p = e; p > c->trail->event && (p - 1)->at > since; p--) {
        const struct trail_event *d = p - 1;
        if (d->record.kind == WITNESS_DELIVERED && d->server != e->server && d->record.turn_ns > since &&
            c->together[(size_t)e->server * c->oracle.torus->servers + d->server] &&
            oracle_passes_over(&c->oracle, d->record.key, e->server, d->server)) {
            return d->server;
        }
    }
    return CW_SERVER_NONE;
}

static void judge_delivery(struct court *c, const struct trail_event *e, bool cut)
{
    uint64_t turn = (uint64_t)(e->record.written_ns - e->record.turn_ns);
    c->result->delivered++;
    c->result->turn_worst_ns = turn > c->result->turn_worst_ns ? turn : c->result->turn_worst_ns;
    if (c->changed >= e->record.turn_ns) {
        return; /* while it was delivered something changed: not judged */
    }
    c->result->judged++;
    cw_server first = oracle_precedes(&c->oracle, e->record.key, e->server);
    if (first != CW_SERVER_NONE) {
        charge(c, e, first, "is active, connected with it, and before it in the key's sequence");
        return;
    }
    cw_server other = !cut && oracle_given_up(&c->oracle, e->server) ? replaced_by(c, e) : CW_SERVER_NONE;
    if (other != CW_SERVER_NONE) {
        charge(c, e, other, "has replaced it");
    }
}

/* ---- What happened ----------------------------------------------------------------------------------------------- */

/* Trails name no incarnations: what a server calls up is a link to whichever life runs at its far end. */
enum { LIFE = 1 };

static void begin_or_end(struct court *c, cw_server s, bool runs)
{
    c->leaving[s] = false;
    oracle_runs(&c->oracle, s, 0); /* links of the life before do not count any more */
    oracle_runs(&c->oracle, s, runs ? LIFE : 0);
}

/* Server u has just lost its last true link: notes with whom it was connected. */
static void note_alone(struct court *c, cw_server u, int64_t at)
{
    uint32_t n = c->oracle.torus->servers;
    c->alone[u] = at;
    for (cw_server v = 0; v < n; v++) {
        c->together[(size_t)u * n + v] = c->before[v] == c->before[u];
    }
}

/* Notes, after a change, who has a true link left, and who is connected with whom. */
static void note_links(struct court *c, int64_t at)
{
    struct oracle *o = &c->oracle;
    for (cw_server u = 0; u < o->torus->servers; u++) {
        if (oracle_links(o, u) != CW_LINKS_NONE) {
            c->alone[u] = INT64_MAX;
        } else if (c->alone[u] == INT64_MAX) {
            note_alone(c, u, at);
        }
    }
    for (cw_server u = 0; u < o->torus->servers; u++) {
        c->before[u] = oracle_component(o, u);
    }
}

static void change(struct court *c, const struct trail_event *e)
{
    struct oracle *o = &c->oracle;
    cw_server s = e->server;
    const struct witness_record *r = &e->record;
    switch (r->kind) {
    case WITNESS_LINK_UP:
        if (o->incarnation[s] == 0) {
            break; /* it was killed, and what its last turn did is still written down */
        }
        oracle_claims(o, s, r->link, LIFE);
        oracle_active(o, s, !c->leaving[s]);
        c->rose[s] = e->at;
        break;
    case TRAIL_LEAVES:
        c->leaving[s] = true;
        oracle_active(o, s, false);
        break;
    case WITNESS_LINK_DOWN:
        oracle_claims(o, s, r->link, 0);
        break;
    case WITNESS_OPENED:
        begin_or_end(c, s, true);
        break;
    case WITNESS_CLOSED:
    case TRAIL_KILLED:
        begin_or_end(c, s, false);
        break;
    default:
        return;
    }
    c->changed = e->at > c->changed ? e->at : c->changed;
    note_links(c, e->at);
}

static void court_close(struct court *c)
{
    oracle_close(&c->oracle);
    free(c->neighbours);
    free(c->leaving);
    free(c->alone);
    free(c->rose);
    free(c->before);
    free(c->together);
}

static int court_open(struct court *c, const struct trail *t, const struct torus *torus, struct judge_result *out)
{
    size_t n = torus->servers;
    *c = (struct court){.trail = t, .result = out, .changed = INT64_MIN};
    c->neighbours = calloc(n * CW_LINK_COUNT, sizeof *c->neighbours);
    c->leaving = calloc(n, sizeof *c->leaving);
    c->alone = calloc(n, sizeof *c->alone);
    c->rose = calloc(n, sizeof *c->rose);
    c->before = calloc(n, sizeof *c->before);
    c->together = calloc(n, n * sizeof *c->together);
    bool room = c->neighbours != NULL && c->leaving != NULL && c->alone != NULL && c->rose != NULL;
    int rc = room && c->before != NULL && c->together != NULL ? 0 : -ENOMEM;
    if (rc == 0) {
        torus_neighbours_fill(torus, c->neighbours);
        rc = oracle_open(&c->oracle, torus, c->neighbours);
    }
    if (rc < 0) {
        court_close(c);
    }
    return rc;
}

int judge_trail(const struct trail *t, const struct torus *torus, int64_t from, int64_t to, bool cut,
                struct judge_result *out)
{
    struct court c;
    *out = (struct judge_result){.delivered = 0};
    int rc = court_open(&c, t, torus, out);
    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; i < t->count; i++) {
        const struct trail_event *e = &t->event[i];
        if (e->record.kind != WITNESS_DELIVERED) {
            change(&c, e);
        } else if (e->at >= from && e->at < to) {
            judge_delivery(&c, e, cut);
        }
    }
    court_close(&c);
    return 0;
}

/* ---- The stream -------------------------------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Deliveries of the stream, in order; latencies go to late[], and each number once to seen[]. */
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
        if (e->server == source && e->record.kind == WITNESS_SENT && e->record.sent_ns >= from &&
            e->record.sent_ns < to && e->record.number >= numbers) {
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

int64_t judge_next_life(const struct trail *t, cw_server source, int64_t from)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < t->count; i++) {
        const struct witness_record *r = &t->event[i].record;
        if (t->event[i].server == source && r->kind == WITNESS_OPENED && r->written_ns > from && r->written_ns < next) {
            next = r->written_ns;
        }
    }
    return next;
}
