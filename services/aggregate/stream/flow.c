/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c - one partition at one server. Its inputs are the children of the tree and the server's own task, each with
 * room of its own for some blocks: a merge whose inputs share room comes to a stop when one of them fills what another
 * one, which is waited for, needs.
 *
 * A block that may be sent waits while STREAM_LENT bytes of blocks are on their way to that neighbour already. All
 * links carry blocks both ways, and credit stands behind them: with all that there is credit for in the queues of the
 * links, credit would come as late as the last of it, and links would be idle a third of the time.
 */
#include "base/check.h"
#include "services/aggregate/stream/flow_parts.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As many blocks as have room in 128 KiB. */
static unsigned window_of(uint32_t each)
{
    uint32_t n = 2 * STREAM_BLOCK / each;
    return n < 2 ? 2 : n > STREAM_WINDOW_MOST ? STREAM_WINDOW_MOST : n;
}

uint64_t flow_cost(unsigned inputs, uint32_t each)
{
    return sizeof(struct flow) + sizeof(struct merge) + inputs * (sizeof(struct input) + sizeof(struct merge_source)) +
           (uint64_t)(inputs + 1) * window_of(each) * each;
}

cw_link flow_tree(const struct flow *f)
{
    return f->tree;
}

uint32_t flow_partition(const struct flow *f)
{
    return f->partition;
}

bool flow_done(const struct flow *f)
{
    bool done = f->merged && f->sent == f->filled;
    for (unsigned i = 0; i < f->window; i++) {
        done = done && !f->out[i].away;
    }
    for (unsigned i = 0; i < f->inputs; i++) {
        done = done && !f->input[i].reading;
    }
    return done;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void source_ready(void *arg);

static bool open_child(struct flow *f, cw_server child)
{
    struct input *in = &f->input[f->inputs++];
    in->child = child;
    in->bytes = malloc((size_t)f->window * f->j->each);
    return in->bytes != NULL;
}

static bool open_own(struct flow *f, struct task *own)
{
    struct input *in = &f->input[f->inputs++];
    in->child = CW_SERVER_NONE;
    in->source = source_open(own, f->partition, (cw_bytes){f->after, f->after_length}, source_ready, f);
    return in->source != NULL;
}

/* The children in the tree; at the root of a run without trees all other contributors. */
static bool open_inputs(struct flow *f)
{
    struct junction *j = f->j;
    const struct torus *torus = &j->st->torus;
    bool good = true;
    for (cw_links left = j->plan.tree[f->tree].children; left != 0; left &= (cw_links)(left - 1)) {
        good = open_child(f, torus_neighbour(torus, j->st->self, (cw_link)__builtin_ctz(left))) && good;
    }
    for (cw_server s = 0; s < torus->servers && j->senders != NULL; s++) {
        good = (!trees_set_has(j->senders, s) || open_child(f, s)) && good;
    }
    for (unsigned i = 0; i < j->owns; i++) {
        good = open_own(f, j->own[i]) && good;
    }
    if (STREAM_MUTANT(OWN_TWICE) && j->attempt > 1 && j->owns > 0) {
        good = open_own(f, j->own[0]) && good;
    }
    return good && f->inputs > 0;
}

struct flow *flow_open(struct junction *j, cw_link tree, uint32_t partition, cw_bytes after)
{
    struct combine combine;
    struct flow *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return NULL;
    }
    *f = (struct flow){.j = j, .tree = tree, .partition = partition};
    while (!j->direct && f->up < CW_LINK_COUNT - 1 &&
           torus_neighbour(&j->st->torus, j->st->self, f->up) != j->plan.tree[tree].parent) {
        f->up++; /* of two links to one neighbour, the first */
    }
    unsigned most = junction_inputs(j, tree) + STREAM_MUTANT(OWN_TWICE);
    f->after = after.length > 0 ? malloc(after.length) : NULL;
    if (f->after != NULL) {
        memcpy(f->after, after.bytes, after.length);
        f->after_length = (uint32_t)after.length;
    }
    f->merge = malloc(sizeof *f->merge);
    f->source = calloc(most, sizeof *f->source);
    f->input = calloc(most, sizeof *f->input);
    f->window = window_of(j->each);
    f->bytes = malloc((size_t)f->window * j->each);
    for (unsigned i = 0; i < f->window; i++) {
        f->out[i].f = f;
        f->out[i].bytes = f->bytes != NULL ? f->bytes + (size_t)i * j->each : NULL;
    }
    f->granted = j->collector != NULL ? UINT32_MAX : 0; /* nobody is above the root */
    if (f->merge == NULL || f->source == NULL || f->input == NULL || f->bytes == NULL ||
        f->after_length != after.length || functions_combine(j->st, j->combine, &combine) < 0 || !open_inputs(f)) {
        flow_free(f);
        return NULL;
    }
    bool on_the_way = combine.table != NULL && combine.table->associative;
    merge_open(f->merge, f->source, f->inputs, on_the_way ? &combine : NULL);
    return f;
}

void flow_free(struct flow *f)
{
    f->ending = true;
    if (list_is_linked(&f->waits)) {
        list_remove(&f->waits);
    }
    held_end(f);
    for (unsigned i = 0; i < f->window; i++) {
        if (f->out[i].away) {
            (void)transport_cancel(f->j->st->edge, f->out[i].id);
        }
        CHECK(!f->out[i].away);
        free(f->out[i].longer);
    }
    for (unsigned i = 0; i < f->inputs; i++) {
        if (f->input[i].source != NULL) {
            source_close(f->input[i].source);
        }
        for (unsigned k = 0; k < f->window; k++) {
            free(f->input[i].slot[k].longer);
        }
        free(f->input[i].bytes);
    }
    if (list_is_linked(&f->link)) {
        list_remove(&f->link);
    }
    free(f->after);
    free(f->merge);
    free(f->source);
    free(f->input);
    free(f->bytes);
    free(f);
}

/* ---- From the children ------------------------------------------------------------------------------------------- */

/* Tells a child how many blocks there is room for, where that is new. */
static void tell(struct flow *f, struct input *in)
{
    struct junction *j = f->j;
    uint32_t granted = in->taken + f->window;
    if (in->child == CW_SERVER_NONE || in->telling || in->ended || in->told == granted || j->broken) {
        return;
    }
    if (in->told != 0 && granted - in->told < f->window / 4) {
        return; /* a word for each block would be a packet for each */
    }
    struct letter l = {.kind = LETTER_GRANT, .run = j->run, .attempt = j->attempt, .tree = (uint8_t)f->tree};
    l.partition = f->partition;
    l.sequence = granted;
    l.after = (cw_bytes){f->after, in->told == 0 ? f->after_length : 0}; /* the first one opens the partition there */
    in->told = granted;
    in->telling = true;
    int rc = stream_say(j->st, in->child, &l);
    if (rc < 0) {
        junction_break(j, rc, in->child);
    }
}

/* NULL: none of its inputs comes from that server. */
static struct input *find_input(struct flow *f, cw_server child)
{
    for (unsigned i = 0; i < f->inputs; i++) {
        if (f->input[i].child == child) {
            return &f->input[i];
        }
    }
    return NULL;
}

void flow_told(struct flow *f, cw_server child)
{
    struct input *in = find_input(f, child);
    if (in != NULL) {
        in->telling = false;
        tell(f, in);
    }
}

static uint8_t *slot_bytes(const struct flow *f, const struct input *in, uint32_t sequence)
{
    unsigned i = sequence % f->window;
    return in->slot[i].longer != NULL ? in->slot[i].longer : in->bytes + (size_t)i * f->j->each;
}

int flow_block(struct flow *f, const struct letter *l, cw_server child, const uint8_t *bytes, size_t size)
{
    struct input *in = find_input(f, child);
    if (in == NULL || in->ended || l->sequence < in->taken || l->sequence - in->taken >= f->window ||
        size > STREAM_BLOCK) {
        return -EPROTO; /* it has sent more than there is room for (aggregate rule 24), or this for the second time */
    }
    struct slot *slot = &in->slot[l->sequence % f->window];
    if (slot->here) {
        return -EPROTO; /* aggregate rule 22 */
    }
    if (size > f->j->each) {
        slot->longer = malloc(size);
    }
    if (size > f->j->each && slot->longer == NULL) {
        return -ENOBUFS;
    }
    if (size > 0) {
        memcpy(slot_bytes(f, in, l->sequence), bytes, size);
    }
    slot->size = size;
    slot->last = l->last;
    slot->here = true;
    return 0;
}

/* ---- Into the merge ---------------------------------------------------------------------------------------------- */

/* The merge has given back the child's block. */
static void give_back(struct flow *f, struct input *in)
{
    if (!in->lent) {
        return;
    }
    in->lent = false;
    if (in->child == CW_SERVER_NONE) {
        return;
    }
    struct slot *slot = &in->slot[in->taken % f->window];
    slot->here = false;
    free(slot->longer);
    slot->longer = NULL;
    in->ended = slot->last;
    in->taken++;
    tell(f, in);
}

/* Feeds input i its next block, or its end. False: there is none yet. */
static bool feed_child(struct flow *f, unsigned i)
{
    struct input *in = &f->input[i];
    const struct slot *slot = &in->slot[in->taken % f->window];
    if (in->ended || (STREAM_MUTANT(CHILD_MISSING) && !slot->here && f->filled > 0)) {
        in->ended = true;
        merge_end(f->merge, i);
        return true;
    }
    if (!slot->here) {
        return false;
    }
    in->lent = true;
    merge_feed(f->merge, i, slot_bytes(f, in, in->taken), slot->size);
    return true;
}

/* The same for the own task, of which the next block is read. */
static bool feed_own(struct flow *f, unsigned i, bool read)
{
    struct input *in = &f->input[i];
    const uint8_t *bytes;
    size_t size;
    bool last = false;
    if (in->reading) {
        return false;
    }
    if (in->ended) {
        merge_end(f->merge, i);
        return true;
    }
    if (!read) {
        int rc = source_next(in->source);
        in->reading = rc == 0;
        if (rc < 0) {
            junction_break(f->j, rc, f->j->st->self);
        }
        if (rc != 1) {
            return false;
        }
    }
    int rc = source_block(in->source, &bytes, &size, &last);
    if (rc < 0) {
        junction_break(f->j, rc, f->j->st->self);
        return false;
    }
    in->lent = true;
    in->ended = last;
    stream_note(f->j->st, STREAM_COUNT_READ, size);
    merge_feed(f->merge, i, bytes, size);
    return true;
}

static bool feed(struct flow *f, unsigned i)
{
    give_back(f, &f->input[i]);
    return f->input[i].child == CW_SERVER_NONE ? feed_own(f, i, false) : feed_child(f, i);
}

static void source_ready(void *arg)
{
    struct flow *f = arg;
    for (unsigned i = 0; i < f->inputs; i++) {
        if (f->input[i].reading) {
            f->input[i].reading = false;
            if (!f->j->broken && feed_own(f, i, true)) {
                flow_pump(f);
            }
        }
    }
    stream_soon(f->j->st);
}

/* At its beginning a merge wants a block of every input. */
static bool all_fed(struct flow *f)
{
    bool all = true;
    for (unsigned i = 0; i < f->inputs; i++) {
        bool hungry = merge_hungry(f->merge, i);
        all = (!hungry || feed(f, i)) && all;
    }
    return all && !f->j->broken;
}

/* ---- To the parent ----------------------------------------------------------------------------------------------- */

/* What goes straight to the root is spread over all links by the transport, which takes turns among roots. */
static size_t lends(const struct out *o)
{
    return o->f->j->direct ? 0 : o->writer.used;
}

static void block_ended(void *context, void *arg, int status)
{
    struct out *o = arg;
    struct flow *f = o->f;
    (void)context;
    struct stream *st = f->j->st;
    o->away = false;
    st->lent[f->up] -= lends(o);
    if (list_is_empty(&st->waiting[f->up]) && (f->ending || f->j->broken)) {
        return;
    }
    if (f->ending || f->j->broken) {
        stream_soon(st); /* others may go on */
        return;
    }
    if (status < 0) {
        junction_break(f->j, status, f->j->plan.tree[f->tree].parent);
        return;
    }
    flow_go_on(st, f->up);
    flow_pump(f);
    if (flow_done(f)) {
        stream_soon(st); /* which frees it */
    }
}

static void send(struct flow *f, struct out *o)
{
    struct junction *j = f->j;
    struct stream *st = j->st;
    struct letter l = {.kind = LETTER_BLOCK, .run = j->run, .attempt = j->attempt, .tree = (uint8_t)f->tree};
    uint8_t head[LETTER_BLOCK_BYTES];
    l.last = o->last;
    l.partition = f->partition;
    l.sequence = o->sequence;
    letter_encode(&l, head);
    const struct transport_data data = {.bytes = o->writer.out, .size = o->writer.used};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .head = head, .head_length = sizeof head};
    cw_server parent = j->plan.tree[f->tree].parent;
    cw_to to = to_server(st->s, AGGREGATE_JOB, AGGREGATE_PORT_STREAM, parent);
    o->full = false;
    o->away = true;
    st->lent[f->up] += lends(o);
    o->id = transport_send(st->edge, &to, &data, &options, block_ended, o);
    if (o->id < 0) {
        st->lent[f->up] -= lends(o);
        o->away = false;
        junction_break(j, (int)o->id, parent);
    }
}

/* Sends what is filled and has room above; at the root it goes into the result. */
static void send_all(struct flow *f)
{
    struct junction *j = f->j;
    while (f->sent < f->filled && !j->broken) {
        struct out *o = &f->out[f->sent % f->window];
        if (o->sequence >= f->granted && !STREAM_MUTANT(NO_CREDIT)) {
            return; /* aggregate rule 24 */
        }
        if (j->collector == NULL && !j->direct && j->st->lent[f->up] >= STREAM_LENT) {
            if (!list_is_linked(&f->waits)) {
                list_push_back(&j->st->waiting[f->up], &f->waits);
            }
            return;
        }
        f->sent++;
        if (j->collector != NULL) {
            o->full = false;
            collector_take(j->collector, f->partition, o->writer.out, o->writer.used, o->last);
        } else {
            send(f, o);
        }
    }
}

/* The block that is being filled; NULL: all of them are on their way. */
static struct out *current(struct flow *f)
{
    struct out *o = &f->out[f->filled % f->window];
    return o->full || o->away ? NULL : o;
}

static void fill(struct flow *f, struct out *o, bool last)
{
    o->sequence = f->filled++;
    o->begun = false;
    o->full = true;
    o->last = last;
    f->merged = last;
    held_end(f);
}

/* The block that is being filled, if the merge waits with records in it; NULL: it does not. */
static struct out *partial(struct flow *f)
{
    struct out *o = f->merged || f->j->broken ? NULL : current(f);
    return o != NULL && o->begun && o->writer.used > 0 ? o : NULL;
}

void flow_flush(struct flow *f)
{
    struct out *o = f->pumping || f->ending ? NULL : partial(f);
    if (o != NULL && f->filled < f->granted) {
        fill(f, o, false);
        send_all(f);
    }
}

/*
 * Most of a block now is better than all of it later, where the link takes more: with equal keys below, what children's
 * blocks become is a block but for a few records, which would wait for their next ones.
 */
static bool is_worth_sending(const struct flow *f, const struct out *o)
{
    const struct junction *j = f->j;
    return j->collector == NULL && 8 * o->writer.used >= 7 * j->each && f->sent == f->filled &&
           f->filled < f->granted && j->st->lent[f->up] < STREAM_LENT;
}

/* Merges one step. False: nothing more can be done now. */
static bool step(struct flow *f)
{
    struct out *o = current(f);
    if (o == NULL) {
        return false;
    }
    if (!o->begun) {
        record_writer_init(&o->writer, o->bytes, f->j->each);
        o->begun = true;
    }
    int rc = merge_run(f->merge, &o->writer);
    switch (rc) {
    case MERGE_WAITS:
        if (feed(f, f->merge->waits)) {
            return true;
        }
        if (is_worth_sending(f, o)) {
            fill(f, o, false);
        }
        return false;
    case MERGE_FULL:
        if (o->writer.used == 0) { /* a record that is longer than the blocks of this run */
            o->longer = o->longer != NULL ? o->longer : malloc(STREAM_BLOCK);
            record_writer_init(&o->writer, o->longer != NULL ? o->longer : o->bytes,
                               o->longer != NULL ? STREAM_BLOCK : f->j->each);
            if (o->longer == NULL) {
                junction_break(f->j, -ENOBUFS, f->j->st->self);
            }
            return o->longer != NULL;
        }
        fill(f, o, false);
        return true;
    case MERGE_DONE:
        fill(f, o, true);
        return false;
    default:
        junction_break(f->j, rc, f->j->st->self);
        return false;
    }
}

void flow_pump(struct flow *f)
{
    if (f->pumping || f->ending) {
        return;
    }
    f->pumping = true;
    for (unsigned i = 0; i < f->inputs; i++) {
        tell(f, &f->input[i]); /* of a partition that has just been opened */
    }
    bool more = !f->merged && !f->j->broken && all_fed(f);
    while (more && !f->j->broken) {
        more = step(f);
        send_all(f);
    }
    send_all(f);
    f->pumping = false;
    if (partial(f) != NULL && f->filled < f->granted) {
        held_begin(f);
    }
}

/*
 * Who goes on first: trees take turns, and of one the partition that was opened first. Were all of them as fast, all
 * would end at the same time, and links would be idle until the next ones have been opened.
 */
static struct flow *first_waiting(struct list *waiting)
{
    struct flow *first = container_of(list_first(waiting), struct flow, waits);
    for (struct list_node *n = list_first(waiting); n != NULL; n = list_next(waiting, n)) {
        struct flow *f = container_of(n, struct flow, waits);
        first = f->j == first->j && f->tree == first->tree && f->partition < first->partition ? f : first;
    }
    return first;
}

void flow_go_on(struct stream *st, cw_link link)
{
    while (st->lent[link] < STREAM_LENT && !list_is_empty(&st->waiting[link])) {
        struct flow *f = first_waiting(&st->waiting[link]);
        list_remove(&f->waits);
        flow_pump(f);
    }
}

void flow_grant(struct flow *f, uint32_t granted)
{
    f->granted = granted > f->granted ? granted : f->granted;
}
