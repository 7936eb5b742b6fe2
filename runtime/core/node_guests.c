/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_guests.c - attached processes come and go, are found by what arrives, and are told that there is room
 * (guests.h); and the desk by which their host asks for it (nmu/guests.h).
 */
#include "core/node_internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

/* ---- What arrives ------------------------------------------------------------------------------------------------ */

static struct guest *addressee(struct node *n, const struct cw_packet *p)
{
    const struct packet_head *head = &p->head;
    if (head->kind == PACKET_KEY) {
        struct guest *guest = guests_for_key(&n->guests, head->job, head->port, head->to.key);
        return guest == NULL && NODE_MUTANT(GUEST_PORT) ? guests_after(&n->guests, head->job, 0) : guest;
    }
    return guests_find(&n->guests, head->job, head->to.process);
}

struct cw_svc *node_guest_for(struct node *n, struct cw_packet *p)
{
    const struct guest *guest = n->guests.count > 0 ? addressee(n, p) : NULL;
    if (guest == NULL || guest->why != 0 || guest->svc->closing || !nmu_is_known(&n->nmu, guest->job)) {
        return NULL;
    }
    if (p->head.flags & packet_flag(EXT_GUEST)) {
        struct ext_guest said = ext_guest_read(packet_ext(p->data, &p->exts, EXT_GUEST));
        if (said.meant != 0 && said.meant != guest->life && !NODE_MUTANT(GUEST_MEANT)) {
            return NULL;
        }
    }
    return guest->svc;
}

/* Answers in place of a process that is not here, or not any more, as far as there is room. */
static void answer_for(struct node *n, cw_job job, cw_process process, const struct response_right *right, int status)
{
    struct cw_svc *svc = n->nobody;
    svc->job = job;
    svc->process = process;
    cw_packet *p = cw_packet_new(svc, 0);
    int rc = p != NULL ? node_send_answer(svc, right, status, p) : 0;
    if (rc < 0) {
        node_drop_unsent(svc, p, node_drop_of(rc));
    }
}

/*
 * Did an attached process ask, or is one asked for? A service that asks services must not be refused while one of them
 * is replaced: its next attempt may find the new one.
 */
static bool is_of_guests(const struct node *n, const struct packet_head *head)
{
    return (head->flags & packet_flag(EXT_GUEST)) ||
           (head->job >= NODE_JOBS_LOADED && head->kind != PACKET_KEY && head->to.process != n->self);
}

void node_refuse(struct node *n, struct cw_packet *p)
{
    const uint8_t *ext = packet_ext(p->data, &p->exts, EXT_REQUEST);
    if (n->nobody != NULL && ext != NULL && is_of_guests(n, &p->head) && !NODE_MUTANT(GUEST_REFUSED)) {
        const struct response_right right = {
            .request = ext_request_read(ext),
            .requester = {p->head.source_job, p->head.source_process, torus_id(&n->torus, p->head.source)},
        };
        cw_process process = p->head.kind == PACKET_KEY ? CW_PROCESS_ANY : p->head.to.process;
        answer_for(n, p->head.job, process, &right, -ECONNREFUSED);
    }
    node_drop(n, p, CW_DROP_NO_SERVICE);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Why the process may not be here, by the record of its job: as guest_table.on_end() says. 0: it may. */
static int why_not(const struct node *n, cw_job job, cw_process process, uint64_t generation)
{
    if (!nmu_is_known(&n->nmu, job)) {
        return -ENOENT;
    }
    if (generation != 0 && nmu_job(&n->nmu, job)->generation != generation && !NODE_MUTANT(GUEST_STALE)) {
        return -ESTALE;
    }
    return nmu_home(&n->nmu, job, process) == n->self ? 0 : -EADDRNOTAVAIL;
}

static void judge(struct node *n, struct guest *guest)
{
    int why = why_not(n, guest->job, guest->process, guest->generation);
    if (why == 0 || guest->why != 0 || guest->generation == 0) {
        return; /* one without a generation is being let in */
    }
    guest->why = why;
    if (why == -ENOENT) {
        response_end_all(&n->nmu.responses, guest->number); /* they end with the job (nmu rule 4) */
    }
    guests_stir(&n->guests, guest);
}

void node_judge_guests(struct node *n, cw_job job)
{
    for (struct guest *guest = guests_after(&n->guests, job, 0); guest != NULL;
         guest = guests_after(&n->guests, job, guest->number)) {
        judge(n, guest);
    }
}

/* The record of some job was taken away. */
static void judge_all(struct node *n)
{
    for (uint32_t i = 0; n->guests.count > 0 && i < n->guests.limit; i++) {
        if (n->guests.at[i] != NULL) {
            judge(n, n->guests.at[i]);
        }
    }
}

void node_reside_guests(struct node *n)
{
    for (uint32_t i = 0; n->guests.count > 0 && i < n->guests.limit; i++) {
        const struct guest *guest = n->guests.at[i];
        if (guest != NULL) {
            int rc = nmu_reside(&n->nmu, guest->number, guest->job, guest->process, guest->generation);
            CHECK(rc == 0); /* there was room for all of them */
        }
    }
}

/* ---- What waits -------------------------------------------------------------------------------------------------- */

bool node_guest_has_room(struct node *n, struct guest *guest, const struct cw_packet *p, bool room)
{
    if (guest->life == 0) {
        return room && guest_has_room(guest, p->length + p->pad); /* nobody waits for room */
    }
    if (room && guest_has_room(guest, p->length + p->pad)) {
        return true;
    }
    guests_refuse(&n->guests, guest);
    return false;
}

void node_guest_left(struct node *n, const struct cw_packet *p)
{
    struct guest *guest = p->speaker >= GUESTS_FIRST ? guests_at(&n->guests, p->speaker) : NULL;
    if (guest != NULL) {
        guest_note_taken(guest, p->length + p->pad);
    }
    if (NODE_MUTANT(GUEST_TOLD)) {
        return;
    }
    if (n->turns.packets == 0) {
        guests_note_all_room(&n->guests);
        return;
    }
    guests_note_room(&n->guests);
    if (guest != NULL) {
        guests_note_left(&n->guests, guest); /* behind that one, who may have had no room for longer */
    }
}

void node_guest_stays(struct node *n, const struct cw_packet *p)
{
    if (p->speaker >= GUESTS_FIRST) {
        struct guest *guest = guests_at(&n->guests, p->speaker);
        CHECK(guest != NULL); /* as for what waits in turns */
        guest_note_here(guest, p->length + p->pad);
    }
}

void node_guest_goes_on(struct node *n, const struct cw_packet *p)
{
    if (p->speaker >= GUESTS_FIRST) {
        struct guest *guest = guests_at(&n->guests, p->speaker);
        CHECK(guest != NULL);
        guest_note_served(guest, p->length + p->pad);
        guests_note_left(&n->guests, guest);
    }
}

static void tell(struct guest *guest)
{
    struct cw_svc *svc = guest->svc;
    const struct guest_table *table = guest->table;
    if (guest->why == 0 && table->on_writable != NULL) {
        struct node_outer outer = node_upcall_begin(svc, UPCALL_WRITABLE);
        table->on_writable(svc, svc->state);
        node_upcall_end(svc, UPCALL_WRITABLE, outer);
    } else if (guest->why != 0 && table->on_end != NULL) {
        struct node_outer outer = node_upcall_begin(svc, UPCALL_EVENT);
        table->on_end(svc, svc->state, guest->why);
        node_upcall_end(svc, UPCALL_EVENT, outer);
    }
}

/* What is in its hands ends here, but for what an upcall of it lends: that is the runtime's when the upcall returns. */
static void empty_hands(struct cw_svc *svc)
{
    struct node *n = svc->node;
    for (struct cw_packet *p = svc->hands, *next; p != NULL; p = next) {
        next = p->next;
        if (p != n->lent) {
            n->kept++;
            node_let_go(svc, p);
            pkt_release(p);
        }
    }
}

static void free_gone(struct node *n)
{
    if (!list_is_empty(&n->guests.gone)) {
        node_end_freed(n); /* later there is nobody to blame */
    }
    for (struct guest *guest; (guest = guests_next_gone(&n->guests)) != NULL;) {
        empty_hands(guest->svc); /* of what its last upcall has kept */
        histograms_close(&guest->svc->histograms);
        free(guest->svc);
        free(guest);
    }
}

void node_tell_guests(struct node *n)
{
    if (n->guests.doubted) {
        n->guests.doubted = false;
        judge_all(n);
    }
    struct list now; /* whoever is refused again, or stirred, has its turn at the next tick */
    list_init(&now);
    list_splice_back(&now, &n->guests.told);
    for (struct list_node *first; (first = list_pop_front(&now)) != NULL;) {
        tell(container_of(first, struct guest, waits));
    }
    free_gone(n);
}

/* ---- Coming ------------------------------------------------------------------------------------------------------ */

static struct cw_svc *new_speaker(struct node *n, struct guest *guest, const char *name)
{
    struct cw_svc *svc = calloc(1, sizeof *svc);
    if (svc != NULL) {
        svc->node = n;
        svc->own_table = (cw_service){CW_SERVICE_INIT, .name = name, .version = "", .job = guest->job};
        svc->table = &svc->own_table;
        svc->job = guest->job;
        svc->process = guest->process;
        svc->guest = guest;
        svc->index = guest->number;
        counters_init(&svc->counters);
    }
    return svc;
}

/* False: the NMU's tables were tampered with, and are not written anew yet: what they say now will be forgotten. */
static bool is_untouched(const struct node *n)
{
    return n->nmu.seals.found == n->tampered;
}

/* So many services may still come, each with a job of its own. */
static uint32_t services_to_come(const struct node *n)
{
    return NODE_SERVICES - 1 - (uint32_t)__builtin_popcountll(n->services);
}

/* Makes the guest a speaker of its job, in the generation that is in force. */
static int settle(struct node *n, struct guest *guest)
{
    uint32_t before = nmu_jobs_left(&n->nmu);
    int rc = node_reside(guest->svc);
    if (rc < 0) {
        return rc;
    }
    rc = is_untouched(n) ? why_not(n, guest->job, guest->process, 0) : -EAGAIN;
    if (nmu_jobs_left(&n->nmu) < before && nmu_jobs_left(&n->nmu) < services_to_come(n)) {
        rc = -ENOSPC;
    }
    guest->generation = rc == 0 ? nmu_bind(&n->nmu, guest->number) : 0;
    if (guest->generation == 0) {
        nmu_vacate(&n->nmu, guest->number);
        return rc < 0 ? rc : -EAGAIN;
    }
    return 0;
}

static void forget(struct node *n, struct guest *guest)
{
    guest->svc->closing = true;
    guests_remove(&n->guests, guest);
}

static int desk_open(void *node, cw_svc *host, cw_job job, cw_process process, const struct guest_table *table,
                     void *state, cw_svc **out)
{
    struct node *n = node;
    if (host == NULL || host->guest != NULL || host->closing || job < NODE_JOBS_LOADED || process == CW_PROCESS_ANY ||
        table == NULL || table->on_packet == NULL || out == NULL) {
        return -EINVAL;
    }
    if (guests_find(&n->guests, job, process) != NULL) {
        return -EBUSY;
    }
    if (node_service_of(n, job) != NULL) {
        return -EEXIST;
    }
    if (n->guests.count == n->guests.limit) {
        return -ENOSPC;
    }
    if (!is_untouched(n)) {
        return -EAGAIN;
    }
    struct guest *guest = guests_add(&n->guests, job, process);
    if (guest == NULL) {
        return -ENOMEM;
    }
    struct cw_svc *svc = new_speaker(n, guest, host->table->name);
    if (svc == NULL) {
        guests_remove(&n->guests, guest);
        (void)guests_next_gone(&n->guests);
        free(guest);
        return -ENOMEM;
    }
    svc->own_table.on_packet = table->on_packet;
    svc->state = state;
    svc->random = prng_stream(n->env.seed ^ guest->life, n->self, NODE_STREAM_SERVICE + (uint64_t)job);
    guest->svc = svc;
    guest->host = host;
    guest->table = table;
    int rc = settle(n, guest);
    if (rc < 0) {
        forget(n, guest);
        return rc;
    }
    *out = svc;
    return 0;
}

/* ---- Going ------------------------------------------------------------------------------------------------------- */

/* Whoever asked learns that nobody answers. */
static void end_rights(struct node *n, struct cw_svc *svc)
{
    uint32_t place = 0;
    for (struct response_right *right; (right = response_each_of(&n->nmu.responses, svc->index, &place)) != NULL;) {
        if (!NODE_MUTANT(GUEST_RIGHTS)) {
            answer_for(n, svc->job, svc->process, right, -ECONNRESET);
        }
        response_end(&n->nmu.responses, right);
    }
}

/* What it has sent, and has not left yet, ends here. */
static void drop_waiting(struct node *n, const struct guest *guest)
{
    if (guest->queued == 0 || NODE_MUTANT(GUEST_QUEUE)) {
        return;
    }
    struct cw_packet *p = place_drain(n, &n->others);
    while (p != NULL) {
        struct cw_packet *next = p->next;
        if (p->speaker == guest->number) {
            node_drop(n, p, CW_DROP_CLOSED);
        } else {
            place_put_back(n, &n->others, p);
        }
        p = next;
    }
    place_refresh(n, &n->others);
    place_note_room(n, &n->others);
}

/* What it has sent, and is to be delivered here, goes its way: its number may soon be another's. */
static void disown(struct node *n, struct cw_packet *p, struct guest *guest)
{
    struct guest *nobody = &n->guests.nobody;
    for (; p != NULL; p = p->next) {
        if (p->speaker == guest->number) {
            guest_note_served(guest, p->length + p->pad);
            guest_note_here(nobody, p->length + p->pad);
            p->speaker = NODE_MUTANT(GUEST_HELD) ? p->speaker : nobody->number;
        }
    }
}

static void desk_close(cw_svc *svc)
{
    if (svc == NULL || svc->guest == NULL || svc->closing) {
        return;
    }
    struct node *n = svc->node;
    struct guest *guest = svc->guest;
    svc->closing = true;
    if (!NODE_MUTANT(GUEST_CALLS)) {
        node_cancel_calls(svc);
    }
    end_rights(n, svc);
    nmu_vacate(&n->nmu, guest->number);
    drop_waiting(n, guest);
    disown(n, n->held.head, guest);
    disown(n, n->trying, guest);
    disown(n, n->local.head, guest);
    empty_hands(svc);
    guests_remove(&n->guests, guest);
}

void node_close_guests(struct cw_svc *host)
{
    struct guests *g = &host->node->guests;
    for (uint32_t i = 0; g->count > 0 && i < g->limit; i++) {
        if (g->at[i] != NULL && g->at[i]->host == host) {
            desk_close(g->at[i]->svc);
        }
    }
}

/* ---- The desk ---------------------------------------------------------------------------------------------------- */

static uint32_t desk_life(const cw_svc *svc)
{
    return svc->guest->life;
}

static cw_process desk_process(const cw_svc *svc)
{
    return svc->process;
}

static int desk_keys(cw_svc *svc, cw_port port, bool serves)
{
    return svc->closing ? 0 : guests_serve(&svc->node->guests, svc->guest, port, serves);
}

static void desk_mean(cw_svc *svc, enum ext_guest_what what, uint32_t life)
{
    svc->guest->what = (unsigned)what < EXT_GUEST_WHATS ? (uint8_t)what : EXT_GUEST_PLAIN;
    svc->guest->meant = life;
}

static struct guest_said desk_said(cw_packet *p)
{
    const uint8_t *ext = packet_ext(p->data, &p->exts, EXT_GUEST);
    if (ext == NULL) {
        return (struct guest_said){.what = EXT_GUEST_PLAIN};
    }
    struct ext_guest said = ext_guest_read(ext);
    return (struct guest_said){.what = (enum ext_guest_what)said.what, .life = said.life};
}

int node_open_guests(struct node *n)
{
    n->guests_desk = (struct guests_desk){
        .node = n,
        .open = desk_open,
        .close = desk_close,
        .life = desk_life,
        .process = desk_process,
        .keys = desk_keys,
        .mean = desk_mean,
        .said = desk_said,
    };
    if (n->guests.limit == 0) {
        return 0;
    }
    n->nobody = new_speaker(n, &n->guests.nobody, "node");
    n->guests.nobody.svc = n->nobody;
    return n->nobody != NULL ? 0 : -ENOMEM;
}

void node_end_guests(struct node *n)
{
    n->guests.doubted = false;
    free_gone(n);
    free(n->nobody);
    guests_close(&n->guests);
}
