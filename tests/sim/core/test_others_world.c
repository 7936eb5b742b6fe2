/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that only some servers have loaded pass the others all the same, and fairly.
 *
 * Three jobs send to a fourth over one server in the middle that has none of them, and more than its cable carries;
 * a service that runs everywhere sends from that server by the same cable. The judge knows what each should get: bytes
 * by weight, whatever it offers (invariant 71). Then the cable is cut while packets wait for it, and they come by
 * another way (invariant 70). Calls of these jobs are answered by servers that do not have them, and what is sent to a
 * server without the job is dropped there as no-service, and nothing else is.
 */
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "rng.h"
#include "sanitized.h"
#include "seeds.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SENDERS = 3,
    JOB_SENDER = 4000, /* and the two after it */
    JOB_TAKER = 4100,
    JOB_KNOWN = 4200,
    FLOW_KNOWN = SENDERS,
    FLOWS,
    LINK_RATE = 1000, /* bits a microsecond */
    STRAYS = 10,
    CALLS = 20,
    TICK_US = 20,
    MEASURED_MS = SANITIZED ? 10 : 40,
};

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t bytes, rerouted, answered, strays;
};
static struct ledger *ledger, sum;

static struct {
    struct world *world;
    struct rng rng;
    cw_server middle, end, sender[SENDERS];
    cw_job job[FLOWS];       /* that sends */
    cw_server from[FLOWS];   /* where it is */
    unsigned rate[FLOWS];    /* offered: thousandths of the link */
    unsigned size[FLOWS];    /* of a payload */
    uint64_t credit[FLOWS];  /* bits */
    uint64_t bytes[FLOWS];   /* that came */
    unsigned strays, calls;  /* still to be sent by sender 0 */
    unsigned answered, lost; /* calls */
    bool on;
} u;

/* ---- The services ------------------------------------------------------------------------------------------------ */

static cw_to to(cw_job job, cw_server server)
{
    return (cw_to){
        .kind = CW_TO_SERVER, .job = job, .server = torus_coord(world_torus(u.world), server), .process = server};
}

static void answered(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s, (void)state, (void)arg, (void)reply, (void)rx;
    u.answered += status == 0;
    u.lost += status != 0;
}

static void send_flow(cw_svc *s, unsigned flow)
{
    cw_to there = to(flow == FLOW_KNOWN ? JOB_KNOWN : JOB_TAKER, u.end);
    const cw_coord via = torus_coord(world_torus(u.world), u.middle);
    const cw_send_options by_middle = {CW_SEND_INIT, .waypoints = flow != FLOW_KNOWN, .waypoint = &via};
    u.credit[flow] += u.rate[flow] * (uint64_t)(TICK_US * LINK_RATE / 1000);
    for (uint64_t bits = 8 * (u.size[flow] + 60); u.credit[flow] >= bits; u.credit[flow] -= bits) {
        cw_packet *p = cw_packet_new_padded(s, 0, u.size[flow]);
        if (p != NULL) {
            cw_send_or_drop(s, p, &there, &by_middle);
        }
    }
}

static void tick(cw_svc *s, void *state, void *arg)
{
    const unsigned flow = (unsigned)(cw_job_of(s) == JOB_KNOWN ? FLOW_KNOWN : cw_job_of(s) - JOB_SENDER);
    if (u.on && cw_server_id(s, cw_self(s)) == u.from[flow]) {
        send_flow(s, flow);
    }
    if (flow == 0 && u.strays > 0) {
        cw_to nobody = to(JOB_TAKER, u.middle);
        u.strays--;
        cw_send_or_drop(s, cw_packet_new(s, 50), &nobody, NULL);
    }
    if (flow == 0 && u.calls > 0) {
        cw_to there = to(JOB_TAKER, u.end);
        cw_packet *p = cw_packet_new(s, 50);
        u.calls--;
        if (cw_call(s, p, &there, NULL, answered, NULL) < 0) {
            cw_packet_free(s, p);
            u.lost++;
        }
    }
    if (cw_timer_start(s, CW_US(TICK_US), tick, arg) == NULL) {
        seeds_fail(ledger->wrong, "world", "no timer");
    }
    (void)state;
}

static int open_sender(cw_svc *s, void *state)
{
    tick(s, state, NULL);
    return 0;
}

static cw_verdict take(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    (void)state;
    (void)cw_packet_data(p, &length);
    for (unsigned i = 0; i < FLOWS; i++) {
        u.bytes[i] += rx->src_job == u.job[i] && rx->call == 0 ? length + cw_packet_pad(p) + 40 : 0;
    }
    if (rx->call != 0) {
        (void)cw_reply(s, rx->call, 0, p);
        return CW_TAKE;
    }
    return CW_FORWARD;
}

static bool not_in_the_middle(cw_server s)
{
    return s != u.middle;
}

#define ONLY_AT(n)                            \
    static bool only_at_##n(cw_server server) \
    {                                         \
        return server == u.sender[n];         \
    }
ONLY_AT(0)
ONLY_AT(1)
ONLY_AT(2)

static const cw_service tables[] = {
    {CW_SERVICE_INIT, .name = "a", .job = JOB_SENDER, .open = open_sender, .on_packet = take},
    {CW_SERVICE_INIT, .name = "b", .job = JOB_SENDER + 1, .open = open_sender, .on_packet = take},
    {CW_SERVICE_INIT, .name = "c", .job = JOB_SENDER + 2, .open = open_sender, .on_packet = take},
    {CW_SERVICE_INIT, .name = "known", .job = JOB_KNOWN, .open = open_sender, .on_packet = take},
    {CW_SERVICE_INIT, .name = "taker", .job = JOB_TAKER, .on_packet = take},
};

/* ---- The world --------------------------------------------------------------------------------------------------- */

static bool run(cw_span span)
{
    if (world_run(u.world, cw_time_add(world_now(u.world), span)) != 0) {
        seeds_fail(ledger->wrong, "invariant", "%s",
                   world_violation(u.world) != NULL ? world_violation(u.world)->text : "stopped");
    }
    return ledger->wrong[0] == '\0';
}

/* The middle, its neighbour at the end of the cable that all want, and three of its other neighbours. */
static void draw(uint64_t seed, const struct torus *t)
{
    unsigned at = 0, links[CW_LINK_COUNT] = {0, 1, 2, 3, 4, 5};
    u.middle = (cw_server)rng_below(&u.rng, t->servers);
    for (unsigned i = CW_LINK_COUNT - 1; i > 0; i--) {
        unsigned k = (unsigned)rng_below(&u.rng, i + 1), link = links[i];
        links[i] = links[k];
        links[k] = link;
    }
    u.end = torus_neighbour(t, u.middle, (cw_link)links[at++]);
    for (unsigned i = 0; i < SENDERS; i++) {
        u.sender[i] = u.from[i] = torus_neighbour(t, u.middle, (cw_link)links[at++]);
        u.job[i] = JOB_SENDER + i;
    }
    u.from[FLOW_KNOWN] = u.middle;
    u.job[FLOW_KNOWN] = JOB_KNOWN;
    for (unsigned i = 0; i < FLOWS; i++) {
        u.rate[i] = i == seed % SENDERS ? 950 : 400 + (unsigned)rng_below(&u.rng, 300);
        u.size[i] = 300 + (unsigned)rng_below(&u.rng, 1100);
    }
    u.rate[FLOW_KNOWN] = 1500;
}

static bool open_world(uint64_t seed, unsigned weight)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {4, 3, 3}, {3, 4, 5}};
    static struct world_service services[] = {
        {.table = &tables[0], .runs_on = only_at_0},         {.table = &tables[1], .runs_on = only_at_1},
        {.table = &tables[2], .runs_on = only_at_2},         {.table = &tables[3]},
        {.table = &tables[4], .runs_on = not_in_the_middle},
    };
    static const struct book_grant grants[] = {
        {.from = JOB_SENDER, .to = JOB_TAKER, .all_processes = true},
        {.from = JOB_SENDER + 1, .to = JOB_TAKER, .all_processes = true},
        {.from = JOB_SENDER + 2, .to = JOB_TAKER, .all_processes = true},
        {.from = JOB_KNOWN, .to = JOB_KNOWN, .all_processes = true},
    };
    struct world_config config = world_config_default();
    struct torus torus;
    config.dims = shapes[seed % 3];
    config.seed = seed;
    config.node.timers = ls_timers_fast();
    config.services = services;
    config.service_count = sizeof services / sizeof *services;
    config.grants = grants;
    config.grant_count = sizeof grants / sizeof *grants;
    config.carrier = CW_MS(1);
    services[3].policy = (struct node_service_policy){.weight = weight, .queue_packets = 500, .queue_bytes = 1 << 20};
    if (torus_init(&torus, config.dims) < 0) {
        return false;
    }
    draw(seed, &torus);
    if (world_open(&u.world, &config) < 0) {
        return false;
    }
    world_start_all(u.world, CW_MS(1));
    for (int i = 0; i < 500 && world_agreeing(u.world) < torus.servers; i++) {
        if (!run(CW_MS(10))) {
            return false;
        }
    }
    return true;
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

/* By weight: 10 for each job that has no service in the middle. */
static void judge_shares(unsigned weight)
{
    u.on = true;
    run(CW_MS(10));
    memset(u.bytes, 0, sizeof u.bytes);
    run(CW_MS(MEASURED_MS));
    u.on = false;
    uint64_t all = 0;
    for (unsigned i = 0; i < FLOWS; i++) {
        all += u.bytes[i];
    }
    ledger->bytes = all;
    if (all < (uint64_t)MEASURED_MS * LINK_RATE * 1000 / 8 * 8 / 10) {
        seeds_fail(ledger->wrong, "70", "%llu bytes came in %d ms", (unsigned long long)all, MEASURED_MS);
        return;
    }
    for (unsigned i = 0; i < FLOWS; i++) {
        double due = (i == FLOW_KNOWN ? weight : 10.0) / (weight + 10.0 * SENDERS);
        double share = (double)u.bytes[i] / (double)all;
        if (share < due * 0.97 || share > due * 1.03) {
            seeds_fail(ledger->wrong, "71", "flow %u, offering %u of 1000, got %.3f, due are %.3f", i, u.rate[i], share,
                       due);
        }
    }
}

/* What waits in the middle when its cable is cut comes by another way. */
static void judge_detour(void)
{
    struct world_totals before, after;
    const struct torus *t = world_torus(u.world);
    world_totals(u.world, &before);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (torus_neighbour(t, u.middle, link) == u.end) {
            world_cable(u.world, u.middle, link, true, false);
        }
    }
    run(CW_MS(400));
    world_totals(u.world, &after);
    ledger->rerouted = after.delivered - before.delivered;
    if (after.inside > 0 || after.flying > 0) {
        seeds_fail(ledger->wrong, "70", "%llu packets are still inside",
                   (unsigned long long)(after.inside + after.flying));
    }
    if (after.dropped[CW_DROP_NO_SERVICE] > 0 || after.dropped[CW_DROP_NO_ROUTE] > 0) {
        seeds_fail(ledger->wrong, "70", "%llu no-service, %llu no-route",
                   (unsigned long long)after.dropped[CW_DROP_NO_SERVICE],
                   (unsigned long long)after.dropped[CW_DROP_NO_ROUTE]);
    }
}

static void judge_calls(void)
{
    struct world_totals totals;
    u.calls = CALLS;
    u.strays = STRAYS;
    run(CW_MS(100));
    world_totals(u.world, &totals);
    ledger->answered = u.answered;
    ledger->strays = totals.dropped[CW_DROP_NO_SERVICE];
    if (u.answered != CALLS || u.lost > 0) {
        seeds_fail(ledger->wrong, "70", "%u of %d calls were answered", u.answered, CALLS);
    }
    if (totals.dropped[CW_DROP_NO_SERVICE] != STRAYS) {
        seeds_fail(ledger->wrong, "70", "%llu packets of %d ended as no-service",
                   (unsigned long long)totals.dropped[CW_DROP_NO_SERVICE], STRAYS);
    }
}

static void run_seed(uint64_t seed)
{
    static const unsigned weights[] = {5, 10, 20};
    memset(&u, 0, sizeof u);
    u.rng = (struct rng){seed};
    unsigned weight = weights[rng_below(&u.rng, 3)];
    if (!open_world(seed, weight)) {
        seeds_fail(ledger->wrong, "world", "it does not begin");
        return;
    }
    judge_shares(weight);
    judge_detour();
    judge_calls();
    world_close(u.world);
}

static void add(void)
{
    sum.bytes += ledger->bytes;
    sum.rerouted += ledger->rerouted;
    sum.answered += ledger->answered;
    sum.strays += ledger->strays;
}

static void say(void)
{
    printf("%llu bytes, %llu packets came late or by another way, %llu calls answered, %llu strays",
           (unsigned long long)ledger->bytes, (unsigned long long)ledger->rerouted,
           (unsigned long long)ledger->answered, (unsigned long long)ledger->strays);
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 1 : 6,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run_seed,
                          .add = add,
                          .say = say};
    int rc = seeds_read(&seeds, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&seeds);
    bool all =
        seeds.failed > 0 || seeds.named || (sum.bytes > 0 && sum.rerouted > 0 && sum.answered > 0 && sum.strays > 0);
    if (!all) {
        fprintf(stderr, "something of what this world is for has not happened\n");
    }
    return all ? rc : 1;
}
