/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_node.c - one server by itself: how it is, its links, its counters, what it dropped.
 */
#include "daemon/commands/commands.h"

#include "base/histogram.h"
#include "base/quantity.h"
#include "cubeway/version.h"
#include "daemon/host/picture.h"
#include "daemon/machine/transit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * This process's number by the /proc that it sees. In a process namespace (a lab, a container) that is the number by
 * which everybody outside knows it, and not its number inside.
 */
static int64_t number_outside(void)
{
    char text[24] = "";
    ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    return length > 0 ? strtoll(text, NULL, 10) : getpid();
}

/* Bytes that the process holds for itself: what is in memory and is no file's that others could share. */
static int64_t memory_of_process(void)
{
    long size = 0, resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f == NULL) {
        return 0;
    }
    if (fscanf(f, "%ld %ld %ld", &size, &resident, &shared) != 3) {
        resident = shared = 0;
    }
    fclose(f);
    return (resident - shared) * sysconf(_SC_PAGESIZE);
}

/* ---- status ------------------------------------------------------------------------------------------------------ */

static void tell_holds(struct request *r, const struct host_holds *holds, cw_time now)
{
    if (holds->count > 0) {
        const struct host_hold *last = &holds->at[(holds->count - 1) % HOST_HOLDS_KEPT];
        request_integer(r, "holds", (int64_t)holds->count);
        request_text(r, "hold_service", holds->longest.service);
        request_text(r, "hold_upcall", holds->longest.upcall);
        request_integer(r, "hold_longest_ns", holds->longest.lasted.ns);
        request_integer(r, "hold_last_ns", cw_time_since(now, last->ended).ns);
    }
}

/* True: it serves, and every link that there should be is up. */
static bool tell_status(struct request *r, struct host_server *s, cw_time now)
{
    struct host *h = commands_host(r);
    const struct daemon_config *config = host_config(h);
    const struct torus *t = host_torus(h);
    struct linkstate *ls = node_linkstate(s->node);
    struct node_tally tally = node_tally(s->node);
    cw_links missing = torus_links(t) & (cw_links)~ls_live_links(ls);
    char dims[QUANTITY_TEXT];
    quantity_dims_format(torus_dims(t), dims);
    request_server(r, "server", s->self);
    request_text(r, "state", picture_state(s, now));
    request_text(r, "name", config->name);
    request_integer(r, "cluster", config->cluster);
    request_text(r, "torus", dims);
    request_integer(r, "servers", t->servers);
    request_integer(r, "reachable", ls_committed(ls)->members);
    if (ls_committed(ls)->members <= t->servers / 2) {
        request_text(r, "majority", "no: the caches of kvcache stand still (cwctl doctor)");
    }
    request_links(r, "links_up", ls_live_links(ls));
    request_links(r, "links_missing", missing);
    request_integer(r, "incarnation", (int64_t)ls_incarnation(ls));
    request_integer(r, "view", (int64_t)ls_epoch(ls));
    request_integer(r, "made", (int64_t)tally.made);
    request_integer(r, "delivered", (int64_t)tally.delivered);
    request_integer(r, "forwarded", (int64_t)picture_forwarded(s));
    request_integer(r, "dropped", (int64_t)picture_drops(s));
    request_integer(r, "inside", (int64_t)node_packets_inside(s->node));
    request_integer(r, "services", host_service_count(h));
    request_integer(r, "mtu", host_mtu(h));
    request_integer(r, "memory_bytes", memory_of_process());
    request_integer(r, "node_memory_bytes", (int64_t)node_bytes(s->node));
    request_integer(r, "uptime_ns", cw_time_since(now, host_started(h)).ns);
    request_text(r, "priority", config_priority_name(config->priority));
    if (host_priority_note(h) != NULL) {
        request_text(r, "priority_note", host_priority_note(h));
    }
    const struct host_stalls *stalls = host_stalls(h);
    request_integer(r, "stalls", (int64_t)stalls->count);
    if (stalls->count > 0) {
        request_integer(r, "stall_longest_ns", stalls->longest.ns);
        request_integer(r, "stall_last_ns", cw_time_since(now, stalls->last).ns);
    }
    tell_holds(r, host_holds(h), now);
    request_integer(r, "hosted", host_count(h));
    request_integer(r, "pid", number_outside());
    request_text(r, "version", CW_VERSION);
    request_text(r, "build", host_build(h));
    request_integer(r, "naps", (int64_t)host_naps(h));
    request_row(r);
    return missing == CW_LINKS_NONE && ls_serving(ls, now);
}

void cmd_status(struct request *r)
{
    struct host *h = commands_host(r);
    struct commands_scope scope;
    bool well = true;
    if (host_boot(h) != NULL && host_count(h) == 1 && host_server(h, 0)->node == NULL) {
        request_text(r, "state", "searching");
        request_text(r, "name", host_config(h)->name);
        request_integer(r, "pid", number_outside());
        request_text(r, "version", CW_VERSION);
        request_done(r, 1);
        return;
    }
    if (!commands_scope(r, &scope)) {
        return;
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        well = tell_status(r, s, host_now(h)) && well;
    }
    request_done(r, well ? 0 : 1);
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static void tell_shim(struct request *r, const struct host_link *link)
{
    struct shim_info info = {.kind = ""};
    struct shim_counters counters = {0};
    link->shim->ops->info(link->shim, &info);
    link->shim->ops->counters(link->shim, &counters);
    request_text(r, "shim", info.kind);
    request_text(r, "on", info.name);
    request_integer(r, "mtu", info.mtu);
    request_integer(r, "bits_per_second", (int64_t)info.bits_per_second);
    request_integer(r, "tx_frames", (int64_t)counters.tx_frames);
    request_integer(r, "tx_bytes", (int64_t)counters.tx_bytes);
    request_integer(r, "rx_frames", (int64_t)counters.rx_frames);
    request_integer(r, "rx_bytes", (int64_t)counters.rx_bytes);
    request_integer(r, "tx_refused", (int64_t)counters.tx_refused);
    request_integer(r, "tx_errors", (int64_t)counters.tx_errors);
    request_integer(r, "rx_dropped", (int64_t)counters.rx_dropped);
    request_integer(r, "rx_strange", (int64_t)counters.rx_strange);
    request_integer(r, "lost_carrier", (int64_t)link->tally.lost_carrier);
    request_integer(r, "lost_memory", (int64_t)link->tally.lost_memory);
    request_integer(r, "lost_errors", (int64_t)link->tally.lost_errors);
    request_integer(r, "rx_failed", (int64_t)link->tally.failed);
}

static void tell_loss(struct request *r, const struct ls_link_info *info)
{
    request_integer(r, "hellos_in", (int64_t)info->loss_in.hellos);
    request_integer(r, "hellos_in_lost", (int64_t)info->loss_in.lost);
    request_integer(r, "hellos_out", (int64_t)info->loss_out.hellos);
    request_integer(r, "hellos_out_lost", (int64_t)info->loss_out.lost);
    if (info->loss_in.ppm >= 0) {
        request_integer(r, "loss_in_ppm", info->loss_in.ppm);
    }
    if (info->loss_out.ppm >= 0) {
        request_integer(r, "loss_out_ppm", info->loss_out.ppm);
    }
}

/* Which software it runs, for people. */
static void tell_neighbour(struct request *r, const struct linkstate *ls, cw_link link, const struct ls_link_info *info)
{
    char text[ABOUT_TEXT_BYTES + 1];
    struct ls_foreign foreign = ls_link_foreign(ls, link);
    if (info->about.version[0] != '\0') {
        snprintf(text, sizeof text, "%.*s", ABOUT_TEXT_BYTES, info->about.version);
        request_text(r, "neighbour_version", text);
    }
    if (info->about.build[0] != '\0') {
        snprintf(text, sizeof text, "%.*s", ABOUT_TEXT_BYTES, info->about.build);
        request_text(r, "neighbour_build", text);
    }
    if (foreign.frames > 0) {
        request_integer(r, "neighbour_wire_version", foreign.version);
    }
}

static void tell_link(struct request *r, struct host_server *s, cw_link link, cw_time now)
{
    struct ls_link_info info;
    ls_link_info(node_linkstate(s->node), link, &info);
    request_server(r, "server", s->self);
    request_text(r, "link", quantity_link_name(link));
    if (!info.exists) {
        request_text(r, "state", "none"); /* an axis of one server has no cable */
        request_row(r);
        return;
    }
    request_server(r, "neighbour", info.expected);
    request_text(r, "state", picture_link_state(s, link));
    request_flag(r, "up", info.committed);
    request_flag(r, "carrier", s->link[link].shim != NULL && s->link[link].carrier);
    if (info.heard.any) {
        request_integer(r, "heard_ns", cw_time_since(now, info.heard.at).ns);
        request_server(r, "heard", info.heard.server);
        request_text(r, "heard_port", quantity_link_name(info.heard.port));
    }
    request_integer(r, "flaps", info.flaps);
    if (s->link[link].shim != NULL) {
        tell_shim(r, &s->link[link]);
    }
    if (host_transit(s->host) != NULL) {
        request_text(r, "relay", transit_why(host_transit(s->host), s->node, link));
    }
    tell_loss(r, &info);
    tell_neighbour(r, node_linkstate(s->node), link, &info);
    request_row(r);
}

void cmd_links(struct request *r)
{
    struct host *h = commands_host(r);
    struct commands_scope scope;
    cw_link only = CW_LINK_COUNT;
    const struct request_line *line = request_line(r);
    if (!commands_scope(r, &scope) || (line->argc > 0 && !commands_read_link(r, line->argv[0], &only))) {
        return;
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (only == CW_LINK_COUNT || link == only) {
                tell_link(r, s, link, host_now(h));
            }
        }
    }
    request_done(r, 0);
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

struct counter_visit {
    struct request *r;
    cw_coord server;
};

static void tell_counter(void *context, const char *group, const char *name, uint64_t value)
{
    const struct counter_visit *visit = context;
    request_server(visit->r, "server", visit->server);
    request_text(visit->r, "group", group);
    request_text(visit->r, "counter", name);
    request_integer(visit->r, "value", (int64_t)value);
    request_row(visit->r);
}

/* What the relay passed on, by service and by link; what it handed up, by reason; what devices lost behind it. */
static void tell_relay(void *context, enum transit_kind kind, const char *name, uint64_t packets, uint64_t bytes)
{
    static const char *const words[] = {
        [TRANSIT_LINK] = "relayed by", [TRANSIT_UP] = "up:", [TRANSIT_LOST] = "lost behind"};
    char text[64];
    if (kind == TRANSIT_SERVICE) {
        tell_counter(context, name, "relayed", packets);
        tell_counter(context, name, "relayed_bytes", bytes);
        return;
    }
    snprintf(text, sizeof text, "%s %s", words[kind], name);
    tell_counter(context, "relay", text, packets);
}

void cmd_counters(struct request *r)
{
    struct commands_scope scope;
    if (!commands_scope(r, &scope)) {
        return;
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        struct counter_visit visit = {r, s->self};
        node_counters(s->node, tell_counter, &visit);
        for (unsigned c = 0; c < LS_COUNTERS; c++) {
            tell_counter(&visit, "links", ls_counter_name((enum ls_counter)c),
                         ls_count(node_linkstate(s->node), (enum ls_counter)c));
        }
        transit_counts(host_transit(s->host), s->node, tell_relay, &visit);
    }
    request_done(r, 0);
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

struct time_visit {
    struct request *r;
    cw_coord server;
    const char *service; /* NULL: all */
};

static void tell_times(void *context, const char *service, const char *upcall, const struct histogram *h)
{
    const struct time_visit *visit = context;
    if (h->count == 0 || (visit->service != NULL && strcmp(service, visit->service) != 0)) {
        return;
    }
    request_server(visit->r, "server", visit->server);
    request_text(visit->r, "service", service);
    request_text(visit->r, "upcall", upcall);
    request_integer(visit->r, "calls", (int64_t)h->count);
    int64_t mean = (int64_t)(h->sum_ns / h->count), longest = histogram_quantile(h, 1000);
    request_integer(visit->r, "mean_ns", mean);
    request_integer(visit->r, "half_ns", histogram_quantile(h, 500));
    request_integer(visit->r, "most_ns", histogram_quantile(h, 990));
    request_integer(visit->r, "longest_ns", longest > mean ? longest : mean); /* buckets are coarser than the mean */
    request_row(visit->r);
}

void cmd_service_times(struct request *r)
{
    const struct request_line *line = request_line(r);
    const char *service = line->argc > 0 ? line->argv[0] : NULL;
    struct commands_scope scope;
    if (!commands_scope(r, &scope)) {
        return;
    }
    if (service != NULL && host_service_find(commands_host(r), service) == NULL) {
        commands_refuse_service(r, service);
        return;
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        struct time_visit visit = {r, s->self, service};
        node_upcalls(s->node, tell_times, &visit);
    }
    request_done(r, 0);
}

/* ---- drops ------------------------------------------------------------------------------------------------------- */

void cmd_drops(struct request *r)
{
    struct commands_scope scope;
    bool all = false;
    if (!commands_scope(r, &scope) || !commands_flag(r, "all", &all)) {
        return;
    }
    for (struct host_server *s; (s = commands_next(r, &scope)) != NULL;) {
        for (unsigned cause = 0; cause < CW_DROP_COUNT; cause++) {
            uint64_t packets = node_drops(s->node, (cw_drop)cause);
            if (packets == 0 && !all) {
                continue;
            }
            request_server(r, "server", s->self);
            request_text(r, "cause", cw_drop_name((cw_drop)cause));
            request_integer(r, "packets", (int64_t)packets);
            request_text(r, "meaning", cw_drop_text((cw_drop)cause));
            request_row(r);
        }
    }
    request_done(r, 0);
}
