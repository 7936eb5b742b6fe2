/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tx.c - what goes out on a link when it has room: hello or goodbye, then the stream.
 *
 * Nothing is decided here, and no view is brought up to date: so an ack that leaves was made in an entry that has
 * returned, and whoever had to be told of the new roots has been told (kvcache rules 6 and 7).
 */
#include "linkstate/internal.h"

#include "base/check.h"
#include "wire/goodbye.h"
#include "wire/hello.h"
#include "wire/stream.h"

static size_t put_goodbye(const struct linkstate *ls, struct ls_link *l, uint8_t *out)
{
    goodbye_encode(
        &(struct goodbye){
            .session = l->adj.session,
            .incarnation = ls->incarnation,
            .server = ls->self,
            .reason = l->goodbye,
        },
        out);
    l->goodbye = 0;
    return GOODBYE_BYTES;
}

static size_t put_hello(const struct linkstate *ls, struct ls_link *l, cw_link link, uint8_t *out)
{
    const struct adjacency *adj = &l->adj;
    bool listens = adj->peer_session != 0 && adj->peer_session == l->loss.peer;
    struct hello hello = {
        .session = adj->session,
        .cluster = ls->config.cluster,
        .config_hash = ls->config.config_hash,
        .server = ls->self,
        .flags = (uint8_t)((l->synced ? HELLO_SYNCED : 0) | (adj->state == ADJ_UP ? HELLO_UP : 0) |
                           (ls->leaving ? HELLO_LEAVING : 0) | (ls_active(ls) ? 0 : HELLO_FENCED)),
        .port = link,
        .heard = adj->peer_session,
        .incarnation = ls->incarnation,
        .clock = cw_time_max(ls->now, (cw_time){1}),
        .echo = l->clock,
        .position = l->feed.top + l->feed.unsent,
        .ack = l->feed.received,
        .digest = lsdb_digest(&ls->db),
        .number = loss_send(&l->loss),
        .newest = listens ? l->loss.newest : 0,
        .before = listens ? l->loss.before : 0,
    };
    hello_encode(&hello, out);
    l->hello_at = cw_time_add(ls->now, ls->config.timers.hello);
    l->hello_last = ls->now;
    l->hello_soon = false;
    feed_ack_left(&l->feed);
    return HELLO_BYTES;
}

static struct item item_of(const struct linkstate *ls, const struct flood_entry *entry)
{
    struct item item = {.more = entry->more};
    switch ((enum flood_kind)entry->kind) {
    case FLOOD_RECORD:
        item.type = ITEM_RECORD;
        item.record = entry->record;
        break;
    case FLOOD_SYNCED:
        item.type = ITEM_SYNCED;
        item.synced = entry->digest;
        break;
    case FLOOD_ACK:
        item.type = ITEM_ACK;
        item.ack = entry->ack;
        break;
    case FLOOD_ABOUT:
        item.type = ITEM_ABOUT;
        item.about = ls->config.about;
        break;
    }
    return item;
}

static size_t put_stream(struct linkstate *ls, struct ls_link *l, cw_link link, uint8_t *out, size_t room)
{
    struct stream_writer w;
    const struct flood_entry *entry;
    struct stream_head head = {
        .session = l->adj.session,
        .heard = l->adj.peer_session,
        .ack = l->feed.received,
        .first = l->feed.sent + 1,
    };
    stream_begin(&w, out, room);
    while ((entry = feed_peek(&l->feed, &ls->flood, link)) != NULL) {
        struct item item = item_of(ls, entry);
        if (!stream_put(&w, &item)) {
            break;
        }
        feed_sent(&l->feed, ls->now);
    }
    feed_ack_left(&l->feed);
    l->stream_at = cw_time_add(ls->now, ls->spans.gather);
    return stream_finish(&w, &head);
}

size_t ls_pull(struct linkstate *ls, cw_link link, uint8_t *out, size_t room, uint8_t *packets, cw_time now)
{
    linkstate_enter(ls, now);
    struct ls_link *l = &ls->links[link];
    size_t used = 0;
    *packets = 0;
    if (l->adj.state == ADJ_NO_CARRIER) {
        return 0;
    }
    if (l->goodbye != 0 && room >= GOODBYE_BYTES) {
        used += put_goodbye(ls, l, out);
        ++*packets;
    }
    if (linkstate_hello_is_due(ls, l) && room - used >= HELLO_BYTES) {
        used += put_hello(ls, l, link, out + used);
        ++*packets;
    }
    if ((linkstate_stream_is_owed(l) || linkstate_stream_is_due(ls, l)) &&
        room - used >= STREAM_HEAD_BYTES + ITEM_RECORD_BYTES) {
        used += put_stream(ls, l, link, out + used, room - used);
        ++*packets;
    }
    linkstate_note_links(ls, cw_links_of(link));
    return used;
}

void ls_stamp(struct linkstate *ls, cw_link link, struct frame_head *head)
{
    struct ls_gate_link *gate = &ls->gate[link];
    head->session = gate->session;
    head->sequence = gate->frames++; /* nobody looks at gaps: hellos tell what is lost (loss.h) */
    head->position = gate->top;
}
