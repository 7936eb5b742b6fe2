/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freed.c - strict mode: a packet that nobody may touch any more is filled, and goes home a little later. Who still
 * writes to it is found by the bytes that are no longer those of the filling, before the memory is another packet's.
 */
#include "core/node_internal.h"

#include "base/text.h"

#include <string.h>

enum { TEXT = 160 };

/* How long a packet stays: a service that keeps a pointer uses it when its next packet or timer comes, mostly. */
static const cw_span rest = CW_MS(100);

/* Where the bytes of p are not as they were filled; p->length: nowhere. */
static uint32_t touched(const struct cw_packet *p)
{
    uint32_t at = 0;
    while (at < p->length && p->data[at] == NODE_POISON) {
        at++;
    }
    return at;
}

static void tell(const struct freed_packet *g, uint32_t at)
{
    char words[TEXT];
    struct text t = text_of(words, sizeof words);
    uint32_t head = packet_head_bytes(&g->packet->head);
    text_put(&t, g->function);
    text_put(&t, ": somebody wrote to the packet afterwards, ");
    if (at < head) {
        text_put(&t, "before its payload");
    } else {
        text_put(&t, "at byte ");
        text_put_number(&t, at - head);
        text_put(&t, " of ");
        text_put_number(&t, g->packet->length - head);
    }
    text_put(&t, ": it was nobody's any more");
    node_misuse(g->svc, words);
}

static void end_first(struct node *n)
{
    struct freed_packet g = n->freed.of[n->freed.first];
    n->freed.first = (n->freed.first + 1) % NODE_FREED;
    n->freed.count--;
    uint32_t at = touched(g.packet);
    if (at < g.packet->length && g.svc != NULL) {
        tell(&g, at);
    }
    pkt_release(g.packet);
}

void node_retire(struct cw_svc *svc, struct cw_packet *p, const char *function)
{
    struct node *n = svc->node;
    /* A slice lies in a frame that others may see: it would keep that whole frame from going home. */
    if (!n->config.strict || !pkt_writable(p) || p->lender != NULL) {
        node_poison(n, p);
        pkt_release(p);
        return;
    }
    if (n->freed.count == NODE_FREED) {
        end_first(n);
    }
    node_poison(n, p);
    n->freed.of[(n->freed.first + n->freed.count++) % NODE_FREED] =
        (struct freed_packet){.packet = p, .svc = svc, .function = function, .since = n->now};
}

void node_check_freed(struct node *n)
{
    while (n->freed.count > 0 && cw_time_since(n->now, n->freed.of[n->freed.first].since).ns >= rest.ns) {
        end_first(n);
    }
}

void node_end_freed(struct node *n)
{
    while (n->freed.count > 0) {
        end_first(n);
    }
}
