/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svc_queue.c - services that bring their own queue: asked when a link has room and it is their turn (CamCubeOS 3.3).
 */
#include "core/node_internal.h"

#include <errno.h>

void cw_poll_links(cw_svc *s, cw_links links)
{
    s->own_links = s->table->next_packet != NULL && !s->closing ? links & CW_LINKS_ALL : CW_LINKS_NONE;
    node_refresh_ready(s->node, s);
}

int cw_packet_address(cw_svc *s, cw_packet *p, const cw_to *to, const cw_send_options *options)
{
    if (!node_must_hold(s, p, "cw_packet_address") || to == NULL) {
        return -EINVAL;
    }
    struct cw_packet *addressed;
    int rc = node_address_packet(s, p, &(struct node_address){.to = to, .options = options}, &addressed);
    if (rc < 0) {
        return rc;
    }
    if (addressed != p) {
        pkt_release(addressed); /* the service knows the packet by its address in memory: it cannot move */
        return -EMSGSIZE;
    }
    p->marks |= PKT_ADDRESSED;
    return 0;
}

/* True when p, addressed, may leave by the link now. */
static bool may_leave_by(struct node *n, struct cw_packet *p, cw_link link)
{
    if (p->head.kind != PACKET_LINK) {
        p->links = node_aim(n, p) ? node_links_for(n, p) : CW_LINKS_NONE;
    }
    return p->links & cw_links_of(link);
}

struct cw_packet *node_ask_own_queue(struct node *n, struct cw_svc *svc, cw_link link)
{
    struct node_outer outer = node_upcall_begin(svc, UPCALL_NEXT_PACKET);
    struct cw_packet *p = svc->table->next_packet(svc, svc->state, link);
    node_upcall_end(svc, UPCALL_NEXT_PACKET, outer);
    if (node_in_hand(svc, p) && (p->marks & PKT_ADDRESSED) && node_may_still_send(svc, &p->head) < 0) {
        node_drop_unsent(svc, p, CW_DROP_DENIED); /* what was allowed when it was addressed is not any more */
    } else if (node_in_hand(svc, p) && (p->marks & PKT_ADDRESSED)) {
        node_let_go(svc, p);
        p->marks = 0;
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
    svc->own_links &= (cw_links)~cw_links_of(link);
    return NULL;
}
