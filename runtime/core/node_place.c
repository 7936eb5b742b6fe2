/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_place.c - where packets wait for links: the places that share each link by fairq.
 *
 * A link that has room knows three things of a place: for which links it has something, what that is, and how to take
 * it (place_links(), place_peek(), place_take()). Behind them is either a service's queue together with the queue of
 * its own that it may bring (CamCubeOS 3.3); or, for all jobs that have no service here, turns by the job that sent a
 * packet (turns.h).
 */
#include "core/mutant.h"
#include "core/node_internal.h"

#include "base/check.h"

/* ---- Which links are wanted -------------------------------------------------------------------------------------- */

cw_links place_links(const struct node *n, const struct place *pl)
{
    if (pl->svc == NULL) {
        return turns_links(&n->turns);
    }
    return packetq_links(&pl->queue) | pl->own_links;
}

static void set_ready(struct node *n, cw_link link, uint64_t bit, bool ready)
{
    n->ready[link] = ready ? n->ready[link] | bit : n->ready[link] & ~bit;
    n->wanted = n->ready[link] != 0 ? n->wanted | cw_links_of(link) : n->wanted & (cw_links)~cw_links_of(link);
}

void place_refresh(struct node *n, const struct place *pl)
{
    cw_links links = place_links(n, pl);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        set_ready(n, link, place_bit(pl->number), (links & cw_links_of(link)) != 0);
    }
}

static void refresh_link(struct node *n, const struct place *pl, cw_link link)
{
    bool more = packetq_peek(&pl->queue, link) != NULL || (pl->own_links & cw_links_of(link));
    set_ready(n, link, place_bit(pl->number), more);
}

static void mark_ready(struct node *n, const struct place *pl, cw_links links)
{
    n->wanted |= links;
    for (; links != 0; links &= (cw_links)(links - 1)) {
        n->ready[__builtin_ctz(links)] |= place_bit(pl->number);
    }
}

/* ---- Coming in --------------------------------------------------------------------------------------------------- */

bool place_has_room(struct node *n, struct place *pl, const struct cw_svc *asks, const struct cw_packet *p)
{
    bool room = pl->svc != NULL ? packetq_takes(&pl->queue, p) : turns_takes(&n->turns, p);
    if (asks->guest != NULL) {
        return node_guest_has_room(n, asks->guest, p, room);
    }
    pl->refused |= room ? 0 : place_bit(asks->index);
    return room;
}

/* p waits in the turns now. */
static void note_turn(struct node *n, const struct cw_packet *p)
{
    if (p->speaker >= GUESTS_FIRST) {
        struct guest *guest = guests_at(&n->guests, p->speaker);
        CHECK(guest != NULL); /* who goes takes its packets along, or leaves them to nobody */
        guest_note_put(guest, p->length + p->pad);
    }
}

/* Takes p; gives a list of what must go, which may be p itself, or NULL. */
static struct cw_packet *put(struct node *n, struct place *pl, struct cw_packet *p)
{
    if (pl->svc != NULL) {
        return packetq_put(&pl->queue, p);
    }
    p->next = NULL;
    if (!turns_put(&n->turns, p)) {
        return p;
    }
    note_turn(n, p);
    return NULL;
}

void place_put_back(struct node *n, struct place *pl, struct cw_packet *p)
{
    if (pl->svc != NULL) {
        packetq_put_back(&pl->queue, p);
    } else {
        turns_put_back(&n->turns, p);
        note_turn(n, p);
    }
}

void place_put(struct node *n, struct place *pl, struct cw_packet *p)
{
    p->place = pl->number;
    mark_ready(n, pl, p->links);
    if (n->sorting) { /* what is only routed anew keeps its place, whatever the limits are by now */
        place_put_back(n, pl, p);
        node_point(n, NODE_QUEUED, p, CW_DROP_COUNT);
        return;
    }
    uint32_t ahead = place_packets(n, pl);
    p->order = ++n->order;
    p->queued = n->now;
    p->ahead = ahead > UINT16_MAX ? UINT16_MAX : (uint16_t)ahead;
    struct cw_packet *out = put(n, pl, p);
    if (out != p) {
        node_point(n, NODE_QUEUED, p, CW_DROP_COUNT);
    }
    if (out != NULL) {
        node_drop_list(n, out, CW_DROP_QUEUE_FULL);
        place_refresh(n, pl);
    }
}

/* ---- Going out --------------------------------------------------------------------------------------------------- */

/* True when p, addressed, may leave by the link now. */
static bool may_leave_by(struct node *n, struct cw_packet *p, cw_link link)
{
    if (p->head.kind != PACKET_LINK) {
        p->links = node_aim(n, p) ? node_links_for(n, p) : CW_LINKS_NONE;
    }
    return p->links & cw_links_of(link);
}

/*
 * Asks a service's own queue for a packet for the link. Gives it addressed and checked, or NULL; after NULL the service
 * is not asked for this link again until it polls.
 */
static struct cw_packet *ask_own_queue(struct node *n, struct place *pl, cw_link link)
{
    struct cw_svc *svc = pl->svc;
    cw_place place = pl == &svc->main ? CW_PLACE_MAIN : CW_PLACE_BACKGROUND;
    struct node_outer outer = node_upcall_begin(svc, UPCALL_NEXT_PACKET);
    struct cw_packet *p = svc->table->next_packet(svc, svc->state, place, link);
    node_upcall_end(svc, UPCALL_NEXT_PACKET, outer);
    if (node_in_hand(svc, p) && (p->marks & PKT_ADDRESSED) && node_may_still_send(svc, &p->head) < 0) {
        node_drop_unsent(svc, p, CW_DROP_DENIED); /* what was allowed when it was addressed is not any more */
    } else if (node_in_hand(svc, p) && (p->marks & PKT_ADDRESSED)) {
        node_let_go(svc, p);
        p->marks = place == CW_PLACE_BACKGROUND ? PKT_BACKGROUND : 0;
        p->next = NULL;
        n->sent++;
        if (may_leave_by(n, p, link)) {
            p->queued = n->now;
            p->ahead = 0;
            return p;
        }
        node_decide(n, p); /* not for this link (any more): it waits like everybody's packets for one of its own */
    } else if (node_must_hold(svc, p, "next_packet")) {
        node_misuse(svc, "next_packet: the packet that it gave was not addressed (cw_packet_address)");
        node_drop_unsent(svc, p, CW_DROP_SERVICE);
    }
    /*
     * Nothing for this link: not asked again until the service polls, or a service that errs would be asked for ever.
     */
    pl->own_links &= (cw_links)~cw_links_of(link);
    return NULL;
}

/*
 * True when the service's own queue is to be asked: it may have something for the link, and nothing has waited longer
 * in the place. *size becomes the bytes of the packet that it would give, 0 when that is not known.
 */
static bool own_is_next(struct node *n, const struct place *pl, cw_link link, uint32_t *size)
{
    *size = 0;
    if (!(pl->own_links & cw_links_of(link))) {
        return false;
    }
    struct cw_svc *svc = pl->svc;
    const struct cw_packet *waits = packetq_peek(&pl->queue, link);
    if (svc->table->peek_packet == NULL) {
        return waits == NULL;
    }
    cw_peek own = {.size = sizeof own, .since = n->now};
    cw_place place = pl == &svc->main ? CW_PLACE_MAIN : CW_PLACE_BACKGROUND;
    struct node_outer outer = node_upcall_begin(svc, UPCALL_PEEK_PACKET);
    bool has = svc->table->peek_packet(svc, svc->state, place, link, &own);
    node_upcall_end(svc, UPCALL_PEEK_PACKET, outer);
    *size = has && own.length <= n->config.mtu ? PACKET_HEAD_BYTES + (uint32_t)own.length : 0;
    return waits == NULL || (has && !NODE_MUTANT(OWN_STARVES) && cw_time_before(own.since, waits->queued));
}

uint32_t place_peek(struct node *n, struct place *pl, cw_link link)
{
    uint32_t size;
    if (own_is_next(n, pl, link, &size)) {
        return size;
    }
    const struct cw_packet *p = pl->svc != NULL ? packetq_peek(&pl->queue, link) : turns_peek(&n->turns, link);
    return p == NULL ? 0 : p->length + p->pad;
}

/* The packet of the turn, out of the place of many jobs. */
static struct cw_packet *take_turn(struct node *n, struct place *pl, cw_link link)
{
    struct cw_packet *p = turns_take(&n->turns, link);
    place_refresh(n, pl);
    if (p != NULL) {
        node_guest_left(n, p);
    }
    return p;
}

/* What waits in the service's queue, or what comes from the queue of its own. */
static struct cw_packet *take_queued(struct node *n, struct place *pl, cw_link link)
{
    uint32_t size;
    bool own = own_is_next(n, pl, link, &size);
    struct cw_packet *p = own ? ask_own_queue(n, pl, link) : packetq_take(&pl->queue, link);
    if (own || p == NULL) {
        refresh_link(n, pl, link);
    } else if (!packetq_has(&pl->queue, p->links)) {
        place_refresh(n, pl); /* it was the last of its set: nobody is asked in vain for one of these links */
    }
    return p;
}

struct cw_packet *place_take(struct node *n, struct place *pl, cw_link link)
{
    struct cw_packet *p = pl->svc != NULL ? take_queued(n, pl, link) : take_turn(n, pl, link);
    if (pl->refused != 0 && p != NULL) {
        place_note_room(n, pl);
    }
    return p;
}

/* ---- Emptying ---------------------------------------------------------------------------------------------------- */

struct cw_packet *place_drain(struct node *n, struct place *pl)
{
    struct cw_packet *p = pl->svc != NULL ? packetq_drain(&pl->queue) : turns_drain(&n->turns);
    if (pl->svc == NULL) {
        guests_note_drained(&n->guests);
    }
    place_refresh(n, pl);
    return p;
}

bool place_valid(const struct node *n, const struct place *pl)
{
    return pl->svc != NULL ? packetq_valid(&pl->queue) : turns_valid(&n->turns);
}

/* ---- The service's word ------------------------------------------------------------------------------------------ */

void cw_poll_links(cw_svc *s, cw_place place, cw_links links)
{
    struct place *pl = place == CW_PLACE_MAIN ? &s->main : place == CW_PLACE_BACKGROUND ? s->background : NULL;
    if (pl != NULL && s->guest == NULL) {
        pl->own_links = s->table->next_packet != NULL && !s->closing ? links & CW_LINKS_ALL : CW_LINKS_NONE;
        place_refresh(s->node, pl);
    }
}
