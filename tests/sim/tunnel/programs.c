/* SPDX-License-Identifier: Apache-2.0 */
#include "programs.h"

#include "base/bytes.h"
#include "datagrams.h"
#include "ip_kit.h"
#include "services/tunnel/packet/limits.h"
#include "services/tunnel/tunnel.h"
#include "tunnel_turns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_TCP = 32, SEGMENTS_MOST = 7, WINDOW_MOST = 512 * 1024, FIRST_SEGMENTS = 10, DUPLICATES = 3 };
enum { LIE = 0xffff, ACK = 0x10, ECE = 0x40, CWR = 0x80 };
static const cw_span first_timeout = CW_MS(60), longest_timeout = CW_MS(1000), tick = CW_MS(10);

struct programs_ledger *programs_ledger;
struct programs_plan programs_plan;

/* One packet that was sent: which segments of it have come. */
struct sending {
    uint16_t connection;
    bool answer; /* from the receiver to the sender */
    uint32_t sequence;
    uint64_t came;
};

/* Both ends of a connection. */
struct connection {
    cw_server from, to;
    uint8_t version;
    bool ended, cut_off;
    uint32_t total, segment;
    /* The sender's end. */
    uint32_t next, acknowledged, window, threshold, recover, duplicates, reduced;
    bool recovering, say_reduced;
    cw_span timeout;
    cw_time last;
    /* The receiver's end. */
    uint32_t expected;
    bool echo;
    uint8_t got[PROGRAMS_BYTES / 1000];
    /* The newest transmission that came, in either direction. */
    uint32_t newest[2];
};

struct programs {
    cw_svc *s;
    struct tunnel_turns door;
    cw_server self;
};

static struct connection connection[PROGRAMS_CONNECTIONS];
static unsigned connections;
static struct sending sending[PROGRAMS_SENDINGS];
static uint32_t sendings;
static uint64_t regress[PROGRAMS_SERVERS];
static uint8_t packet[IP_KIT_BYTES];

#define WRONG(rule, ...) seeds_fail(programs_ledger->wrong, rule, __VA_ARGS__)

void programs_begin(void)
{
    memset(connection, 0, sizeof connection);
    memset(regress, 0, sizeof regress);
    connections = 0;
    sendings = 1;
    datagrams_begin();
}

void programs_died(cw_server s)
{
    for (unsigned i = 0; i < connections; i++) {
        struct connection *c = &connection[i];
        if (!c->ended && !c->cut_off && (c->from == s || c->to == s)) {
            c->cut_off = true;
            programs_ledger->cut_off++;
        }
    }
}

unsigned programs_open(void)
{
    unsigned open = 0;
    for (unsigned i = 0; i < connections; i++) {
        open += !connection[i].ended && !connection[i].cut_off;
    }
    return open;
}

uint64_t programs_regress(cw_server s)
{
    return regress[s];
}

static uint8_t byte_of(unsigned number, uint32_t at)
{
    return (uint8_t)(at * 31 + (at >> 8) * 17 + (at >> 16) + number * 7);
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

/* Sends a packet of the connection, or from nobody's address if it is a lie. */
static void send(struct programs *k, unsigned number, cw_server from, cw_server to, uint32_t sequence, uint32_t ack,
                 uint8_t flags, uint32_t payload, uint32_t segment)
{
    const struct connection *c = &connection[number % PROGRAMS_CONNECTIONS];
    uint8_t version = number == LIE ? 4 : c->version, head[TUNNEL_VNET_BYTES] = {0};
    const struct packet_wish wish = {version, IP_TCP, ECN_ECT0, from, to};
    size_t ip = packet_write_ip(&k->door, &wish, HEAD_TCP + payload, packet), length = ip + HEAD_TCP + payload;
    uint8_t *tcp = packet + ip;
    if (sendings == PROGRAMS_SENDINGS) {
        return; /* as if the network had lost it; the world is over soon */
    }
    sending[sendings] = (struct sending){(uint16_t)number, number != LIE && from == c->to, sequence, 0};
    put_be16(tcp, (uint16_t)(1000 + number));
    put_be16(tcp + 2, 80);
    put_be32(tcp + 4, sequence);
    put_be32(tcp + 8, ack);
    tcp[12] = HEAD_TCP / 4 << 4;
    tcp[13] = ACK | flags;
    put_be16(tcp + 14, 0xffff);
    put_be16(tcp + 18, 0);
    memcpy(tcp + 20, ((const uint8_t[]){1, 1, 8, 10}), 4); /* a time stamp: which transmission, of which connection */
    put_be32(tcp + 24, sendings++);
    put_be32(tcp + 28, number);
    put_be16(tcp + 16, packet_pseudo(packet, HEAD_TCP + payload));
    for (uint32_t i = 0; i < payload; i++) {
        tcp[HEAD_TCP + i] = byte_of(number, sequence + i);
    }
    struct ip_packet p;
    if (ip_read(packet, length, &p) != TUNNEL_GOOD) {
        WRONG("world", "a program sent what is no packet");
        return;
    }
    vnet_write(&p, &(struct offload){true, payload > segment ? (uint16_t)segment : 0}, head);
    k->door.api->read(k->door.tunnel, head, packet, length);
}

/* ---- A sender ---------------------------------------------------------------------------------------------------- */

static void send_from(struct programs *k, unsigned number, uint32_t at, uint32_t most)
{
    struct connection *c = &connection[number];
    uint32_t left = c->total - at, payload = left < most ? left : most;
    uint8_t flags = c->say_reduced ? CWR : 0;
    c->say_reduced = false;
    c->last = cw_now(k->s);
    send(k, number, c->from, c->to, at, 0, flags, payload, c->segment);
    c->next = at + payload > c->next ? at + payload : c->next;
}

static void send_more(struct programs *k, unsigned number)
{
    struct connection *c = &connection[number];
    while (c->next < c->total && c->next - c->acknowledged + c->segment <= c->window) {
        uint32_t room = (c->window - (c->next - c->acknowledged)) / c->segment;
        room = room < SEGMENTS_MOST ? room : SEGMENTS_MOST;
        send_from(k, number, c->next, room * c->segment);
    }
}

static void halve(struct connection *c)
{
    uint32_t flight = (c->next - c->acknowledged) / 2;
    c->threshold = flight > 2 * c->segment ? flight : 2 * c->segment;
    c->window = c->threshold;
}

static void on_duplicate(struct programs *k, unsigned number)
{
    struct connection *c = &connection[number];
    if (c->next == c->acknowledged || ++c->duplicates != DUPLICATES || c->recovering) {
        return;
    }
    halve(c);
    c->recovering = true;
    c->recover = c->next;
    programs_ledger->again++;
    send_from(k, number, c->acknowledged, c->segment);
}

static void on_progress(struct programs *k, unsigned number, uint32_t ack)
{
    struct connection *c = &connection[number];
    uint32_t more = ack - c->acknowledged;
    c->acknowledged = ack;
    c->next = c->next < ack ? ack : c->next; /* a time-out had set it back */
    c->duplicates = 0;
    c->timeout = first_timeout;
    c->last = cw_now(k->s);
    if (c->recovering && ack < c->recover) {
        programs_ledger->again++;
        send_from(k, number, ack, c->segment); /* the next hole */
        return;
    }
    c->recovering = false;
    uint64_t grown = c->window < c->threshold ? more : (uint64_t)c->segment * more / c->window;
    c->window = (uint32_t)(c->window + grown < WINDOW_MOST ? c->window + grown : WINDOW_MOST);
}

static void take_ack(struct programs *k, unsigned number, uint32_t ack, uint8_t flags)
{
    struct connection *c = &connection[number];
    if (ack > c->total) {
        WRONG("packet", "connection %u: %u bytes acknowledged of %u", number, ack, c->total);
        return;
    }
    if ((flags & ECE) != 0 && ack >= c->reduced && !c->recovering) {
        halve(c);
        c->reduced = c->next;
        c->say_reduced = true;
        programs_ledger->marks++;
    }
    if (ack > c->acknowledged) {
        on_progress(k, number, ack);
    } else if (ack == c->acknowledged) {
        on_duplicate(k, number);
    }
    if (c->acknowledged == c->total) {
        programs_ledger->ended += !c->ended;
        programs_ledger->bytes += c->ended ? 0 : c->total;
        c->ended = true;
        return;
    }
    send_more(k, number);
}

/* ---- A receiver -------------------------------------------------------------------------------------------------- */

static void take_data(struct programs *k, unsigned number, uint32_t at, const uint8_t *data, uint32_t length,
                      bool marked, uint8_t flags)
{
    struct connection *c = &connection[number];
    for (uint32_t i = 0; i < length; i++) {
        if (data[i] != byte_of(number, at + i)) {
            WRONG("packet", "connection %u: byte %u is another one", number, at + i);
            return;
        }
    }
    for (uint32_t i = at; i < at + length; i += c->segment) {
        c->got[i / c->segment] = 1;
    }
    while (c->expected < c->total && c->got[c->expected / c->segment] != 0) {
        c->expected = c->expected + c->segment < c->total ? c->expected + c->segment : c->total;
    }
    c->echo = ((flags & CWR) == 0 && c->echo) || marked;
    send(k, number, c->to, c->from, 0, c->expected, c->echo ? ECE : 0, 0, 0);
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

/* Each segment of a transmission comes once. */
static void count_segments(struct sending *t, uint32_t at, uint32_t length, uint32_t segment)
{
    uint32_t first = length == 0 ? 0 : (at - t->sequence) / segment;
    uint32_t count = length == 0 ? 1 : (length - 1) / segment + 1;
    for (uint32_t i = first; i < first + count; i++) {
        if (i >= 64 || (t->came >> i & 1) != 0) {
            WRONG("once", "segment %u of transmission %u came again", i, (unsigned)(t - sending));
            return;
        }
        t->came |= UINT64_C(1) << i;
    }
    programs_ledger->segments += count;
    programs_ledger->joined += count > 1;
}

static void take_tcp(struct programs *k, const struct ip_packet *p, bool marked)
{
    const uint8_t *tcp = p->bytes + p->ip_head;
    uint32_t number = get_be32(tcp + 24), which = get_be32(tcp + 28), at = get_be32(tcp + 4);
    uint32_t length = (uint32_t)(p->length - p->heads);
    if (which == LIE) {
        WRONG("source", "server %u was given what has the address of a server that did not send it", k->self);
        return;
    }
    if (number == 0 || number >= sendings || which >= connections || sending[number].connection != which) {
        WRONG("packet", "transmission %u of connection %u was never sent", number, which);
        return;
    }
    struct sending *t = &sending[number];
    struct connection *c = &connection[which];
    const cw_server to = t->answer ? c->from : c->to, from = t->answer ? c->to : c->from;
    if (to != k->self || !packet_is_for(&k->door, p, k->self)) {
        WRONG("server", "server %u was given a packet for server %u", k->self, to);
    } else if (!packet_is_from(&k->door, p, from)) {
        WRONG("source", "server %u was given a packet of server %u with another address", k->self, from);
    }
    count_segments(t, at, length, c->segment);
    regress[k->self] += number < c->newest[t->answer];
    c->newest[t->answer] = number > c->newest[t->answer] ? number : c->newest[t->answer];
    if (c->cut_off || programs_ledger->wrong[0] != '\0') {
        return;
    }
    if (t->answer) {
        take_ack(k, which, get_be32(tcp + 8), tcp[13]);
    } else {
        take_data(k, which, at, tcp + HEAD_TCP, length, marked, tcp[13]);
    }
}

static void take(void *context, const uint8_t *head, uint8_t *bytes, size_t length)
{
    struct programs *k = context;
    struct ip_packet p;
    struct offload offload;
    if (ip_read(bytes, length, &p) != TUNNEL_GOOD || vnet_read(head, bytes, &p, &offload) != TUNNEL_GOOD) {
        WRONG("packet", "server %u was given what is no packet", k->self);
        return;
    }
    if (p.protocol != IP_TCP && p.protocol != IP_UDP) {
        programs_ledger->told++; /* ICMP of the tunnel itself: TCP tries again */
        return;
    }
    const char *wrong = ip_kit_wrong(bytes, length, offload.partial, offload.gso_size);
    if (wrong != NULL) {
        WRONG("packet", "server %u was given a wrong packet: %s", k->self, wrong);
        return;
    }
    if (p.protocol == IP_UDP) {
        datagrams_take(&k->door, &p, &offload);
    } else {
        take_tcp(k, &p, ip_ecn(bytes) == ECN_CE);
    }
}

/* ---- The service ------------------------------------------------------------------------------------------------- */

static void begin_one(struct programs *k)
{
    cw_server to = (k->self + 1 + (cw_server)(cw_random(k->s) % (programs_plan.servers - 1))) % programs_plan.servers;
    if (connections == PROGRAMS_CONNECTIONS || !cw_reachable(k->s, cw_server_coord(k->s, to))) {
        return;
    }
    unsigned number = connections++;
    struct connection *c = &connection[number];
    bool six = cw_random(k->s) % 2 == 0;
    *c = (struct connection){.from = k->self, .to = to, .version = six ? 6 : 4, .timeout = first_timeout};
    c->segment = k->door.place.mtu - (six ? 40 : 20) - HEAD_TCP;
    uint64_t draw = cw_random(k->s);
    c->total = (uint32_t)(1 + (draw >> 8) % (draw % 4 == 0 ? PROGRAMS_BYTES - 1 : 40000));
    c->window = FIRST_SEGMENTS * c->segment;
    c->threshold = WINDOW_MOST;
    programs_ledger->begun++;
    send_more(k, number);
}

/* A packet with the source address of another server, or of none. */
static void lie(struct programs *k)
{
    cw_server other =
        (k->self + 1 + (cw_server)(cw_random(k->s) % programs_plan.servers)) % (programs_plan.servers + 1);
    cw_server to = (cw_server)(cw_random(k->s) % programs_plan.servers);
    if (other != k->self) {
        programs_ledger->lies++;
        send(k, LIE, other, to, 0, 0, 0, 100, 0);
    }
}

static void on_tick(cw_svc *s, void *state, void *arg)
{
    struct programs *k = state;
    (void)arg;
    for (unsigned i = 0; i < connections; i++) {
        struct connection *c = &connection[i];
        if (c->from != k->self || c->ended || c->cut_off || cw_time_since(cw_now(s), c->last).ns < c->timeout.ns) {
            continue;
        }
        halve(c);
        c->window = c->segment;
        c->next = c->acknowledged;
        c->recovering = false;
        c->duplicates = 0;
        c->timeout = 2 * c->timeout.ns < longest_timeout.ns ? CW_NS(2 * c->timeout.ns) : longest_timeout;
        programs_ledger->timeouts++;
        send_from(k, i, c->acknowledged, c->segment);
    }
    bool lively = !cw_time_before(cw_now(s), programs_plan.begin) && cw_time_before(cw_now(s), programs_plan.quiet);
    if (lively && cw_random(s) % 8 == 0) {
        begin_one(k);
    }
    if (lively && cw_random(s) % 16 == 0) {
        lie(k);
    }
    if (lively) {
        datagrams_send(&k->door);
    }
    (void)!cw_timer_start(s, tick, on_tick, NULL);
}

static int programs_open_service(cw_svc *s, void *state)
{
    struct programs *k = state;
    k->s = s;
    k->self = cw_server_id(s, cw_self(s));
    int rc = tunnel_turns_open(&k->door, s, take, k);
    return rc < 0 ? rc : cw_timer_start(s, tick, on_tick, NULL) != NULL ? 0 : -ENOMEM;
}

static void programs_close(cw_svc *s, void *state)
{
    struct programs *k = state;
    (void)s;
    tunnel_turns_close(&k->door);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

const cw_service programs_service = {
    CW_SERVICE_INIT,
    .name = "programs",
    .version = "1",
    .job = PROGRAMS_JOB,
    .state_size = sizeof(struct programs),
    .open = programs_open_service,
    .close = programs_close,
    .on_packet = on_packet,
};
