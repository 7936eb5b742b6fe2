/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/collect.h"

#include "services/aggregate/dense/blocks.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 4, PART_BYTES = 4, MEMBERS_MOST = 4096 };
/* A part for which there is no room is begun again after so long, or when another one has ended. */
#define ROOM_AGAIN CW_MS(10)

struct collect;

/* One of its reductions that is under way. */
struct part {
    struct collect *c;
    bool used;
    unsigned index;
    int64_t ticket;
};

struct collect {
    struct list_node link;
    struct collects *all;
    enum collect_kind kind;
    const void *owner;
    cw_job job;
    int64_t ticket;
    cw_reduce reduce; /* name and members are copies */
    size_t element;
    unsigned self; /* which member this server is */
    unsigned next, under_way, attempts;
    bool ending; /* the rest is being cancelled */
    int status;
    bool named;
    cw_coord who;
    cw_timer *soon;
    struct part part[AT_ONCE];
    cw_reduce_done_fn done;
    void *arg;
};

void collects_open(struct collects *c, cw_svc *s, struct dense *dense)
{
    *c = (struct collects){.dense = dense, .s = s};
    list_init(&c->all);
}

/* It is in no list. */
static void collect_free(struct collect *c)
{
    cw_timer_stop(c->all->s, c->soon);
    free((void *)(uintptr_t)c->reduce.name);
    free((void *)(uintptr_t)c->reduce.member);
    free(c);
}

void collects_close(struct collects *c)
{
    while (!list_is_empty(&c->all)) {
        collect_free(container_of(list_pop_front(&c->all), struct collect, link));
    }
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* The first element of member k's share of a vector that is cut into one for each. */
static uint64_t share_of(const struct collect *c, unsigned k)
{
    return (uint64_t)((unsigned __int128)c->reduce.elements * k / c->reduce.members);
}

static void part_done(void *arg, const cw_reduce_result *result);

static int start(struct collect *c, struct part *p, unsigned k)
{
    char name[CW_AGGREGATE_NAME_MAX];
    cw_reduce r = c->reduce;
    const uint8_t *in = c->reduce.in;
    uint8_t *out = c->reduce.out;
    bool mine = k == c->self;
    memcpy(name, c->reduce.name, c->reduce.name_length);
    for (unsigned i = 0; i < PART_BYTES; i++) {
        name[c->reduce.name_length + i] = (char)(k >> 8 * i);
    }
    r.name = name;
    r.name_length += PART_BYTES;
    r.root = c->reduce.member[k];
    if (c->kind == COLLECT_REDUCE_SCATTER) {
        uint64_t first = share_of(c, k);
        r.elements = share_of(c, k + 1) - first;
        r.in = in + first * c->element;
        r.out = mine ? out : NULL;
    } else {
        r.flags = CW_REDUCE_TO_ALL | CW_REDUCE_FROM_ROOT;
        r.in = mine ? in : NULL;
        r.out = mine ? NULL : out + k * c->reduce.elements * c->element;
    }
    *p = (struct part){.c = c, .used = true, .index = k};
    p->ticket = dense_reduce(c->all->dense, c->owner, c->job, &r, part_done, p);
    p->used = p->ticket > 0;
    c->under_way += p->used;
    return p->used ? 0 : (int)p->ticket;
}

/* Ends it; c is gone then. done() may call everything: it is in no list any more, and its ticket is that of nothing. */
static void end(struct collect *c)
{
    list_remove(&c->link);
    const cw_reduce_result result = {.size = sizeof result,
                                     .status = c->status,
                                     .named = c->named,
                                     .who = c->who,
                                     .counted = c->status == 0 ? c->reduce.member : NULL,
                                     .count = c->status == 0 ? c->reduce.members : 0,
                                     .attempts = c->attempts};
    c->done(c->arg, &result);
    collect_free(c);
}

/* What is under way is cancelled; c may be gone then. */
static void fail(struct collect *c, int status)
{
    c->status = c->status < 0 ? c->status : status;
    if (c->ending) {
        return;
    }
    c->ending = true;
    for (unsigned i = 0; i < AT_ONCE; i++) {
        if (c->part[i].used) {
            (void)dense_cancel(c->all->dense, c->owner, c->part[i].ticket); /* part_done() is called from within */
        }
    }
    end(c);
}

static void begin_rest(cw_svc *s, void *state, void *arg);

/* Other reductions of this server have all the room, and each of them ends within its limit: this one waits. */
static bool waits_for_room(struct collect *c)
{
    if (c->soon == NULL) {
        c->soon = cw_timer_start(c->all->s, ROOM_AGAIN, begin_rest, c);
    }
    return c->soon != NULL;
}

/* Starts what may be started; c may be gone then. */
static void pump(struct collect *c)
{
    for (unsigned i = 0; i < AT_ONCE && c->next < c->reduce.members; i++) {
        int rc = c->part[i].used ? 0 : start(c, &c->part[i], c->next);
        if (rc == -ENOBUFS && waits_for_room(c)) {
            return;
        }
        if (rc < 0) {
            fail(c, rc);
            return;
        }
        c->next = c->part[i].index + 1 > c->next ? c->part[i].index + 1 : c->next;
    }
    if (c->under_way == 0 && c->next == c->reduce.members) {
        end(c);
    }
}

static void part_done(void *arg, const cw_reduce_result *result)
{
    struct part *p = arg;
    struct collect *c = p->c;
    p->used = false;
    c->under_way--;
    c->attempts = result->attempts > c->attempts ? result->attempts : c->attempts;
    if (c->ending) {
        return;
    }
    if (result->status < 0) {
        c->named = result->named;
        c->who = result->who;
        fail(c, result->status);
        return;
    }
    pump(c);
}

static void begin_rest(cw_svc *s, void *state, void *arg)
{
    struct collect *c = arg;
    (void)s;
    (void)state;
    c->soon = NULL;
    pump(c);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Which member this server is; members when it is none, or when one is named twice. */
static unsigned find_self(const struct collects *all, const cw_reduce *r)
{
    uint64_t seen[MEMBERS_MOST / 64] = {0};
    unsigned self = r->members;
    cw_server own = cw_server_id(all->s, cw_self(all->s));
    for (unsigned i = 0; i < r->members; i++) {
        cw_server id = cw_server_valid(all->s, r->member[i]) ? cw_server_id(all->s, r->member[i]) : MEMBERS_MOST;
        if (id >= MEMBERS_MOST || (seen[id / 64] >> id % 64 & 1) != 0) {
            return r->members;
        }
        seen[id / 64] |= UINT64_C(1) << id % 64;
        self = id == own ? i : self;
    }
    return self;
}

/* Looked at before anything of the vector is touched. The vectors of 4,096 members have less than 2^64 bytes. */
static bool is_too_long(const cw_reduce *r)
{
    return r->elements > BLOCKS_VECTOR_MOST / number_element(r->type, r->combine);
}

static bool is_possible(const cw_reduce *r)
{
    return r != NULL && r->size >= sizeof *r && r->name != NULL && r->name_length > 0 &&
           r->name_length <= CW_AGGREGATE_NAME_MAX - PART_BYTES && r->member != NULL && r->members > 0 &&
           r->members <= MEMBERS_MOST && r->flags == 0 && r->fill == NULL && r->take == NULL && r->in != NULL &&
           r->out != NULL && number_element(r->type, r->combine) > 0;
}

int64_t collect_begin(struct collects *all, enum collect_kind kind, const void *owner, cw_job job,
                      const cw_reduce *reduce, cw_reduce_done_fn done, void *arg)
{
    unsigned self = is_possible(reduce) ? find_self(all, reduce) : 0;
    if (!is_possible(reduce) || done == NULL || self == reduce->members) {
        return -EINVAL;
    }
    if (is_too_long(reduce)) {
        return -EFBIG;
    }
    struct collect *c = calloc(1, sizeof *c);
    char *name = malloc(reduce->name_length);
    cw_coord *list = calloc(reduce->members, sizeof *list);
    if (c == NULL || name == NULL || list == NULL) {
        free(c);
        free(name);
        free(list);
        return -ENOMEM;
    }
    memcpy(name, reduce->name, reduce->name_length);
    memcpy(list, reduce->member, reduce->members * sizeof *list);
    *c = (struct collect){.all = all, .kind = kind, .owner = owner, .job = job, .reduce = *reduce};
    c->reduce.name = name;
    c->reduce.member = list;
    c->element = number_element(reduce->type, reduce->combine);
    c->self = self;
    c->done = done;
    c->arg = arg;
    c->ticket = ++all->tickets;
    list_push_back(&all->all, &c->link);
    if (kind == COLLECT_ALLGATHER) {
        memcpy((uint8_t *)reduce->out + c->self * reduce->elements * c->element, reduce->in,
               reduce->elements * c->element);
    }
    /* What is wrong with the call is wrong with its first part. The others begin later, and so is their end told. */
    int rc = start(c, &c->part[0], 0);
    c->next = 1;
    c->soon = rc < 0 ? NULL : cw_timer_start(all->s, CW_NS(0), begin_rest, c);
    if (rc < 0) {
        collect_free(c);
        return rc;
    }
    return c->ticket;
}

int collect_cancel(struct collects *all, const void *owner, int64_t ticket)
{
    for (struct list_node *n = list_first(&all->all); n != NULL; n = list_next(&all->all, n)) {
        struct collect *c = container_of(n, struct collect, link);
        if (c->ticket == ticket && c->owner == owner) {
            fail(c, -ECANCELED);
            return 0;
        }
    }
    return -ENOENT;
}

void collect_disown(struct collects *all, const void *owner)
{
    for (struct list_node *n = list_first(&all->all); n != NULL;) {
        struct collect *c = container_of(n, struct collect, link);
        if (c->owner == owner) {
            fail(c, -ECANCELED);
            n = list_first(&all->all); /* done() may have ended others */
        } else {
            n = list_next(&all->all, n);
        }
    }
}
