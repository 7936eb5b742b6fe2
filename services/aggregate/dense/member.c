/* SPDX-License-Identifier: Apache-2.0 */
#include "base/siphash.h"
#include "services/aggregate/dense/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Everybody hashes alike, and nothing rests on its being a secret. */
static const struct siphash_key common_key = {{UINT64_C(0x6167677265676174), UINT64_C(0x652e646967657374)}};

uint64_t member_hash(cw_job job, const char *name, size_t length)
{
    uint8_t text[sizeof job + MESSAGE_NAME_MOST];
    memcpy(text, &job, sizeof job);
    memcpy(text + sizeof job, name, length);
    return siphash(&common_key, text, sizeof job + length).word[0];
}

struct member *member_of_ticket(struct dense *d, uint32_t ticket)
{
    for (struct list_node *n = list_first(&d->members); n != NULL; n = list_next(&d->members, n)) {
        struct member *m = container_of(n, struct member, link);
        if (m->ticket == ticket) {
            return m;
        }
    }
    return NULL;
}

void member_copy(const struct member *m, uint64_t first, size_t count, void *to)
{
    if (m->in != NULL) {
        memcpy(to, (const uint8_t *)m->in + first * m->element, count * m->element);
    } else {
        m->fill(m->context, first, count, to);
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void tell(const struct member *m, int status, cw_server who, const uint64_t *counted, unsigned attempts)
{
    const struct torus *torus = &m->d->torus;
    cw_reduce_result result = {.size = sizeof result, .status = status, .attempts = attempts};
    cw_coord *list = NULL;
    if (who < torus->servers) {
        result.named = true;
        result.who = torus_coord(torus, who);
    }
    if (status == -EINVAL && m->unlike != 0) {
        result.unlike = m->unlike;
        result.other = torus_coord(torus, m->root);
    }
    if (status == 0 && counted != NULL) {
        list = calloc(torus->servers, sizeof *list);
        for (cw_server s = 0; s < torus->servers && list != NULL; s++) {
            if (trees_set_has(counted, s)) {
                list[result.count++] = torus_coord(torus, s);
            }
        }
        result.status = list == NULL ? -ENOMEM : 0;
    }
    result.counted = list;
    m->done(m->arg, &result);
    free(list);
}

void member_end(struct member *m, int status, cw_server who, const uint64_t *counted, unsigned attempts)
{
    struct dense *d = m->d;
    for (struct list_node *n = list_first(&d->vertices), *next; n != NULL; n = next) {
        struct vertex *v = container_of(n, struct vertex, link);
        next = list_next(&d->vertices, n);
        if (v->own == m) {
            vertex_free(v);
        }
    }
    together_forget(d, m);
    list_remove(&m->link);
    d->member_count--;
    free(m->held);
    dense_note(d, status == 0 ? DENSE_COUNT_DONE : DENSE_COUNT_FAILED, 1);
    tell(m, status, who, counted, attempts);
    free(m->members);
    free(m);
}

/* ---- The root is asked ------------------------------------------------------------------------------------------- */

void member_ask(struct member *m)
{
    _Alignas(16) uint8_t part[MESSAGE_SMALL_MOST];
    struct message join = {.kind = MESSAGE_JOIN, .run = m->run, .ticket = m->ticket, .spec = m->spec};
    join.job = m->job;
    join.digest = m->digest;
    join.name = m->name;
    join.name_length = m->name_length;
    join.bytes = spec_join(&m->spec);
    join.elements = part;
    if (join.bytes > 0) {
        member_copy(m, 0, (size_t)m->spec.elements, part);
    }
    m->asked = cw_now(m->d->s);
    (void)dense_say(m->d, m->root, &join); /* if it is not sent, the next tick tries again */
}

void member_answered(struct member *m, int status)
{
    switch (status) {
    case 0:
        if (m->held != NULL) {
            m->moved = cw_now(m->d->s); /* the root sends to others what this server has; it ends whatever hangs */
        }
        return;
    case -ETIMEDOUT: /* asked again with the next tick */
    case -ENOBUFS:
    case -EINVAL: /* two members disagree, and the END says who, and in what; who misses it asks again */
        return;
    case -EEXIST:
        member_end(m, status, m->root, NULL, 0);
        return;
    default: /* its server, or the run there, is gone */
        member_end(m, -ECONNRESET, m->root, NULL, 0);
        return;
    }
}

void member_tick(struct member *m)
{
    cw_time now = cw_now(m->d->s);
    if (m->reducer != NULL) {
        return; /* the reducer looks after its own */
    }
    /* The root's word comes first, for it knows whom all wait for. */
    cw_span limit = cw_span_add(m->limit, cw_span_add(CW_SEC(1), (cw_span){m->limit.ns / 4}));
    if (cw_time_due(cw_time_add(m->moved, limit), now)) {
        member_end(m, -ETIMEDOUT, m->root, NULL, 0);
    } else if (cw_time_due(cw_time_add(m->asked, DENSE_ASK_EVERY), now)) {
        member_ask(m);
    }
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

static int check(struct dense *d, const cw_reduce *r, bool contributes)
{
    size_t element = number_element(r->type, r->combine);
    bool root = cw_server_valid(d->s, r->root) && torus_id(&d->torus, r->root) == d->self;
    bool source = (r->in != NULL) != (r->fill != NULL), sink = (r->out != NULL) != (r->take != NULL);
    bool to_all = (r->flags & CW_REDUCE_TO_ALL) != 0, from_root = (r->flags & CW_REDUCE_FROM_ROOT) != 0;
    if (r->size < sizeof *r || r->name == NULL || r->name_length == 0 || r->name_length > MESSAGE_NAME_MOST ||
        element == 0 || (r->flags & ~(unsigned)CW_REDUCE_FLAGS) != 0 || r->limit.ns < 0 ||
        r->limit.ns > DENSE_LIMIT_MOST.ns || !cw_server_valid(d->s, r->root)) {
        return -EINVAL;
    }
    bool empty = r->elements == 0; /* then nobody needs memory */
    bool none = r->in == NULL && r->fill == NULL && r->out == NULL && r->take == NULL;
    bool gives = from_root ? root : contributes, gets = from_root ? !root : root || to_all;
    if (!(empty && none) && (gives != source || gets != sink)) {
        return -EINVAL;
    }
    if (from_root && !(to_all && contributes)) {
        return -EINVAL;
    }
    if (to_all && root && !empty && (from_root ? r->in == NULL : r->out == NULL)) {
        return -EINVAL; /* it is sent from there */
    }
    return (!contributes && !root) ? -EINVAL : r->elements > BLOCKS_VECTOR_MOST / element ? -EFBIG : 0;
}

static int read_members(struct dense *d, const cw_reduce *r, uint64_t *set)
{
    if (r->member == NULL || r->members == 0 || r->members > MESSAGE_SERVERS_MOST) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < r->members; i++) {
        if (!cw_server_valid(d->s, r->member[i])) {
            return -EINVAL;
        }
        trees_set_add(set, torus_id(&d->torus, r->member[i]));
    }
    return 0;
}

static struct member *make(struct dense *d, const void *owner, cw_job job, const cw_reduce *r, uint64_t *set)
{
    struct member *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return NULL;
    }
    *m = (struct member){.d = d, .owner = owner, .job = job, .name_length = r->name_length, .members = set};
    memcpy(m->name, r->name, r->name_length);
    do {
        m->ticket = ++d->tickets;
    } while (m->ticket == 0 || member_of_ticket(d, m->ticket) != NULL);
    m->hash = member_hash(job, m->name, m->name_length);
    m->digest = siphash(&common_key, set, dense_words(d) * sizeof *set).word[0];
    m->root = torus_id(&d->torus, r->root);
    m->spec = (struct spec){(uint8_t)r->type, (uint8_t)r->combine, (uint8_t)r->flags, r->elements};
    m->element = number_element(r->type, r->combine);
    m->contributes = trees_set_has(set, d->self);
    m->in = r->in;
    m->fill = r->fill;
    m->out = r->out;
    m->take = r->take;
    m->context = r->context;
    m->limit = r->limit.ns == 0 ? DENSE_LIMIT : r->limit;
    m->moved = m->asked = cw_now(d->s);
    return m;
}

/* Is there room for one more call of that job? */
static bool has_room(const struct dense *d, cw_job job)
{
    unsigned of_job = 0;
    for (const struct list_node *n = list_first(&d->members); n != NULL; n = list_next(&d->members, n)) {
        of_job += container_of_const(n, struct member, link)->job == job;
    }
    return d->member_count < DENSE_RUNS && of_job < DENSE_RUNS_EACH;
}

static bool used(const struct dense *d, const struct member *m)
{
    for (const struct list_node *n = list_first(&d->members); n != NULL; n = list_next(&d->members, n)) {
        const struct member *other = container_of_const(n, struct member, link);
        if (other->hash == m->hash && other->root == m->root) {
            return true;
        }
    }
    return false;
}

int64_t dense_reduce(struct dense *d, const void *owner, cw_job job, const cw_reduce *reduce, cw_reduce_done_fn done,
                     void *arg)
{
    if (reduce == NULL || done == NULL) {
        return -EINVAL;
    }
    if (d->closing) {
        return -ESHUTDOWN; /* done() of a call that dense_close() ends may ask again: that would never end */
    }
    uint64_t *set = calloc(dense_words(d), sizeof *set);
    if (set == NULL || (d->trees == NULL && trees_open(&d->trees, &d->torus) < 0)) {
        free(set);
        return -ENOMEM;
    }
    int rc = read_members(d, reduce, set);
    rc = rc < 0 ? rc : check(d, reduce, trees_set_has(set, d->self));
    rc = rc < 0 ? rc : has_room(d, job) ? 0 : -ENOBUFS;
    rc = rc < 0 ? rc : !dense_sees(d, torus_id(&d->torus, reduce->root)) ? -ENETUNREACH : 0;
    struct member *m = rc < 0 ? NULL : make(d, owner, job, reduce, set);
    if (m == NULL) {
        free(set);
        return rc < 0 ? rc : -ENOMEM;
    }
    m->done = done;
    m->arg = arg;
    rc = used(d, m) ? -EEXIST : m->root == d->self ? reducer_open(m) : 0;
    if (rc < 0) {
        free(set);
        free(m);
        return rc;
    }
    list_push_back(&d->members, &m->link);
    d->member_count++;
    dense_note(d, DENSE_COUNT_BEGUN, 1);
    if (m->reducer == NULL) {
        together_join(m);
    }
    dense_wake(d);
    return DENSE_TICKET_LEAST + m->ticket;
}

static void cancel(struct member *m)
{
    if (m->reducer != NULL) {
        reducer_end(m->reducer, -ECANCELED, CW_SERVER_NONE);
    } else {
        member_end(m, -ECANCELED, CW_SERVER_NONE, NULL, 0);
    }
}

int dense_cancel(struct dense *d, const void *owner, int64_t ticket)
{
    int64_t number = ticket - DENSE_TICKET_LEAST;
    struct member *m = number > 0 && number <= UINT32_MAX ? member_of_ticket(d, (uint32_t)number) : NULL;
    if (m == NULL || m->owner != owner) {
        return -ENOENT;
    }
    cancel(m);
    return 0;
}

void dense_disown(struct dense *d, const void *owner)
{
    for (struct list_node *n = list_first(&d->members); n != NULL;) {
        struct member *m = container_of(n, struct member, link);
        if (m->owner == owner) {
            cancel(m);
            n = list_first(&d->members); /* done() may have ended others */
        } else {
            n = list_next(&d->members, n);
        }
    }
}
