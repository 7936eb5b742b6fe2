/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/peers.h"

#include "services/reply/servers.h"
#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/hearing.h"
#include "services/store/lead.h"

#include <stdlib.h>
#include <string.h>

enum { REPLY_TICKS = 4 }; /* a reply is waited for that long: by then the item was sent again */

/* An item that waits for its reply. The leadership may end before. */
struct errand {
    struct list_node node; /* of a letter: in store.letters */
    struct store_shard *shard;
    struct store_ballot ballot;
    enum store_item_kind kind;
    unsigned member;
    cw_server server; /* the member as it was when it was asked */
    uint64_t store_id;
    uint64_t number;
    /* Of a letter: what it says is its head, and behind that what the parcel has behind its first byte. */
    int64_t letter;
    struct store_parcel *parcel;
    size_t head_size;
    uint8_t head[];
};

static struct store_lead *lead_of(const struct errand *e)
{
    struct store_lead *lead = e->shard->lead;
    return lead != NULL && store_ballot_compare(lead->ballot, e->ballot) == 0 ? lead : NULL;
}

static void hear(struct store *s, const struct errand *e, const uint8_t *bytes, size_t size)
{
    struct store_lead *lead = lead_of(e);
    struct store_reply reply;
    if (lead == NULL) {
        return;
    }
    if (!store_reply_decode(bytes, size, &reply) || reply.kind != e->kind || reply.shard != e->shard->number) {
        store_note(s, STORE_COUNT_MALFORMED);
        return;
    }
    store_hearing_note(s, e->server, e->store_id, reply.position);
    store_lead_heard(lead, e->member, e->number, &reply);
}

static void replied(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct errand *e = arg;
    size_t size = 0;
    (void)svc;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    if (bytes != NULL) {
        hear(state, e, bytes, size);
    }
    free(e);
}

/* A newcomer is filled behind all else, until writes wait for it. */
static cw_place place_of(const struct store_lead *lead, bool newcomer)
{
    return newcomer && !store_change_stops(lead) ? CW_PLACE_BACKGROUND : CW_PLACE_MAIN;
}

/* Says whose it is, and for whom; gives an errand with room for the head. NULL: no memory. */
static struct errand *prepare(struct store_lead *lead, unsigned member, struct store_item *item, uint64_t number)
{
    struct store *s = lead->store;
    struct store_shard *shard = lead->shard;
    bool newcomer = member == store_change_newcomer(lead);
    item->class_id = s->of.id;
    item->position = store_durable_position(s);
    item->store_id = newcomer ? lead->change.store_id : shard->config.store_id[member];
    item->shard = shard->number;
    item->ballot = lead->ballot;
    struct errand *e = calloc(1, sizeof *e + store_item_size(item));
    if (e != NULL) {
        e->shard = shard;
        e->ballot = lead->ballot;
        e->kind = item->kind;
        e->member = member;
        e->server = newcomer ? lead->change.server : shard->config.member[member];
        e->store_id = item->store_id;
        e->number = number;
    }
    return e;
}

void store_peers_send(struct store_lead *lead, unsigned member, struct store_item item, uint64_t number)
{
    struct store *s = lead->store;
    struct errand *e = prepare(lead, member, &item, number);
    cw_packet *p = e != NULL ? cw_packet_new(s->svc, store_item_size(&item)) : NULL;
    if (p == NULL) {
        free(e);
        return;
    }
    store_item_encode(&item, cw_packet_data(p, NULL));
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_MEMBERS, e->server);
    const cw_place place = place_of(lead, member == store_change_newcomer(lead));
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_NS(REPLY_TICKS * s->limits.tick.ns),
                                     .send = {CW_SEND_INIT, .place = place}};
    if (cw_call(s->svc, p, &to, &options, replied, e) < 0) {
        cw_packet_free(s->svc, p);
        free(e);
    }
}

void store_peers_send_all(struct store_lead *lead, unsigned set, struct store_item item, uint64_t number)
{
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        if ((set >> m & 1) != 0 && store_lead_sees(lead, m)) {
            store_peers_send(lead, m, item, number);
        }
    }
}

/* ---- Letters ----------------------------------------------------------------------------------------------------- */

static int read_letter(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length)
{
    const struct errand *e = arg;
    size_t of_head = offset < e->head_size ? e->head_size - (size_t)offset : 0;
    (void)context;
    of_head = of_head < length ? of_head : length;
    memcpy(out, e->head + offset, of_head);
    if (length > of_head) {
        memcpy(out + of_head, e->parcel->bytes + 1 + (offset + of_head - e->head_size), length - of_head);
    }
    return 0;
}

static void letter_replied(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                           const struct transport_message *m)
{
    struct errand *e = arg;
    (void)m;
    list_remove(&e->node);
    if (status == 0 && bytes != NULL) {
        hear(context, e, bytes, (size_t)size);
    }
    store_parcel_drop(e->parcel);
    free(e);
}

/* The transport repeats what is lost: what is under way is not sent again. */
static bool is_under_way(const struct store_lead *lead, unsigned member, enum store_item_kind kind, uint64_t number)
{
    const struct list *letters = &lead->store->letters;
    for (struct list_node *n = list_first(letters); n != NULL; n = list_next(letters, n)) {
        const struct errand *e = container_of(n, struct errand, node);
        if (e->shard == lead->shard && e->member == member && e->kind == kind && e->number == number &&
            store_ballot_compare(e->ballot, lead->ballot) == 0) {
            return true;
        }
    }
    return false;
}

void store_peers_letter(struct store_lead *lead, unsigned member, struct store_item item, uint64_t number,
                        struct store_parcel *parcel)
{
    struct store *s = lead->store;
    if (s->transport == NULL || is_under_way(lead, member, item.kind, number)) {
        return;
    }
    struct errand *e = prepare(lead, member, &item, number);
    if (e == NULL) {
        return;
    }
    e->head_size = store_item_size(&item);
    store_item_encode(&item, e->head);
    e->parcel = parcel != NULL ? store_parcel_share(parcel) : NULL;
    const bool behind = place_of(lead, member == store_change_newcomer(lead)) == CW_PLACE_BACKGROUND;
    const uint8_t head[STORE_LETTER_HEAD] = {0};
    const struct transport_data data = {.size = e->head_size + (parcel != NULL ? parcel->size - 1 : 0),
                                        .read = read_letter};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT,
                                                   .tag = STORE_PORT_MEMBERS,
                                                   .flags = TRANSPORT_ASK | (behind ? TRANSPORT_BACKGROUND : 0),
                                                   .timeout = CW_SEC(STORE_LETTER_S),
                                                   .reply_max = STORE_LETTER_MOST,
                                                   .head = head,
                                                   .head_length = sizeof head};
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_LETTERS, e->server);
    e->letter = transport_request(s->transport, &to, &data, &options, letter_replied, e);
    if (e->letter < 0) {
        store_parcel_drop(e->parcel);
        free(e);
        return;
    }
    store_note(s, STORE_COUNT_LETTERS);
    list_push_back(&s->letters, &e->node);
}

void store_peers_letter_all(struct store_lead *lead, unsigned set, struct store_item item, uint64_t number,
                            struct store_parcel *parcel)
{
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        if ((set >> m & 1) != 0 && store_lead_sees(lead, m)) {
            store_peers_letter(lead, m, item, number, parcel);
        }
    }
}

void store_peers_recall(struct store *s, const struct store_shard *shard)
{
    struct list_node *n = list_first(&s->letters);
    while (n != NULL) {
        const struct errand *e = container_of(n, struct errand, node);
        bool gone = e->shard == shard && transport_cancel(s->transport, e->letter) == 0;
        n = gone ? list_first(&s->letters) : list_next(&s->letters, n);
    }
}
