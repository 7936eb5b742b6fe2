/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A flow begins with this, so that the list of a junction holds flows. */
static struct flow *flow_at(struct list_node *n)
{
    return (struct flow *)(void *)n;
}

struct junction *junction_find(struct stream *st, const struct run_name *run)
{
    for (struct list_node *n = list_first(&st->junctions); n != NULL; n = list_next(&st->junctions, n)) {
        struct junction *j = container_of(n, struct junction, link);
        if (run_name_equal(&j->run, run)) {
            return j;
        }
    }
    return NULL;
}

static struct flow *find_flow(const struct junction *j, uint32_t partition)
{
    for (struct list_node *n = list_first(&j->flows); n != NULL; n = list_next(&j->flows, n)) {
        if (flow_partition(flow_at(n)) == partition) {
            return flow_at(n);
        }
    }
    return NULL;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

void junction_free(struct junction *j)
{
    struct stream *st = j->st;
    j->ending = true;
    while (!list_is_empty(&j->flows)) {
        flow_free(flow_at(list_first(&j->flows)));
    }
    list_remove(&j->link);
    st->junction_count--;
    account_give(j->account, j->cost);
    account_close(j->account);
    free(j->opened);
    free(j->senders);
    free(j->own);
    free(j);
}

unsigned junction_inputs(const struct junction *j, cw_link tree)
{
    unsigned n = (unsigned)__builtin_popcount(j->plan.tree[tree].children) + j->owns;
    return n + (j->senders != NULL ? stream_count_of(j->st, j->senders) : 0);
}

/* Is the announcement possible, and has this server the input that it is to contribute? */
static int check(struct stream *st, const struct letter *l)
{
    struct combine combine;
    int rc = functions_combine(st, l->wish.combine, &combine);
    if (rc < 0) {
        return rc == -ELIBACC || rc == -ELIBBAD ? rc : -EPROTO;
    }
    bool member = trees_set_has(l->members, st->self);
    if (l->servers != st->torus.servers || l->open > (l->way == LETTER_PAST ? STREAM_OPEN_DIRECT : STREAM_OPEN) ||
        l->run.root >= l->servers || l->attempt == 0 || trees_set_has(l->others, l->run.root) ||
        trees_set_has(l->others, st->self)) {
        return -EPROTO;
    }
    bool ready = task_next(st, &l->lead, NULL) != NULL;
    for (const struct task *t = NULL; member && (t = task_next(st, &l->lead, t)) != NULL;) {
        ready = ready && task_is_ready(t);
    }
    return member && !ready ? -ESTALE : 0;
}

/* The tasks of this server do not change any more in an attempt (aggregate rule 31). */
static int take_own(struct junction *j, const struct letter *l)
{
    unsigned n = 0;
    for (const struct task *t = NULL; (t = task_next(j->st, &l->lead, t)) != NULL;) {
        n++;
    }
    if (!trees_set_has(l->members, j->st->self) || n == 0) {
        return 0;
    }
    j->own = calloc(n, sizeof(struct task *));
    if (j->own == NULL) {
        return -ENOMEM;
    }
    for (struct task *t = NULL; (t = task_next(j->st, &l->lead, t)) != NULL;) {
        j->own[j->owns++] = t;
    }
    j->owns = STREAM_MUTANT(HEIR_FORGETS) ? 1 : j->owns;
    return 0;
}

/*
 * Blocks are short where there is little: filling the trees costs their depth in blocks. Without trees a partition of a
 * contributor is a block, if that is not too long: the root has room for all of them.
 */
uint32_t junction_each(const struct collector *c, unsigned depth)
{
    enum { LEAST = 4096, PART = 300, ROOM = 8 << 20 };
    uint32_t most = STREAM_PACKED;
    uint64_t members = stream_count_of(c->st, c->members);
    uint64_t mine = c->bytes / c->wish.partitions * c->count;
    uint64_t bytes = mine / members / ((uint64_t)PART * (depth + 1));
    if ((c->wish.flags & LETTER_DIRECT) != 0) {
        bytes = mine / c->count / members;
        bytes = bytes < ROOM / members ? bytes : ROOM / members;
        most = STREAM_BLOCK;
    }
    return bytes < LEAST ? LEAST : bytes > most ? most : (uint32_t)bytes;
}

/* The memory for all flows that may be open is taken at once: so nobody waits for it in the middle. */
static int reserve(struct junction *j)
{
    uint64_t cost = 0;
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        const struct plan_tree *t = &j->plan.tree[tree];
        cost += t->in ? j->open_most * flow_cost(junction_inputs(j, tree), j->each) : 0;
    }
    int rc = account_take(j->account, cost);
    j->cost = rc == 0 ? cost : 0;
    return rc;
}

/* Without trees: everybody who contributes sends straight to the root, which is where they meet. */
static int plan_direct(struct junction *j, const struct letter *l)
{
    size_t bytes = stream_words(j->st) * sizeof *j->senders;
    bool root = l->run.root == j->st->self;
    j->plan = (struct plan){.trees = cw_links_of(0), .depth = 1};
    j->plan.tree[0].in = root || trees_set_has(l->members, j->st->self);
    j->plan.tree[0].parent = root ? CW_SERVER_NONE : l->run.root;
    if (root) {
        j->senders = malloc(bytes);
    }
    if (j->senders != NULL) {
        memcpy(j->senders, l->members, bytes);
        trees_set_remove(j->senders, l->run.root);
    }
    return root && j->senders == NULL ? -ENOBUFS : 0;
}

static int plan(struct junction *j, const struct letter *l)
{
    cw_server lost;
    const struct plan_question question = {&j->st->torus, j->st->trees, l->run.root,
                                           l->members,    l->others,    l->way == LETTER_SHORT};
    return l->way == LETTER_PAST ? plan_direct(j, l) : plan_make(&j->plan, &question, j->st->self, NULL, &lost);
}

int junction_begin(struct stream *st, const struct letter *l, struct collector *collector)
{
    struct junction *before = junction_find(st, &l->run);
    int rc = check(st, l);
    rc = rc < 0 ? rc : before != NULL && before->attempt >= l->attempt ? -ESTALE : 0;
    if (rc < 0) {
        return rc;
    }
    if (before != NULL) {
        junction_free(before); /* nothing of an earlier attempt counts any more (aggregate rule 21) */
    }
    if (st->junction_count >= STREAM_JUNCTIONS || (st->trees == NULL && trees_open(&st->trees, &st->torus) < 0)) {
        return -ENOBUFS;
    }
    struct junction *j = calloc(1, sizeof *j);
    uint64_t *opened = calloc(l->partitions / 64 + 1, sizeof *opened);
    struct account *account = account_open(st, l->wish.job);
    if (j == NULL || opened == NULL || account == NULL) {
        free(j);
        free(opened);
        account_close(account);
        return -ENOBUFS;
    }
    *j = (struct junction){.st = st, .run = l->run, .lead = l->lead, .attempt = l->attempt};
    j->account = account;
    j->partitions = l->partitions;
    j->opened = opened;
    j->each = l->each;
    j->open_most = l->open;
    j->direct = l->way == LETTER_PAST;
    j->collector = collector;
    j->asked = cw_now(st->s);
    snprintf(j->combine, sizeof j->combine, "%s", l->wish.combine);
    list_init(&j->flows);
    list_push_back(&st->junctions, &j->link);
    st->junction_count++;
    rc = take_own(j, l);
    rc = rc < 0 ? rc : plan(j, l);
    rc = rc < 0 ? rc : reserve(j);
    if (rc == -ENOSR && collector == NULL) {
        junction_break(j, rc, st->self); /* an answer to the announcement could not say which limit that is */
        rc = 0;
    }
    if (rc < 0) {
        junction_free(j);
        return rc == -ENOMEM ? -ENOBUFS : rc;
    }
    stream_wake(st);
    return 0;
}

void junction_break(struct junction *j, int cause, cw_server who)
{
    if (j->broken || j->ending) {
        return;
    }
    j->broken = true;
    j->cause = cause;
    j->who = who;
    if (j->collector != NULL) {
        stream_soon(j->st);
        return;
    }
    struct letter l = {.kind = LETTER_VOID, .run = j->run, .attempt = j->attempt, .who = who};
    l.status = (uint16_t)(cause < 0 && cause >= -4095 ? -cause : EIO);
    l.limit = account_limit(j->st, cause);
    (void)stream_say(j->st, j->run.root, &l); /* if it is not sent, the root finds out when nothing moves */
}

/* ---- Partitions -------------------------------------------------------------------------------------------------- */

static struct flow *open_flow(struct junction *j, cw_link tree, uint32_t partition, cw_bytes after)
{
    struct flow *f = flow_open(j, tree, partition, after);
    if (f == NULL) {
        return NULL;
    }
    list_push_back(&j->flows, (struct list_node *)(void *)f);
    j->open[tree]++;
    j->opened[partition / 64] |= UINT64_C(1) << partition % 64;
    return f;
}

int junction_open(struct junction *j, cw_link tree, uint32_t partition)
{
    struct flow *f = open_flow(j, tree, partition, result_after(j->collector->result, partition));
    if (f == NULL) {
        return -ENOMEM;
    }
    flow_pump(f);
    return 0;
}

void junction_sweep(struct junction *j)
{
    for (struct list_node *n = list_first(&j->flows), *next; n != NULL; n = next) {
        next = list_next(&j->flows, n);
        if (flow_done(flow_at(n))) {
            j->open[flow_tree(flow_at(n))]--;
            flow_free(flow_at(n));
        }
    }
}

int junction_block(struct stream *st, const struct letter *l, const uint8_t *bytes, size_t size, cw_server from)
{
    struct junction *j = junction_find(st, &l->run);
    if (j == NULL || j->broken || (j->attempt != l->attempt && !STREAM_MUTANT(OLD_ATTEMPT))) {
        return -ESTALE;
    }
    struct flow *f = find_flow(j, l->partition);
    int rc = f != NULL && flow_tree(f) == l->tree ? flow_block(f, l, from, bytes, size) : -EPROTO;
    if (rc < 0) {
        junction_break(j, rc, from);
        return -EPROTO;
    }
    stream_note(st, STREAM_COUNT_BLOCKS, 1);
    stream_note(st, STREAM_COUNT_BYTES, size);
    flow_pump(f);
    return 0;
}

int junction_grant(struct stream *st, const struct letter *l, cw_server from)
{
    struct junction *j = junction_find(st, &l->run);
    if (j == NULL || j->broken || j->attempt != l->attempt) {
        return -ESTALE;
    }
    const struct plan_tree *t = &j->plan.tree[l->tree];
    if (!t->in || t->parent != from || l->partition >= j->partitions) {
        junction_break(j, -EPROTO, from);
        return -EPROTO;
    }
    struct flow *f = find_flow(j, l->partition);
    bool before = (j->opened[l->partition / 64] >> l->partition % 64 & 1) != 0;
    if (f == NULL && before && !STREAM_MUTANT(OPENED_AGAIN)) {
        return 0; /* it is late: all blocks have been sent (aggregate rule 27) */
    }
    if (f == NULL) {
        /* Our parent may open the next partition before it has told us that it took the last block of this one. */
        f = j->open[l->tree] < 4 * j->open_most ? open_flow(j, l->tree, l->partition, l->after) : NULL;
    }
    if (f == NULL || flow_tree(f) != l->tree) {
        junction_break(j, f == NULL ? -ENOBUFS : -EPROTO, from);
        return -ENOBUFS;
    }
    flow_grant(f, l->sequence);
    flow_pump(f);
    return 0;
}

void junction_told(struct stream *st, const struct letter *l, cw_server to, int status)
{
    struct junction *j = junction_find(st, &l->run);
    if (j == NULL || j->attempt != l->attempt || j->broken) {
        return;
    }
    if (status < 0) {
        junction_break(j, status, to);
        return;
    }
    struct flow *f = find_flow(j, l->partition);
    if (f != NULL && flow_tree(f) == l->tree) {
        flow_told(f, to);
    }
}

void junction_tick(struct junction *j)
{
    struct stream *st = j->st;
    cw_time now = cw_now(st->s);
    junction_sweep(j);
    if (j->collector == NULL && cw_time_due(cw_time_add(j->asked, STREAM_ASK_EVERY), now)) {
        const struct letter l = {.kind = LETTER_PROBE, .run = j->run, .attempt = j->attempt};
        j->asked = now;
        if (!stream_sees(st, j->run.root)) {
            junction_free(j); /* its root was gone before the announcement came */
            return;
        }
        (void)stream_say(st, j->run.root, &l);
    }
}
