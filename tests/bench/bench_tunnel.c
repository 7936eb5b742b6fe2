/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tunnel.c - the tunnel in a simulated torus of 1 Gb/s links, with a model of TCP (kit/model/tcp_model.h) on
 * every server, so that figures are those of the protocol and the same on every machine: all to all, steady and of so
 * many bytes each, beside the bound that the links set and the paper's figure; without order and without ECN; and the
 * queue that stands where a link is full.
 *
 *   bench_tunnel [--smoke] [PART...]   parts: steady, fixed, large, queue, longer; without any: all but
 *                                      large, which takes 8 GB and half an hour
 */
#include "base/bytes.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/tunnel/mutant.h"
#include "services/tunnel/packet/checksum.h"
#include "services/tunnel/packet/limits.h"
#include "services/tunnel/tunnel.h"
#include "simulator/world.h"
#include "tcp_model.h"
#include "tunnel_turns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOB = 1300, HEADS = 52, PORT = 5000, FRAME = 9000, ACK_BYTES = 8 };
enum { PACKET_MOST = HEADS + TCP_BURST * FRAME, ECE = 0x40, CWR = 0x80, ACK = 0x10 };

/* What a part asks for. */
struct task {
    cw_dims dims;
    uint32_t segments; /* of each connection; UINT32_MAX: without end */
    unsigned flows;    /* from server 0 to server 1, instead of all to all; 0: all to all */
    bool deaf;         /* no ECN */
    bool unordered;    /* pieces leave strands as they come */
    bool longer;       /* spread = disjoint */
    uint64_t bits_per_second;
    cw_span tick;
    uint32_t eager; /* a connection that waits begins at one tick in so many: they do not all begin at once */
};

/* The programs of a server. */
struct load {
    cw_svc *s;
    struct tunnel_turns door;
    cw_server self;
};

/* One end of a connection, for what the model sends. */
struct end {
    struct load *load;
    unsigned flow;
};

static struct task task;
static struct world *world;
static struct tcp_model *model; /* by flow */
static unsigned flows;
static uint32_t segment, pending;   /* bytes of a segment; connections that have not sent all */
static cw_time begin_at, *whole_at; /* by server: when all that is for it had come */
static uint8_t packet[PACKET_MOST];
static bool smoke;

/* ---- Connections: from, to by number ----------------------------------------------------------------------------- */

static cw_server servers(void)
{
    return (cw_server)(task.dims.x * task.dims.y * task.dims.z);
}

static cw_server from_of(unsigned flow)
{
    return task.flows != 0 ? 0 : (cw_server)(flow / (servers() - 1));
}

static cw_server to_of(unsigned flow)
{
    cw_server other = (cw_server)(flow % (servers() - 1));
    return task.flows != 0 ? 1 : other + (other >= from_of(flow));
}

static unsigned flow_of(cw_server from, cw_server to, unsigned port)
{
    return task.flows != 0 ? port - PORT : (unsigned)(from * (servers() - 1) + to - (to > from));
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

static uint16_t fold(uint64_t sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)sum;
}

/* Heads of TCP over IPv4, and payload of zeros, or of eight bytes that stand for a selective acknowledgement. */
static void send_packet(struct load *l, unsigned flow, bool answer, uint32_t sequence, uint32_t ack, uint8_t flags,
                        uint32_t payload, uint64_t beyond)
{
    cw_server to = answer ? from_of(flow) : to_of(flow);
    uint8_t *ip = packet, *tcp = packet + IP4_HEAD, head[TUNNEL_VNET_BYTES];
    uint16_t port = (uint16_t)(PORT + (task.flows != 0 ? flow : 0));
    uint32_t own = get_be32(l->door.place.own4.b), length = HEADS + payload;
    memset(ip, 0, HEADS);
    ip[0] = 0x45;
    ip[1] = task.deaf || answer ? 0 : ECN_ECT0; /* as Linux: acknowledgements are not ECT */
    put_be16(ip + IP4_LENGTH, (uint16_t)length);
    put_be16(ip + IP4_FRAGMENT, IP4_DONT_FRAGMENT);
    ip[IP4_TTL] = 64;
    ip[IP4_PROTOCOL] = IP_TCP;
    put_be32(ip + 12, own);
    put_be32(ip + 16, own + 256 * to - 256 * l->self);
    put_be16(ip + IP4_SUM, checksum_ipv4_head(ip, IP4_HEAD));
    put_be16(tcp, port);
    put_be16(tcp + 2, (uint16_t)(port + 1000));
    put_be32(tcp + TCP_SEQUENCE, sequence);
    put_be32(tcp + TCP_ACK, ack);
    tcp[TCP_OFFSET] = (HEADS - IP4_HEAD) / 4 << 4;
    tcp[TCP_FLAGS] = ACK | flags;
    put_be16(tcp + 14, 0xffff);
    memcpy(tcp + 20, ((const uint8_t[]){5, 2 + ACK_BYTES, 1, 1}), 4);
    put_be64(tcp + 24, beyond);
    uint64_t sum = 6 + length - IP4_HEAD;
    for (unsigned i = 12; i < 20; i += 2) {
        sum += get_be16(ip + i);
    }
    put_be16(tcp + TCP_CHECKSUM, fold(sum));
    struct ip_packet p;
    if (ip_read(packet, length, &p) != TUNNEL_GOOD) {
        abort();
    }
    vnet_write(&p, &(struct offload){true, payload > segment ? (uint16_t)segment : 0}, head);
    l->door.api->read(l->door.tunnel, head, packet, length);
}

static void send_data(void *context, uint32_t at, uint32_t count, bool reduced)
{
    const struct end *e = context;
    send_packet(e->load, e->flow, false, at * segment, 0, reduced ? CWR : 0, count * segment, 0);
}

static void send_ack(void *context, uint32_t expected, uint64_t beyond, bool echo)
{
    const struct end *e = context;
    send_packet(e->load, e->flow, true, 0, expected * segment, echo ? ECE : 0, 0, beyond);
}

static void note_whole(const struct load *l)
{
    for (cw_server other = 0; other < servers(); other++) {
        const struct tcp_model *c = &model[other == l->self ? 0 : flow_of(other, l->self, PORT)];
        if (other != l->self && c->expected < c->total) {
            return;
        }
    }
    whole_at[l->self] = world_now(world);
    pending--;
}

static void take(void *context, const uint8_t *head, uint8_t *bytes, size_t length)
{
    struct load *l = context;
    struct ip_packet p;
    (void)head;
    if (ip_read(bytes, length, &p) != TUNNEL_GOOD || !ip_is_tcp(&p)) {
        return; /* ICMP of the tunnel */
    }
    const uint8_t *tcp = bytes + p.ip_head;
    cw_server other = (get_be32(bytes + 12) + 256 * l->self - get_be32(l->door.place.own4.b)) / 256;
    uint32_t payload = (uint32_t)(p.length - p.heads);
    bool answer = payload == 0;
    struct end e = {l, flow_of(answer ? l->self : other, answer ? other : l->self, get_be16(tcp))};
    const struct tcp_send to = {send_data, send_ack, &e};
    struct tcp_model *c = &model[e.flow];
    cw_time now = cw_now(l->s);
    if (answer) {
        tcp_ack_came(c, get_be32(tcp + TCP_ACK) / segment, get_be64(tcp + 24), (tcp[TCP_FLAGS] & ECE) != 0, &to, now);
        return;
    }
    bool had = c->expected < c->total;
    tcp_data_came(c, get_be32(tcp + TCP_SEQUENCE) / segment, payload / segment, ip_ecn(bytes) == ECN_CE,
                  (tcp[TCP_FLAGS] & CWR) != 0, &to, now);
    if (had && c->expected == c->total) {
        note_whole(l);
    }
}

/* ---- Ticks ------------------------------------------------------------------------------------------------------- */

static void tick_one(struct load *l, unsigned flow, cw_time now)
{
    struct end e = {l, flow};
    const struct tcp_send to = {send_data, send_ack, &e};
    struct tcp_model *c = &model[flow];
    if (to_of(flow) == l->self) {
        tcp_receiver_tick(c, &to, now);
    } else if (from_of(flow) == l->self) {
        tcp_sender_tick(c, &to, now);
        if (c->next == 0 && cw_random(l->s) % task.eager == 0) {
            tcp_send_more(c, &to, now);
        }
    }
}

static void on_tick(cw_svc *s, void *state, void *arg)
{
    struct load *l = state;
    cw_time now = cw_now(s);
    (void)arg;
    (void)!cw_timer_start(s, task.tick, on_tick, NULL);
    if (cw_time_before(world_now(world), begin_at)) {
        return;
    }
    for (unsigned i = 0; i < task.flows; i++) {
        tick_one(l, i, now);
    }
    for (cw_server other = 0; task.flows == 0 && other < servers(); other++) {
        if (other != l->self) {
            tick_one(l, flow_of(l->self, other, PORT), now);
            tick_one(l, flow_of(other, l->self, PORT), now);
        }
    }
}

static int load_open(cw_svc *s, void *state)
{
    struct load *l = state;
    l->s = s;
    l->self = cw_server_id(s, cw_self(s));
    int rc = tunnel_turns_open(&l->door, s, take, l);
    segment = l->door.place.mtu - HEADS;
    return rc < 0 ? rc : cw_timer_start(s, task.tick, on_tick, NULL) != NULL ? 0 : -ENOMEM;
}

static void load_close(cw_svc *s, void *state)
{
    struct load *l = state;
    (void)s;
    tunnel_turns_close(&l->door);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

static const cw_service load_service = {
    CW_SERVICE_INIT,   .name = "load",      .version = "1",         .job = JOB, .state_size = sizeof(struct load),
    .open = load_open, .close = load_close, .on_packet = on_packet,
};

static const char *option(void *context, const char *service, const char *name)
{
    (void)context;
    bool spread = strcmp(service, TUNNEL_NAME) == 0 && strcmp(name, "spread") == 0;
    return spread && task.longer ? "disjoint" : NULL;
}

/* ---- Worlds ------------------------------------------------------------------------------------------------------ */

static void run(cw_span span)
{
    if (world_run(world, cw_time_add(world_now(world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(world) != NULL ? world_violation(world)->text : "stopped");
        exit(1);
    }
}

/* A torus whose servers all see each other, and whose connections are about to begin. */
static void open_world(void)
{
    static const struct world_service services[] = {{.table = &tunnel_service}, {.table = &load_service}};
    static const struct book_grant grants[] = {
        {.from = TUNNEL_JOB, .to = TUNNEL_JOB, .port = TUNNEL_PORT, .all_processes = true}};
    struct world_config config = world_config_default();
    config.dims = task.dims;
    config.seed = 1;
    config.node.mtu = FRAME;
    config.wire.bits_per_second = task.bits_per_second;
    config.node.bits_per_second = task.bits_per_second;
    config.services = services;
    config.service_count = 2;
    config.option = option;
    config.grants = grants;
    config.grant_count = 1;
    config.packets_max = servers() * 4096;
    flows = task.flows != 0 ? task.flows : servers() * (servers() - 1);
    model = calloc(flows, sizeof *model);
    whole_at = calloc(servers(), sizeof *whole_at);
    begin_at = CW_NEVER;
    pending = task.flows != 0 ? 1 : servers();
    if (model == NULL || whole_at == NULL || world_open(&world, &config) != 0) {
        fprintf(stderr, "a world does not open\n");
        exit(1);
    }
    for (unsigned i = 0; i < flows; i++) {
        tcp_begin(&model[i], task.segments);
    }
    world_start_all(world, CW_MS(1));
    for (int i = 0; i < 500 && (world_active(world) < servers() || world_agreeing(world) < servers()); i++) {
        run(CW_MS(10));
    }
    begin_at = world_now(world);
}

static void close_world(void)
{
    world_close(world);
    free(model);
    free(whole_at);
}

/*
 * Bits a second that each server can receive when all send to all alike, wires full of frames with nothing but heads
 * beside what TCP carries: the exact bound of a torus times the part of a frame that is payload.
 */
static double bound(void)
{
    unsigned far = 0;
    for (cw_server s = 1; s < servers(); s++) {
        far += torus_distance(world_torus(world), 0, s);
    }
    return 6 * (double)task.bits_per_second * (servers() - 1) / far;
}

static struct tcp_counts counts(void)
{
    struct tcp_counts sum = {0};
    for (unsigned i = 0; i < flows; i++) {
        sum.again += model[i].counts.again;
        sum.timeouts += model[i].counts.timeouts;
        sum.reduced += model[i].counts.reduced;
    }
    return sum;
}

static double mean_trip_us(void)
{
    double sum = 0;
    for (unsigned i = 0; i < flows; i++) {
        sum += (double)model[i].round_trip.ns / 1000;
    }
    return sum / flows;
}

/* ---- All to all, steady ------------------------------------------------------------------------------------------ */

static void steady(const char *what, double goal, cw_span warm, cw_span span)
{
    open_world();
    run(warm);
    uint32_t *before = calloc(flows, sizeof *before);
    struct tcp_counts had = counts();
    for (unsigned i = 0; before != NULL && i < flows; i++) {
        before[i] = model[i].expected;
    }
    run(span);
    double sum = 0, squares = 0, least = 1e18, exact = bound() / 1e9;
    for (unsigned i = 0; before != NULL && i < flows; i++) {
        double one = (model[i].expected - before[i]) * 8.0 * segment / (double)span.ns;
        sum += one;
        squares += one * one;
        least = one < least ? one : least;
    }
    struct tcp_counts has = counts();
    double each = sum / servers(), sent = sum * (double)span.ns / 8 / segment;
    printf("%-24s %6.3f Gb/s a server, %.3f of the bound %.3f (goal %.3f%s); Jain %.3f; slowest of %u flows %.2f of "
           "the mean; %.4f %% sent again, %llu time-outs; round trip %.0f us\n",
           what, each, each / exact, exact, goal, each >= goal ? "" : ", missed", sum * sum / (flows * squares), flows,
           least / (sum / flows), 100 * (double)(has.again - had.again) / sent,
           (unsigned long long)(has.timeouts - had.timeouts), mean_trip_us());
    fflush(stdout);
    free(before);
    close_world();
}

static const cw_dims cube = {3, 3, 3};

static bool can_be_unordered(void)
{
#ifdef CW_MUTANTS
    return true;
#else
    return false;
#endif
}

/* Strands let everything pass as it comes, where this program was built with that bug. */
static void set_unordered(bool on)
{
#ifdef CW_MUTANTS
    tunnel_mutants_in = on ? UINT64_C(1) << TUNNEL_MUTANT_GIVEN_UP_AT_ONCE : 0;
#else
    (void)on;
#endif
}

static struct task all_to_all(cw_dims dims)
{
    return (struct task){.dims = dims,
                         .segments = UINT32_MAX,
                         .bits_per_second = UINT64_C(1000) * 1000 * 1000,
                         .tick = CW_MS(1),
                         .eager = 8};
}

static void part_steady(void)
{
    const cw_span warm = smoke ? CW_MS(5) : CW_MS(300), span = smoke ? CW_MS(5) : CW_MS(500);
    printf("all to all of 27 servers, steady; the paper's is 1.49 Gb/s\n");
    task = all_to_all(cube);
    steady("as it is", 2.75, warm, span);
    task.deaf = true;
    steady("without ECN", 2.75, warm, span);
    task.deaf = false;
    if (can_be_unordered()) {
        set_unordered(true);
        steady("without order", 2.75, warm, span);
        set_unordered(false);
    }
}

static void part_large(void)
{
    task = all_to_all(smoke ? (cw_dims){4, 4, 4} : (cw_dims){8, 8, 8});
    printf("all to all of %u servers, steady\n", servers());
    task.tick = CW_MS(5);
    task.eager = 60; /* ten segments each at once would be 45 MB a server, half a second of what it can send */
    steady("as it is", 0.93, smoke ? CW_MS(5) : CW_MS(1500), smoke ? CW_MS(5) : CW_MS(1000));
}

/* ---- So many bytes to each --------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void part_fixed(void)
{
    double bytes = smoke ? 1e5 : 2e7, rate[64];
    task = all_to_all(cube);
    task.segments = (uint32_t)(bytes / 8892) + 1;
    open_world();
    for (int i = 0; i < 100000 && pending > 0; i++) {
        run(CW_MS(1));
    }
    if (pending > 0) {
        fprintf(stderr, "connections to %u servers do not end\n", pending);
        exit(1);
    }
    double exact = bound() / 1e9;
    for (cw_server s = 0; s < servers(); s++) {
        double span = (double)cw_time_since(whole_at[s], begin_at).ns;
        rate[s] = (servers() - 1) * 8.0 * segment * task.segments / span;
    }
    qsort(rate, servers(), sizeof *rate, by_value);
    double median = rate[servers() / 2];
    printf(
        "%.1f MB from each of 27 servers to each: median inbound until a server has all %.3f Gb/s, %.3f of the bound "
        "%.3f (goal 2.5%s; the paper's 1.49); slowest server %.3f; %llu segments sent again\n",
        segment * (double)task.segments / 1e6, median, median / exact, exact, median >= 2.5 ? "" : ", missed", rate[0],
        (unsigned long long)counts().again);
    fflush(stdout);
    close_world();
}

/* ---- A full link ------------------------------------------------------------------------------------------------- */

/* The round trip of connections over one link, less what it is when nothing waits: the queue that stands there. */
static void queue(unsigned count, uint64_t megabits, bool deaf)
{
    task = (struct task){.dims = {5, 1, 1},
                         .segments = UINT32_MAX,
                         .flows = count,
                         .deaf = deaf,
                         .bits_per_second = megabits * 1000 * 1000,
                         .tick = CW_MS(1),
                         .eager = 8};
    open_world();
    run(smoke ? CW_MS(50) : CW_MS(2000));
    double sum = 0;
    unsigned looks = 0;
    uint64_t had = 0;
    for (unsigned i = 0; i < count; i++) {
        had += model[i].expected;
    }
    cw_time since = world_now(world);
    for (int i = 0; i < (smoke ? 10 : 1000); i++) {
        run(CW_MS(2));
        for (unsigned k = 0; k < count; k++, looks++) {
            sum += (double)(model[k].round_trip.ns - model[k].least.ns) / 1e6;
        }
    }
    uint64_t has = 0;
    for (unsigned i = 0; i < count; i++) {
        has += model[i].expected;
    }
    double rate = (double)(has - had) * 8 * segment / (double)cw_time_since(world_now(world), since).ns * 1e3;
    double frame = 9038 * 8.0 / (double)megabits / 1e3, target = 4 * frame > 1 ? 4 * frame : 1;
    double goal = 2 * target > 2 * count * frame ? 2 * target : 2 * count * frame;
    goal = deaf ? 6 * target : goal;
    printf(
        "%u flow%s, link of %4llu Mb/s%s: queue %6.2f ms (goal %.2f%s), %.0f Mb/s, %.3f of the link; %llu sent again\n",
        count, count == 1 ? " " : "s", (unsigned long long)megabits, deaf ? ", no ECN" : "        ", sum / looks, goal,
        sum / looks <= goal ? "" : ", missed", rate, rate / (double)megabits, (unsigned long long)counts().again);
    fflush(stdout);
    close_world();
}

static void part_queue(void)
{
    printf("the queue that stands at a full link\n");
    for (int deaf = 0; deaf < 2; deaf++) {
        queue(1, 200, deaf == 1);
        queue(8, 200, deaf == 1);
    }
    if (!smoke) {
        queue(1, 1000, false);
        queue(8, 1000, false);
    }
}

/* ---- Longer paths ------------------------------------------------------------------------------------------------ */

/* One flow between neighbours of a quiet torus, which has one shortest path, and five longer ones. */
static void one_flow(bool longer, uint64_t megabits, double goal)
{
    task = (struct task){.dims = cube,
                         .segments = UINT32_MAX,
                         .flows = 1,
                         .longer = longer,
                         .bits_per_second = megabits * 1000 * 1000,
                         .tick = CW_MS(1),
                         .eager = 8};
    open_world();
    run(smoke ? CW_MS(50) : CW_MS(2000));
    uint32_t had = model[0].expected;
    struct tcp_counts before = counts();
    cw_span span = smoke ? CW_MS(50) : CW_MS(4000);
    run(span);
    double rate = (double)(model[0].expected - had) * 8 * segment / (double)span.ns * 1e3;
    printf("one flow between neighbours, links of %4llu Mb/s, %s: %.1f Mb/s", (unsigned long long)megabits,
           longer ? "spread = disjoint" : "shortest paths   ", rate);
    if (goal > 0) {
        printf(" (goal %.0f%s)", goal, rate >= goal ? "" : ", missed");
    }
    printf("; %llu sent again, %llu time-outs, round trip %.0f us\n",
           (unsigned long long)(counts().again - before.again),
           (unsigned long long)(counts().timeouts - before.timeouts), mean_trip_us());
    fflush(stdout);
    close_world();
}

static void part_longer(void)
{
    one_flow(false, 20, 0);
    one_flow(true, 20, 100);
    one_flow(false, 1000, 0);
    one_flow(true, 1000, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"steady", part_steady},
                 {"fixed", part_fixed},
                 {"large", part_large},
                 {"queue", part_queue},
                 {"longer", part_longer}};
    int at = 1;
    smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    at += smoke;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        bool wanted = at >= argc && (smoke || parts[i].run != part_large);
        for (int k = at; k < argc; k++) {
            wanted = wanted || strcmp(argv[k], parts[i].name) == 0;
        }
        if (wanted) {
            parts[i].run();
        }
    }
    return 0;
}
