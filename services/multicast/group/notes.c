/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/notes.h"

#include "services/multicast/cast/plan.h"
#include "services/multicast/group/mutant.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/group/note_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLANS = 8, /* that are remembered */
    DOUBLINGS = 6,
};
static const cw_span again_least = {5 * 1000000};
static const cw_span again_most = {100 * 1000000};

/* Whom this server sends to for one source and one set of members. */
struct known_plan {
    bool good;
    cw_server source;
    uint64_t epoch;
    uint8_t *set;
    struct cast_plan plan;
};

/* A reliable one that is not settled. */
struct note_out {
    struct note_out *next;
    uint64_t number;
    uint8_t *packet;
    size_t length;
    struct cast_member *book;
    unsigned count, waiting, tries;
    cw_time began, due, until;
    notes_done_fn done;
    void *arg;
};

struct notes {
    cw_svc *s;
    const struct torus *torus;
    struct trees *trees;
    const struct notes_hooks *hooks;
    cw_server self;
    uint64_t life, numbers[2]; /* by reliable */
    struct note_window **from; /* by origin * 2 + reliable; NULL: nothing came from there */
    struct known_plan known[PLANS];
    unsigned evict;
    struct note_out *out, **out_end; /* by number */
    unsigned out_count;
    size_t memory;
    cw_span settling; /* how long notes take until all have answered, smoothed */
    cw_timer *timer;
    cw_counter *sent, *repeated, *taken, *passed, *doubled, *strange;
};

static size_t set_bytes(const struct notes *n)
{
    return cast_members_bytes(n->torus->servers);
}

static bool in_set(const uint8_t *set, cw_server i)
{
    return set[i / 8] >> i % 8 & 1;
}

/* ---- Where it goes ------------------------------------------------------------------------------------------------------ */

/* NULL: there is no memory. */
static const struct cast_plan *plan_for(struct notes *n, cw_server source, const uint8_t *set)
{
    uint64_t epoch = cw_epoch(n->s);
    for (unsigned i = 0; i < PLANS; i++) {
        const struct known_plan *k = &n->known[i];
        if (k->good && k->source == source && k->epoch == epoch && memcmp(k->set, set, set_bytes(n)) == 0) {
            return &k->plan;
        }
    }
    struct known_plan *k = &n->known[n->evict++ % PLANS];
    k->good = false;
    if (k->set == NULL && (k->set = malloc(set_bytes(n))) == NULL) {
        return NULL;
    }
    if (n->trees == NULL && trees_open(&n->trees, n->torus) < 0) {
        return NULL;
    }
    if (cast_plan_make(&k->plan, n->s, n->torus, n->trees, source, set) < 0) {
        return NULL;
    }
    memcpy(k->set, set, set_bytes(n));
    k->source = source;
    k->epoch = epoch;
    k->good = true;
    return &k->plan;
}

static int send_to(struct notes *n, const uint8_t *bytes, size_t length, const cw_to *to)
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

static cw_to to_server(const struct notes *n, cw_server server)
{
    return (cw_to){.kind = CW_TO_SERVER,
                   .job = MULTICAST_JOB,
                   .port = MULTICAST_PORT_GROUPS,
                   .server = torus_coord(n->torus, server),
                   .process = server};
}

/*
 * To the children in a tree. 0 when it is on its way to any: its number is used then, as those behind that child know it. Else the first error; -ENETUNREACH
 * when there are none.
 */
static int send_down(struct notes *n, const struct cast_plan *plan, uint8_t tree, const uint8_t *bytes, size_t length)
{
    int result = -ENETUNREACH;
    bool any = false;
    for (unsigned i = 0; i < plan->count; i++) {
        if (plan->edge[i].tree == tree) {
            const cw_to to = to_server(n, plan->edge[i].to);
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

/* ---- As a source -------------------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg);

static void set_timer(struct notes *n)
{
    cw_time wake = CW_NEVER;
    for (const struct note_out *o = n->out; o != NULL; o = o->next) {
        wake = cw_time_min(wake, o->due);
    }
    cw_timer_stop(n->s, n->timer);
    n->timer = NULL;
    if (wake.ns != CW_NEVER.ns) {
        cw_span span = cw_time_since(wake, cw_now(n->s));
        n->timer = cw_timer_start(n->s, span.ns > 0 ? span : CW_NS(0), tick, n);
    }
}

static void free_out(struct note_out *o)
{
    free(o->packet);
    free(o->book);
    free(o);
}

static void remove_out(struct notes *n, struct note_out **at)
{
    struct note_out *o = *at;
    *at = o->next;
    n->out_end = o->next == NULL ? at : n->out_end;
    n->out_count--;
    n->memory -= o->length;
}

size_t notes_most(const struct notes *n, size_t name_bytes)
{
    size_t head = GROUP_NOTE_HEAD + set_bytes(n) + name_bytes, most = cw_mtu(n->s);
    return most > head ? most - head : 0;
}

/* The members that are to answer. */
static int open_book(const struct notes *n, struct note_out *o, const uint8_t *set)
{
    for (cw_server i = 0; i < n->torus->servers; i++) {
        o->count += i != n->self && in_set(set, i);
    }
    o->book = calloc(o->count + 1, sizeof *o->book);
    if (o->book == NULL) {
        return -ENOMEM;
    }
    unsigned at = 0;
    for (cw_server i = 0; i < n->torus->servers; i++) {
        if (i != n->self && in_set(set, i)) {
            o->book[at++].server = i;
        }
    }
    o->waiting = o->count;
    return 0;
}

static cw_span pause_of(const struct notes *n, const struct note_out *o)
{
    int64_t span = 3 * n->settling.ns > again_least.ns ? 3 * n->settling.ns : again_least.ns;
    span <<= o->tries < DOUBLINGS ? o->tries : DOUBLINGS;
    return (cw_span){span < again_most.ns ? span : again_most.ns};
}

static int remember(struct notes *n, const struct note_order *order, struct note_out *o)
{
    o->done = order->done;
    o->arg = order->arg;
    o->began = cw_now(n->s);
    o->until = cw_time_add(o->began, NOTE_PATIENCE);
    o->due = o->waiting > 0 ? cw_time_add(o->began, pause_of(n, o)) : o->began;
    o->next = NULL;
    *n->out_end = o;
    n->out_end = &o->next;
    n->out_count++;
    n->memory += o->length;
    set_timer(n);
    return 0;
}

static bool no_room(const struct notes *n, size_t length)
{
    return (n->out != NULL && n->numbers[1] + 1 - n->out->number >= NOTE_WINDOW / 2) ||
           n->memory + length > NOTES_MEMORY_MOST;
}

/* The packet, and down the tree with it. */
static int make_and_send(struct notes *n, const struct note_order *order, struct group_head *h, uint8_t *packet,
                         size_t length)
{
    const struct cast_plan *plan = plan_for(n, n->self, order->set);
    if (plan == NULL) {
        return -ENOMEM;
    }
    uint8_t tree = choose_tree(plan, h->number);
    h->tree = tree < CW_LINK_COUNT ? tree : 0;
    group_head_encode(h, packet);
    return send_down(n, plan, tree, packet, length);
}

int notes_send(struct notes *n, const struct note_order *order)
{
    struct group_head h = {.kind = GROUP_NOTE,
                           .job = order->job,
                           .life = n->life,
                           .origin = n->self,
                           .number = n->numbers[order->reliable] + 1,
                           .servers = n->torus->servers,
                           .set = order->set,
                           .name = order->name,
                           .name_bytes = order->name_bytes,
                           .bytes = order->bytes,
                           .length = order->length};
    h.flags = (uint8_t)((order->reliable ? NOTE_RELIABLE : 0) | (order->to_group ? NOTE_TO_GROUP : 0));
    if (order->length > notes_most(n, order->name_bytes)) {
        return -EMSGSIZE;
    }
    size_t length = group_head_bytes(&h);
    if (order->reliable && no_room(n, length)) {
        return -EAGAIN;
    }
    struct note_out *o = calloc(1, sizeof *o);
    int rc = o != NULL && (o->packet = malloc(length)) != NULL ? open_book(n, o, order->set) : -ENOMEM;
    if (rc == 0) {
        o->length = length;
        o->number = h.number;
        rc = make_and_send(n, order, &h, o->packet, length);
        /* A member that cannot be reached yet is tried again: it is told of only when it is gone. */
        rc = rc == -ENETUNREACH && order->reliable ? 0 : rc;
    }
    if (rc == 0) {
        n->numbers[order->reliable]++;
        cw_counter_add(n->sent, 1);
        if (order->reliable) {
            return remember(n, order, o);
        }
    }
    if (o != NULL) {
        free_out(o);
    }
    return rc;
}

void notes_cancel(struct notes *n, const void *arg)
{
    for (struct note_out *o = n->out; o != NULL; o = o->next) {
        o->done = o->arg == arg ? NULL : o->done;
    }
}

static void mark(const struct notes *n, struct note_out *o, struct cast_member *m, int status)
{
    if (m->state == CAST_WAITING) {
        m->state = status == 0 ? CAST_HAS : CAST_LOST;
        m->status = status;
        m->took = cw_time_since(cw_now(n->s), o->began);
        o->waiting--;
    }
}

/* Whoever is new may be in the root's view and not yet in ours. */
static bool is_gone(const struct notes *n, const struct note_out *o, const struct cast_member *m)
{
    return cw_time_since(cw_now(n->s), o->began).ns >= NOTE_GRACE.ns && cw_gone(n->s, torus_coord(n->torus, m->server));
}

static void send_again(struct notes *n, struct note_out *o)
{
    cw_time now = cw_now(n->s);
    o->packet[1] |= NOTE_DIRECT;
    for (unsigned i = 0; i < o->count; i++) {
        struct cast_member *m = &o->book[i];
        if (m->state != CAST_WAITING) {
            continue;
        }
        if (is_gone(n, o, m)) {
            mark(n, o, m, -ENETUNREACH);
        } else if (cw_time_due(o->until, now)) {
            mark(n, o, m, -ETIMEDOUT);
        } else {
            const cw_to to = to_server(n, m->server);
            cw_counter_add(n->repeated, !GROUP_MUTANT(NO_REPEAT) && send_to(n, o->packet, o->length, &to) == 0);
        }
    }
    o->tries++;
    o->due = cw_time_add(now, pause_of(n, o));
}

/* Tells those that are settled, one at a time: whoever is told may send more. */
static void tell(struct notes *n)
{
    for (struct note_out **at = &n->out; *at != NULL;) {
        struct note_out *o = *at;
        if (o->waiting > 0) {
            at = &o->next;
            continue;
        }
        if (o->tries == 0) {
            n->settling.ns += (cw_time_since(cw_now(n->s), o->began).ns - n->settling.ns) / 8;
        }
        remove_out(n, at);
        if (o->done != NULL) {
            o->done(o->arg, o->book, o->count);
        }
        free_out(o);
        at = &n->out;
    }
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)state;
    struct notes *n = arg;
    n->timer = NULL;
    for (struct note_out *o = n->out; o != NULL; o = o->next) {
        if (cw_time_due(o->due, cw_now(s))) {
            send_again(n, o);
        }
    }
    tell(n);
    set_timer(n);
}

void notes_event(struct notes *n)
{
    for (struct note_out *o = n->out; o != NULL; o = o->next) {
        for (unsigned i = 0; i < o->count; i++) {
            if (is_gone(n, o, &o->book[i])) {
                mark(n, o, &o->book[i], -ENETUNREACH);
            }
        }
    }
    tell(n);
    set_timer(n);
}

static int take_noted(struct notes *n, const struct group_head *h, cw_server from)
{
    struct note_out *o = n->out;
    while (o != NULL && o->number != h->number) {
        o = o->next;
    }
    if (o == NULL || h->life != n->life) {
        return -ESTALE;
    }
    for (unsigned i = 0; i < o->count; i++) {
        if (o->book[i].server == from || GROUP_MUTANT(ACK_FOR_ALL)) {
            mark(n, o, &o->book[i], h->status);
        }
    }
    if (o->waiting == 0) {
        tell(n);
        set_timer(n);
    }
    return 0;
}

/* ---- As a member, and on the way ------------------------------------------------------------------------------------------ */

static struct note_window *window_of(struct notes *n, const struct group_head *h)
{
    struct note_window **at = &n->from[2 * (size_t)h->origin + (h->flags & NOTE_RELIABLE)];
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
    }
    return *at;
}

static void answer(struct notes *n, const struct group_head *h, int status)
{
    const struct group_head noted = {.kind = GROUP_NOTED, .status = status, .life = h->life, .number = h->number};
    uint8_t bytes[GROUP_NOTED_BYTES];
    group_head_encode(&noted, bytes);
    const cw_to to = to_server(n, h->origin);
    cw_counter_add(n->strange, send_to(n, bytes, sizeof bytes, &to) < 0); /* lost: it comes again */
}

static void pass_on(struct notes *n, const struct group_head *h)
{
    if (!(h->flags & NOTE_RELIABLE) && !n->hooks->forward(n->hooks->context, h)) {
        return;
    }
    const struct cast_plan *plan = plan_for(n, h->origin, h->set);
    size_t length = group_head_bytes(h);
    const uint8_t *bytes = h->set - GROUP_NOTE_HEAD; /* as it came */
    if (plan != NULL) {
        int rc = send_down(n, plan, h->tree, bytes, length);
        cw_counter_add(n->passed, rc == 0);
    }
}

static int take_note(struct notes *n, const struct group_head *h, cw_server from)
{
    bool direct = (h->flags & NOTE_DIRECT) != 0;
    if (h->servers != n->torus->servers || h->origin == n->self || (direct && from != h->origin)) {
        return -EINVAL;
    }
    struct note_window *w = window_of(n, h);
    if (w == NULL) {
        return -ENOMEM;
    }
    enum note_seen seen = note_window_look(w, h->life, h->number);
    bool member = in_set(h->set, n->self), answers = member && (h->flags & NOTE_RELIABLE);
    if (seen != NOTE_FRESH) {
        cw_counter_add(n->doubled, 1);
        if (answers && seen != NOTE_TOO_OLD) {
            answer(n, h, seen == NOTE_TAKEN ? 0 : -ENOENT);
        }
        return 0;
    }
    note_window_mark(w, h->life, h->number, true);
    if (!direct) {
        pass_on(n, h);
    }
    int status = member ? n->hooks->deliver(n->hooks->context, h) : 0;
    if (status < 0) {
        note_window_mark(w, h->life, h->number, false);
    }
    cw_counter_add(n->taken, member && status == 0);
    if (answers) {
        answer(n, h, status < 0 ? -ENOENT : 0);
    }
    return 0;
}

int notes_packet(struct notes *n, const struct group_head *h, const cw_rx *rx)
{
    int rc = h->kind == GROUP_NOTE ? take_note(n, h, rx->src_process) : take_noted(n, h, rx->src_process);
    cw_counter_add(n->strange, rc < 0);
    return rc;
}

unsigned notes_open_count(const struct notes *n)
{
    return n->out_count;
}

/* ---- Life ---------------------------------------------------------------------------------------------------------------- */

int notes_open(struct notes **out, cw_svc *s, const struct torus *torus, const struct notes_hooks *hooks)
{
    struct notes *n = calloc(1, sizeof *n);
    if (n == NULL || (n->from = calloc(2 * (size_t)torus->servers, sizeof(struct note_window *))) == NULL) {
        free(n);
        return -ENOMEM;
    }
    n->s = s;
    n->torus = torus;
    n->hooks = hooks;
    n->self = cw_server_id(s, cw_self(s));
    n->life = cw_random(s) | 1;
    n->out_end = &n->out;
    n->sent = cw_counter_new(s, "notes_sent", "messages of one packet sent from here");
    n->repeated = cw_counter_new(s, "notes_repeated", "of them, sent again to a member that had not answered");
    n->taken = cw_counter_new(s, "notes_taken", "messages of one packet that came for somebody here");
    n->passed = cw_counter_new(s, "notes_passed", "messages of one packet passed on");
    n->doubled = cw_counter_new(s, "notes_doubled", "messages of one packet that came once more");
    n->strange = cw_counter_new(s, "notes_strange", "packets of messages of one packet that were of no use");
    *out = n;
    return 0;
}

void notes_close(struct notes *n)
{
    if (n == NULL) {
        return;
    }
    cw_timer_stop(n->s, n->timer);
    while (n->out != NULL) {
        struct note_out *o = n->out;
        n->out = o->next;
        free_out(o);
    }
    for (size_t i = 0; i < 2 * (size_t)n->torus->servers; i++) {
        free(n->from[i]);
    }
    for (unsigned i = 0; i < PLANS; i++) {
        cast_plan_free(&n->known[i].plan);
        free(n->known[i].set);
    }
    trees_close(n->trees);
    free(n->from);
    free(n);
}
