/* SPDX-License-Identifier: Apache-2.0 */
/* tunnel.c - the service's table: options, the door, and counters. */
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
    [COUNT_LONGER] = {"longer", "Pieces sent by a path that is not a shortest one (the option spread)."},
    [COUNT_PIECES_CAME] = {"pieces_came", "Pieces that came from other servers."},
    [COUNT_JOINED] = {"joined", "Pieces that were added to a packet, the first one of each included."},
    [COUNT_MARKED] = {"marked", "Pieces that waited too long on their way, and whose packets say so (ECN)."},
    [COUNT_DEAF] = {"deaf", "Packets dropped because they waited too long on their way again and again, and cannot be "
                            "marked."},
    [COUNT_TOLD] = {"told", "ICMP messages to programs on this server."},
    [COUNT_FULL] = {"full", "Packets dropped because the queues were full, or there was no memory."},
    [COUNT_CODEL] = {"codel", "Packets dropped because their flow's queue did not empty, and could not be marked."},
    [COUNT_DOOR] = {"door", "Packets for programs on this server that the device did not take."},
    [COUNT_MANY_SENT] = {"many_sent", "Packets to many (multicast, broadcast) sent to all servers of the network."},
    [COUNT_MANY_CAME] = {"many_came", "Packets to many that came from other servers."},
    [COUNT_MANY_OVER] = {"many_over", "Packets to many dropped here: above 1,000 a second, or no room to send them."},
};

void tunnel_drop(struct tunnel *t, enum tunnel_cause cause)
{
    cw_counter_add(t->drop[cause], 1);
    t->dropped[cause]++;
}

static void write_frame(struct tunnel *t, const uint8_t *frame, size_t length)
{
    uint8_t head[TUNNEL_VNET_BYTES + ETHER_HEAD] = {0};
    memcpy(head + TUNNEL_VNET_BYTES, frame, ETHER_HEAD);
    (void)t->door.write(t->door.context, head, frame + ETHER_HEAD, length - ETHER_HEAD);
}

/* The Ethernet head of a packet; a machine whose MAC address is not known is asked for it. */
static void wrap(struct tunnel *t, const struct ip_packet *p, uint8_t head[static TUNNEL_VNET_BYTES + ETHER_HEAD])
{
    uint8_t question[NEIGHBOUR_FRAME];
    CHECK(vnet_shift(head, ETHER_HEAD) == TUNNEL_GOOD);
    if (!neighbour_head(t->neighbours, p, head + TUNNEL_VNET_BYTES) && icmp_allowed(&t->asks, cw_now(t->s))) {
        write_frame(t, question, neighbour_ask(t->neighbours, p, question));
    }
}

bool tunnel_unwrap(struct tunnel *t, uint8_t head[static TUNNEL_VNET_BYTES], const uint8_t *frame, size_t length)
{
    uint8_t answer[NEIGHBOUR_FRAME];
    size_t bytes;
    enum neighbour_what what = neighbour_read(t->neighbours, frame, length, answer, &bytes);
    if (what == NEIGHBOUR_FOREIGN) {
        tunnel_drop(t, TUNNEL_FRAME);
    } else if (what == NEIGHBOUR_ANSWER) {
        write_frame(t, answer, bytes);
    } else if (what == NEIGHBOUR_PACKET) {
        enum tunnel_cause cause = vnet_shift(head, -ETHER_HEAD);
        if (cause == TUNNEL_GOOD) {
            return true;
        }
        tunnel_drop(t, cause);
    }
    return false;
}

void tunnel_write(struct tunnel *t, const struct ip_packet *p, const struct offload *offload)
{
    uint8_t head[TUNNEL_VNET_BYTES + ETHER_HEAD];
    vnet_write(p, offload, head);
    if (t->neighbours != NULL) {
        wrap(t, p, head);
    }
    cw_counter_add(t->count[COUNT_WRITTEN], 1);
    cw_counter_add(t->count[COUNT_WRITTEN_BYTES], p->length);
    if (!t->door.write(t->door.context, head, p->bytes, p->length)) {
        cw_counter_add(t->count[COUNT_DOOR], 1);
    }
}

/* ---- The door ---------------------------------------------------------------------------------------------------- */

void tunnel_place(const struct address_plan *plan, cw_server self, uint32_t mtu, struct tunnel_place *out)
{
    *out = (struct tunnel_place){
        .self = self, .length4 = plan->length4, .mtu = mtu, .stranger = !address_is_member(plan, self)};
    address_of(plan, self, 4, &out->own4);
    address_of(plan, self, 6, &out->own6);
    if (!address_is_gateway(plan, self)) {
        out->prefixes = plan->prefixes;
        memcpy(out->prefix, plan->prefix, sizeof out->prefix);
    }
}

static void api_place(cw_svc *s, struct tunnel_place *out)
{
    const struct tunnel *t = cw_state(s);
    tunnel_place(&t->plan, t->self, t->mtu, out);
}

static void detach(struct tunnel *t)
{
    if (t->attached) {
        cw_poll_links(t->s, CW_PLACE_MAIN, CW_LINKS_NONE);
        cw_poll_links(t->s, CW_PLACE_BACKGROUND, CW_LINKS_NONE);
        many_close(t);
        leave_close(t);
        come_close(t);
        free(t->neighbours);
        t->neighbours = NULL;
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
    t->neighbours = door->ethernet ? malloc(sizeof *t->neighbours) : NULL;
    if (door->ethernet && t->neighbours == NULL) {
        return -ENOMEM;
    }
    if (t->neighbours != NULL) {
        neighbours_init(t->neighbours, &t->plan, t->self);
    }
    int rc = leave_open(t);
    if (rc == 0) {
        rc = come_open(t);
        if (rc < 0) {
            leave_close(t);
        }
    }
    t->attached = rc == 0;
    if (rc < 0) {
        free(t->neighbours);
        t->neighbours = NULL;
        return rc;
    }
    many_open(t);
    return 0;
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
    uint32_t most = (uint32_t)cw_mtu(s) - TUNNEL_HEAD_BYTES - (t->spread ? LONGER_BYTES : 0);
    const char *text = cw_option(s, "mtu");
    char *end;
    t->mtu = t->room = most;
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

static int read_plan(cw_svc *s, struct tunnel *t)
{
    char why[ADDRESS_WHY_BYTES];
    const char *cluster = cw_option(s, "cluster"), *subnet4 = cw_option(s, "subnet");
    enum address_fault fault;
    char *end = NULL;
    unsigned long number = cluster == NULL ? 0 : strtoul(cluster, &end, 10);
    if (cluster != NULL && (*cluster < '0' || *cluster > '9' || *end != '\0' || number > UINT32_MAX)) {
        return refuse_setting(s, "cluster", cluster, "a whole number from 0 to 4294967295");
    }
    const struct address_wish wish = {.subnet4 = subnet4,
                                      .subnet6 = cw_option(s, "subnet6"),
                                      .servers = cw_option(s, "servers"),
                                      .gateways = cw_option(s, "gateway_servers"),
                                      .outside = cw_option(s, "gateway_for"),
                                      .cluster = (uint32_t)number,
                                      .dims = cw_torus(s),
                                      .job = cw_job_of(s)};
    if (subnet4 == NULL && wish.job != TUNNEL_JOB) { /* it would be that of the built-in network */
        return refuse_setting(s, "subnet", "", "an IPv4 subnet of its own, for example 10.80.0.0/12");
    }
    int rc = address_plan_make(&t->plan, &wish, &fault, why);
    if (rc == 0) {
        return 0;
    }
    if (fault == ADDRESS_OF_TORUS) {
        cw_log(s, CW_LOG_ERROR, why);
        return rc;
    }
    const char *option = address_fault_option(fault), *given = cw_option(s, option);
    return refuse_setting(s, option, given != NULL ? given : ADDRESS_SUBNET, why);
}

/* "shortest"; or "disjoint", and then ports. */
static int read_spread(cw_svc *s, struct tunnel *t)
{
    static const char word[] = "disjoint";
    const char *text = cw_option(s, "spread"), *ports = text != NULL ? text + strlen(word) : NULL;
    if (text == NULL || strcmp(text, "shortest") == 0) {
        return 0;
    }
    bool good = strncmp(text, word, strlen(word)) == 0 && (*ports == '\0' || *ports == ' ');
    if (!good || (*ports != '\0' && numbers_read(ports, UINT16_MAX + 1, &t->longer_ports) < 0)) {
        return refuse_setting(s, "spread", text,
                              "shortest, disjoint, or disjoint and ports of connections, for example 'disjoint 873'");
    }
    t->spread = true;
    return 0;
}

/* What it means is the door's. */
static int read_flag(cw_svc *s, const char *name)
{
    const char *text = cw_option(s, name);
    bool good = text == NULL || strcmp(text, "yes") == 0 || strcmp(text, "no") == 0;
    return good ? 0 : refuse_setting(s, name, text, "yes or no");
}

static int open_service(cw_svc *s, void *state)
{
    struct tunnel *t = state;
    t->s = s;
    t->self = cw_server_id(s, cw_self(s));
    t->servers = servers_of(cw_torus(s));
    (void)cw_option(s, "netns");          /* likewise */
    (void)cw_option(s, "gateway_device"); /* likewise, of whoever makes rules of it */
    t->device = cw_option(s, "device");
    t->device = t->device != NULL ? t->device : TUNNEL_DEVICE;
    int rc = read_flag(s, "force");
    rc = rc < 0 ? rc : read_flag(s, "ethernet");
    rc = rc < 0 ? rc : many_read(s, &t->many);
    rc = rc < 0 ? rc : read_plan(s, t);
    rc = rc < 0 ? rc : read_spread(s, t);
    rc = rc < 0 ? rc : read_mtu(s, t);
    rc = rc < 0 || !t->spread ? rc : longer_open(&t->longer, s);
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
    struct tunnel *t = state;
    (void)s;
    detach(t);
    longer_close(t->longer);
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

/* What goes by longer paths is in the background: a link is for others, too, and it is to be idle. */
static enum flow_way way_of(cw_place place)
{
    return place == CW_PLACE_BACKGROUND ? FLOW_LONGER : FLOW_SHORTEST;
}

static cw_packet *next_packet(cw_svc *s, void *state, cw_place place, cw_link link)
{
    struct tunnel *t = state;
    (void)s;
    return t->attached ? leave_next(t, way_of(place), link) : NULL;
}

static bool peek_packet(cw_svc *s, void *state, cw_place place, cw_link link, cw_peek *out)
{
    struct tunnel *t = state;
    (void)s;
    return t->attached && leave_peek(t, way_of(place), link, out);
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    return answer_command(state, r, argc, argv);
}

const cw_service tunnel_service = {
    CW_SERVICE_INIT,
    .name = TUNNEL_NAME,
    .version = "1",
    .job = TUNNEL_JOB,
    .state_size = sizeof(struct tunnel),
    .background = true,
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
    .commands = answer_commands,
};
