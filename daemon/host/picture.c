/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host/picture.h"

#include "base/quantity.h"
#include "daemon/machine/transit.h"

#include <string.h>

/* ---- How a server and its links are ------------------------------------------------------------------------------ */

const char *picture_state(struct host_server *s, cw_time now)
{
    struct linkstate *ls = node_linkstate(s->node);
    const struct record *own = ls_record(ls, node_self(s->node));
    if (own != NULL && (own->flags & RECORD_LEAVING)) {
        return "leaving";
    }
    if (!ls_active(ls)) {
        return "joining";
    }
    return ls_serving(ls, now) ? "serving" : "fenced";
}

const char *picture_link_state(struct host_server *s, cw_link link)
{
    const struct host_link *l = &s->link[link];
    struct ls_link_info info;
    struct shim_info shim;
    ls_link_info(node_linkstate(s->node), link, &info);
    if (!info.exists) {
        return "none";
    }
    if (l->shim == NULL) {
        return "no-interface";
    }
    shim_info(l->shim, &shim);
    bool awaited = strstr(shim.state, "no such interface") != NULL || strstr(shim.state, "is gone") != NULL;
    return !l->carrier && awaited ? "awaited" : info.state;
}

uint64_t picture_drops(const struct host_server *s)
{
    uint64_t sum = 0;
    for (unsigned cause = 0; cause < CW_DROP_COUNT; cause++) {
        sum += node_drops(s->node, (cw_drop)cause);
    }
    return sum;
}

static void note_forwarded(void *context, const char *group, const char *name, uint64_t value)
{
    uint64_t *forwarded = context;
    if (strcmp(group, "node") == 0 && strcmp(name, "forwarded") == 0) {
        *forwarded = value;
    }
}

uint64_t picture_forwarded(struct host_server *s)
{
    uint64_t forwarded = 0;
    node_counters(s->node, note_forwarded, &forwarded);
    return forwarded;
}

/* ---- The rows ---------------------------------------------------------------------------------------------------- */

/* Bytes that the relay has sent, by link. */
static void note_relayed(void *context, enum transit_kind kind, const char *name, uint64_t packets, uint64_t bytes)
{
    uint64_t *relayed = context;
    (void)packets;
    for (cw_link link = 0; kind == TRANSIT_LINK && link < CW_LINK_COUNT; link++) {
        if (strcmp(name, quantity_link_name(link)) == 0) {
            relayed[link] += bytes;
        }
    }
}

static void tell_name(const struct host_server *s, const struct rows_reader *out)
{
    char name[TORUS_TEXT];
    torus_format(s->self, name);
    out->text(out->context, "server", name);
}

static void tell_link(struct host_server *s, cw_link link, uint64_t relayed, const struct rows_reader *out)
{
    struct shim_info info = {.kind = ""};
    struct shim_counters counters = {0};
    const char *state = picture_link_state(s, link);
    if (strcmp(state, "none") == 0) {
        return;
    }
    if (s->link[link].shim != NULL) {
        shim_info(s->link[link].shim, &info);
        s->link[link].shim->ops->counters(s->link[link].shim, &counters);
    }
    tell_name(s, out);
    out->text(out->context, "link", quantity_link_name(link));
    out->text(out->context, "state", state);
    out->integer(out->context, "sent_bytes", (int64_t)(counters.tx_bytes + relayed));
    out->integer(out->context, "bits_per_second", (int64_t)info.bits_per_second);
    out->row(out->context);
}

void picture_tell(struct host_server *s, cw_time now, const struct rows_reader *out)
{
    uint64_t relayed[CW_LINK_COUNT] = {0};
    if (s->node == NULL) {
        return;
    }
    struct node_tally tally = node_tally(s->node);
    tell_name(s, out);
    out->integer(out->context, "now_ns", now.ns);
    out->text(out->context, "state", picture_state(s, now));
    out->integer(out->context, "inside", (int64_t)node_packets_inside(s->node));
    out->integer(out->context, "made", (int64_t)tally.made);
    out->integer(out->context, "delivered", (int64_t)tally.delivered);
    out->integer(out->context, "forwarded", (int64_t)picture_forwarded(s));
    out->integer(out->context, "dropped", (int64_t)picture_drops(s));
    out->row(out->context);
    transit_counts(host_transit(s->host), s->node, note_relayed, relayed);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        tell_link(s, link, relayed[link], out);
    }
}
