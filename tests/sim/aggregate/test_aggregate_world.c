/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_aggregate_world.c - reductions on real nodes in a simulated torus where everything goes wrong. Each seed draws a
 * torus, faults (loss, duplication, delay, cuts, churn, pauses, partitions) and reductions: members, root, type,
 * operation, length, who calls when, who gives up. The judge reads off the result who was counted how often: it must be
 * exactly those that the result names, each once. Every call must end, once; nothing may be left; and when all is well
 * again, all servers together must get a sum at the first attempt.
 *
 *   test_aggregate_world with the options of seeds.h. Exit code 1: a seed failed.
 */
#include "ag_caller.h"
#include "base/prng.h"
#include "fake_result.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/dense/head.h"
#include "services/aggregate/dense/number.h"
#include "services/multicast/multicast.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS_MOST = 27, DRAWN = 6, LOSS = 3000 /* of a million frames, in worlds that are otherwise calm */ };

/* What a seed has to say. */
struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    unsigned called, succeeded, failed, again, fewer, committed;
};
static struct ledger *ledger;

__attribute__((format(printf, 2, 3))) static void wrong(const char *rule, const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (ledger->wrong[0] == '\0') {
        snprintf(ledger->wrong, sizeof ledger->wrong, "%s: %s", rule, text);
    }
}

static cw_time world_clock_now(void *context)
{
    return world_now(context);
}

/* ---- What is drawn ----------------------------------------------------------------------------------------------- */

/*
 * Odd seeds: everything is drawn. Of the even ones, with the usual timers: 0 mod 4 all kinds of faults; 2 mod 4 deaths
 * while runs are under way, but for 2 mod 16, where nothing goes wrong; 18 mod 32: but that packets are lost.
 */
static void draw_config(struct world_config *config, uint64_t seed)
{
    *config = world_config_default();
    config->seed = seed;
    if (seed % 2 == 1) {
        world_config_draw(config, seed, SERVERS_MOST);
        config->seed = seed;
    } else if (seed % 4 == 0) {
        config->node.mtu = 1500;
    }
}

static void draw_kind(struct caller_run *run, struct prng *random)
{
    static const struct {
        cw_number type;
        cw_combine combine;
    } kinds[] = {
        {CW_NUMBER_UINT64, CW_COMBINE_SUM}, {CW_NUMBER_UINT64, CW_COMBINE_SUM},  {CW_NUMBER_UINT64, CW_COMBINE_SUM},
        {CW_NUMBER_UINT8, CW_COMBINE_SUM},  {CW_NUMBER_FLOAT32, CW_COMBINE_SUM}, {CW_NUMBER_INT64, CW_COMBINE_XOR},
        {CW_NUMBER_INT16, CW_COMBINE_PROD}, {CW_NUMBER_UINT32, CW_COMBINE_MAX},  {CW_NUMBER_INT64, CW_COMBINE_MINLOC},
    };
    static const uint64_t lengths[] = {0, 1, 2, 1023, 1024, 8191, 20011, 65537, 104729, 300007};
    unsigned kind = (unsigned)prng_below(random, sizeof kinds / sizeof *kinds);
    run->type = kinds[kind].type;
    run->combine = kinds[kind].combine;
    run->elements = lengths[prng_below(random, sizeof lengths / sizeof *lengths)];
}

static void draw_runs(const struct torus *torus, uint64_t seed, cw_time from, cw_time to)
{
    bool deaths = seed % 4 == 2 && seed % 16 != 2;
    struct prng random = prng_stream(seed, 0, 77);
    caller_plan.runs = DRAWN;
    for (unsigned i = 0; i < DRAWN; i++) {
        struct caller_run *run = &caller_plan.run[i];
        *run = (struct caller_run){.seed = prng_next(&random)};
        snprintf(run->name, sizeof run->name, "run %u", i);
        draw_kind(run, &random);
        if (deaths && i % 2 == 0) { /* long enough that servers die in the middle */
            run->type = CW_NUMBER_UINT64;
            run->combine = CW_COMBINE_SUM;
            run->elements = 800011;
        }
        run->root = (cw_server)prng_below(&random, torus->servers);
        run->flags = prng_below(&random, 2) != 0 ? CW_REDUCE_WITHOUT : 0;
        bool to_all = prng_mix(run->seed, 1) % (run->elements == 800011 ? 6 : 2) == 0; /* the long ones take long */
        run->flags |= to_all ? CW_REDUCE_TO_ALL : 0;
        bool from_root = to_all && prng_mix(run->seed, 2) % 4 == 0;
        run->flags |= from_root ? CW_REDUCE_FROM_ROOT : 0;
        run->flags |= prng_mix(run->seed, 3) % 4 == 0 ? CW_REDUCE_FIXED : 0;
        run->limit = CW_SEC(2);
        run->fill = prng_below(&random, 2) != 0;
        uint64_t share = 1 + prng_below(&random, 4);
        cw_time at = cw_time_add(from, prng_span(&random, CW_NS(0), cw_time_since(to, from)));
        run->begin = at;
        bool skewed = prng_below(&random, 4) == 0, gives_up = prng_below(&random, 6) == 0;
        for (cw_server s = 0; s < torus->servers; s++) {
            struct caller_call *c = &run->call[s];
            bool member = prng_below(&random, 4) < share || (s == torus->servers - 1 && run->members[0] == 0);
            member = member || (from_root && s == run->root);
            run->members[0] |= (uint64_t)member << s;
            cw_span late = prng_span(&random, CW_NS(0), skewed ? CW_MS(150) : CW_MS(3));
            cw_span patience = prng_span(&random, CW_MS(1), CW_MS(40));
            c->at = member || s == run->root ? cw_time_add(at, late) : CW_NEVER;
            c->cancel = gives_up && member && prng_below(&random, 8) == 0 ? cw_time_add(c->at, patience) : CW_NEVER;
        }
    }
}

/* The last run: all servers that live, when all is well again. */
static void add_last(struct world *w, unsigned turn)
{
    struct caller_run *run = &caller_plan.run[caller_plan.runs++];
    *run = (struct caller_run){.seed = turn + 5, .type = CW_NUMBER_UINT64, .combine = CW_COMBINE_SUM};
    snprintf(run->name, sizeof run->name, "last %u", turn);
    run->elements = 20011;
    run->limit = CW_SEC(2);
    run->root = CW_SERVER_NONE;
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        run->call[s].at = run->call[s].cancel = CW_NEVER;
        if (world_state(w, s) == WORLD_RUNS) {
            run->members[0] |= UINT64_C(1) << s;
            run->root = s;
        }
    }
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

/* The combination of the vectors of a set of servers, by the kernels, which have tests of their own. */
static uint8_t *must_be(const struct caller_run *run, const uint64_t *set)
{
    size_t element = number_element(run->type, run->combine);
    uint8_t *sum = malloc(run->elements * element + 1), *one = malloc(run->elements * element + 1);
    bool first = true;
    const uint64_t root = UINT64_C(1) << run->root;
    set = (run->flags & CW_REDUCE_FROM_ROOT) != 0 ? &root : set;
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        if (set[0] >> s & 1) {
            caller_values(run, s, 0, run->elements, first ? sum : one);
            if (!first) {
                number_combine(run->type, run->combine)(sum, one, run->elements);
            }
            first = false;
        }
    }
    free(one);
    return sum;
}

static void judge_result(const struct caller_run *run, const struct caller_call *c)
{
    size_t bytes = run->elements * number_element(run->type, run->combine);
    uint8_t *must = must_be(run, c->counted);
    if (c->out != NULL && memcmp(must, c->out, bytes) != 0) {
        wrong("sum", "%s: the result is not that of the %u it names, of %d members; attempt %u", run->name, c->count,
              __builtin_popcountll(run->members[0]), c->attempts);
    }
    free(must);
    bool fewer = c->counted[0] != run->members[0];
    if ((c->counted[0] & ~run->members[0]) != 0 || c->count == 0 || (fewer && (run->flags & CW_REDUCE_WITHOUT) == 0)) {
        wrong("named", "%s: the result names %#llx of the members %#llx", run->name, (unsigned long long)c->counted[0],
              (unsigned long long)run->members[0]);
    }
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        if ((c->counted[0] >> s & 1) && run->call[s].life == 0) {
            wrong("named", "%s: the result names server %u, which never called", run->name, s);
        }
    }
    ledger->again += c->attempts > 1;
    ledger->fewer += fewer;
}

/*
 * At the commit, which is when the root's own call ends, every contributor that lives has the result: but a small one,
 * which comes with the END, and those that a reduction goes on without.
 */
static void judge_commit(const struct caller_run *run, const struct caller_call *c)
{
    size_t bytes = run->elements * number_element(run->type, run->combine);
    if (c->status != 0 || c->self != run->root || (run->flags & CW_REDUCE_TO_ALL) == 0 ||
        (run->flags & CW_REDUCE_WITHOUT) != 0 || bytes <= MESSAGE_SMALL_MOST) {
        return;
    }
    const uint8_t *result = (run->flags & CW_REDUCE_FROM_ROOT) != 0 ? c->in : c->out;
    ledger->committed++;
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        const struct caller_call *other = &run->call[s];
        bool lives = other->life != 0 && other->life == caller_life(s) && other->ends == 0;
        if ((c->counted[0] >> s & 1) != 0 && lives && other != c && memcmp(other->out, result, bytes) != 0) {
            wrong("commit", "%s: it ends well, and server %u has not got the result", run->name, s);
        }
    }
}

/*
 * Where nothing goes wrong, and nobody gives up, the first attempt brings the result, and everybody is told so. Packets
 * may be lost (`lossy`): then it may take several attempts, but nobody fails.
 */
static void judge_calm(const struct caller_run *run, bool lossy)
{
    const struct caller_call *c = &run->call[run->root];
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        if (run->call[s].life != 0 && run->call[s].cancel.ns != INT64_MAX) {
            return;
        }
    }
    if (c->ends != 1 || c->status != 0 || (!lossy && c->attempts != 1) || c->counted[0] != run->members[0]) {
        wrong("calm", "%s ended %u times, with %d, after %u attempts", run->name, c->ends, c->status, c->attempts);
    }
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        const struct caller_call *other = &run->call[s];
        if (other->life != 0 && (other->ends != 1 || other->status != 0)) {
            wrong("calm", "%s: server %u ended %u times, with %d", run->name, s, other->ends, other->status);
        }
    }
}

static void judge_call(const struct caller_run *run, cw_server s)
{
    const struct caller_call *c = &run->call[s], *root = &run->call[run->root];
    if (c->life == 0 || c->ticket < 0) {
        if (c->ends != 0) {
            wrong("ends", "%s: server %u was told of a call that it did not make", run->name, s);
        }
        return;
    }
    ledger->called++;
    ledger->succeeded += c->ends == 1 && c->status == 0;
    ledger->failed += c->ends == 1 && c->status != 0;
    if (c->ends > 1) {
        wrong("ends", "%s: server %u was told %u times", run->name, s, c->ends);
    }
    if (c->ends == 0 && c->life == caller_life(s)) {
        wrong("ends", "%s: server %u was not told how its call ended", run->name, s);
    }
    if (c->ends == 1 && c->status == 0 && s != run->root &&
        (root->ends != 1 || root->status != 0 || root->counted[0] != c->counted[0])) {
        bool died = root->ends == 0; /* the root had told it, and died before it told its own caller */
        if (!died) {
            wrong("one result", "%s: server %u was told another end than the root", run->name, s);
        }
    }
    if (c->ends == 1 && c->status == 0 && (s == run->root || (run->flags & CW_REDUCE_TO_ALL) != 0)) {
        judge_result(run, c);
    }
}

static void free_call(struct caller_call *c)
{
    free(c->in);
    free(c->out);
    c->in = c->out = NULL;
}

/* ---- A seed ------------------------------------------------------------------------------------------------------ */

static int run_for(struct world *w, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end) && ledger->wrong[0] == '\0') {
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(5)))) != 0) {
            const struct world_violation *v = world_violation(w);
            wrong("world", "%s", v != NULL ? v->text : "stopped");
        }
    }
    return ledger->wrong[0] != '\0';
}

static int64_t ask(struct world *w, cw_server s, const char *name)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const words[] = {"totals"};
    fake_result_init(&r);
    if (world_command(w, s, "aggregate", 1, words, &sink) != 0 || !r.done) {
        wrong("command", "server %u does not answer", s);
        return 0;
    }
    return fake_int(&r, 0, name);
}

static void look_at_rest(struct world *w, cw_server s)
{
    if (ask(w, s, "members") != 0 || ask(w, s, "vertices") != 0 || ask(w, s, "roots") != 0 ||
        ask(w, s, "memory_bytes") != 0) {
        wrong("rest", "server %u still has %lld members, %lld vertices, %lld bytes", s, (long long)ask(w, s, "members"),
              (long long)ask(w, s, "vertices"), (long long)ask(w, s, "memory_bytes"));
    }
}

/* All is well: a sum of all that live, called by command. True: it was right. */
static bool try_last(struct world *w, unsigned turn)
{
    for (unsigned i = 0; i < 100 && world_agreeing(w) < world_running(w); i++) {
        if (run_for(w, CW_MS(100)) != 0) {
            return true;
        }
    }
    add_last(w, turn);
    struct caller_run *run = &caller_plan.run[caller_plan.runs - 1];
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        static struct fake_result r;
        char number[16];
        const char *const words[] = {"call", number};
        struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
        snprintf(number, sizeof number, "%u", caller_plan.runs - 1);
        fake_result_init(&r);
        if (run->members[0] >> s & 1 && world_command(w, s, "caller", 2, words, &sink) != 0) {
            wrong("alive", "server %u does not run", s);
        }
    }
    if (run_for(w, CW_SEC(4)) != 0 || run->members[0] == 0) {
        return true;
    }
    const struct caller_call *root = &run->call[run->root];
    return root->ends == 1 && root->status == 0 && root->counted[0] == run->members[0];
}

/* Can a hello come in time over a full link? It waits behind a frame that is being sent and those of the ring. */
static bool hellos_pass_load(const struct world_config *config)
{
    int64_t frame_ns = (int64_t)(config->node.mtu * UINT64_C(8000000000) / config->wire.bits_per_second);
    int64_t silence_ns = config->node.timers.hello.ns + (config->wire.ring + 1) * frame_ns;
    return config->node.timers.dead.ns > silence_ns;
}

/*
 * In worlds of drawn timers a view may flap although all is well: there one of some sums must be right, unless the sum
 * itself makes neighbours miss each other's hellos (seed 271: dead 1 ms, hello 0.5 ms, a frame takes 0.3 ms).
 */
static void last_words(struct world *w, const struct world_config *config, bool ordinary)
{
    const struct wire_harm none = {.loss = 0};
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &none);
        }
    }
    for (unsigned turn = 0; turn < (ordinary ? 1 : 6); turn++) {
        if (try_last(w, turn)) {
            return;
        }
    }
    if (!ordinary && !hellos_pass_load(config)) {
        return;
    }
    const struct caller_run *run = &caller_plan.run[caller_plan.runs - 1];
    const struct caller_call *root = &run->call[run->root];
    wrong("alive", "all being well, the last sum ended %u times, with %d (%s %u,%u,%u), ticket %lld", root->ends,
          root->status, root->named ? "of" : "nobody", root->who.x, root->who.y, root->who.z, (long long)root->ticket);
}

/* Servers die while runs are under way, and most return soon; some only pause, some lose a cable for a while. */
static void draw_deaths(struct fault_plan *plan, const struct torus *torus, uint64_t seed)
{
    struct prng random = prng_stream(seed, 0, 78);
    unsigned deaths = 1 + (unsigned)prng_below(&random, 9);
    for (unsigned i = 0; i < deaths; i++) {
        const struct caller_run *run = &caller_plan.run[prng_below(&random, DRAWN)];
        cw_time at = cw_time_add(run->begin, prng_span(&random, CW_US(100), CW_MS(12)));
        struct fault f = {.at = at, .kind = FAULT_KILL, .server = (cw_server)prng_below(&random, torus->servers)};
        f.link = (cw_link)prng_below(&random, CW_LINK_COUNT);
        f.span = prng_span(&random, CW_MS(1), CW_MS(60));
        unsigned kind = (unsigned)prng_below(&random, 8);
        f.kind = kind == 0 ? FAULT_PAUSE : kind == 1 ? FAULT_CUT : kind == 2 ? FAULT_POWER : FAULT_KILL;
        struct fault back = f;
        back.kind = kind == 1 ? FAULT_MEND : FAULT_START;
        back.at = cw_time_add(at, prng_span(&random, CW_MS(1), CW_MS(200)));
        if (fault_plan_add(plan, &f) != 0 || (kind != 0 && fault_plan_add(plan, &back) != 0)) {
            abort();
        }
    }
    fault_plan_sort(plan);
}

static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {
        {.table = &multicast_service}, {.table = &aggregate_service}, {.table = &caller_service}};
    struct world_config config;
    struct world *w;
    draw_config(&config, seed);
    config.services = services;
    config.service_count = 3;
    config.grants = caller_grants;
    config.grant_count = CALLER_GRANTS;
    if (world_open(&w, &config) != 0) {
        wrong("world", "it does not open");
        return;
    }
    caller_plan.now = world_clock_now;
    caller_plan.context = w;
    caller_plan.ended = judge_commit;
    cw_time from = {CW_MS(50).ns}, to = {CW_MS(450).ns};
    struct fault_plan plan = {.count = 0};
    draw_runs(world_torus(w), seed, from, to);
    if (seed % 4 == 2 && seed % 16 != 2) {
        draw_deaths(&plan, world_torus(w), seed);
    } else if (seed % 4 != 2 &&
               fault_plan_draw(&plan, world_torus(w), &config.node.timers, prng_mix(seed, 2), from, to) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(20));
    bool lossy = seed % 32 == 18;
    for (cw_server s = 0; s < world_torus(w)->servers && lossy; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &(struct wire_harm){.loss = LOSS});
        }
    }
    fault_plan_schedule(&plan, w);
    bool over = run_for(w, CW_MS(500)) != 0 || run_for(w, CW_SEC(7)) != 0;
    if (!over) {
        last_words(w, &config, seed % 2 == 0);
    }
    for (unsigned i = 0; i < caller_plan.runs && ledger->wrong[0] == '\0'; i++) {
        if (seed % 16 == 2) {
            judge_calm(&caller_plan.run[i], lossy);
        }
        for (cw_server s = 0; s < world_torus(w)->servers; s++) {
            judge_call(&caller_plan.run[i], s);
        }
    }
    for (cw_server s = 0; s < world_torus(w)->servers && ledger->wrong[0] == '\0'; s++) {
        if (world_state(w, s) == WORLD_RUNS) {
            look_at_rest(w, s);
        }
    }
    world_close(w);
    fault_plan_free(&plan);
    for (unsigned i = 0; i < caller_plan.runs; i++) {
        for (cw_server s = 0; s < CALLER_SERVERS; s++) {
            free_call(&caller_plan.run[i].call[s]);
        }
    }
}

static unsigned long long succeeded, failed, again, fewer, committed; /* by all seeds together */

static void add(void)
{
    succeeded += ledger->succeeded;
    failed += ledger->failed;
    again += ledger->again;
    fewer += ledger->fewer;
    committed += ledger->committed;
}

static void say(void)
{
    printf("%u calls, %u succeeded, %u failed; results after several attempts %u, without some %u", ledger->called,
           ledger->succeeded, ledger->failed, ledger->again, ledger->fewer);
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 3 : 10,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    int rc = seeds_run(&seeds);
    printf("%llu calls succeeded, %llu failed; %llu results after several attempts, %llu without some members, %llu at "
           "all\n",
           succeeded, failed, again, fewer, committed);
    return rc;
}
