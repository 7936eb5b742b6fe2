/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.c - what nodes tell of their packets: counted, digested, checked.
 */
#include "simulator/world_internal.h"

#include "base/digest.h"
#include "wire/packet.h"

#include <string.h>

enum { STAMP_WORDS = 4 };

/* A hash of the bytes by which packets of its job are told apart (world_stamps()); 0: there are none. */
static uint64_t identify(const struct world *w, cw_server s, const struct cw_packet *p, cw_server source)
{
    uint64_t words[STAMP_WORDS + 1] = {source};
    if (p->head.kind != PACKET_KEY) {
        words[0] |= (uint64_t)(s + 1) << 32; /* stamps may repeat to other servers */
    }
    if (p->head.kind == PACKET_LINK) {
        words[0] |= (uint64_t)p->in << 56; /* and on other links */
    }
    uint32_t at = packet_head_bytes(&p->head) + w->stamp.offset;
    if (p->head.job != w->stamp.job || w->stamp.bytes == 0 || at + w->stamp.bytes > p->length) {
        return 0;
    }
    memcpy(words + 1, p->data + at, w->stamp.bytes);
    uint64_t id = digest_of_words(words, STAMP_WORDS + 1);
    return id != 0 ? id : 1;
}

static void delivered(struct world *w, cw_server s, const struct cw_packet *p, cw_time local)
{
    struct world_totals *t = &w->totals;
    unsigned hops = p->in == CW_LINK_SELF ? 0 : p->head.hops;
    t->delivered++;
    t->delivered_keys += p->head.kind == PACKET_KEY;
    t->hops += hops;
    t->hops_max = hops > t->hops_max ? hops : t->hops_max;
    cw_server source = torus_holds(&w->torus, p->head.source) ? torus_id(&w->torus, p->head.source) : CW_SERVER_NONE;
    uint64_t id = identify(w, s, p, source);
    uint64_t words[] = {(uint64_t)w->now.ns, (uint64_t)s << 32 | source, (uint64_t)p->head.length << 32 | hops, id};
    w->deliveries += digest_of_words(words, sizeof words / sizeof *words);
    if (w->check != NULL) {
        check_delivered(w->check, s, p, id, local);
    }
}

static void on_packet(void *context, const struct node *n, enum node_point point, const struct cw_packet *p,
                      cw_drop cause, cw_time local)
{
    struct world *w = context;
    cw_server s = node_self(n);
    switch (point) {
    case NODE_DELIVERED:
        delivered(w, s, p, local);
        break;
    case NODE_DROPPED:
        if (w->killing) {
            w->totals.lost[WORLD_LOSS_KILLED]++;
        } else {
            w->totals.dropped[cause]++;
        }
        break;
    case NODE_HELD:
        w->totals.held++;
        if (w->check != NULL) {
            check_held(w->check, s, p, local);
        }
        break;
    case NODE_QUEUED:
        break;
    }
    if (w->watch.packet != NULL) {
        w->watch.packet(w->watch.context, s, point, p, cause, w->now);
    }
}

static void on_log(void *context, const struct node *n, cw_level level, const char *service, const char *text,
                   cw_time local)
{
    struct world *w = context;
    (void)local;
    if (w->watch.log != NULL) {
        w->watch.log(w->watch.context, node_self(n), level, service, text, w->now);
    }
}

struct node_watch seen_watch(struct world *w)
{
    /* NODE_QUEUED comes once per hop: the node tells of it only if somebody listens. */
    unsigned deaf = w->watch.packet == NULL ? 1u << NODE_QUEUED : 0;
    return (struct node_watch){.context = w, .deaf = deaf, .packet = on_packet, .log = on_log};
}
