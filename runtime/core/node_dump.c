/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_dump.c - what operators, tests and the simulator look at. Nothing here changes anything.
 */
#include "core/node_internal.h"

#include "base/digest.h"
#include "wire/frame.h"

uint64_t node_drops(const struct node *n, cw_drop cause)
{
    return (unsigned)cause < CW_DROP_COUNT ? n->drops[cause] : 0;
}

/* ---- Packets inside ---------------------------------------------------------------------------------------------- */

/* Data packets in a frame that waits at the gate. */
static size_t data_packets(const struct cw_packet *frame)
{
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice;
    size_t data = 0;
    if (frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk) != WIRE_OK) {
        return 0;
    }
    while (frame_next(frame->data, &walk, &slice)) {
        data += slice.at >= frame->length || packet_kind_of(frame->data + slice.at) != PACKET_CONTROL;
    }
    return data;
}

size_t node_packets_inside(const struct node *n)
{
    size_t inside = n->held.packets + n->local.packets;
    for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
        inside += n->places[i] != NULL ? place_packets(n, n->places[i]) : 0;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        for (unsigned i = 0; i < n->link[link].waiting_count; i++) {
            inside += data_packets(n->link[link].waiting[i]);
        }
    }
    return inside;
}

struct node_tally node_tally(const struct node *n)
{
    return (struct node_tally){.made = n->sent, .delivered = n->delivered, .ended = n->taken};
}

/* ---- Digest ------------------------------------------------------------------------------------------------------ */

/* What every packet has: where it goes follows from its bytes and the views. */
static void digest_packet(struct digest *d, const struct cw_packet *p)
{
    digest_u64(d, (uint64_t)p->length << 32 | p->pad);
    digest_bytes(d, p->data, p->length);
}

static void digest_list(struct digest *d, const struct cw_packet *p)
{
    for (; p != NULL; p = p->next) {
        digest_u64(d, (uint64_t)p->priority << 16 | (uint64_t)p->in << 8 | p->marks);
        digest_packet(d, p);
    }
}

static void digest_queue(struct digest *d, const struct packetq *q)
{
    for (uint64_t sets = q->used; sets != 0; sets &= sets - 1) {
        const struct cw_packet *p = q->fifo[__builtin_ctzll(sets)].head;
        digest_u64(d, p->links);
        digest_list(d, p);
        for (; p != NULL; p = p->next) {
            digest_u64(d, p->order);
        }
    }
}

/* What waits of jobs that have no service here, and whose turn is when. */
static void digest_turns(struct digest *d, const struct turns *t)
{
    for (unsigned i = 0; i < TURNS_JOBS; i++) {
        if (t->queue[i] == NULL) {
            continue;
        }
        digest_u64(d, (uint64_t)i << 32 | t->job[i]);
        digest_queue(d, t->queue[i]);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            digest_u64(d, t->fair[link].start[i]);
            digest_u64(d, t->fair[link].now[0]);
        }
    }
}

static void digest_table(struct digest *d, const struct expiry *t)
{
    uint32_t place = 0;
    digest_u64(d, t->sequence);
    for (const struct expiry_item *item; (item = expiry_each(t, &place)) != NULL;) {
        digest_u64(d, item->handle);
        digest_u64(d, (uint64_t)item->due.at.ns);
        digest_u64(d, item->sequence);
    }
}

/* Whom it refused, and its turns, without the numbers that stand for services and places here. */
static void digest_place(struct digest *d, const struct node *n, const struct place *pl)
{
    uint64_t bit = place_bit(pl->number);
    uint64_t refused = pl->refused;
    for (const struct cw_svc *other; (other = node_next_service(n, &refused)) != NULL;) {
        digest_u64(d, other->job);
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct fairq *turns = &n->link[link].turns;
        digest_u64(d, turns->start[pl->number]);
        digest_u64(d, ((n->ready[link] & bit) != 0) | ((turns->wanted & bit) != 0) << 1);
    }
}

static void digest_service(struct digest *d, const struct node *n, const struct cw_svc *svc)
{
    bool writable = n->writable & place_bit(svc->index);
    digest_u64(d, (uint64_t)svc->job << 32 | (uint32_t)svc->main.own_links << 8 | writable);
    digest_u64(d, svc->in_hand);
    digest_place(d, n, &svc->main);
    for (unsigned i = 0; i < sizeof svc->random.s / sizeof *svc->random.s; i++) {
        digest_u64(d, svc->random.s[i]);
    }
    digest_queue(d, &svc->main.queue);
    if (svc->background != NULL) {
        digest_u64(d, svc->background->own_links);
        digest_place(d, n, svc->background);
        digest_queue(d, &svc->background->queue);
    }
}

static void digest_guests(struct digest *d, const struct guests *g)
{
    for (uint32_t i = 0; g->count > 0 && i < g->limit; i++) {
        const struct guest *guest = g->at[i];
        if (guest != NULL) {
            digest_u64(d, (uint64_t)guest->job << 32 | guest->process);
            digest_u64(d, (uint64_t)guest->life << 32 | guest->meant);
            digest_u64(d, (uint64_t)guest->number << 32 | (uint32_t)guest->what << 8 | (guest->why != 0));
            digest_u64(d, guest->svc->in_hand);
        }
    }
}

static void digest_link(struct digest *d, const struct node_link *link)
{
    digest_u64(d, link->turns.now[0]);
    digest_u64(d, link->turns.now[1]);
    for (unsigned i = 0; i < link->waiting_count; i++) {
        digest_packet(d, link->waiting[i]);
    }
}

/* Its tables follow from the records of the jobs that are held. */
static void digest_nmu(struct digest *d, const struct nmu *nmu)
{
    const struct map *map = &nmu->tables.map;
    for (uint32_t place = 0; place < map->jobs; place++) {
        const struct map_job *job = &map->job[place];
        if (job->job != 0) {
            digest_u64(d, (uint64_t)job->job << 32 | (uint32_t)job->residents << 1 | job->ruled);
            digest_u64(d, job->version);
            digest_u64(d, job->generation);
        }
    }
    digest_u64(d, nmu->denied.total);
    digest_table(d, &nmu->responses.table);
}

uint64_t node_digest(const struct node *n)
{
    struct digest d;
    digest_init(&d);
    digest_u64(&d, n->self);
    digest_u64(&d, (uint64_t)n->now.ns);
    digest_u64(&d, n->order);
    digest_u64(&d, ls_digest(n->ls));
    digest_u64(&d, n->seen_epoch);
    digest_u64(&d, n->seen_routes);
    digest_u64(&d, (uint64_t)n->seen_up << 8 | n->seen_serving);
    digest_bytes(&d, n->told.word, reach_bytes(n->told.servers));
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        digest_link(&d, &n->link[link]);
    }
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        digest_service(&d, n, svc);
    }
    digest_turns(&d, &n->turns);
    digest_guests(&d, &n->guests);
    digest_list(&d, n->local.head);
    digest_list(&d, n->held.head);
    digest_u64(&d, (uint64_t)holdq_wake(&n->held).ns);
    digest_table(&d, &n->timers.table);
    digest_table(&d, &n->calls.table);
    digest_nmu(&d, &n->nmu);
    digest_table(&d, &n->offloads);
    for (unsigned i = 0; i < CW_DROP_COUNT; i++) {
        digest_u64(&d, n->drops[i]);
    }
    digest_u64(&d, n->sent);
    digest_u64(&d, n->delivered);
    digest_u64(&d, n->taken);
    digest_u64(&d, n->forwarded);
    return digest_value(&d);
}

/* ---- Memory and counters ----------------------------------------------------------------------------------------- */

size_t node_bytes(const struct node *n)
{
    size_t bytes = sizeof *n + turns_bytes(&n->turns) + ls_bytes(n->ls) + reach_bytes(n->torus.servers);
    bytes += expiry_bytes(&n->timers.table) + expiry_bytes(&n->calls.table) + nmu_bytes(&n->nmu) +
             expiry_bytes(&n->offloads);
    bytes += guests_bytes(&n->guests) + (n->guests.count + (n->nobody != NULL)) * sizeof(struct cw_svc);
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        bytes += svc->background != NULL ? sizeof *svc->background : 0;
        bytes += sizeof *svc + svc->table->state_size + svc->histograms.count * sizeof(struct cw_histogram) +
                 upcall_times_bytes(&svc->times);
    }
    return bytes;
}

void node_counters(const struct node *n,
                   void (*visit)(void *context, const char *service, const char *name, uint64_t value), void *context)
{
    visit(context, "node", "sent", n->sent);
    visit(context, "node", "delivered", n->delivered);
    visit(context, "node", "taken", n->taken);
    visit(context, "node", "forwarded", n->forwarded);
    visit(context, "node", "inside", node_packets_inside(n));
    visit(context, "node", "kept", n->kept);
    visit(context, "node", "denied", n->nmu.denied.total);
    visit(context, "node", "tampered", n->nmu.seals.found);
    for (unsigned cause = 0; cause < CW_DROP_COUNT; cause++) {
        visit(context, "drop", cw_drop_name((cw_drop)cause), n->drops[cause]);
    }
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        const struct cw_counter *counter;
        for (uint32_t k = 0; (counter = counters_at(&svc->counters, k)) != NULL; k++) {
            visit(context, svc->table->name, counter->name, counter->value);
        }
    }
}

void node_histograms(const struct node *n,
                     void (*visit)(void *context, const char *service, const char *name, const struct histogram *h),
                     void *context)
{
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        for (uint32_t k = 0; k < svc->histograms.count; k++) {
            visit(context, svc->table->name, svc->histograms.histogram[k]->name, &svc->histograms.histogram[k]->times);
        }
    }
}

void node_upcalls(const struct node *n,
                  void (*visit)(void *context, const char *service, const char *upcall, const struct histogram *h),
                  void *context)
{
    uint64_t all = n->services;
    for (const struct cw_svc *svc; (svc = node_next_service(n, &all)) != NULL;) {
        for (unsigned k = 0; k < UPCALLS; k++) {
            if (svc->times.of[k] != NULL) {
                visit(context, svc->table->name, upcall_name((enum upcall)k), svc->times.of[k]);
            }
        }
    }
}
