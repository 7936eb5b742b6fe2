/* SPDX-License-Identifier: Apache-2.0 */
/* tunnel.c - the service's table: options, the door, counters, and what operators ask. */
#include "services/tunnel/tunnel.h"

#include "services/reply/metrics.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"
#include "services/tunnel/internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct metric counts[TUNNEL_COUNTS] = {
    [COUNT_READ] = {"read", "Packets that programs on this server sent."},
    [COUNT_READ_BYTES] = {"read_bytes", "Bytes of the packets that programs on this server sent."},
    [COUNT_WRITTEN] = {"written", "Packets given to programs on this server."},
    [COUNT_WRITTEN_BYTES] = {"written_bytes", "Bytes of the packets given to programs on this server."},
    [COUNT_PIECES_SENT] = {"pieces_sent", "Pieces sent to other servers."},
    [COUNT_PIECES_CAME] = {"pieces_came", "Pieces that came from other servers."},
    [COUNT_JOINED] = {"joined", "Pieces that were added to a packet, the first one of each included."},
    [COUNT_MARKED] = {"marked", "Pieces that waited too long on their way, and whose packets say so (ECN)."},
    [COUNT_TOLD] = {"told", "ICMP messages to programs on this server."},
    [COUNT_FULL] = {"full", "Packets dropped because the queues were full, or there was no memory."},
    [COUNT_CODEL] = {"codel", "Packets dropped because their flow's queue did not empty, and could not be marked."},
    [COUNT_DOOR] = {"door", "Packets for programs on this server that the device did not take."},
};

void tunnel_drop(struct tunnel *t, enum tunnel_cause cause)
{
    cw_counter_add(t->drop[cause], 1);
}

void tunnel_write(struct tunnel *t, const struct ip_packet *p, const struct offload *offload)
{
    uint8_t head[TUNNEL_VNET_BYTES];
    vnet_write(p, offload, head);
    cw_counter_add(t->count[COUNT_WRITTEN], 1);
    cw_counter_add(t->count[COUNT_WRITTEN_BYTES], p->length);
    if (!t->door.write(t->door.context, head, p->bytes, p->length)) {
        cw_counter_add(t->count[COUNT_DOOR], 1);
    }
}

/* ---- The door ---------------------------------------------------------------------------------------------------- */

static void api_place(cw_svc *s, struct tunnel_place *out)
{
    const struct tunnel *t = cw_state(s);
    *out = (struct tunnel_place){.length4 = t->plan.length4, .mtu = t->mtu};
    address_of(&t->plan, t->self, 4, &out->own4);
    address_of(&t->plan, t->self, 6, &out->own6);
}

static void detach(struct tunnel *t)
{
    if (t->attached) {
        cw_poll_links(t->s, CW_PLACE_MAIN, CW_LINKS_NONE);
        leave_close(t);
        come_close(t);
        t->attached = false;
    }
}

static int api_attach(cw_svc *s, const struct tunnel_door *door)
{
    struct tunnel *t = cw_state(s);
    if (t->attached && door != NULL) {
        t->door = *door;
        return 0;
    }
    detach(t);
    if (door == NULL) {
        return 0;
    }
    t->door = *door;
    t->flush_asked = false;
    t->life = (uint16_t)cw_random(s);
    int rc = leave_open(t);
    if (rc == 0) {
        rc = come_open(t);
        if (rc < 0) {
            leave_close(t);
        }
    }
    t->attached = rc == 0;
    return rc;
}

static void api_read(cw_svc *s, const uint8_t *head, uint8_t *packet, size_t length)
{
    struct tunnel *t = cw_state(s);
    if (t->attached) {
        leave_read(t, head, packet, length);
    }
}

static void api_flush(cw_svc *s)
{
    struct tunnel *t = cw_state(s);
    if (t->attached) {
        come_flush(t);
    }
}

static const struct tunnel_api api = {sizeof api, api_place, api_attach, api_read, api_flush};

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static int read_mtu(cw_svc *s, struct tunnel *t)
{
    uint32_t most = (uint32_t)cw_mtu(s) - TUNNEL_HEAD_BYTES;
    const char *text = cw_option(s, "mtu");
    char *end;
    t->mtu = most;
    if (text == NULL || strcmp(text, "auto") == 0) {
        return 0;
    }
    unsigned long mtu = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || mtu < TUNNEL_MTU_LEAST || mtu > most) {
        char expected[80];
        snprintf(expected, sizeof expected, "auto, or %d to %u, what one frame takes", TUNNEL_MTU_LEAST, most);
        return refuse_setting(s, "mtu", text, expected);
    }
    t->mtu = (uint32_t)mtu;
    return 0;
}

static int open_service(cw_svc *s, void *state)
{
    struct tunnel *t = state;
    char why[ADDRESS_WHY_BYTES];
    cw_dims d = cw_torus(s);
    t->s = s;
    t->self = cw_server_id(s, cw_self(s));
    t->servers = servers_of(d);
    (void)cw_option(s, "device"); /* the door's */
    /* The service does not know its cluster: torus of other lengths have other prefixes. */
    uint32_t cluster = (uint32_t)d.x << 16 | (uint32_t)d.y << 8 | d.z;
    int rc = address_plan_make(&t->plan, cw_option(s, "subnet"), cw_option(s, "subnet6"), cluster, cw_job_of(s),
                               t->servers, why);
    if (rc < 0) {
        cw_log(s, CW_LOG_ERROR, why);
        return rc;
    }
    rc = read_mtu(s, t);
    if (rc < 0) {
        return rc;
    }
    metrics_counters(s, counts, TUNNEL_COUNTS, t->count);
    for (int i = TUNNEL_GOOD + 1; i < TUNNEL_CAUSES; i++) {
        char name[32];
        snprintf(name, sizeof name, "drop-%s", tunnel_cause_name((enum tunnel_cause)i));
        t->drop[i] = cw_counter_new(s, name, tunnel_cause_text((enum tunnel_cause)i));
    }
    t->lateness = cw_histogram_new(s, "lateness", "How much later pieces came than others that overtook them.");
    return 0;
}

static void close_service(cw_svc *s, void *state)
{
    (void)s;
    detach(state);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct tunnel *t = state;
    (void)s;
    if (!t->attached || rx->port != TUNNEL_PORT) {
        return CW_DROP;
    }
    return come_packet(t, p, rx);
}

static void on_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct tunnel *t = state;
    (void)s;
    if (t->attached && ev->kind != CW_EVENT_ROOTS) {
        come_event(t, ev);
        leave_event(t, ev);
    }
}

static cw_packet *next_packet(cw_svc *s, void *state, cw_place place, cw_link link)
{
    struct tunnel *t = state;
    (void)s;
    (void)place;
    return t->attached ? leave_next(t, link) : NULL;
}

static bool peek_packet(cw_svc *s, void *state, cw_place place, cw_link link, cw_peek *out)
{
    struct tunnel *t = state;
    (void)s;
    (void)place;
    return t->attached && leave_peek(t, link, out);
}

/* ---- Operators --------------------------------------------------------------------------------------------------- */

static void tell_address(cw_request *r, const char *name, const struct tunnel *t, cw_server server, uint8_t version)
{
    char text[ADDRESS_TEXT_BYTES];
    struct ip_address a;
    address_of(&t->plan, server, version, &a);
    cw_request_text(r, name, address_text(&a, text));
}

static int command_status(struct tunnel *t, cw_request *r)
{
    const struct strands_counts *in = &t->strands.counts;
    const struct flows_counts *out = &t->flows.counts;
    cw_request_text(r, "door", t->attached ? "open" : "none");
    tell_address(r, "ipv4", t, t->self, 4);
    tell_address(r, "ipv6", t, t->self, 6);
    cw_request_int(r, "mtu", t->mtu);
    cw_request_int(r, "waiting", t->flows.packets);
    cw_request_int(r, "waiting_bytes", (int64_t)t->flows.bytes);
    cw_request_int(r, "sent", (int64_t)out->sent);
    cw_request_int(r, "marked", (int64_t)out->marked);
    cw_request_int(r, "in_order", (int64_t)in->in_order);
    cw_request_int(r, "filled", (int64_t)in->filled);
    cw_request_int(r, "given_up", (int64_t)in->given_up);
    cw_request_int(r, "late_after_all", (int64_t)in->late_after_all);
    cw_request_int(r, "lateness_p99_ns", cw_histogram_quantile(t->lateness, 990).ns);
    return 0;
}

static int command_explain(struct tunnel *t, cw_request *r, const char *word)
{
    struct ip_address a;
    char text[ADDRESS_TEXT_BYTES], first[32];
    if (address_read(word, &a) < 0) {
        return refuse_request(r, "'%.80s' is no IP address: write one such as 10.64.11.1", word);
    }
    cw_server server = address_server(&t->plan, &a);
    cw_request_text(r, "address", address_text(&a, text));
    if (server == CW_SERVER_NONE) {
        bool inside = address_inside(&t->plan, &a);
        return refuse_request(r, "%s is %s", text,
                              inside ? "in the subnet of this network, and no server has it"
                                     : "in no subnet of this network");
    }
    cw_coord c = cw_server_coord(t->s, server);
    cw_links links = cw_links_to(t->s, c);
    size_t used = 0;
    first[0] = '\0';
    for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
        if ((links >> link & 1) != 0) {
            used += (size_t)snprintf(first + used, sizeof first - used, "%s%s", used == 0 ? "" : " ",
                                     (const char *[]){"+x", "-x", "+y", "-y", "+z", "-z"}[link]);
        }
    }
    tell_server(r, "server", c);
    cw_request_int(r, "id", server);
    cw_request_text(r, "reachable", cw_reachable(t->s, c) ? "yes" : "no");
    cw_request_text(r, "links", first);
    cw_request_int(r, "hops", cw_distance(t->s, cw_self(t->s), c));
    cw_request_int(r, "hole_wait_ns", t->attached ? strands_wait(&t->strands, server).ns : 0);
    return 0;
}

static const cw_command commands[] = {
    {"status", "", "Addresses, MTU, what waits, and how pieces came: in order, late, or not at all."},
    {"explain", "ADDRESS", "Which server has an address, whether it can be reached, and by which links."},
    {0},
};

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    const char *word = argc >= 1 ? argv[0] : "";
    if (strcmp(word, "status") == 0 && argc == 1) {
        return command_status(state, r);
    }
    if (strcmp(word, "explain") == 0 && argc == 2) {
        return command_explain(state, r, argv[1]);
    }
    return refuse_request(r, "there are: status, explain ADDRESS; not '%.80s'", word);
}

const cw_service tunnel_service = {
    CW_SERVICE_INIT,
    .name = TUNNEL_NAME,
    .version = "1",
    .job = TUNNEL_JOB,
    .state_size = sizeof(struct tunnel),
    .mark_after = CW_MS(1),
    .open = open_service,
    .close = close_service,
    .on_packet = on_packet,
    .on_event = on_event,
    .on_command = on_command,
    .next_packet = next_packet,
    .peek_packet = peek_packet,
    .exports = &api,
    .exports_version = TUNNEL_API_VERSION,
    .commands = commands,
};
