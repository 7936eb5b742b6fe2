/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kvcache_world.c - the cache on real nodes in a simulated torus where everything goes wrong: each seed draws a
 * torus and faults (loss, duplication, delay, cuts, churn, pauses, partitions), lets every server ask for everything on
 * a few keys, and checks that the history of each key is linearizable (kv_ledger.h, kv_history.h). Afterwards all is
 * well again, and every server must be served.
 *
 *   test_kvcache_world [--first SEED] [--seeds COUNT] [--span MS] [--extras K] [--key NUMBER] [--all] [--say] [--inside]     exit code 1: a seed failed
 */
#include "fake_result.h"
#include "kv_history.h"
#include "kv_talker.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "services/kvcache/items.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SERVERS_MOST = 27, FAIL = 1, CALM_WAIT_MS = 150, PACKETS = 1 << 20 };

static const struct book_grant grants[] = {
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 0, .all_processes = true},
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 1, .all_processes = true},
};

static cw_time world_clock_now(void *context)
{
    return world_now(context);
}

static uint64_t mix(uint64_t seed, uint64_t salt)
{
    uint64_t z = seed * UINT64_C(0x9e3779b97f4a7c15) + salt * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Each eighth seed is calm: nothing goes wrong, one hot key, many copies, and nobody may wait for long. Of others an even one has the faults of one
 * mild world, an odd one everything drawn. */
static bool is_calm(uint64_t seed)
{
    return seed % 8 == 4;
}

static void draw(struct world_config *config, uint64_t seed)
{
    static const unsigned extras[] = {0, 1, 2, 4, 8, 4, 8, 8};
    static const unsigned keys[] = {1, 4, 8, 40};
    static const unsigned writes[] = {4, 12, 30};
    struct kv_talker_plan *plan = &kv_talker_plan;
    *config = world_config_default();
    if (seed % 2 == 1) {
        world_config_draw(config, seed, SERVERS_MOST);
    }
    config->seed = seed;
    uint64_t m = mix(seed, 1), n = mix(seed, 3);
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
            snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "world: %.300s", v != NULL ? v->text : "stopped");
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
            snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "alive: all being well, what %u set, %u does not read",
                     s, other);
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
        snprintf(l->wrong, sizeof l->wrong,
                 "slow: all being well, a write took %.1f ms and %llu questions had no answer",
                 (double)l->longest_write / 1e6, (unsigned long long)l->indeterminate);
    } else if (!kv_ledger_check(l, why, sizeof why)) {
        snprintf(l->wrong, sizeof l->wrong, "stale: %s", why);
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

static void run_world(uint64_t seed, cw_span span, int extras, bool faults)
{
    static const struct world_service services[] = {{.table = &kvcache_service}, {.table = &kv_talker_service}};
    struct world_config config;
    struct world *w;
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
        snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "the world does not open");
        return;
    }
    kv_talker_plan.now = world_clock_now;
    kv_talker_plan.context = w;
    cw_time from = {CW_MS(60).ns}, to = cw_time_add(from, span);
    kv_talker_plan.quiet = to;
    struct fault_plan plan = {.count = 0};
    if (!is_calm(seed) && fault_plan_draw(&plan, world_torus(w), &config.node.timers, mix(seed, 2), from, to) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(20));
    fault_plan_schedule(&plan, w);
    if (faults) {
        print_faults(&config, w, &plan);
    }
    if (run_for(w, cw_span_add(span, CW_MS(60))) == 0 && run_for(w, CW_SEC(5)) == 0) {
        last_words(w);
    }
    world_close(w);
    judge(seed);
    fault_plan_free(&plan);
}

struct options {
    uint64_t first, count;
    cw_span span;
    int extras; /* k; < 0: drawn */
    int key;    /* of which everything is printed, and all faults; < 0: none */
    bool all, say, inside;
};

static int read_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--first") == 0 && i + 1 < argc) {
            o->first = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
            o->count = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--span") == 0 && i + 1 < argc) {
            o->span = CW_MS(strtoull(argv[++i], NULL, 10));
        } else if (strcmp(argv[i], "--extras") == 0 && i + 1 < argc) {
            o->extras = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--key") == 0 && i + 1 < argc) {
            o->key = atoi(argv[++i]);
        } else if (strcmp(argv[i], "--all") == 0) {
            o->all = true;
        } else if (strcmp(argv[i], "--say") == 0) {
            o->say = true;
        } else if (strcmp(argv[i], "--inside") == 0) {
            o->inside = true; /* no child: for a debugger */
        } else {
            fprintf(stderr, "%s: what is '%s'?\n", argv[0], argv[i]);
            return 2;
        }
    }
    return 0;
}

static const char *const op_names[KV_OPS] = {
    [KV_GET] = "get",       [KV_SET] = "set", [KV_ADD] = "add",       [KV_REPLACE] = "replace",
    [KV_APPEND] = "append", [KV_CAS] = "cas", [KV_INCR] = "incr",     [KV_DECR] = "decr",
    [KV_TOUCH] = "touch",   [KV_GAT] = "gat", [KV_DELETE] = "delete", [KV_PREPEND] = "prepend",
    [KV_LOOK] = "look"};

/* Everything about one key, for who looks for what went wrong. */
static void print_key(uint32_t key)
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

static void run_seed(const struct options *o, uint64_t seed)
{
    memset(kv_ledger, 0, offsetof(struct kv_ledger, entry));
    pid_t child = o->inside ? 0 : fork();
    if (child == 0) {
        run_world(seed, o->span, o->extras, o->key >= 0);
        if (!o->inside) {
            _exit(0);
        }
    }
    int status = 0;
    if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
        snprintf(kv_ledger->wrong, sizeof kv_ledger->wrong, "stopped: the program stopped itself (%d)", status);
    }
}

struct sums {
    unsigned long long failed, tried, copied, asked[KV_OPS], done[KV_OPS], hits[3], misses, writes, indeterminate,
        refused;
};

static unsigned long long of_all(const unsigned long long *n)
{
    unsigned long long sum = 0;
    for (unsigned i = 0; i < KV_OPS; i++) {
        sum += n[i];
    }
    return sum;
}

static void add(struct sums *s, const struct kv_ledger *l)
{
    for (unsigned i = 0; i < KV_OPS; i++) {
        s->asked[i] += l->asked[i];
        s->done[i] += l->done[i];
    }
    for (unsigned i = 0; i < 3; i++) {
        s->hits[i] += l->hits[i];
    }
    s->copied += l->hits[KV_FROM_COPY] > 0;
    s->misses += l->misses;
    s->writes += l->writes;
    s->indeterminate += l->indeterminate;
    s->refused += l->refused;
    s->failed += l->wrong[0] != '\0';
    s->tried++;
}

static void say_sums(const struct sums *s)
{
    printf("questions:");
    for (unsigned i = KV_GET; i < KV_OPS; i++) {
        if (s->asked[i] > 0) {
            printf(" %s %llu", op_names[i], s->asked[i]);
        }
    }
    printf("\n%llu seeds (%llu with copies read): %llu failed; %llu questions, %llu writes acknowledged, hits %llu "
           "here %llu of copies %llu of "
           "roots, %llu misses, %llu without an answer, %llu refused\n",
           s->tried, s->copied, s->failed, of_all(s->asked), s->writes, s->hits[KV_FROM_HERE], s->hits[KV_FROM_COPY],
           s->hits[KV_FROM_ROOT], s->misses, s->indeterminate, s->refused);
}

int main(int argc, char **argv)
{
    struct options o = {.first = 1, .count = SANITIZED ? 5 : 40, .span = CW_MS(500), .extras = -1, .key = -1};
    int rc = read_options(&o, argc, argv);
    kv_ledger = mmap(NULL, sizeof *kv_ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rc != 0 || kv_ledger == MAP_FAILED) {
        return 2;
    }
    struct sums sums = {.failed = 0};
    for (uint64_t seed = o.first; seed < o.first + o.count && (sums.failed == 0 || o.all); seed++) {
        const struct kv_ledger *l = kv_ledger;
        run_seed(&o, seed);
        add(&sums, l);
        if (o.key >= 0) {
            print_key((uint32_t)o.key);
        }
        if (l->wrong[0] != '\0') {
            printf("seed %llu: %s\n", (unsigned long long)seed, l->wrong);
        } else if (o.say) {
            printf("seed %llu is well: k %u, %u keys, %zu asked, %llu acked, hits %llu here %llu copy %llu root, %llu "
                   "misses, %llu indeterminate, "
                   "%llu refused, longest write %.1f ms\n",
                   (unsigned long long)seed, l->extras, l->keys, l->count, (unsigned long long)l->writes,
                   (unsigned long long)l->hits[0], (unsigned long long)l->hits[1], (unsigned long long)l->hits[2],
                   (unsigned long long)l->misses, (unsigned long long)l->indeterminate, (unsigned long long)l->refused,
                   (double)l->longest_write / 1e6);
        }
        fflush(stdout);
    }
    say_sums(&sums);
    return sums.failed == 0 ? 0 : 1;
}
