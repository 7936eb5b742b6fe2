/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_deliver.c - a packet meets a service, as its destination or passing by, or the attached process that it is for.
 */
#include "core/node_internal.h"

#include "base/bytes.h"
#include "base/check.h"

/* An answer says who asked for it: as its NMU stamped the request, and the responder's kept it. */
static void fill_answer(const struct cw_packet *p, cw_rx *rx)
{
    struct ext_response response = ext_response_read(packet_ext(p->data, &p->exts, EXT_RESPONSE));
    rx->requester_job = response.job;
    rx->requester_process = response.process;
    rx->requester_server = response.server;
    rx->requester_call = response.call;
    rx->status = -(int)response.status;
}

void node_fill_rx(const struct node *n, const struct cw_packet *p, cw_where where, cw_rx *rx)
{
    *rx = (cw_rx){
        .size = sizeof *rx,
        .where = where,
        .in = p->in,
        .hops = p->in == CW_LINK_SELF ? 0 : p->head.hops,
        .marked = p->head.flags & PACKET_MARK,
        .job = p->head.job,
        .port = p->head.port,
        .src_job = p->head.source_job,
        .src_process = p->head.source_process,
        .src_server = p->head.source,
    };
    if (p->head.flags & packet_flag(EXT_RESPONSE)) {
        fill_answer(p, rx);
    }
    if (p->head.kind == PACKET_KEY) {
        const uint8_t *ext = packet_ext(p->data, &p->exts, EXT_KEY);
        rx->kind = CW_TO_KEY;
        rx->server = n->place;
        if (ext != NULL) {
            rx->key = ext_key_read(ext, p->head.to.key);
        } else {
            put_be64(rx->key.b + CW_KEY_BYTES - 8, p->head.to.key);
        }
    } else {
        rx->kind = p->head.kind == PACKET_SERVER ? CW_TO_SERVER : CW_TO_LINK;
        rx->server = p->head.to.server;
    }
}

/*
 * A service that takes and takes must not take what all the others need: it is asked again when its hands are empty
 * enough.
 */
static bool hands_are_full(const struct cw_svc *svc)
{
    return svc->in_hand >= NODE_HANDS_MAX;
}

/* p is the service's (kept, sent or freed) or the runtime's; the service said this of it. */
static void look_at_verdict(struct cw_svc *svc, bool ours, cw_verdict verdict, bool kept)
{
    if ((unsigned)verdict > CW_TAKE) {
        node_misuse(svc, "on_packet: its verdict is none of CW_FORWARD, CW_DROP and CW_TAKE");
    } else if (!ours && verdict == CW_FORWARD && !kept) {
        node_misuse(svc, "on_packet: CW_FORWARD of a packet that it has freed, sent or answered with: say CW_TAKE");
    }
}

/* Runs the upcall with p lent to it. True: p is the runtime's again, with the verdict in *verdict. */
static bool upcall(struct cw_svc *svc, struct cw_packet *p, const cw_rx *rx, cw_verdict *verdict)
{
    node_lend(svc, p);
    struct node_outer outer = node_upcall_begin(svc, UPCALL_PACKET);
    *verdict = svc->table->on_packet(svc, svc->state, p, rx);
    node_upcall_end(svc, UPCALL_PACKET, outer);
    bool kept = svc->node->lent == p && (p->marks & PKT_KEPT);
    bool ours = node_lend_end(svc, p, *verdict);
    look_at_verdict(svc, ours, *verdict, kept);
    return ours;
}

/* The last report of a traced packet: it is taken here, and waited for nothing but the right to be. */
static void report_taken(const struct node *n, struct cw_packet *p)
{
    int64_t waited = p->marks & PKT_HELD ? n->now.ns - p->queued.ns : 0;
    const struct ext_trace_entry entry = {
        .server = n->place,
        .in = p->in < CW_LINK_COUNT ? p->in : EXT_TRACE_IN_MADE_HERE,
        .out = EXT_TRACE_OUT_TAKEN,
        .wait_ns = (uint32_t)(waited > UINT32_MAX ? UINT32_MAX : waited),
        .job = p->head.job,
    };
    ext_trace_append(packet_ext(p->data, &p->exts, EXT_TRACE), &entry);
}

void node_deliver(struct node *n, struct cw_packet *p)
{
    struct cw_svc *svc = node_service_of(n, p->head.job);
    if (svc == NULL) {
        svc = node_guest_for(n, p);
    }
    if (svc == NULL) {
        node_refuse(n, p);
        return;
    }
    CHECK_RULE_SLOW(p->head.kind != PACKET_KEY || node_is_root(n, p->head.to.key),
                    "semantics 4.2: only the key's first server in O delivers, with a lease",
                    node_who(n, (char[NODE_WHO]){0}));
    if ((p->head.flags & packet_flag(EXT_RESPONSE)) && node_take_response(n, svc, p)) {
        return;
    }
    if (hands_are_full(svc)) {
        node_drop(n, p, CW_DROP_NO_MEMORY);
        return;
    }
    n->delivered++;
    if ((p->head.flags & packet_flag(EXT_TRACE)) && pkt_writable(p)) {
        report_taken(n, p);
    }
    node_point(n, NODE_DELIVERED, p, CW_DROP_COUNT);
    cw_rx rx;
    cw_verdict verdict;
    node_fill_rx(n, p, CW_ARRIVED, &rx);
    if (p->head.flags & packet_flag(EXT_REQUEST)) {
        rx.call = node_open_handle(svc, p);
    }
    if (upcall(svc, p, &rx, &verdict)) {
        node_retire(svc, p, "on_packet");
    }
}

bool node_pass_by(struct node *n, struct cw_svc *svc, struct cw_packet *p)
{
    cw_rx rx;
    cw_verdict verdict;
    if (hands_are_full(svc)) {
        node_drop(n, p, CW_DROP_NO_MEMORY);
        return false;
    }
    node_fill_rx(n, p, CW_TRANSIT, &rx);
    if (p->head.flags & packet_flag(EXT_REQUEST)) {
        rx.call = node_open_handle(svc, p);
    }
    if (!upcall(svc, p, &rx, &verdict)) {
        n->taken++;
        return false;
    }
    if (verdict == CW_DROP) {
        node_drop(n, p, CW_DROP_SERVICE);
        return false;
    }
    if (rx.call != 0) {
        node_close_handle(n, rx.call); /* it goes on to whoever answers it */
    }
    return true;
}
