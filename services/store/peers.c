/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/peers.h"

#include "services/reply/servers.h"
#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/hearing.h"
#include "services/store/lead.h"

#include <stdlib.h>

enum { REPLY_TICKS = 4 }; /* a reply is waited for that long: by then the item was sent again */

/* An item that waits for its reply. The leadership may end before. */
struct errand {
    struct store_shard *shard;
    struct store_ballot ballot;
    enum store_item_kind kind;
    unsigned member;
    cw_server server; /* the member as it was when it was asked */
    uint64_t store_id;
    uint64_t number;
};

static void replied(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    struct store *s = state;
    struct errand *e = arg;
    struct store_reply reply;
    size_t size = 0;
    (void)svc;
    (void)rx;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    struct store_lead *lead = e->shard->lead;
    bool ours = bytes != NULL && lead != NULL && store_ballot_compare(lead->ballot, e->ballot) == 0;
    if (ours &&
        (!store_reply_decode(bytes, size, &reply) || reply.kind != e->kind || reply.shard != e->shard->number)) {
        store_note(s, STORE_COUNT_MALFORMED);
        ours = false;
    }
    if (ours) {
        store_hearing_note(s, e->server, e->store_id, reply.position);
        store_lead_heard(lead, e->member, e->number, &reply);
    }
    free(e);
}

/* A newcomer is filled behind all else, until writes wait for it. */
static cw_place place_of(const struct store_lead *lead, bool newcomer)
{
    return newcomer && !store_change_stops(lead) ? CW_PLACE_BACKGROUND : CW_PLACE_MAIN;
}

void store_peers_send(struct store_lead *lead, unsigned member, struct store_item item, uint64_t number)
{
    struct store *s = lead->store;
    struct store_shard *shard = lead->shard;
    item.class_id = s->of.id;
    item.position = store_durable_position(s);
    bool newcomer = member == store_change_newcomer(lead);
    const cw_server server = newcomer ? lead->change.server : shard->config.member[member];
    item.store_id = newcomer ? lead->change.store_id : shard->config.store_id[member];
    item.shard = shard->number;
    item.ballot = lead->ballot;
    cw_packet *p = cw_packet_new(s->svc, store_item_size(&item));
    struct errand *e = malloc(sizeof *e);
    if (p == NULL || e == NULL) {
        cw_packet_free(s->svc, p);
        free(e);
        return;
    }
    *e = (struct errand){shard, lead->ballot, item.kind, member, server, item.store_id, number};
    store_item_encode(&item, cw_packet_data(p, NULL));
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_MEMBERS, server);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_NS(REPLY_TICKS * s->limits.tick.ns),
                                     .send = {CW_SEND_INIT, .place = place_of(lead, newcomer)}};
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
