/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what operators ask of a network on one server: its state, flows, drops, and whose an address is. */
#include "services/tunnel/internal.h"

#include "base/quantity.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flows that are shown: unless a number is given, and at most; and how long one that was silent is shown. */
enum { FLOWS_USUAL = 20, FLOW_TEXT = ADDRESS_TEXT_BYTES + 10 };
static const cw_span flow_shown = CW_SEC(10);

static void tell_address(cw_request *r, const char *name, const struct tunnel *t, cw_server server, uint8_t version)
{
    char text[ADDRESS_TEXT_BYTES];
    struct ip_address a;
    address_of(&t->plan, server, version, &a);
    cw_request_text(r, name, address_text(&a, text));
}

static void tell_subnet(cw_request *r, const char *name, const struct tunnel *t, uint8_t version)
{
    char address[ADDRESS_TEXT_BYTES], text[ADDRESS_TEXT_BYTES + 4];
    struct ip_address a;
    uint8_t length = address_subnet(&t->plan, version, &a);
    snprintf(text, sizeof text, "%s/%u", address_text(&a, address), length);
    cw_request_text(r, name, text);
}

/* What this server has to do with the world outside. */
static void tell_gateway(cw_request *r, const struct tunnel *t)
{
    const char *device = cw_option(t->s, "gateway_device"), *whole = cw_option(t->s, "gateway_for");
    if (t->plan.gateways.ranges == 0) {
        return;
    }
    cw_request_text(r, "gateway", address_is_gateway(&t->plan, t->self) ? "yes" : "no");
    cw_request_text(r, "gateway_for", whole != NULL ? whole : ADDRESS_OUTSIDE);
    cw_request_text(r, "gateway_device", device != NULL ? device : "");
    cw_request_int(r, "gateways_near", t->attached ? t->gateways.near : 0);
}

static int64_t dropped_in_all(const struct tunnel *t)
{
    uint64_t sum = 0;
    for (int i = TUNNEL_GOOD + 1; i < TUNNEL_CAUSES; i++) {
        sum += t->dropped[i];
    }
    return (int64_t)sum;
}

static int command_status(const struct tunnel *t, cw_request *r)
{
    const struct strands_counts *in = &t->strands.counts;
    const struct flows_counts *out = &t->flows.counts;
    cw_request_text(r, "door", t->attached ? "open" : "none");
    cw_request_text(r, "device", t->device);
    if (t->neighbours != NULL) {
        cw_request_text(r, "ethernet", "yes");
    }
    if (cw_option(t->s, "netns") != NULL) {
        cw_request_text(r, "netns", cw_option(t->s, "netns"));
    }
    tell_address(r, "ipv4", t, t->self, 4);
    tell_address(r, "ipv6", t, t->self, 6);
    tell_subnet(r, "subnet", t, 4);
    tell_subnet(r, "subnet6", t, 6);
    tell_gateway(r, t);
    cw_request_int(r, "mtu", t->mtu);
    cw_request_text(r, "multicast", t->many.user != NULL ? "yes" : "no");
    cw_request_int(r, "waiting", t->flows.packets);
    cw_request_int(r, "waiting_bytes", (int64_t)t->flows.bytes);
    cw_request_int(r, "held_bytes", (int64_t)t->strands.held);
    cw_request_int(r, "sent", (int64_t)out->sent);
    if (t->spread) {
        cw_request_int(r, "longer", (int64_t)t->longer_sent);
    }
    cw_request_int(r, "marked", (int64_t)out->marked);
    cw_request_int(r, "in_order", (int64_t)in->in_order);
    cw_request_int(r, "filled", (int64_t)in->filled);
    cw_request_int(r, "given_up", (int64_t)in->given_up);
    cw_request_int(r, "late_after_all", (int64_t)in->late_after_all);
    cw_request_int(r, "lateness_p99_ns", cw_histogram_quantile(t->lateness, 990).ns);
    cw_request_int(r, "dropped", dropped_in_all(t));
    return 0;
}

static int command_drops(const struct tunnel *t, cw_request *r)
{
    for (int i = TUNNEL_GOOD + 1; i < TUNNEL_CAUSES; i++) {
        if (i > TUNNEL_GOOD + 1) {
            cw_request_row(r);
        }
        cw_request_text(r, "cause", tunnel_cause_name((enum tunnel_cause)i));
        cw_request_int(r, "packets", (int64_t)t->dropped[i]);
        cw_request_text(r, "meaning", tunnel_cause_text((enum tunnel_cause)i));
    }
    return 0;
}

/* ---- Flows ------------------------------------------------------------------------------------------------------- */

/* Those that have sent most first. */
static int by_bytes(const void *a, const void *b)
{
    const struct leave_flow *const *f = a, *const *g = b;
    return (*f)->bytes != (*g)->bytes ? ((*f)->bytes < (*g)->bytes ? 1 : -1) : 0;
}

static void tell_end(cw_request *r, const char *name, const struct ip_address *a, uint16_t port)
{
    char address[ADDRESS_TEXT_BYTES], text[FLOW_TEXT];
    address_text(a, address);
    if (port == 0) {
        snprintf(text, sizeof text, "%s", address);
    } else {
        snprintf(text, sizeof text, a->version == 4 ? "%s:%u" : "[%s]:%u", address, port);
    }
    cw_request_text(r, name, text);
}

static void protocol_text(uint8_t protocol, char out[static 8])
{
    switch (protocol) {
    case IP_TCP:
        strcpy(out, "tcp");
        break;
    case IP_UDP:
        strcpy(out, "udp");
        break;
    case IP_ICMP:
    case IP_ICMP6:
        strcpy(out, "icmp");
        break;
    default:
        snprintf(out, 8, "%u", protocol);
    }
}

static void tell_flow(const struct tunnel *t, cw_request *r, const struct leave_flow *f)
{
    char protocol[8];
    protocol_text(f->protocol, protocol);
    cw_request_text(r, "protocol", protocol);
    tell_end(r, "from", &f->from, f->ports[0]);
    tell_end(r, "to", &f->to, f->ports[1]);
    tell_server(r, "server", cw_server_coord(t->s, f->server));
    cw_request_int(r, "packets", (int64_t)f->packets);
    cw_request_int(r, "bytes", (int64_t)f->bytes);
    cw_request_int(r, "waiting_bytes", (int64_t)flows_waiting(&t->flows, f->hash));
    cw_request_int(r, "idle_ns", cw_time_since(cw_now(t->s), f->last).ns);
}

static int command_flows(const struct tunnel *t, cw_request *r, const char *word)
{
    const struct leave_flow *shown[FLOWS];
    size_t count = 0;
    char *end = NULL;
    unsigned long most = word == NULL ? FLOWS_USUAL : strtoul(word, &end, 10);
    if (word != NULL && (word[0] < '0' || word[0] > '9' || *end != '\0' || most < 1 || most > FLOWS)) {
        return refuse_request(r, "flows %.40s: expected a whole number from 1 to %d", word, FLOWS);
    }
    for (unsigned i = 0; t->attached && i < FLOWS; i++) {
        const struct leave_flow *f = &t->seen[i];
        bool lately = f->packets > 0 && cw_time_since(cw_now(t->s), f->last).ns <= flow_shown.ns;
        if (lately || (f->packets > 0 && flows_waiting(&t->flows, f->hash) > 0)) {
            shown[count++] = f;
        }
    }
    qsort(shown, count, sizeof *shown, by_bytes);
    for (size_t i = 0; i < count && i < most; i++) {
        if (i > 0) {
            cw_request_row(r);
        }
        tell_flow(t, r, shown[i]);
    }
    return 0;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* "+x -y". */
static void tell_links(cw_request *r, const char *name, cw_links links)
{
    char text[32] = "";
    size_t used = 0;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (links & cw_links_of(link)) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : " ",
                                     quantity_link_name(link));
        }
    }
    cw_request_text(r, name, text);
}

static int command_explain(const struct tunnel *t, cw_request *r, const char *word)
{
    struct ip_address a;
    char text[ADDRESS_TEXT_BYTES], ask[64];
    if (address_read(word, &a) < 0) {
        return refuse_request(r, "'%.80s' is no IP address: write one such as 10.64.11.1", word);
    }
    cw_server server = address_server(&t->plan, &a);
    cw_request_text(r, "address", address_text(&a, text));
    const bool outside = address_is_outside(&t->plan, &a);
    if (outside && t->attached) {
        server = gateways_pick(&t->gateways, 0); /* of a flow; others may take another one that is as near */
        cw_request_text(r, "outside", "yes");
        if (server == CW_SERVER_NONE) {
            return refuse_request(r, "%s is outside, and %s", text,
                                  address_is_gateway(&t->plan, t->self)
                                      ? "this server is a gateway: its kernel knows the way"
                                      : "no gateway can be reached");
        }
    }
    if (server == CW_SERVER_NONE) {
        bool inside = address_inside(&t->plan, &a);
        return refuse_request(r, "%s is %s", text,
                              inside ? "in the subnet of this network, and no server has it"
                                     : "in no subnet of this network");
    }
    cw_coord c = cw_server_coord(t->s, server);
    tell_server(r, "server", c);
    cw_request_int(r, "id", server);
    cw_request_text(r, "reachable", cw_reachable(t->s, c) ? "yes" : "no");
    tell_links(r, "links", cw_links_to(t->s, c));
    if (t->spread) {
        tell_links(r, "longer_links", longer_links(t->longer, t->s, server));
    }
    cw_request_int(r, "hops", cw_distance(t->s, cw_self(t->s), c));
    cw_request_int(r, "hole_wait_ns", t->attached ? strands_wait(&t->strands, server).ns : 0);
    /* Which grant lets packets go there the NMU knows, and the service jobs tells. */
    snprintf(ask, sizeof ask, "cwctl job explain %u:%u %u:%u:%d", cw_job_of(t->s), t->self, cw_job_of(t->s), server,
             TUNNEL_PORT);
    cw_request_text(r, "ask", ask);
    return 0;
}

static int command_hosts(const struct tunnel *t, cw_request *r)
{
    bool first = true;
    for (cw_server server = 0; server < t->servers; server++) {
        if (!address_is_member(&t->plan, server)) {
            continue;
        }
        if (!first) {
            cw_request_row(r);
        }
        first = false;
        tell_server(r, "server", cw_server_coord(t->s, server));
        cw_request_int(r, "id", server);
        tell_address(r, "ipv4", t, server, 4);
        tell_address(r, "ipv6", t, server, 6);
    }
    return 0;
}

/* For a forwarder elsewhere, in the kernel one day: what a piece needs to go on, which is its server alone. */
static int command_next_hops(const struct tunnel *t, cw_request *r)
{
    bool first = true;
    for (cw_server server = 0; server < t->servers; server++) {
        const cw_coord c = cw_server_coord(t->s, server);
        if (server == t->self || !cw_reachable(t->s, c)) {
            continue;
        }
        if (!first) {
            cw_request_row(r);
        }
        first = false;
        tell_server(r, "server", c);
        cw_request_int(r, "id", server);
        tell_links(r, "links", cw_links_to(t->s, c));
    }
    return 0;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

const cw_command answer_commands[] = {
    {"status", "", "Addresses, MTU, what waits, and how pieces came: in order, late, or not at all."},
    {"drops", "", "Packets that were dropped here, by cause."},
    {"flows", "[N]", "Connections that have sent from here in the last ten seconds; those with most bytes first."},
    {"explain", "ADDRESS", "Which server has an address, whether it can be reached, and by which links."},
    {"hosts", "", "The addresses of every server."},
    {"next-hops", "", "By which links each server that can be reached is reached: the map of a forwarder elsewhere."},
    {0},
};

int answer_command(struct tunnel *t, cw_request *r, int argc, const char *const *argv)
{
    const char *word = argc >= 1 ? argv[0] : "";
    if (strcmp(word, "status") == 0 && argc == 1) {
        return command_status(t, r);
    }
    if (strcmp(word, "drops") == 0 && argc == 1) {
        return command_drops(t, r);
    }
    if (strcmp(word, "flows") == 0 && argc <= 2) {
        return command_flows(t, r, argc == 2 ? argv[1] : NULL);
    }
    if (strcmp(word, "explain") == 0 && argc == 2) {
        return command_explain(t, r, argv[1]);
    }
    if (strcmp(word, "hosts") == 0 && argc == 1) {
        return command_hosts(t, r);
    }
    if (strcmp(word, "next-hops") == 0 && argc == 1) {
        return command_next_hops(t, r);
    }
    return refuse_request(r, "there are: status, drops, flows [N], explain ADDRESS, hosts, next-hops; not '%.80s'",
                          word);
}
