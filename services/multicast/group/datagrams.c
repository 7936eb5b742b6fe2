/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/datagrams.h"

#include "base/check.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/group/datagram_window.h"
#include "services/multicast/group/head.h"
#include "services/multicast/group/mutant.h"
#include "services/multicast/group/plans.h"
#include "services/reply/metrics.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the pause between repetitions, at most. */
enum { DOUBLINGS = 6 };
/* The least and the most pause before a reliable datagram is sent to a member again. */
static const cw_span again_least = CW_MS(5);
static const cw_span again_most = CW_MS(100);

/* The metrics' names are older than the word datagram. */
enum { COUNT_SENT, COUNT_REPEATED, COUNT_TAKEN, COUNT_PASSED, COUNT_DOUBLED, COUNT_STRANGE, COUNTS };
static const struct metric metrics[COUNTS] = {
    [COUNT_SENT] = {"notes_sent", "Messages of one packet sent from here."},
    [COUNT_REPEATED] = {"notes_repeated", "Messages of one packet sent again to a member that had not answered."},
    [COUNT_TAKEN] = {"notes_taken", "Messages of one packet delivered here."},
    [COUNT_PASSED] = {"notes_passed", "Messages of one packet passed on to other servers."},
    [COUNT_DOUBLED] = {"notes_doubled", "Messages of one packet that arrived once more."},
    [COUNT_STRANGE] = {"notes_strange", "Packets of messages of one packet that were of no use."},
};

/* A reliable datagram under way: some members may not have answered yet. */
struct datagram_out {
    struct datagram_out *next;
    uint64_t number;
    uint8_t *packet;
    size_t length;
    struct cast_member *member;
    unsigned count, waiting, tries;
    cw_time began, due, until;
    datagrams_done_fn done;
    void *arg;
};

struct datagrams {
    cw_svc *s;
    const struct torus *torus;
    const struct clients *clients;
    cw_server self;
    uint64_t life, numbers[2];     /* by reliable */
    struct datagram_window **from; /* by origin * 2 + reliable; NULL: nothing came from there */
    struct plans plans;
    struct datagram_out *out, **out_end; /* by number */
    unsigned out_count;
    size_t memory;
    cw_span answer_time; /* how long datagrams take until all members have answered, smoothed */
    cw_timer *timer;
    cw_counter *count[COUNTS];
};

static size_t set_bytes(const struct datagrams *n)
{
    return cast_set_bytes(n->torus->servers);
}

static bool in_set(const uint8_t *set, cw_server i)
{
    return set[i / 8] >> i % 8 & 1;
}

/* ---- Where it goes ----------------------------------------------------------------------------------------------- */

static int send_to(struct datagrams *n, const uint8_t *bytes, size_t length, const cw_to *to)
{
    cw_packet *p = cw_packet_new(n->s, length);
    if (p == NULL) {
        return -ENOMEM;
    }
    memcpy(cw_packet_data(p, NULL), bytes, length);
    int rc = cw_send(n->s, p, to, NULL);
    if (rc < 0) {
        cw_packet_free(n->s, p);
    }
    return rc < 0 ? rc : 0;
}

/*
 * To the children in a tree. 0 when it is on its way to any: its number is used then, as those behind that child know
 * it. Else the first error; -ENETUNREACH when there are none.
 */
static int send_down(struct datagrams *n, const struct cast_plan *plan, uint8_t tree, const uint8_t *bytes,
                     size_t length)
{
    int result = -ENETUNREACH;
    bool any = false;
    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->edge[i].tree == tree) {
            const cw_to to = to_server(n->s, MULTICAST_JOB, MULTICAST_PORT_GROUPS, plan->edge[i].to);
            int rc = send_to(n, bytes, length, &to);
            result = !any || rc == 0 ? rc : result;
            any = true;
        }
    }
    return result;
}

/* One of the trees that have a child here, another one for each number. CW_LINK_SELF: none has. */
static uint8_t choose_tree(const struct cast_plan *plan, uint64_t number)
{
    cw_links trees = CW_LINKS_NONE;
    for (unsigned i = 0; i < plan->count; i++) {
        trees |= cw_links_of(plan->edge[i].tree);
    }
    unsigned skip = trees != 0 ? (unsigned)(number % (unsigned)__builtin_popcount(trees)) : 0;
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        if ((trees & cw_links_of(tree)) && skip-- == 0) {
            return tree;
        }
    }
    return CW_LINK_SELF;
}

/* ---- As a source ------------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg);

/* "datagram 12 of server 3" */
static const char *name_it(char text[static 64], const struct datagrams *n, const struct datagram_out *o)
{
    snprintf(text, 64, "datagram %llu of server %u", (unsigned long long)o->number, (unsigned)n->self);
    return text;
}
#define NAME(n, o) name_it((char[64]){0}, n, o)

static void audit_out(const struct datagrams *n, const struct datagram_out *o)
{
    unsigned waiting = 0;
    for (unsigned i = 0; i < o->count; i++) {
        waiting += o->member[i].state == CAST_WAITING;
    }
    CHECK_RULE(waiting == o->waiting, "groups G3: the members that have not answered are counted right", NAME(n, o));
    CHECK_RULE(n->numbers[1] - o->number < DATAGRAM_WINDOW / 2, "groups G3: numbers under way lie within half a window",
               NAME(n, o));
    CHECK_RULE(o->next == NULL || o->number < o->next->number, "groups G3: numbers ascend", NAME(n, o));
}

bool datagrams_audit(const struct datagrams *n)
{
    unsigned count = 0;
    size_t memory = 0;
    for (const struct datagram_out *o = n->out; o != NULL; o = o->next) {
        count++;
        memory += o->length;
        audit_out(n, o);
    }
    CHECK_RULE(count == n->out_count && *n->out_end == NULL, "groups G3: datagrams under way are counted right",
               "this server");
    CHECK_RULE(memory == n->memory && memory <= DATAGRAMS_MEMORY_MOST,
               "groups G3: the bytes of datagrams under way are counted right", "this server");
    return true;
}

static void set_timer(struct datagrams *n)
{
    cw_time wake = CW_NEVER;
    for (const struct datagram_out *o = n->out; o != NULL; o = o->next) {
        wake = cw_time_min(wake, o->due);
    }
    cw_timer_stop(n->s, n->timer);
    n->timer = NULL;
    if (wake.ns != CW_NEVER.ns) {
        cw_span span = cw_time_since(wake, cw_now(n->s));
        n->timer = cw_timer_start(n->s, span.ns > 0 ? span : CW_NS(0), tick, n);
    }
    CHECK_SLOW(datagrams_audit(n));
}

static void free_out(struct datagram_out *o)
{
    free(o->packet);
    free(o->member);
    free(o);
}

static void remove_out(struct datagrams *n, struct datagram_out **at)
{
    struct datagram_out *o = *at;
    *at = o->next;
    n->out_end = o->next == NULL ? at : n->out_end;
    n->out_count--;
    n->memory -= o->length;
}

size_t datagrams_most(const struct datagrams *n, size_t name_bytes)
{
    size_t head = GROUP_DATAGRAM_HEAD + set_bytes(n) + name_bytes, most = cw_mtu(n->s);
    return most > head ? most - head : 0;
}

/* The members that are to answer. */
static int open_members(const struct datagrams *n, struct datagram_out *o, const uint8_t *set)
{
    for (cw_server i = 0; i < n->torus->servers; i++) {
        o->count += i != n->self && in_set(set, i);
    }
    o->member = calloc(o->count + 1, sizeof *o->member);
    if (o->member == NULL) {
        return -ENOMEM;
    }
    unsigned at = 0;
    for (cw_server i = 0; i < n->torus->servers; i++) {
        if (i != n->self && in_set(set, i)) {
            o->member[at++].server = i;
        }
    }
    o->waiting = o->count;
    return 0;
}

static cw_span pause_of(const struct datagrams *n, const struct datagram_out *o)
{
    int64_t span = 3 * n->answer_time.ns > again_least.ns ? 3 * n->answer_time.ns : again_least.ns;
    span <<= o->tries < DOUBLINGS ? o->tries : DOUBLINGS;
    return (cw_span){span < again_most.ns ? span : again_most.ns};
}

static int remember(struct datagrams *n, const struct datagram_order *order, struct datagram_out *o)
{
    o->done = order->done;
    o->arg = order->arg;
    o->began = cw_now(n->s);
    o->until = cw_time_add(o->began, DATAGRAM_PATIENCE);
    o->due = o->waiting > 0 ? cw_time_add(o->began, pause_of(n, o)) : o->began;
    o->next = NULL;
    *n->out_end = o;
    n->out_end = &o->next;
    n->out_count++;
    n->memory += o->length;
    set_timer(n);
    return 0;
}

static bool no_room(const struct datagrams *n, size_t length)
{
    return (n->out != NULL && n->numbers[1] + 1 - n->out->number >= DATAGRAM_WINDOW / 2) ||
           n->memory + length > DATAGRAMS_MEMORY_MOST;
}

/* The packet, and down the tree with it. */
static int make_and_send(struct datagrams *n, const struct datagram_order *order, struct group_head *h, uint8_t *packet,
                         size_t length)
{
    const struct cast_plan *plan = plans_get(&n->plans, n->self, order->set);
    if (plan == NULL) {
        return -ENOMEM;
    }
    uint8_t tree = choose_tree(plan, h->number);
    h->tree = tree < CW_LINK_COUNT ? tree : 0;
    group_head_encode(h, packet);
    return send_down(n, plan, tree, packet, length);
}

int datagrams_send(struct datagrams *n, const struct datagram_order *order)
{
    struct group_head h = {.kind = GROUP_DATAGRAM,
                           .job = order->name->job,
                           .life = n->life,
                           .origin = n->self,
                           .number = n->numbers[order->reliable] + 1,
                           .servers = n->torus->servers,
                           .set = order->set,
                           .name = order->name->text,
                           .name_bytes = order->name->length,
                           .bytes = order->bytes,
                           .length = order->length};
    h.flags = (uint8_t)((order->reliable ? DATAGRAM_RELIABLE : 0) | (order->to_group ? DATAGRAM_TO_GROUP : 0));
    if (order->length > datagrams_most(n, order->name->length)) {
        return -EMSGSIZE;
    }
    size_t length = group_head_bytes(&h);
    if (order->reliable && no_room(n, length)) {
        return -EAGAIN;
    }
    struct datagram_out *o = calloc(1, sizeof *o);
    int rc = o != NULL && (o->packet = malloc(length)) != NULL ? open_members(n, o, order->set) : -ENOMEM;
    if (rc == 0) {
        o->length = length;
        o->number = h.number;
        rc = make_and_send(n, order, &h, o->packet, length);
        /* A member that cannot be reached yet is tried again: it is told of only when it is gone. */
        rc = rc == -ENETUNREACH && order->reliable ? 0 : rc;
    }
    if (rc == 0) {
        n->numbers[order->reliable]++;
        cw_counter_add(n->count[COUNT_SENT], 1);
        if (order->reliable) {
            return remember(n, order, o);
        }
    }
    if (o != NULL) {
        free_out(o);
    }
    return rc;
}

void datagrams_cancel(struct datagrams *n, const void *arg)
{
    for (struct datagram_out *o = n->out; o != NULL; o = o->next) {
        o->done = o->arg == arg ? NULL : o->done;
    }
}

static void mark(const struct datagrams *n, struct datagram_out *o, struct cast_member *m, int status)
{
    if (m->state == CAST_WAITING) {
        m->state = status == 0 ? CAST_HAS : CAST_LOST;
        m->status = status;
        m->took = cw_time_since(cw_now(n->s), o->began);
        o->waiting--;
    }
}

/* Whoever is new may be in the root's view and not yet in ours. */
static bool is_gone(const struct datagrams *n, const struct datagram_out *o, const struct cast_member *m)
{
    return cw_time_since(cw_now(n->s), o->began).ns >= DATAGRAM_GRACE.ns &&
           cw_gone(n->s, torus_coord(n->torus, m->server));
}

static void send_again(struct datagrams *n, struct datagram_out *o)
{
    cw_time now = cw_now(n->s);
    o->packet[1] |= DATAGRAM_DIRECT;
    for (unsigned i = 0; i < o->count; i++) {
        struct cast_member *m = &o->member[i];
        if (m->state != CAST_WAITING) {
            continue;
        }
        if (is_gone(n, o, m)) {
            mark(n, o, m, -ENETUNREACH);
        } else if (cw_time_due(o->until, now)) {
            mark(n, o, m, -ETIMEDOUT);
        } else {
            const cw_to to = to_server(n->s, MULTICAST_JOB, MULTICAST_PORT_GROUPS, m->server);
            cw_counter_add(n->count[COUNT_REPEATED],
                           !GROUP_MUTANT(NO_REPEAT) && send_to(n, o->packet, o->length, &to) == 0);
        }
    }
    o->tries++;
    o->due = cw_time_add(now, pause_of(n, o));
}

/* Reports the datagrams that all members have answered, one at a time: their senders may send more at once. */
static void report_ended(struct datagrams *n)
{
    for (struct datagram_out **at = &n->out; *at != NULL;) {
        struct datagram_out *o = *at;
        if (o->waiting > 0) {
            at = &o->next;
            continue;
        }
        if (o->tries == 0) {
            n->answer_time.ns += (cw_time_since(cw_now(n->s), o->began).ns - n->answer_time.ns) / 8;
        }
        remove_out(n, at);
        if (o->done != NULL) {
            o->done(o->arg, o->member, o->count);
        }
        free_out(o);
        at = &n->out;
    }
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)state;
    struct datagrams *n = arg;
    n->timer = NULL;
    for (struct datagram_out *o = n->out; o != NULL; o = o->next) {
        if (cw_time_due(o->due, cw_now(s))) {
            send_again(n, o);
        }
    }
    report_ended(n);
    set_timer(n);
}

void datagrams_event(struct datagrams *n)
{
    for (struct datagram_out *o = n->out; o != NULL; o = o->next) {
        for (unsigned i = 0; i < o->count; i++) {
            if (is_gone(n, o, &o->member[i])) {
                mark(n, o, &o->member[i], -ENETUNREACH);
            }
        }
    }
    report_ended(n);
    set_timer(n);
}

static int take_receipt(struct datagrams *n, const struct group_head *h, cw_server from)
{
    struct datagram_out *o = n->out;
    while (o != NULL && o->number != h->number) {
        o = o->next;
    }
    if (o == NULL || h->life != n->life) {
        return -ESTALE;
    }
    for (unsigned i = 0; i < o->count; i++) {
        if (o->member[i].server == from || GROUP_MUTANT(ACK_FOR_ALL)) {
            mark(n, o, &o->member[i], h->status);
        }
    }
    if (o->waiting == 0) {
        report_ended(n);
        set_timer(n);
    }
    return 0;
}

/* ---- As a member, and on the way --------------------------------------------------------------------------------- */

static struct datagram_window *window_of(struct datagrams *n, const struct group_head *h)
{
    struct datagram_window **at = &n->from[2 * (size_t)h->origin + (h->flags & DATAGRAM_RELIABLE)];
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
    }
    return *at;
}

static void answer(struct datagrams *n, const struct group_head *h, int status)
{
    const struct group_head receipt = {.kind = GROUP_RECEIPT, .status = status, .life = h->life, .number = h->number};
    uint8_t bytes[GROUP_RECEIPT_BYTES];
    group_head_encode(&receipt, bytes);
    const cw_to to = to_server(n->s, MULTICAST_JOB, MULTICAST_PORT_GROUPS, h->origin);
    cw_counter_add(n->count[COUNT_STRANGE], send_to(n, bytes, sizeof bytes, &to) < 0); /* lost: it comes again */
}

/* *name lives as long as the arrival. */
static int arrival_of(const struct group_head *h, struct group_name *name, struct arrival *out)
{
    int rc = group_name_make(name, h->job, h->name, h->name_bytes);
    *out = (struct arrival){.name = name,
                            .to_group = (h->flags & DATAGRAM_TO_GROUP) != 0,
                            .best_effort = !(h->flags & DATAGRAM_RELIABLE),
                            .from = h->origin,
                            .bytes = h->bytes,
                            .length = h->length};
    return rc;
}

static void pass_on(struct datagrams *n, const struct group_head *h, const struct arrival *arrival)
{
    if (arrival->best_effort && !clients_forward(n->clients, arrival)) {
        return;
    }
    const struct cast_plan *plan = plans_get(&n->plans, h->origin, h->set);
    size_t length = group_head_bytes(h);
    const uint8_t *bytes = h->set - GROUP_DATAGRAM_HEAD; /* as it came */
    if (plan != NULL) {
        int rc = send_down(n, plan, h->tree, bytes, length);
        cw_counter_add(n->count[COUNT_PASSED], rc == 0);
    }
}

static int take_datagram(struct datagrams *n, const struct group_head *h, cw_server from)
{
    bool direct = (h->flags & DATAGRAM_DIRECT) != 0;
    if (h->servers != n->torus->servers || h->origin == n->self || (direct && from != h->origin)) {
        return -EINVAL;
    }
    struct datagram_window *w = window_of(n, h);
    if (w == NULL) {
        return -ENOMEM;
    }
    struct group_name name;
    struct arrival arrival;
    if (arrival_of(h, &name, &arrival) < 0) {
        return -EINVAL;
    }
    enum datagram_seen seen = datagram_window_look(w, h->life, h->number);
    bool member = in_set(h->set, n->self), answers = member && (h->flags & DATAGRAM_RELIABLE);
    if (seen != DATAGRAM_FRESH) {
        cw_counter_add(n->count[COUNT_DOUBLED], 1);
        if (answers && seen != DATAGRAM_TOO_OLD) {
            answer(n, h, seen == DATAGRAM_TAKEN ? 0 : -ENOENT);
        }
        return 0;
    }
    datagram_window_mark(w, h->life, h->number, true);
    if (!direct) {
        pass_on(n, h, &arrival);
    }
    int status = member ? clients_deliver(n->clients, &arrival) : 0;
    if (status < 0) {
        datagram_window_mark(w, h->life, h->number, false);
    }
    cw_counter_add(n->count[COUNT_TAKEN], member && status == 0);
    if (answers) {
        answer(n, h, status < 0 ? -ENOENT : 0);
    }
    return 0;
}

int datagrams_packet(struct datagrams *n, const struct group_head *h, const cw_rx *rx)
{
    int rc = h->kind == GROUP_DATAGRAM ? take_datagram(n, h, rx->src_process) : take_receipt(n, h, rx->src_process);
    cw_counter_add(n->count[COUNT_STRANGE], rc < 0);
    return rc;
}

unsigned datagrams_open_count(const struct datagrams *n)
{
    return n->out_count;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int datagrams_open(struct datagrams **out, cw_svc *s, const struct torus *torus, const struct clients *clients)
{
    struct datagrams *n = calloc(1, sizeof *n);
    if (n == NULL || (n->from = calloc(2 * (size_t)torus->servers, sizeof(struct datagram_window *))) == NULL) {
        free(n);
        return -ENOMEM;
    }
    n->s = s;
    n->torus = torus;
    n->clients = clients;
    n->plans = (struct plans){.s = s, .torus = torus};
    n->self = cw_server_id(s, cw_self(s));
    n->life = cw_random(s) | 1;
    n->out_end = &n->out;
    metrics_counters(s, metrics, COUNTS, n->count);
    *out = n;
    return 0;
}

void datagrams_close(struct datagrams *n)
{
    if (n == NULL) {
        return;
    }
    cw_timer_stop(n->s, n->timer);
    while (n->out != NULL) {
        struct datagram_out *o = n->out;
        n->out = o->next;
        free_out(o);
    }
    for (size_t i = 0; i < 2 * (size_t)n->torus->servers; i++) {
        free(n->from[i]);
    }
    plans_close(&n->plans);
    free(n->from);
    free(n);
}
