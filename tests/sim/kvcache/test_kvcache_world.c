/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kvcache_world.c - the cache on real nodes in a simulated torus where everything goes wrong: each seed draws a
 * torus and faults (loss, duplication, delay, cuts, churn, pauses, partitions), lets every server ask for everything on
 * a few keys, and checks that the history of each key is linearizable (kv_ledger.h, kv_history.h). Afterwards all is
 * well again, and every server must be served.
 *
 *   test_kvcache_world [--span MS] [--extras K] [--key NUMBER], and the options of seeds.h. Exit code 1: a seed failed.
 */
#include "base/prng.h"
#include "fake_result.h"
#include "kv_ghosts.h"
#include "kv_history.h"
#include "kv_talker.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/kvcache/data/items.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERVERS_MOST = 27, FAIL = 1, CALM_WAIT_MS = 150, PACKETS = 1 << 20 };

static const struct book_grant grants[] = {
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 0, .all_processes = true},
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 1, .all_processes = true},
};

static cw_time world_clock_now(void *context)
{
    return world_now(context);
}

/*
 * Each eighth seed is calm: nothing goes wrong, one hot key, many copies, and nobody may wait for long. Of the others
 * an even one has the faults of one mild world, and an odd one has everything drawn. The seeds from KV_GHOSTS_FIRST on
 * have faults of one kind only (kv_ghosts.h).
 */
static bool is_calm(uint64_t seed)
{
    return seed % 8 == 4 && !kv_ghosts_has(seed);
}

static void draw(struct world_config *config, uint64_t seed)
{
    static const unsigned extras[] = {0, 1, 2, 4, 8, 4, 8, 8};
    static const unsigned keys[] = {1, 4, 8, 40};
    static const unsigned writes[] = {4, 12, 30};
    struct kv_talker_plan *plan = &kv_talker_plan;
    *config = world_config_default();
    if (kv_ghosts_has(seed)) {
        kv_ghosts_shape(config, seed);
    } else if (seed % 2 == 1) {
        world_config_draw(config, seed, SERVERS_MOST);
    }
    config->seed = seed;
    uint64_t m = prng_mix(seed, 1), n = prng_mix(seed, 3);
    *plan = (struct kv_talker_plan){
        .extras = extras[m % 8],
        .keys = keys[m >> 8 & 3],
        .writes = writes[(m >> 16) % 3],
        .pause_most = CW_US(300 + (int64_t)(m >> 24 & 1023)),
        .large = (m >> 40) % 4 == 0 ? 20 : 0,
        .flushes = n >> 32 & 1 ? 20 : 0,
        .attempt = CW_MS((m >> 44) % 2 == 0 ? 5 : 50),
        .plain = n % 8 == 0,
        .expiring = (n >> 8) % 3 == 0 ? 30 : 0,
        .expiry_most = CW_MS(60),
        .age = CW_MS((n >> 16) % 4 == 0 ? 20 : 0),
        .value_bytes = (n >> 24) % 4 == 0 ? (size_t)ITEMS_BYTES_LEAST : 0,
    };
    if (is_calm(seed)) {
        plan->extras = 8;
        plan->keys = 1;
        plan->writes = 2;
        plan->pause_most = CW_US(200);
    }
}

static int run_for(struct world *w, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end) && kv_ledger->wrong[0] == '\0') {
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(1)))) != 0) {
            const struct world_violation *v = world_violation(w);
            seeds_fail(kv_ledger->wrong, "world", "%s", v != NULL ? v->text : "stopped");
        }
    }
    return kv_ledger->wrong[0] != '\0' ? FAIL : 0;
}

static bool command(struct world *w, cw_server s, int argc, const char *const *argv, const char *field, const char *is)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(&r);
    if (world_command(w, s, "kvcache", argc, argv, &sink) < 0 || run_for(w, CW_MS(400)) != 0) {
        return false;
    }
    const char *text = r.done ? fake_text(&r, 0, field) : NULL;
    return text != NULL && strcmp(text, is) == 0;
}

/* Some number that changes with any server's view. */
static uint64_t sum_of_epochs(struct world *w)
{
    uint64_t sum = 0;
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        sum += world_node(w, s) != NULL ? ls_epoch(node_linkstate(world_node(w, s))) : 0;
    }
    return sum;
}

/* Everything works again: whoever is of the majority sets, and somebody else reads it. */
static void last_words(struct world *w)
{
    cw_server servers = world_torus(w)->servers;
    if (world_running(w) <= servers / 2 || world_agreeing(w) < world_running(w)) {
        return;
    }
    for (cw_server s = 0; s < servers && kv_ledger->wrong[0] == '\0'; s += 5) {
        char key[24], value[24];
        cw_server other = (s + 7) % servers;
        if (world_state(w, s) != WORLD_RUNS || world_state(w, other) != WORLD_RUNS) {
            continue;
        }
        snprintf(key, sizeof key, "last-%u", s);
        snprintf(value, sizeof value, "word-%u", s);
        const char *const set[] = {"set", key, value}, *const get[] = {"get", key};
        if (!command(w, s, 3, set, "status", "done") || !command(w, other, 2, get, "value", value)) {
            seeds_fail(kv_ledger->wrong, "alive", "all being well, what %u set, %u does not read", s, other);
        }
    }
}

/* After the world. */
static void judge(uint64_t seed)
{
    struct kv_ledger *l = kv_ledger;
    char why[300] = "";
    if (l->wrong[0] != '\0') {
        return;
    }
    if (is_calm(seed) && (l->indeterminate > 0 || l->longest_write > CW_MS(CALM_WAIT_MS).ns)) {
        seeds_fail(l->wrong, "slow", "all being well, a write took %.1f ms and %llu questions had no answer",
                   (double)l->longest_write / 1e6, (unsigned long long)l->indeterminate);
    } else if (!kv_ledger_check(l, why, sizeof why)) {
        seeds_fail(l->wrong, "stale", "%s", why);
    }
}

static void print_faults(const struct world_config *config, const struct world *w, const struct fault_plan *plan)
{
    const struct ls_timers *t = &config->node.timers;
    printf("torus %ux%ux%u; hello %.2f ms, dead %.2f, hold %.2f, flood %.2f\n", config->dims.x, config->dims.y,
           config->dims.z, (double)t->hello.ns / 1e6, (double)t->dead.ns / 1e6, (double)t->hold.ns / 1e6,
           (double)t->flood_bound.ns / 1e6);
    for (uint32_t i = 0; i < plan->count; i++) {
        char text[160];
        fault_format(&plan->fault[i], world_torus(w), text, sizeof text);
        printf("at %10.3f us %s\n", (double)plan->fault[i].at.ns / 1e3, text);
    }
    fflush(stdout);
}

/* What the command line asks for. */
static int64_t span_ms = 500;
static int64_t extras = -1;    /* k; < 0: drawn */
static int64_t shown_key = -1; /* the key of which every question is printed, and all faults; < 0: none */

static int plan_faults(struct fault_plan *plan, struct world *w, uint64_t seed, cw_time from, cw_time to)
{
    const struct ls_timers *timers = &world_config(w)->node.timers;
    if (is_calm(seed)) {
        return 0;
    }
    return kv_ghosts_has(seed) ? kv_ghosts_plan(plan, world_torus(w), timers, seed, from)
                               : fault_plan_draw(plan, world_torus(w), timers, prng_mix(seed, 2), from, to);
}

static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &kvcache_service}, {.table = &kv_talker_service}};
    struct world_config config;
    struct world *w;
    cw_span span = CW_MS(span_ms);
    draw(&config, seed);
    kv_talker_plan.extras = extras >= 0 ? (unsigned)extras : kv_talker_plan.extras;
    kv_ledger->extras = kv_talker_plan.extras;
    kv_ledger->keys = kv_talker_plan.keys;
    config.services = services;
    config.service_count = 2;
    config.grants = grants;
    config.packets_max = PACKETS;
    config.grant_count = sizeof grants / sizeof *grants;
    if (world_open(&w, &config) != 0) {
        seeds_fail(kv_ledger->wrong, "world", "it does not open");
        return;
    }
    kv_talker_plan.now = world_clock_now;
    kv_talker_plan.context = w;
    cw_time from = {CW_MS(60).ns}, to = cw_time_add(from, span);
    kv_talker_plan.quiet = to;
    struct fault_plan plan = {.count = 0};
    if (plan_faults(&plan, w, seed, from, to) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(20));
    fault_plan_schedule(&plan, w);
    if (shown_key >= 0) {
        print_faults(&config, w, &plan);
    }
    int rc = run_for(w, cw_span_add(span, CW_MS(60)));
    rc = rc != 0 ? rc : run_for(w, CW_SEC(3));
    uint64_t epochs = sum_of_epochs(w);
    rc = rc != 0 ? rc : run_for(w, CW_SEC(2));
    /* With timers that are drawn too short for the clocks some links never rest, and nobody is settled. */
    if (rc == 0 && epochs == sum_of_epochs(w)) {
        last_words(w);
    }
    world_close(w);
    judge(seed);
    fault_plan_free(&plan);
}

static const char *const op_names[KV_OPS] = {
    [KV_GET] = "get",       [KV_SET] = "set", [KV_ADD] = "add",       [KV_REPLACE] = "replace",
    [KV_APPEND] = "append", [KV_CAS] = "cas", [KV_INCR] = "incr",     [KV_DECR] = "decr",
    [KV_TOUCH] = "touch",   [KV_GAT] = "gat", [KV_DELETE] = "delete", [KV_PREPEND] = "prepend",
    [KV_LOOK] = "look"};

/* Everything about one key, for those who look for what went wrong. */
static void print_key(int64_t key)
{
    for (size_t i = 0; i < kv_ledger->count; i++) {
        const struct kv_entry *e = &kv_ledger->entry[i];
        if (e->key == key && e->op != 0) {
            printf("%10.3f .. %10.3f us  question %zu at %u: %s, %s; saw %llu, made of %llu, cas %llu, meant %llu\n",
                   (double)e->begun / 1e3, e->ended == KV_NO_END ? INFINITY : (double)e->ended / 1e3, i + 1, e->server,
                   op_names[e->op], e->answered ? kv_status_text(e->status) : "never answered",
                   (unsigned long long)e->value, (unsigned long long)e->before, (unsigned long long)e->cas,
                   (unsigned long long)e->want);
        }
    }
}

static struct {
    unsigned long long copied, asked[KV_OPS], hits[3], misses, writes, indeterminate, refused;
} sums;

static unsigned long long of_all(const unsigned long long *n)
{
    unsigned long long sum = 0;
    for (unsigned i = 0; i < KV_OPS; i++) {
        sum += n[i];
    }
    return sum;
}

static void add(void)
{
    const struct kv_ledger *l = kv_ledger;
    for (unsigned i = 0; i < KV_OPS; i++) {
        sums.asked[i] += l->asked[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        sums.hits[i] += l->hits[i];
    }
    sums.copied += l->hits[KV_FROM_COPY] > 0;
    sums.misses += l->misses;
    sums.writes += l->writes;
    sums.indeterminate += l->indeterminate;
    sums.refused += l->refused;
    if (shown_key >= 0) {
        print_key(shown_key);
    }
}

static void say(void)
{
    const struct kv_ledger *l = kv_ledger;
    printf("k %u, %u keys, %zu asked, %llu acked, hits %llu here %llu copy %llu root, %llu misses, %llu "
           "indeterminate, %llu refused, longest write %.1f ms",
           l->extras, l->keys, l->count, (unsigned long long)l->writes, (unsigned long long)l->hits[KV_FROM_HERE],
           (unsigned long long)l->hits[KV_FROM_COPY], (unsigned long long)l->hits[KV_FROM_ROOT],
           (unsigned long long)l->misses, (unsigned long long)l->indeterminate, (unsigned long long)l->refused,
           (double)l->longest_write / 1e6);
}

static void say_sums(void)
{
    printf("questions:");
    for (unsigned i = KV_GET; i < KV_OPS; i++) {
        if (sums.asked[i] > 0) {
            printf(" %s %llu", op_names[i], sums.asked[i]);
        }
    }
    printf("\n%llu seeds with copies read; %llu questions, %llu writes acknowledged, hits %llu here %llu of copies "
           "%llu of roots, %llu misses, %llu without an answer, %llu refused\n",
           sums.copied, of_all(sums.asked), sums.writes, sums.hits[KV_FROM_HERE], sums.hits[KV_FROM_COPY],
           sums.hits[KV_FROM_ROOT], sums.misses, sums.indeterminate, sums.refused);
}

int main(int argc, char **argv)
{
    static const struct seeds_option options[] = {
        {"--span", NULL, &span_ms}, {"--extras", NULL, &extras}, {"--key", NULL, &shown_key}, {NULL, NULL, NULL}};
    kv_ledger = seeds_share(sizeof *kv_ledger);
    struct seeds seeds = {.count = SANITIZED ? 3 : 24,
                          .options = options,
                          .ledger = kv_ledger,
                          .ledger_bytes = offsetof(struct kv_ledger, entry),
                          .wrong = kv_ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    int rc = seeds_run(&seeds);
    say_sums();
    return rc;
}
