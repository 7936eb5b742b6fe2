/* SPDX-License-Identifier: Apache-2.0 */
/* joins.c - at the root: members say that they are there, before or after the root's own call, and what they call. */
#include "services/aggregate/dense/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In what the call of that server is not as the root's. */
static unsigned unlike(const struct reducer *r, cw_server from, const struct spec *spec, uint64_t digest)
{
    const struct member *c = r->caller;
    bool same_members = digest == c->digest && trees_set_has(r->members, from);
    return (spec->type != c->spec.type ? CW_REDUCE_UNLIKE_TYPE : 0U) |
           (spec->combine != c->spec.combine ? CW_REDUCE_UNLIKE_COMBINE : 0U) |
           (spec->elements != c->spec.elements ? CW_REDUCE_UNLIKE_ELEMENTS : 0U) |
           (spec->flags != c->spec.flags ? CW_REDUCE_UNLIKE_FLAGS : 0U) |
           (same_members ? 0U : CW_REDUCE_UNLIKE_MEMBERS);
}

/* False: the reduction has ended. */
static bool joins(struct reducer *r, cw_server from, const struct message *m)
{
    uint32_t ticket = m->ticket;
    unsigned differs = unlike(r, from, &m->spec, m->digest);
    if (differs != 0) {
        r->caller->unlike = differs;
        trees_set_add(r->joined, from); /* so that it hears of the end */
        r->ticket[from] = ticket;
        reducer_end(r, -EINVAL, from);
        return false;
    }
    if (r->state == REDUCER_GATHERS && !(trees_set_has(r->joined, from) && r->ticket[from] == ticket)) {
        trees_set_add(r->joined, from);
        r->ticket[from] = ticket;
        small_take(r, from, m->elements);
        reducer_moved(r);
        dense_soon(r->d);
    }
    return true;
}

static int remember(struct dense *d, const struct message *m, cw_server from, uint64_t hash)
{
    struct pending *p = NULL;
    for (struct list_node *n = list_first(&d->pending); n != NULL && p == NULL; n = list_next(&d->pending, n)) {
        struct pending *other = container_of(n, struct pending, link);
        p = other->hash == hash && other->from == from ? other : NULL;
    }
    if (p == NULL) {
        p = d->pending_count < DENSE_PENDING ? calloc(1, sizeof *p) : NULL;
        if (p == NULL) {
            return -ENOBUFS;
        }
        list_push_back(&d->pending, &p->link);
        d->pending_count++;
    }
    p->from = from;
    p->ticket = m->ticket;
    p->digest = m->digest;
    p->spec = m->spec;
    p->hash = hash;
    if (m->bytes > 0) {
        memcpy(p->part, m->elements, m->bytes);
    }
    p->at = cw_now(d->s);
    dense_wake(d);
    return 0;
}

int joins_take(struct dense *d, const struct message *m, cw_server from)
{
    uint64_t hash = member_hash(m->job, m->name, m->name_length);
    struct reducer *r = reducer_of_hash(d, hash);
    const struct farewell_question q = {&m->run, hash, m->ticket, from};
    int status;
    if ((r == NULL || (m->run.life != 0 && !run_name_equal(&r->run, &m->run))) && farewell_say(d, &q, &status)) {
        return status;
    }
    if (m->run.life != 0 && (r == NULL || !run_name_equal(&r->run, &m->run))) {
        return -ESTALE; /* the run that it has heard of is over */
    }
    if (r == NULL) {
        return farewell_was(d, hash) ? -EEXIST : remember(d, m, from, hash);
    }
    if (r->state != REDUCER_GATHERS && (!trees_set_has(r->joined, from) || r->ticket[from] != m->ticket)) {
        return -ESTALE; /* too late: it goes on without this caller */
    }
    return joins(r, from, m) ? 0 : -EINVAL;
}

bool joins_take_pending(struct reducer *r)
{
    struct dense *d = r->d;
    for (struct list_node *n = list_first(&d->pending), *next; n != NULL; n = next) {
        struct pending p = *container_of(n, struct pending, link);
        next = list_next(&d->pending, n);
        if (p.hash != r->caller->hash) {
            continue;
        }
        list_remove(n);
        free(container_of(n, struct pending, link));
        d->pending_count--;
        const struct message m = {
            .kind = MESSAGE_JOIN, .ticket = p.ticket, .spec = p.spec, .digest = p.digest, .elements = p.part};
        if (!joins(r, p.from, &m)) {
            return false;
        }
    }
    return true;
}
