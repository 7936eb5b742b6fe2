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
    size_t least = offsetof(cw_service, commands); /* where the table ended before there were any */
    bool whole = table != NULL && (table->size == least || table->size >= sizeof *own);
    if (!whole || !node_adopt(own, sizeof *own, least, table) || own->api != CW_API_VERSION || !sound_name(own->name) ||
        own->job == 0 || own->on_packet == NULL || own->state_size > STATE_MAX) {
        return -EINVAL;
    }
    if (own->exports != NULL && node_object(n, own->name, own->exports_version) != NULL) {
        return -EEXIST;
    }
    for (unsigned i = 0; i < NODE_SERVICES; i++) {
        const struct cw_svc *svc = n->service[i];
        if (svc != NULL && (svc->table->job == own->job || strcmp(svc->table->name, own->name) == 0)) {
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
    for (unsigned i = 0; i < NODE_SERVICES; i++) {
        if (n->service[i] == NULL) {
            continue;
        }
        cw_job job = n->service[i]->table->job;
        unsigned slot = job % NODE_JOB_SLOTS;
        while (n->job_slot[slot].job != 0) {
            slot = (slot + 1) % NODE_JOB_SLOTS;
        }
        n->job_slot[slot].job = job;
        n->job_slot[slot].index = (uint8_t)i;
    }
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

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
    svc->on_path = table->on_path;
    svc->state = state;
    svc->index = (uint8_t)index;
    svc->age = ++n->services_came;
    svc->random = prng_stream(n->env.seed, n->self, NODE_STREAM_SERVICE + (uint64_t)table->job);
    packetq_init(&svc->queue, n->config.queue_packets, n->config.queue_bytes, PACKETQ_DROP_TAIL);
    counters_init(&svc->counters);
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
    uint32_t bit = UINT32_C(1) << svc->index;
    timers_stop_all(&n->timers, svc->index);
    response_end_all(&n->nmu.responses, svc->index);
    nmu_vacate(&n->nmu, svc->index);
    node_end_requests(svc);
    node_drop_list(n, packetq_drain(&svc->queue), CW_DROP_CLOSED);
    svc->own_links = CW_LINKS_NONE;
    node_refresh_ready(n, svc);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        fairq_forget(&n->link[link].turns, svc->index);
    }
    n->shares.weight[svc->index] = 0;
    n->shares.background &= ~bit;
    node_note_room(n, svc); /* who waited for its queue learns that it is gone */
    n->writable &= ~bit;
    n->service[svc->index] = NULL;
    for (unsigned i = 0; i < NODE_SERVICES; i++) {
        if (n->service[i] != NULL) {
            n->service[i]->refused &= ~bit;
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
    unsigned index = 0;
    while (index < NODE_SERVICES && n->service[index] != NULL) {
        index++;
    }
    if (index == NODE_SERVICES) {
        return -ENOSPC;
    }
    struct cw_svc *svc = new_service(n, &own, index);
    if (svc == NULL) {
        return -ENOMEM;
    }
    n->service[index] = svc;
    n->shares.weight[index] = NODE_WEIGHT;
    fill_job_slots(n);
    rc = node_reside(svc);
    if (rc == 0 && svc->table->open != NULL) {
        svc->opening = true;
        struct node_outer outer = node_upcall_begin(svc, UPCALL_OPEN);
        rc = svc->table->open(svc, svc->state);
        node_upcall_end(svc, UPCALL_OPEN, outer);
        svc->opening = false;
    }
    if (rc < 0) {
        svc->closing = true;
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

void node_close_services(struct node *n)
{
    for (;;) {
        struct cw_svc *last = NULL;
        for (unsigned i = 0; i < NODE_SERVICES; i++) {
            if (n->service[i] != NULL && (last == NULL || n->service[i]->age > last->age)) {
                last = n->service[i];
            }
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
    uint32_t bit = UINT32_C(1) << svc->index;
    bool was_background = n->shares.background & bit;
    if (was_background != policy->background) {
        n->shares.background ^= bit;
        /* The classes have clocks of their own: it starts level in the new one. */
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            fairq_forget(&n->link[link].turns, svc->index);
        }
    }
    n->shares.weight[svc->index] = (uint16_t)policy->weight;
    svc->queue.packets_max = policy->queue_packets;
    svc->queue.bytes_max = policy->queue_bytes;
    svc->queue.drop = drop_of[policy->drop];
    node_note_room(n, svc); /* perhaps; whoever finds none is refused again */
    return 0;
}

bool node_service_at(const struct node *n, unsigned i, struct node_service_info *out)
{
    for (unsigned index = 0; index < NODE_SERVICES; index++) {
        const struct cw_svc *svc = n->service[index];
        if (svc == NULL || i-- > 0) {
            continue;
        }
        *out = (struct node_service_info){
            .name = svc->table->name,
            .version = svc->table->version,
            .job = svc->table->job,
            .policy =
                {
                    .weight = n->shares.weight[index],
                    .background = n->shares.background >> index & 1,
                    .queue_packets = svc->queue.packets_max,
                    .queue_bytes = svc->queue.bytes_max,
                    .drop = drop_to[svc->queue.drop],
                },
            .queued_packets = svc->queue.packets,
            .queued_bytes = svc->queue.bytes,
            .in_hand = svc->in_hand,
            .timers = n->timers.of[index],
            .calls = n->calls.of[index],
            .misuses = svc->misuses,
        };
        return true;
    }
    return false;
}

void node_misuse(struct cw_svc *svc, const char *sentence)
{
    const struct node *n = svc->node;
    svc->misuses++;
    if (n->config.strict && n->env.watch.log != NULL) {
        n->env.watch.log(n->env.watch.context, n, CW_LOG_ERROR, svc->table->name, sentence, n->now);
    }
}

void node_upcall_took(struct cw_svc *svc, enum upcall upcall, int64_t began_ns)
{
    const struct node *n = svc->node;
    const struct node_meter *meter = &n->env.meter;
    int64_t held = meter->read(meter->context) - began_ns;
    upcall_times_note(&svc->times, upcall, held);
    if (held > meter->limit.ns) {
        meter->slow(meter->context, n, svc->table->name, upcall_name(upcall), CW_NS(held));
    }
}

void node_wake_writers(struct node *n)
{
    uint32_t due = n->writable;
    n->writable = 0;
    for (; due != 0; due &= due - 1) {
        struct cw_svc *svc = n->service[__builtin_ctz(due)];
        if (svc != NULL && svc->table->on_writable != NULL) {
            struct node_outer outer = node_upcall_begin(svc, UPCALL_WRITABLE);
            svc->table->on_writable(svc, svc->state);
            node_upcall_end(svc, UPCALL_WRITABLE, outer);
        }
    }
}
