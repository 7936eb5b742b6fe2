/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.c - JOINs that go to the root together, and ENDs of small vectors that come from it so: over one tree of
 * shortest ways, whose vertices are the members alone. Without it each of the root's links would carry a sixth of all
 * JOINs as packets of their own.
 *
 * Nothing is combined on the way: a member's record is its server, its ticket, and its small vector, and the root takes
 * each as if it had come alone. So for the result it does not matter who passed a record on, whether twice, or whether
 * two servers mean the same tree: the tree follows from the dims and the members, and who is out of view is passed
 * over. A member waits for the records of all below it, but no longer than HOLD_MOST: then it passes on what it has,
 * and what comes later at once. Records that get lost with a server are asked for by the members themselves.
 */
#include "services/aggregate/dense/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOLD_MOST CW_MS(1)

/* What goes to the root of one run. The name is that of the run; the rest is as in the first record's call. */
struct gathering {
    struct list_node link;
    uint64_t hash;
    struct message m; /* a GATHER to m.run.root; its name and its records are those below */
    char name[MESSAGE_NAME_MOST];
    cw_time at, due;      /* of the last record; when what is here is passed on, whatever is missing */
    uint64_t *seen;       /* set: whose records have been here */
    uint64_t *awaited;    /* set: whose will be; empty before this server's own call */
    uint64_t *members;    /* set; empty before this server's own call */
    bool called, passing; /* this server has called; it does not wait any more */
    uint8_t records[MESSAGE_BYTES_MOST];
};

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

/*
 * The server above s on its way to the root: a neighbour on a shortest path. Which of them goes round with where s is,
 * so that the root's links bring about as many records each. The weights are the best of those that were tried with
 * sides of 3 to 8: at 512 servers the records that follow each other take 2.2 us less each way than with equal ones.
 * s is not the root.
 */
static cw_server above(const struct torus *torus, cw_server root, cw_server s)
{
    cw_links left = torus_minimal_links(torus, s, root);
    cw_coord at = torus_coord(torus, torus_offset(torus, root, s));
    unsigned draw = (7U * at.x + 5U * at.y + 11U * at.z) % (unsigned)__builtin_popcount(left);
    while (draw-- > 0) {
        left &= (cw_links)(left - 1);
    }
    return torus_neighbour(torus, s, (cw_link)__builtin_ctz(left));
}

/* The next member that is in view on the way to the root, or the root. */
static cw_server parent_of(const struct dense *d, const uint64_t *members, cw_server root)
{
    cw_server at = above(&d->torus, root, d->self);
    while (at != root && !(trees_set_has(members, at) && dense_sees(d, at))) {
        at = above(&d->torus, root, at);
    }
    return at;
}

/*
 * Towards `to`: the member below this server on the way from `to` up to the root. `to` itself when that is no member or
 * out of view, or when the way does not lead through here.
 */
static cw_server child_towards(const struct dense *d, const uint64_t *members, cw_server root, cw_server to)
{
    cw_server child = to, at = to;
    while (at != root && at != d->self) {
        child = trees_set_has(members, at) ? at : child;
        at = above(&d->torus, root, at);
    }
    return at == d->self && dense_sees(d, child) ? child : to;
}

/* ---- Upwards ----------------------------------------------------------------------------------------------------- */

static struct gathering *find(const struct dense *d, uint64_t hash, cw_server root)
{
    for (struct list_node *n = list_first(&d->gatherings); n != NULL; n = list_next(&d->gatherings, n)) {
        struct gathering *g = container_of(n, struct gathering, link);
        if (g->hash == hash && g->m.run.root == root) {
            return g;
        }
    }
    return NULL;
}

static struct gathering *make(struct dense *d, uint64_t hash, const struct message *m)
{
    size_t words = dense_words(d);
    struct gathering *g = d->gathering_count < DENSE_GATHERINGS ? calloc(1, sizeof *g + 3 * words * 8) : NULL;
    if (g == NULL) {
        return NULL;
    }
    g->hash = hash;
    g->seen = (uint64_t *)(g + 1);
    g->awaited = g->seen + words;
    g->members = g->awaited + words;
    g->m = (struct message){.kind = MESSAGE_GATHER, .run = {.root = m->run.root}, .spec = m->spec, .job = m->job};
    g->m.digest = m->digest;
    memcpy(g->name, m->name, m->name_length);
    g->m.name = g->name;
    g->m.name_length = m->name_length;
    g->m.records = g->records;
    g->due = CW_NEVER;
    list_push_back(&d->gatherings, &g->link);
    d->gathering_count++;
    return g;
}

static void drop(struct dense *d, struct gathering *g)
{
    list_remove(&g->link);
    d->gathering_count--;
    free(g);
}

static void pass(struct dense *d, struct gathering *g)
{
    if (g->m.record_count > 0) {
        cw_server root = g->m.run.root;
        (void)dense_say(d, g->called ? parent_of(d, g->members, root) : root, &g->m); /* lost: the members ask */
        g->m.record_count = 0;
    }
    g->due = CW_NEVER;
}

static void hold_over(cw_svc *s, void *state, void *arg)
{
    struct dense *d = arg;
    cw_time next = CW_NEVER;
    (void)s;
    (void)state;
    d->hold = NULL;
    for (struct list_node *n = list_first(&d->gatherings); n != NULL; n = list_next(&d->gatherings, n)) {
        struct gathering *g = container_of(n, struct gathering, link);
        if (cw_time_due(g->due, cw_now(d->s))) {
            g->passing = true;
            pass(d, g);
        }
        next = cw_time_min(next, g->due);
    }
    if (next.ns != INT64_MAX) {
        d->hold = cw_timer_start(d->s, cw_time_since(next, cw_now(d->s)), hold_over, d);
    }
}

/* Has all come that is awaited? */
static bool complete(const struct dense *d, const struct gathering *g)
{
    bool all = g->called;
    for (size_t w = 0; w < dense_words(d); w++) {
        all = all && (g->awaited[w] & ~g->seen[w]) == 0;
    }
    return all;
}

static void pass_or_hold(struct dense *d, struct gathering *g)
{
    if (g->passing || complete(d, g)) {
        pass(d, g);
        return;
    }
    if (g->due.ns == INT64_MAX) {
        g->due = cw_time_add(cw_now(d->s), HOLD_MOST);
        d->hold = d->hold != NULL ? d->hold : cw_timer_start(d->s, HOLD_MOST, hold_over, d);
        g->passing = d->hold == NULL;
    }
}

static bool alike(const struct message *a, const struct message *b)
{
    return spec_equal(&a->spec, &b->spec) && a->digest == b->digest && a->job == b->job;
}

/* The records of m, a GATHER. */
static void put(struct dense *d, const struct message *m)
{
    uint64_t hash = member_hash(m->job, m->name, m->name_length);
    struct gathering *g = find(d, hash, m->run.root);
    g = g != NULL ? g : make(d, hash, m);
    if (g == NULL || !alike(&g->m, m)) {
        (void)dense_say(d, m->run.root, m); /* the root says who disagrees */
        return;
    }
    size_t size = message_record_size(m);
    for (unsigned i = 0; i < m->record_count; i++) {
        if (message_size(&g->m) + size > MESSAGE_BYTES_MOST) {
            pass(d, g);
        }
        struct message_record record = message_record(m, i);
        message_record_put(&g->m, &record, g->records + g->m.record_count++ * size);
        trees_set_add(g->seen, record.server);
    }
    g->at = cw_now(d->s);
    pass_or_hold(d, g);
    dense_wake(d);
}

/* This server is a member and has called: now it is known whose records come this way. */
static void await(struct dense *d, const struct member *own)
{
    struct gathering *g = find(d, own->hash, own->root);
    if (g == NULL || g->called) {
        return;
    }
    g->called = true;
    memcpy(g->members, own->members, dense_words(d) * sizeof *g->members);
    for (cw_server s = 0; s < d->torus.servers; s++) {
        cw_server at = s;
        while (trees_set_has(own->members, s) && at != own->root && at != d->self) {
            at = above(&d->torus, own->root, at);
        }
        if (at == d->self) {
            trees_set_add(g->awaited, s);
        }
    }
    pass_or_hold(d, g);
}

void together_join(struct member *own)
{
    struct dense *d = own->d;
    _Alignas(16) uint8_t part[MESSAGE_SMALL_MOST], bytes[MESSAGE_RECORD_BYTES + MESSAGE_SMALL_MOST];
    struct message m = {.kind = MESSAGE_GATHER, .run = {.root = own->root}, .spec = own->spec, .job = own->job};
    m.digest = own->digest;
    m.name = own->name;
    m.name_length = own->name_length;
    m.records = bytes;
    m.record_count = 1;
    if (spec_join(&own->spec) > 0) {
        member_copy(own, 0, (size_t)own->spec.elements, part);
    }
    const struct message_record record = {d->self, own->ticket, part};
    message_record_put(&m, &record, bytes);
    own->asked = cw_now(d->s);
    put(d, &m);
    await(d, own);
}

/* A member's JOIN has failed at the root: what its answer would have been, had it come alone. */
static void refuse(struct dense *d, const struct message_record *record, int status)
{
    struct message end = {.kind = MESSAGE_END, .run = {d->self, d->life, 0}, .ticket = record->ticket, .who = d->self};
    end.status = status == -EEXIST || status == -EINVAL ? (uint16_t)-status : ECONNRESET;
    end.servers = d->torus.servers;
    (void)dense_say(d, record->server, &end);
}

static void take_all(struct dense *d, const struct message *m)
{
    struct message join = {.kind = MESSAGE_JOIN, .spec = m->spec, .job = m->job, .digest = m->digest};
    join.name = m->name;
    join.name_length = m->name_length;
    join.bytes = spec_join(&m->spec);
    for (unsigned i = 0; i < m->record_count; i++) {
        struct message_record record = message_record(m, i);
        join.ticket = record.ticket;
        join.elements = record.elements;
        int status = joins_take(d, &join, record.server);
        if (status < 0 && status != -ENOBUFS) {
            refuse(d, &record, status);
        }
    }
}

static bool servers_fit(const struct dense *d, const struct message *m)
{
    for (unsigned i = 0; i < m->record_count; i++) {
        if (message_record(m, i).server >= d->torus.servers) {
            return false;
        }
    }
    return true;
}

int together_take(struct dense *d, const struct message *m)
{
    if (m->run.root >= d->torus.servers || !servers_fit(d, m)) {
        return -EPROTO;
    }
    if (m->run.root == d->self) {
        take_all(d, m);
    } else {
        put(d, m);
    }
    return 0;
}

void together_forget(struct dense *d, const struct member *own)
{
    struct gathering *g = find(d, own->hash, own->root);
    if (g != NULL) {
        pass(d, g);
        drop(d, g);
    }
}

void together_sweep(struct dense *d, bool all)
{
    for (struct list_node *n = list_first(&d->gatherings), *next; n != NULL; n = next) {
        struct gathering *g = container_of(n, struct gathering, link);
        next = list_next(&d->gatherings, n);
        if (all || (!g->called && cw_time_due(cw_time_add(g->at, DENSE_PENDING_SPAN), cw_now(d->s)))) {
            drop(d, g);
        }
    }
}

/* ---- Downwards --------------------------------------------------------------------------------------------------- */

/* Those of the records that go to the same neighbour in the tree as the first that is left, in as many as fit. */
static void spread_some(struct dense *d, const struct message *m, cw_server *hop)
{
    uint8_t records[MESSAGE_BYTES_MOST];
    struct message some = *m;
    unsigned i = 0;
    while (hop[i] == CW_SERVER_NONE) {
        i++;
    }
    cw_server to = hop[i];
    some.records = records;
    some.record_count = 0;
    for (; i < m->record_count && message_size(&some) + MESSAGE_RECORD_BYTES <= MESSAGE_BYTES_MOST; i++) {
        if (hop[i] == to) {
            const struct message_record record = message_record(m, i);
            message_record_put(&some, &record, records + some.record_count++ * MESSAGE_RECORD_BYTES);
            hop[i] = CW_SERVER_NONE;
        }
    }
    (void)dense_say(d, to, &some); /* whoever does not hear of it asks, and is told then */
}

void together_spread(struct dense *d, const struct message *m, const uint64_t *members)
{
    cw_server *hop = calloc(m->record_count, sizeof *hop);
    unsigned left = 0;
    for (unsigned i = 0; i < m->record_count && hop != NULL; i++) {
        cw_server to = message_record(m, i).server;
        hop[i] = to;
        if (members != NULL) {
            hop[i] = child_towards(d, members, m->run.root, to);
        }
        hop[i] = to == d->self || !dense_sees(d, hop[i]) ? CW_SERVER_NONE : hop[i];
        left += hop[i] != CW_SERVER_NONE;
    }
    while (left > 0) {
        spread_some(d, m, hop);
        left = 0;
        for (unsigned i = 0; i < m->record_count; i++) {
            left += hop[i] != CW_SERVER_NONE;
        }
    }
    free(hop);
}

int together_told(struct dense *d, const struct message *m, uint32_t *ticket)
{
    *ticket = 0;
    if (m->run.root >= d->torus.servers || m->servers != d->torus.servers || !servers_fit(d, m)) {
        return -EPROTO;
    }
    for (unsigned i = 0; i < m->record_count; i++) {
        const struct message_record record = message_record(m, i);
        *ticket = record.server == d->self ? record.ticket : *ticket;
    }
    const struct member *own = *ticket != 0 ? member_of_ticket(d, *ticket) : NULL;
    together_spread(d, m, own != NULL && own->root == m->run.root ? own->members : NULL);
    return 0;
}
