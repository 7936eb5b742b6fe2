/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_services.c - services come and go.
 */
#include "core/node_internal.h"

#include "base/check.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 31, STATE_MAX = 1 << 30 };

/* ---- The table of a service -------------------------------------------------------------------------------------- */

static bool sound_name(const char *name)
{
    size_t length = 0;
    for (; name != NULL && name[length] != '\0' && length <= NAME_MAX_BYTES; length++) {
        char c = name[length];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-') {
            return false;
        }
    }
    return length >= 1 && length <= NAME_MAX_BYTES;
}

static int check_table(const struct node *n, const cw_service *table, cw_service *own)
{
    if (table == NULL || !node_adopt(own, sizeof *own, sizeof *own, table) || own->api != CW_API_VERSION ||
        !sound_name(own->name) || own->job == 0 || own->on_packet == NULL || own->on_path > CW_PATH_TRACED ||
        own->mark_after.ns < 0 || own->state_size > STATE_MAX) {
        return -EINVAL;
    }
    if (own->exports != NULL && node_object(n, own->name, own->exports_version) != NULL) {
        return -EEXIST;
    }
    if (guests_after(&n->guests, own->job, 0) != NULL) {
        return -EEXIST; /* a job is a service's here, or attached processes' */
    }
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        if (svc->job == own->job || strcmp(svc->table->name, own->name) == 0) {
            return -EEXIST;
        }
    }
    return 0;
}

/* ---- Jobs to services -------------------------------------------------------------------------------------------- */

/*
 * Built anew on every change: with at most half of the slots in use a look-up is one or two steps, and nothing is ever
 * deleted.
 */
static void fill_job_slots(struct node *n)
{
    memset(n->job_slot, 0, sizeof n->job_slot);
    n->last_job = 0;
    n->last = NULL;
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        cw_job job = svc->job;
        unsigned slot = job % NODE_JOB_SLOTS;
        while (n->job_slot[slot].job != 0) {
            slot = (slot + 1) % NODE_JOB_SLOTS;
        }
        n->job_slot[slot].job = job;
        n->job_slot[slot].index = (uint8_t)svc->index;
    }
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

/* A number that no place has; FAIRQ_PLACES: all are taken. */
static unsigned free_place(const struct node *n)
{
    unsigned i = 1; /* 0 is of the jobs that have no service here */
    while (i < FAIRQ_PLACES && n->places[i] != NULL) {
        i++;
    }
    return i;
}

static void open_place(struct node *n, struct place *pl, struct cw_svc *svc, unsigned number)
{
    *pl = (struct place){.svc = svc, .number = (uint8_t)number, .weight = NODE_WEIGHT};
    packetq_init(&pl->queue, n->config.queue_packets, n->config.queue_bytes, PACKETQ_DROP_TAIL);
    n->places[number] = pl;
}

static void forget_turns(struct node *n, unsigned number)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        fairq_forget(&n->link[link].turns, number);
    }
}

/* The second place of a service. 0, -ENOSPC or -ENOMEM. */
static int open_background(struct node *n, struct cw_svc *svc)
{
    unsigned number = free_place(n);
    if (number == FAIRQ_PLACES) {
        return -ENOSPC;
    }
    svc->background = malloc(sizeof *svc->background);
    if (svc->background == NULL) {
        return -ENOMEM;
    }
    open_place(n, svc->background, svc, number);
    n->background |= NODE_MUTANT(BACKGROUND_FIRST) ? 0 : place_bit(number);
    return 0;
}

/* Drops what waits there, and frees the number. */
static void close_place(struct node *n, struct place *pl)
{
    pl->own_links = CW_LINKS_NONE;
    node_drop_list(n, place_drain(n, pl), CW_DROP_CLOSED);
    forget_turns(n, pl->number);
    n->background &= ~place_bit(pl->number);
    n->places[pl->number] = NULL;
    place_note_room(n, pl); /* who waited for room here learns that it is gone */
}

/* As the table says, but at least the time of four frames: fewer always wait where senders keep a link busy. */
static cw_span mark_after(const struct node *n, const cw_service *table)
{
    enum { FRAMES = 4 };
    uint64_t rate = n->config.bits_per_second;
    int64_t least = rate == 0 ? 0 : (int64_t)(UINT64_C(8000000000) * n->config.mtu * FRAMES / rate);
    return table->mark_after.ns == 0 || table->mark_after.ns > least ? table->mark_after : CW_NS(least);
}

static struct cw_svc *new_service(struct node *n, const cw_service *table, unsigned index)
{
    struct cw_svc *svc = calloc(1, sizeof *svc);
    void *state = calloc(1, table->state_size > 0 ? table->state_size : 1);
    if (svc == NULL || state == NULL) {
        free(state);
        free(svc);
        return NULL;
    }
    svc->node = n;
    svc->own_table = *table;
    svc->table = &svc->own_table;
    svc->job = table->job;
    svc->process = n->self;
    svc->on_path = table->on_path;
    svc->mark_after = mark_after(n, table);
    svc->state = state;
    svc->index = (uint16_t)index;
    svc->age = ++n->services_came;
    svc->random = prng_stream(n->env.seed, n->self, NODE_STREAM_SERVICE + (uint64_t)table->job);
    counters_init(&svc->counters);
    open_place(n, &svc->main, svc, index);
    n->service[index] = svc;
    n->services |= place_bit(index);
    return svc;
}

/* What a service still has in its hands would be missed by the pool for ever. */
static void empty_hands(struct node *n, struct cw_svc *svc)
{
    if (svc->hands == NULL) {
        return;
    }
    n->kept += svc->in_hand;
    svc->misuses++;
    if (n->env.watch.log != NULL) {
        n->env.watch.log(n->env.watch.context, n, CW_LOG_ERROR, svc->table->name,
                         "the service closed with packets in its hands: they are freed", n->now);
    }
    while (svc->hands != NULL) {
        struct cw_packet *p = svc->hands;
        node_let_go(svc, p);
        pkt_release(p);
    }
}

/* Takes the service off the node: its packets are dropped, its memory goes. It is told nothing more. */
static void discard(struct node *n, struct cw_svc *svc)
{
    uint64_t bit = place_bit(svc->index);
    node_end_freed(n); /* later there is nobody to blame */
    timers_stop_all(&n->timers, svc->index);
    response_end_all(&n->nmu.responses, svc->index);
    nmu_vacate(&n->nmu, svc->index);
    node_end_requests(svc);
    close_place(n, &svc->main);
    if (svc->background != NULL) {
        close_place(n, svc->background);
        free(svc->background);
    }
    n->writable &= ~bit;
    n->service[svc->index] = NULL;
    n->services &= ~bit;
    uint64_t all = n->services;
    for (struct cw_svc *other; (other = node_next_service(n, &all)) != NULL;) {
        other->found_by &= ~bit;
    }
    for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
        if (n->places[i] != NULL) {
            n->places[i]->refused &= ~bit;
        }
    }
    fill_job_slots(n);
    empty_hands(n, svc);
    free(svc->state);
    histograms_close(&svc->histograms);
    upcall_times_close(&svc->times);
    free(svc);
    node_try_held(n); /* its held packets have no service now: dropped as such */
}

static void close_service(struct node *n, struct cw_svc *svc)
{
    svc->closing = true;
    node_close_guests(svc);
    node_cancel_calls(svc);
    node_end_work(svc);
    if (svc->table->close != NULL) {
        struct node_outer outer = node_upcall_begin(svc, UPCALL_CLOSE);
        svc->table->close(svc, svc->state);
        node_upcall_end(svc, UPCALL_CLOSE, outer);
    }
    discard(n, svc);
}

int node_service_add(struct node *n, const cw_service *table, cw_time now)
{
    node_enter(n, now);
    node_sync(n);
    cw_service own;
    int rc = check_table(n, table, &own);
    if (rc < 0) {
        return rc;
    }
    unsigned index = free_place(n);
    if (index == FAIRQ_PLACES) {
        return -ENOSPC;
    }
    struct cw_svc *svc = new_service(n, &own, index);
    if (svc == NULL) {
        return -ENOMEM;
    }
    fill_job_slots(n);
    rc = table->background ? open_background(n, svc) : 0;
    rc = rc < 0 ? rc : node_reside(svc);
    if (rc == 0 && svc->table->open != NULL) {
        svc->opening = true;
        struct node_outer outer = node_upcall_begin(svc, UPCALL_OPEN);
        rc = svc->table->open(svc, svc->state);
        node_upcall_end(svc, UPCALL_OPEN, outer);
        svc->opening = false;
    }
    if (rc < 0) {
        svc->closing = true;
        node_close_guests(svc);
        node_cancel_calls(svc);
        node_end_work(svc);
        discard(n, svc);
        return rc;
    }
    node_run_local(n);
    return 0;
}

int node_service_remove(struct node *n, cw_job job, cw_time now)
{
    node_enter(n, now);
    node_sync(n);
    struct cw_svc *svc = node_service_of(n, job);
    if (svc == NULL) {
        return -ENOENT;
    }
    if (node_has_work_away(svc)) {
        return -EBUSY;
    }
    close_service(n, svc);
    node_run_local(n);
    return 0;
}

const char *node_service_user(struct node *n, cw_job job)
{
    const struct cw_svc *svc = node_service_of(n, job);
    uint64_t users = svc == NULL ? 0 : svc->found_by & n->services;
    const struct cw_svc *user = node_next_service(n, &users);
    return user == NULL ? NULL : user->table->name;
}

/* Does a closes before b? The younger one does; but whoever has found another service closes before that one. */
static bool closes_before(const struct cw_svc *a, const struct cw_svc *b)
{
    bool a_is_used = a->found_by != 0, b_is_used = b->found_by != 0;
    return a_is_used != b_is_used ? b_is_used : a->age > b->age;
}

void node_close_services(struct node *n)
{
    for (;;) {
        struct cw_svc *last = NULL;
        uint64_t all = n->services;
        for (struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
            last = last == NULL || closes_before(svc, last) ? svc : last;
        }
        if (last == NULL) {
            return;
        }
        CHECK(!node_has_work_away(last));
        close_service(n, last);
    }
}

static const enum packetq_drop drop_of[] = {
    [NODE_DROP_TAIL] = PACKETQ_DROP_TAIL,
    [NODE_DROP_OLDEST] = PACKETQ_DROP_OLDEST,
    [NODE_DROP_PRIORITY] = PACKETQ_DROP_PRIORITY,
};
static const enum node_drop_policy drop_to[] = {
    [PACKETQ_DROP_TAIL] = NODE_DROP_TAIL,
    [PACKETQ_DROP_OLDEST] = NODE_DROP_OLDEST,
    [PACKETQ_DROP_PRIORITY] = NODE_DROP_PRIORITY,
};

static void set_policy(struct node *n, struct place *pl, const struct node_service_policy *policy)
{
    pl->weight = (uint16_t)policy->weight;
    pl->queue.packets_max = policy->queue_packets;
    pl->queue.bytes_max = policy->queue_bytes;
    pl->queue.drop = drop_of[policy->drop];
    place_note_room(n, pl); /* perhaps; whoever finds none is refused again */
}

int node_service_policy(struct node *n, cw_job job, const struct node_service_policy *policy)
{
    struct cw_svc *svc = node_service_of(n, job);
    if (svc == NULL) {
        return -ENOENT;
    }
    if (policy->weight < 1 || policy->weight > FAIRQ_WEIGHT_MAX || policy->queue_packets < 1 ||
        policy->queue_bytes < n->config.mtu || (unsigned)policy->drop > NODE_DROP_PRIORITY) {
        return -EINVAL;
    }
    bool was_background = n->background & place_bit(svc->index);
    if (was_background != policy->background) {
        n->background ^= place_bit(svc->index);
        forget_turns(n, svc->index); /* the classes have clocks of their own: it starts level in the new one */
    }
    set_policy(n, &svc->main, policy);
    if (svc->background != NULL) {
        set_policy(n, svc->background, policy);
    }
    return 0;
}

bool node_service_at(const struct node *n, unsigned i, struct node_service_info *out)
{
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        if (i-- > 0) {
            continue;
        }
        const struct packetq *queue = &svc->main.queue,
                             *second = svc->background != NULL ? &svc->background->queue : NULL;
        *out = (struct node_service_info){
            .name = svc->table->name,
            .version = svc->table->version,
            .job = svc->job,
            .policy =
                {
                    .weight = svc->main.weight,
                    .background = n->background >> svc->index & 1,
                    .queue_packets = queue->packets_max,
                    .queue_bytes = queue->bytes_max,
                    .drop = drop_to[queue->drop],
                },
            .queued_packets = queue->packets + (second != NULL ? second->packets : 0),
            .queued_bytes = queue->bytes + (second != NULL ? second->bytes : 0),
            .in_hand = svc->in_hand,
            .timers = n->timers.of[svc->index],
            .calls = n->calls.of[svc->index],
            .misuses = svc->misuses,
        };
        node_count_requests(svc, out);
        return true;
    }
    return false;
}

/* How many lines of that kind were logged before. Kinds beyond those that are counted share the last place. */
static uint32_t count_line(struct cw_svc *svc, const char *sentence)
{
    uint32_t about = UINT32_C(2166136261), i = 0; /* FNV-1a */
    for (const char *c = sentence; *c != '\0' && *c != ':'; c++) {
        about = (about ^ (uint8_t)*c) * UINT32_C(16777619);
    }
    while (i < NODE_MISUSES - 1 && svc->logged[i].lines > 0 && svc->logged[i].about != about) {
        i++;
    }
    svc->logged[i].about = about;
    uint32_t lines = svc->logged[i].lines;
    svc->logged[i].lines += lines <= NODE_MISUSE_LINES;
    return lines;
}

void node_misuse(struct cw_svc *svc, const char *sentence)
{
    const struct node *n = svc->node;
    svc = svc->guest != NULL && svc->guest->host != NULL ? svc->guest->host : svc;
    svc->misuses++;
    if (!n->config.strict || n->env.watch.log == NULL) {
        return;
    }
    uint32_t lines = count_line(svc, sentence);
    if (lines < NODE_MISUSE_LINES) {
        n->env.watch.log(n->env.watch.context, n, CW_LOG_ERROR, svc->table->name, sentence, n->now);
    } else if (lines == NODE_MISUSE_LINES) {
        char text[120] = "";
        size_t length = 0;
        for (; length < 40 && sentence[length] != '\0' && sentence[length] != ':'; length++) {
            text[length] = sentence[length];
        }
        static const char more[] = ": misused again; from now on this is counted (cwctl services), and not logged";
        memcpy(text + length, more, sizeof more);
        n->env.watch.log(n->env.watch.context, n, CW_LOG_ERROR, svc->table->name, text, n->now);
    }
}

void node_upcall_took(struct cw_svc *svc, enum upcall upcall, int64_t began_ns)
{
    const struct node *n = svc->node;
    const struct node_meter *meter = &n->env.meter;
    int64_t held = meter->read(meter->context) - began_ns;
    svc = svc->guest != NULL ? svc->guest->host : svc;
    upcall_times_note(&svc->times, upcall, held);
    if (held > meter->limit.ns) {
        meter->slow(meter->context, n, svc->table->name, upcall_name(upcall), CW_NS(held));
    }
}

void node_wake_writers(struct node *n)
{
    uint64_t due = n->writable;
    n->writable = 0;
    for (struct cw_svc *svc; (svc = node_next_service(n, &due)) != NULL;) {
        if (svc->table->on_writable != NULL) {
            struct node_outer outer = node_upcall_begin(svc, UPCALL_WRITABLE);
            svc->table->on_writable(svc, svc->state);
            node_upcall_end(svc, UPCALL_WRITABLE, outer);
        }
    }
}
