/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_text.c - the families: one after the other, each over all servers, as OpenMetrics asks.
 */
#include "daemon/listeners/metrics.h"

#include "base/histogram.h"
#include "base/quantity.h"
#include "cubeway/version.h"
#include "daemon/machine/transit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE = 512, NAME = 96 };

__attribute__((format(printf, 2, 3))) static void put(const struct metrics_out *out, const char *format, ...)
{
    char line[LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    out->write(out->context, line);
}

void metrics_escape(const char *text, char *out, size_t room)
{
    size_t used = 0;
    for (; *text != '\0' && used + 3 <= room; text++) {
        if (*text == '\\' || *text == '"' || *text == '\n') {
            out[used++] = '\\';
        }
        out[used++] = *text == '\n' ? 'n' : *text;
    }
    out[used] = '\0';
}

bool metrics_wants_plain(const char *fields)
{
    static const char name[] = "accept:";
    bool plain = false, open = false;
    for (const char *line = fields; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        char value[LINE];
        if (strncasecmp(line, name, sizeof name - 1) != 0) {
            continue;
        }
        snprintf(value, sizeof value, "%.*s", (int)strcspn(line, "\r\n"), line);
        open = open || strstr(value, "application/openmetrics-text") != NULL;
        plain = plain || strstr(value, "text/plain") != NULL;
    }
    return plain && !open;
}

int metrics_address(const char *text, char *host, size_t room, uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (colon == NULL || colon[1] < '0' || colon[1] > '9') {
        return -EINVAL;
    }
    unsigned long number = strtoul(colon + 1, &end, 10);
    size_t length = (size_t)(colon - text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length) != NULL) {
        return -EINVAL; /* a v6 address stands in brackets */
    }
    if (*end != '\0' || number > UINT16_MAX || length >= room) {
        return -EINVAL;
    }
    bool loopback = length == 0 || (length == strlen("localhost") && memcmp(text, "localhost", length) == 0);
    snprintf(host, room, "%.*s", loopback ? INT_MAX : (int)length, loopback ? "127.0.0.1" : text);
    *port = (uint16_t)number;
    return 0;
}

/* ---- Families of servers ----------------------------------------------------------------------------------------- */

static void put_family(const struct metrics_out *out, const char *name, const char *type, const char *help)
{
    const char *suffix = out->plain && strcmp(type, "counter") == 0 ? "_total" : "";
    put(out, "# TYPE cubeway_%s%s %s\n# HELP cubeway_%s%s %s\n", name, suffix, type, name, suffix, help);
}

struct server_family {
    const char *name, *type, *help;
    uint64_t (*value)(const struct host_server *s);
};

static uint64_t reachable(const struct host_server *s)
{
    return ls_committed(node_linkstate(s->node))->members;
}

static uint64_t serving(const struct host_server *s)
{
    return ls_serving(node_linkstate(s->node), host_now(s->host));
}

static uint64_t links_up(const struct host_server *s)
{
    return (uint64_t)__builtin_popcount(ls_live_links(node_linkstate(s->node)));
}

static uint64_t incarnation(const struct host_server *s)
{
    return ls_incarnation(node_linkstate(s->node));
}

static uint64_t inside(const struct host_server *s)
{
    return node_packets_inside(s->node);
}

static uint64_t memory(const struct host_server *s)
{
    return node_bytes(s->node);
}

static uint64_t made(const struct host_server *s)
{
    return node_tally(s->node).made;
}

static uint64_t delivered(const struct host_server *s)
{
    return node_tally(s->node).delivered;
}

static uint64_t taken(const struct host_server *s)
{
    return node_tally(s->node).ended;
}

static const struct server_family server_families[] = {
    {"servers_reachable", "gauge", "Servers in the committed view, including this one.", reachable},
    {"serving", "gauge", "1 while this server may deliver packets to keys.", serving},
    {"links_up", "gauge", "Links that are up at both ends.", links_up},
    {"incarnation", "gauge", "The incarnation of this server, which grows with every start.", incarnation},
    {"packets_inside", "gauge", "Packets that are queued or held in this server.", inside},
    {"node_memory_bytes", "gauge", "Bytes of memory of the node: its tables and views, without packets and services.",
     memory},
    {"packets_made", "counter", "Data packets that services of this server sent.", made},
    {"packets_delivered", "counter", "Data packets handed to a service here.", delivered},
    {"packets_taken", "counter", "Data packets that a service took on their way through this server.", taken},
};

static void put_server_family(struct host *h, const struct server_family *f, const struct metrics_out *out)
{
    put_family(out, f->name, f->type, f->help);
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        char text[TORUS_TEXT];
        torus_format(s->self, text);
        if (s->node != NULL) {
            put(out, "cubeway_%s%s{server=\"%s\"} %" PRIu64 "\n", f->name, f->type[0] == 'c' ? "_total" : "", text,
                f->value(s));
        }
    }
}

static void put_drops(struct host *h, const struct metrics_out *out)
{
    put_family(out, "packets_dropped", "counter", "Data packets dropped here, by cause.");
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        char text[TORUS_TEXT];
        torus_format(s->self, text);
        for (unsigned cause = 0; s->node != NULL && cause < CW_DROP_COUNT; cause++) {
            put(out, "cubeway_packets_dropped_total{server=\"%s\",cause=\"%s\"} %" PRIu64 "\n", text,
                cw_drop_name((cw_drop)cause), node_drops(s->node, (cw_drop)cause));
        }
    }
}

/*
 * What services and links count is one family, with the names as labels, because each service makes its counters as it
 * likes.
 */
struct counter_visit {
    const struct metrics_out *out;
    const char *server;
    const char *family, *label; /* of histograms: "service_seconds", and what the name of one is a label for */
};

static void put_counter(void *context, const char *group, const char *name, uint64_t value)
{
    const struct counter_visit *visit = context;
    char label[2][NAME];
    if (strcmp(group, "drop") == 0 || strcmp(group, "node") == 0) {
        return; /* these groups have families of their own */
    }
    metrics_escape(group, label[0], NAME);
    metrics_escape(name, label[1], NAME);
    put(visit->out, "cubeway_service_total{server=\"%s\",service=\"%s\",counter=\"%s\"} %" PRIu64 "\n", visit->server,
        label[0], label[1], value);
}

static void put_counters(struct host *h, const struct metrics_out *out)
{
    char text[TORUS_TEXT];
    put_family(out, "service", "counter", "What services count, by service and counter.");
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        struct counter_visit visit = {.out = out, .server = text};
        torus_format(s->self, text);
        if (s->node != NULL) {
            node_counters(s->node, put_counter, &visit);
        }
    }
    put_family(out, "linkstate", "counter", "What happened to links and views, by event.");
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        torus_format(s->self, text);
        for (unsigned c = 0; s->node != NULL && c < LS_COUNTERS; c++) {
            put(out, "cubeway_linkstate_total{server=\"%s\",event=\"%s\"} %" PRIu64 "\n", text,
                ls_counter_name((enum ls_counter)c), ls_count(node_linkstate(s->node), (enum ls_counter)c));
        }
    }
}

/* Of a server that has a relay: what it passed on, past the daemon, and why it handed frames up. */
struct relay_visit {
    const struct metrics_out *out;
    enum transit_kind kind; /* of the family that is written */
    const char *family, *label, *server;
};

static void put_relay_row(void *context, enum transit_kind kind, const char *name, uint64_t packets, uint64_t bytes)
{
    const struct relay_visit *visit = context;
    char label[NAME];
    metrics_escape(name, label, NAME);
    if (kind == visit->kind) {
        put(visit->out, "cubeway_%s_total{server=\"%s\",%s=\"%s\"} %" PRIu64 "\n", visit->family, visit->server,
            visit->label, label, kind == TRANSIT_LINK ? bytes : packets);
    }
}

static void put_relay(struct host *h, const struct metrics_out *out)
{
    static const struct {
        const char *name, *label, *help;
    } families[] = {
        [TRANSIT_SERVICE] = {"relayed_packets", "service",
                             "Packets that the kernel passed on from link to link, by service."},
        [TRANSIT_LINK] = {"relayed_bytes", "link", "Bytes that the kernel passed on, by the link that they left by."},
        [TRANSIT_UP] = {"relay_handed_up", "reason",
                        "Frames that the kernel left to the daemon to pass on, by reason."},
        [TRANSIT_LOST] = {"relay_lost_behind", "link",
                          "Frames that the device of a link, or its queue, dropped on their way out."},
    };
    const struct host_server *s = host_server(h, 0);
    char text[TORUS_TEXT];
    if (host_transit(h) == NULL || s->node == NULL) {
        return;
    }
    torus_format(s->self, text);
    for (enum transit_kind kind = TRANSIT_SERVICE; kind <= TRANSIT_LOST; kind++) {
        struct relay_visit visit = {out, kind, families[kind].name, families[kind].label, text};
        put_family(out, families[kind].name, "counter", families[kind].help);
        transit_counts(host_transit(h), s->node, put_relay_row, &visit);
    }
}

/* ---- How long things take ---------------------------------------------------------------------------------------- */

/* Powers of two are enough for collectors: a quarter of the buckets. */
static void put_histogram(void *context, const char *service, const char *name, const struct histogram *h)
{
    const struct counter_visit *visit = context;
    char label[2][NAME], of[3 * NAME];
    metrics_escape(service, label[0], NAME);
    metrics_escape(name, label[1], NAME);
    snprintf(of, sizeof of, "server=\"%s\",service=\"%s\",%s=\"%s\"", visit->server, label[0], visit->label, label[1]);
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS - 1; i += HISTOGRAM_PARTS) {
        int64_t ns = histogram_bound(i);
        put(visit->out, "cubeway_%s_bucket{%s,le=\"%" PRId64 ".%09" PRId64 "\"} %" PRIu64 "\n", visit->family, of,
            ns / CW_SEC(1).ns, ns % CW_SEC(1).ns, histogram_up_to(h, i));
    }
    put(visit->out, "cubeway_%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", visit->family, of, h->count);
    put(visit->out, "cubeway_%s_sum{%s} %" PRIu64 ".%09" PRIu64 "\n", visit->family, of, h->sum_ns / CW_NS_PER_SEC,
        h->sum_ns % CW_NS_PER_SEC);
    put(visit->out, "cubeway_%s_count{%s} %" PRIu64 "\n", visit->family, of, h->count);
}

typedef void histograms_fn(const struct node *n,
                           void (*visit)(void *context, const char *service, const char *name,
                                         const struct histogram *h),
                           void *context);

static void put_histograms(struct host *h, const struct metrics_out *out, const char *family, const char *label,
                           const char *help, histograms_fn *all)
{
    char text[TORUS_TEXT];
    put_family(out, family, "histogram", help);
    if (!out->plain) {
        put(out, "# UNIT cubeway_%s seconds\n", family);
    }
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        struct counter_visit visit = {out, text, family, label};
        torus_format(s->self, text);
        if (s->node != NULL) {
            all(s->node, put_histogram, &visit);
        }
    }
}

/* ---- Families of links ------------------------------------------------------------------------------------------- */

struct link_family {
    const char *name, *help;
    size_t at;  /* in struct shim_counters */
    bool tally; /* in struct host_link_tally instead */
};

static const struct link_family link_families[] = {
    {"link_sent_frames", "Frames sent on the link.", offsetof(struct shim_counters, tx_frames), false},
    {"link_sent_bytes", "Bytes sent on the link, without Ethernet headers.", offsetof(struct shim_counters, tx_bytes),
     false},
    {"link_received_frames", "Frames received on the link.", offsetof(struct shim_counters, rx_frames), false},
    {"link_received_bytes", "Bytes received on the link, without Ethernet headers.",
     offsetof(struct shim_counters, rx_bytes), false},
    {"link_refused", "Frames that the system did not take at once.", offsetof(struct shim_counters, tx_refused), false},
    {"link_errors", "Frames that the system lost while sending.", offsetof(struct shim_counters, tx_errors), false},
    {"link_overruns", "Frames lost on arrival because there was no room.", offsetof(struct shim_counters, rx_dropped),
     false},
    {"link_strange", "Frames received that do not belong to cubeway.", offsetof(struct shim_counters, rx_strange),
     false},
    {"link_receive_failures", "Receptions that ended in an error.", offsetof(struct host_link_tally, failed), true},
};

static void put_link_family(struct host *h, const struct link_family *f, const struct metrics_out *out)
{
    put_family(out, f->name, "counter", f->help);
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        char text[TORUS_TEXT] = "";
        if (host_torus(h)->servers != 0) { /* it has its place */
            torus_format(s->self, text);
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            struct shim *shim = s->link[link].shim;
            struct shim_counters counters = {0};
            uint64_t value;
            if (shim == NULL) {
                continue;
            }
            shim->ops->counters(shim, &counters);
            const void *from = f->tally ? (const void *)&s->link[link].tally : (const void *)&counters;
            memcpy(&value, (const char *)from + f->at, sizeof value);
            put(out, "cubeway_%s_total{server=\"%s\",link=\"%s\"} %" PRIu64 "\n", f->name, text,
                quantity_link_name(link), value);
        }
    }
}

/* What hellos tell of the cables, each way: `in` is what the neighbour sends. */
struct loss_family {
    const char *name, *type, *help;
    bool (*value)(const struct ls_loss *loss, char out[static QUANTITY_TEXT]); /* false: nothing is known yet */
};

static bool hellos_judged(const struct ls_loss *loss, char out[static QUANTITY_TEXT])
{
    snprintf(out, QUANTITY_TEXT, "%" PRIu64, loss->hellos);
    return true;
}

static bool hellos_lost(const struct ls_loss *loss, char out[static QUANTITY_TEXT])
{
    snprintf(out, QUANTITY_TEXT, "%" PRIu64, loss->lost);
    return true;
}

static bool loss_ratio(const struct ls_loss *loss, char out[static QUANTITY_TEXT])
{
    quantity_millionths_format(loss->ppm, out);
    return loss->ppm >= 0;
}

static const struct loss_family loss_families[] = {
    {"link_hellos", "counter", "Hellos sent on the link whose fate is known, by direction.", hellos_judged},
    {"link_hellos_lost", "counter", "Hellos that the link lost, by direction.", hellos_lost},
    {"link_loss_ratio", "gauge", "The share of the last thousand hellos that the link lost, by direction.", loss_ratio},
};

static void put_loss_family(struct host *h, const struct loss_family *f, const struct metrics_out *out)
{
    put_family(out, f->name, f->type, f->help);
    for (unsigned i = 0; i < host_count(h); i++) {
        const struct host_server *s = host_server(h, i);
        char text[TORUS_TEXT], value[QUANTITY_TEXT];
        for (cw_link link = 0; s->node != NULL && link < CW_LINK_COUNT; link++) {
            struct ls_link_info info;
            ls_link_info(node_linkstate(s->node), link, &info);
            torus_format(s->self, text);
            for (unsigned way = 0; info.exists && way < 2; way++) {
                if (f->value(way == 0 ? &info.loss_in : &info.loss_out, value)) {
                    put(out, "cubeway_%s%s{server=\"%s\",link=\"%s\",direction=\"%s\"} %s\n", f->name,
                        f->type[0] == 'c' ? "_total" : "", text, quantity_link_name(link), way == 0 ? "in" : "out",
                        value);
                }
            }
        }
    }
}

void metrics_write(struct host *h, const struct metrics_out *out)
{
    put_family(out, out->plain ? "build_info" : "build", out->plain ? "gauge" : "info", "The version of the daemon.");
    put(out, "cubeway_build_info{version=\"%s\"} 1\n", CW_VERSION);
    for (size_t i = 0; i < sizeof server_families / sizeof *server_families; i++) {
        put_server_family(h, &server_families[i], out);
    }
    put_drops(h, out);
    for (size_t i = 0; i < sizeof link_families / sizeof *link_families; i++) {
        put_link_family(h, &link_families[i], out);
    }
    for (size_t i = 0; i < sizeof loss_families / sizeof *loss_families; i++) {
        put_loss_family(h, &loss_families[i], out);
    }
    put_counters(h, out);
    put_relay(h, out);
    put_histograms(h, out, "service_seconds", "histogram", "How long what services do took, by service and kind.",
                   node_histograms);
    put_histograms(h, out, "upcall_seconds", "upcall",
                   "How long calls of services held the server's thread, by service and upcall.", node_upcalls);
    if (!out->plain) {
        put(out, "# EOF\n");
    }
}
