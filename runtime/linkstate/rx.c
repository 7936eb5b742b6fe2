/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rx.c - what comes in: frames, hellos, goodbyes, stream items.
 */
#include "linkstate/internal.h"

#include "linkstate/mutant.h"
#include "wire/goodbye.h"
#include "wire/hello.h"
#include "wire/mutant.h"
#include "wire/stream.h"

#include <stdlib.h>

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

enum ls_gate ls_gate_again(const struct linkstate *ls, cw_link link, const struct frame_head *head)
{
    const struct ls_gate_link *gate = &ls->gate[link];
    if (!gate->up || head->session != gate->peer_session) {
        return LS_STALE;
    }
    /* All that is stamped with a position of the sender has been received here: data may pass (semantics 4.4). */
    bool knows = !position16_before(gate->received, head->position);
    return knows || MUTANT(NO_GATE) ? LS_PASS : LS_WAIT;
}

enum ls_gate ls_frame(struct linkstate *ls, cw_link link, const struct frame_head *head, cw_time now)
{
    linkstate_enter(ls, now);
    const struct ls_gate_link *gate = &ls->gate[link];
    /* A frame that the neighbour's kernel passed on says nothing of its daemon. */
    if (gate->two_way && head->session == gate->peer_session &&
        (!(head->flags & FRAME_RELAYED) || RELAY_MUTANT(RELAYED_HEARD))) {
        ls->heard[link] = now;
        ls->moved |= cw_links_of(link);
    }
    return ls_gate_again(ls, link, head);
}

/* ---- Hello and goodbye ------------------------------------------------------------------------------------------- */

static bool same_server(cw_coord a, cw_coord b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* From the server and the port that this cable leads to, of this cluster and configuration. */
static bool is_well_wired(const struct linkstate *ls, cw_link link, const struct hello *hello)
{
    return hello->cluster == ls->config.cluster && hello->config_hash == ls->config.config_hash &&
           hello->port == cw_link_opposite(link) && same_server(hello->server, ls->links[link].peer);
}

/*
 * At rest and with nothing on its way, equal knowledge has equal digests. Three hellos that say otherwise: tell it all
 * again. What comes between them in motion says nothing either way: the other end may be the first to repair, again and
 * again, and know less. True when it was told.
 */
static bool repair(struct linkstate *ls, cw_link link, const struct hello *hello)
{
    struct ls_link *l = &ls->links[link];
    bool still = l->synced && l->batch.count == 0 && feed_is_idle(&l->feed) && hello->position == l->feed.received &&
                 hello->ack == l->feed.top;
    if (hello->digest == lsdb_digest(&ls->db)) {
        l->strangers = 0;
        return false;
    }
    if (!still || ++l->strangers < LS_REPAIR_HELLOS) {
        return false;
    }
    l->strangers = 0;
    ls->counts[LS_REPAIRS]++;
    linkstate_owe_all(ls, link);
    return true;
}

/*
 * False after three hellos that say of our stream what cannot be: that more of it has come than was sent, or, with
 * nothing on its way, less than was acknowledged. Bytes that were changed on the cable did that (no checksum of ours
 * finds them), and a stream that has lost count never finds it again; another session begins with both at 0.
 */
static bool streams_fit(struct linkstate *ls, cw_link link, const struct hello *hello)
{
    struct ls_link *l = &ls->links[link];
    bool fits = feed_acked(&l->feed, &ls->flood, link, hello->ack, ls->now) &&
                (hello->ack == l->feed.acked || !feed_is_idle(&l->feed));
    l->misfits = fits ? 0 : (uint8_t)(l->misfits + 1);
    return l->misfits < LS_REPAIR_HELLOS;
}

static void note_stranger(struct linkstate *ls, struct ls_link *l, const struct hello *hello)
{
    ls->counts[LS_MISWIRED]++;
    l->stranger = (struct ls_stranger){
        .hellos = l->stranger.hellos + 1,
        .last = ls->now,
        .cluster = hello->cluster,
        .config_hash = hello->config_hash,
        .server = hello->server,
        .port = hello->port,
    };
}

/* Notes what the hello says of lost ones: an operator is told when the cable turns bad, or good again. */
static void count_loss(struct linkstate *ls, struct ls_link *l, const struct hello *hello)
{
    bool turned = loss_heard(&l->loss, hello->session, hello->number);
    if (hello->heard == l->adj.session) {
        turned |= loss_told(&l->loss, hello->heard, hello->newest, hello->before);
    }
    ls->notes += turned;
}

/* Nothing follows from a hello or an acknowledgement here but for the link itself: it has been up, and we active. */
static bool is_steady(const struct linkstate *ls, const struct ls_link *l)
{
    return ls->linked && l->adj.state == ADJ_UP;
}

/* The functions below say whether only the clocks and the stream of the link have changed. */
static bool take_hello(struct linkstate *ls, cw_link link, const struct hello *hello)
{
    struct ls_link *l = &ls->links[link];
    l->seen = (struct ls_heard){
        .any = true,
        .at = ls->now,
        .server = hello->server,
        .port = hello->port,
        .cluster = hello->cluster,
        .config_hash = hello->config_hash,
        .incarnation = hello->incarnation,
    };
    if (!is_well_wired(ls, link, hello)) {
        note_stranger(ls, l, hello);
        linkstate_step(ls, link, ADJ_WRONG);
        adjacency_heard(&l->adj, ls->now);
        return false;
    }
    enum adjacency_event event = adjacency_judge(&l->adj, hello->session, hello->heard, hello->incarnation);
    bool steady = event == ADJ_NOTHING && is_steady(ls, l);
    if (event != ADJ_NOTHING) {
        linkstate_step(ls, link, event);
    }
    adjacency_note(&l->adj, hello->session, hello->incarnation, ls->now);
    if (l->adj.state < ADJ_INIT) {
        return false;
    }
    count_loss(ls, l, hello);
    l->clock = hello->clock;
    if (!adjacency_is_two_way(&l->adj)) {
        return false;
    }
    if (hello->echo.ns <= ls->now.ns) { /* a clock we did not reach yet is not ours */
        l->echo = cw_time_max(l->echo, hello->echo);
    }
    if (!streams_fit(ls, link, hello)) {
        ls->counts[LS_REPAIRS]++;
        linkstate_step(ls, link, ADJ_CLOSED);
        return false;
    }
    steady &= !repair(ls, link, hello);
    linkstate_renew_lease(ls);
    return steady;
}

static void take_goodbye(struct linkstate *ls, cw_link link, const struct goodbye *goodbye)
{
    struct ls_link *l = &ls->links[link];
    cw_server peer = linkstate_peer(ls, link);
    if (l->adj.state < ADJ_INIT || goodbye->session != l->adj.peer_session ||
        goodbye->incarnation != l->adj.peer_incarnation || !same_server(goodbye->server, l->peer)) {
        ls->counts[LS_STRAYS]++;
        return;
    }
    linkstate_step(ls, link, goodbye->reason == GOODBYE_LEAVING ? ADJ_LEFT : ADJ_GOODBYE);
    if (goodbye->reason != GOODBYE_CLOSED) {
        views_goodbye(&ls->views, peer, goodbye->incarnation);
    }
}

/* ---- Stream items ------------------------------------------------------------------------------------------------ */

static void apply_batch(struct linkstate *ls, cw_link link)
{
    struct ls_batch batch = ls->links[link].batch;
    ls->links[link].batch = (struct ls_batch){0};
    linkstate_apply(ls, batch.records, batch.count, link);
    free(batch.records);
}

/* Keeps a record until those come that belong to it. At most one of each server can be worth keeping. */
static void keep(struct linkstate *ls, cw_link link, const struct record *record)
{
    struct ls_batch *batch = &ls->links[link].batch;
    if (batch->count == batch->room) {
        uint32_t room = batch->room == 0 ? 64 : batch->room * 2;
        struct record *records =
            batch->count < ls->config.torus.servers ? realloc(batch->records, room * sizeof *records) : NULL;
        if (records == NULL) {
            ls->counts[LS_OVERFLOWS]++;
            linkstate_step(ls, link, ADJ_CLOSED);
            return;
        }
        batch->records = records;
        batch->room = room;
    }
    batch->records[batch->count++] = *record;
}

static void take_record(struct linkstate *ls, cw_link link, const struct record *record, bool more)
{
    if (!torus_holds(&ls->config.torus, record->origin)) {
        ls->counts[LS_REFUSED]++;
        return;
    }
    if (!more) {
        linkstate_apply(ls, record, 1, link);
        return;
    }
    cw_server origin = torus_id(&ls->config.torus, record->origin);
    if (lsdb_judge(&ls->db, origin, record->incarnation, record->seq) == LSDB_NEWER) {
        keep(ls, link, record);
    } else {
        linkstate_apply(ls, record, 1, link); /* adds nothing: the neighbour knows it, no more */
    }
}

/* Ours to count, or one to pass on; behind all that we knew before it (semantics 4.2, detail 3). */
static void take_ack(struct linkstate *ls, const struct ack *ack)
{
    const struct torus *torus = &ls->config.torus;
    if (!torus_holds(torus, ack->acker) || !torus_holds(torus, ack->origin)) {
        ls->counts[LS_REFUSED]++;
        return;
    }
    cw_server acker = torus_id(torus, ack->acker), origin = torus_id(torus, ack->origin);
    if (origin != ls->config.self) {
        cw_links way = views_wide_next_hops(&ls->views, origin);
        /* Records came before it that were not searched yet: they may show the way, and its sender repeats it late. */
        if (way == CW_LINKS_NONE && views_is_stale(&ls->views)) {
            ls->acks_due |= views_refresh(&ls->views, &ls->db, ls->now);
            way = views_wide_next_hops(&ls->views, origin);
        }
        if (way != CW_LINKS_NONE) {
            linkstate_owe_ack(ls, ack, (cw_link)__builtin_ctz(way));
        } else {
            ls->counts[LS_ACKS_LOST]++;
        }
        return;
    }
    if (ack->incarnation == ls->incarnation && ack->acker_incarnation == lsdb_incarnation(&ls->db, acker) &&
        ack->seq <= linkstate_own(ls)->seq) {
        admission_acked(&ls->admission, acker, ack->seq);
    }
}

static void take_item(struct linkstate *ls, cw_link link, const struct item *item)
{
    struct ls_link *l = &ls->links[link];
    if (item->type >= ITEM_OPTIONAL) {
        l->about = item->type == ITEM_ABOUT ? item->about : l->about;
        return; /* for people: nothing follows from it */
    }
    if (l->batch.count > 0 && !(item->type == ITEM_RECORD && item->more)) {
        apply_batch(ls, link);
        if (!l->feed.running) {
            return; /* what it brought ended this very session */
        }
    }
    switch (item->type) {
    case ITEM_RECORD:
        take_record(ls, link, &item->record, item->more);
        break;
    case ITEM_ACK:
        take_ack(ls, &item->ack);
        break;
    case ITEM_SYNCED:
        l->synced = true;
        break;
    case ITEM_SUMMARY: /* somebody asks for what it lacks: it gets everything */
        if (item->summary.last) {
            linkstate_owe_all(ls, link);
        }
        break;
    case ITEM_JOB_PART:
    case ITEM_JOB_ACK:
    case ITEM_JOB_SUMMARY:
    case ITEM_OPTIONAL:
        break; /* not of the link state */
    }
}

static bool take_stream(struct linkstate *ls, cw_link link, const struct stream *stream)
{
    struct ls_link *l = &ls->links[link];
    if (!adjacency_is_two_way(&l->adj) || stream->head.session != l->adj.peer_session ||
        stream->head.heard != l->adj.session) {
        ls->counts[LS_STRAYS]++;
        return false;
    }
    bool steady = is_steady(ls, l);
    adjacency_heard(&l->adj, ls->now);
    if (!feed_acked(&l->feed, &ls->flood, link, stream->head.ack, ls->now)) {
        ls->counts[LS_STRAYS]++;
        return false;
    }
    uint32_t number;
    struct item item;
    struct stream_cursor cursor = stream_items(stream);
    while (l->feed.running && stream_next(&cursor, &number, &item)) {
        steady = false;
        if (feed_receive(&l->feed, number, cw_time_add(ls->now, ls->spans.ack_delay))) {
            take_item(ls, link, &item);
        } else if (MUTANT(ACK_OVERTAKES) && item.type == ITEM_ACK) {
            take_ack(ls, &item.ack); /* records before it were lost and will come again */
        }
    }
    return steady;
}

void ls_foreign_frame(struct linkstate *ls, cw_link link, unsigned version, cw_time now)
{
    linkstate_enter(ls, now);
    struct ls_link *l = &ls->links[link];
    if (l->adj.state >= ADJ_INIT) {
        return; /* the neighbour speaks ours: these bytes were changed on the cable */
    }
    ls->notes += l->foreign.version != version; /* an operator is told */
    l->foreign = (struct ls_foreign){.frames = l->foreign.frames + 1, .last = now, .version = (uint8_t)version};
}

enum wire_reason ls_control(struct linkstate *ls, cw_link link, const uint8_t *bytes, size_t length, cw_time now)
{
    struct control_head head;
    enum wire_reason reason = control_decode(bytes, length, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    struct hello hello;
    struct goodbye goodbye;
    struct stream stream;
    switch (head.type) {
    case CONTROL_HELLO:
        reason = hello_decode(bytes, length, &hello);
        break;
    case CONTROL_GOODBYE:
        reason = goodbye_decode(bytes, length, &goodbye);
        break;
    default:
        reason = stream_decode(bytes, length, &stream);
        break;
    }
    if (reason != WIRE_OK) {
        return reason;
    }
    linkstate_enter(ls, now);
    if (ls->links[link].adj.state == ADJ_NO_CARRIER) {
        return WIRE_OK; /* the light is out by now */
    }
    ls->moved |= cw_links_of(link);
    bool steady = false;
    if (head.type == CONTROL_HELLO) {
        steady = take_hello(ls, link, &hello);
    } else if (head.type == CONTROL_GOODBYE) {
        take_goodbye(ls, link, &goodbye);
    } else {
        steady = take_stream(ls, link, &stream);
    }
    if (steady) {
        linkstate_settle_link(ls, link);
    } else {
        linkstate_settle(ls, false);
    }
    return WIRE_OK;
}
