/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_store_world.c - the store on real nodes in a simulated torus where everything goes wrong: each seed draws a
 * torus and faults (loss, duplication, delay, cuts, partitions, pauses, deaths; in half of the seeds also what
 * goes wrong with disks, store_power.h), makes a store, lets every server put, get, delete, compare and list on a
 * few names, and checks that the history of each name is linearizable (store_history.h). Afterwards all is well again:
 * every name whose shard has a majority of members left must be served, by any server, and have all its copies again;
 * on disks also after all lost their power.
 *
 *   test_store_world [--key NUMBER] and the options of seeds.h. Exit code 1: a seed failed.
 */
#include "base/prng.h"
#include "fake_result.h"
#include "keyspace/key.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/store/common.h"
#include "services/store/entry/store.h"
#include "simulator/faults.h"
#include "simulator/world.h"
#include "store_census.h"
#include "store_power.h"
#include "store_talker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OTHER_SHARDS = 12,
    SERVERS_MOST = 27,
    FEW_SERVERS = 9,
    SPAN_MS = 500,
    PACKETS = 1 << 20,
    QUEUE_LEAST = 16,
    CREATE_TRIES = 6,
    LAST_TRIES = 12
};

static const struct book_grant grants[] = {
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_LETTERS, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_READ, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_WRITE, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_MEMBERS, .all_processes = true},
    {.from = STORE_JOB, .to = STORE_JOB, .port = STORE_PORT_OPERATORS, .all_processes = true},
};

#define WRONG(rule, ...) seeds_fail(store_ledger->wrong, rule, __VA_ARGS__)

static int64_t shown_key = -1;
static struct power power;

static cw_time clock_now(void *context)
{
    return world_now(context);
}

/* Each eighth seed is calm: nothing goes wrong, and everything must be answered. */
static bool is_calm(uint64_t seed)
{
    return seed % 8 == 4;
}

/* Every second seed draws its torus, its wires and the timers of its nodes; the others have the usual ones. */
static bool is_drawn(uint64_t seed)
{
    return seed % 2 == 1;
}

/* Of eight seeds four have a store on disks; of the calm ones every second. */
static bool is_on_disks(uint64_t seed)
{
    return seed / 4 % 2 == 1 && seed % 16 != 12;
}

/* ---- The world --------------------------------------------------------------------------------------------------- */

static void draw(struct world_config *config, uint64_t seed)
{
    static const unsigned keys[] = {1, 1, 2, 5}, writes[] = {15, 40, 70};
    uint64_t m = prng_mix(seed, 1);
    bool brisk = m >> 40 & 1;
    *config = world_config_default();
    if (is_drawn(seed)) {
        world_config_draw(config, seed, SERVERS_MOST);
        bool small = (unsigned)config->dims.x * config->dims.y * config->dims.z < STORE_COPIES_LEAST;
        config->dims = small ? (cw_dims){3, 1, 1} : config->dims;
        /* A queue without room for an item to every member leaves out the last one each time. */
        config->node.queue_packets =
            config->node.queue_packets < QUEUE_LEAST ? QUEUE_LEAST : config->node.queue_packets;
    }
    config->seed = seed;
    bool txns = seed % 5 == 2 || seed % 10 == 8;
    bool few = (unsigned)config->dims.x * config->dims.y * config->dims.z <= FEW_SERVERS;
    store_talker_plan = (struct store_talker_plan){
        .pause_most = CW_US((500 + (int64_t)(m >> 24 & 4095)) * (txns && is_calm(seed) ? 8 : 1)),
        .keys = txns ? 2 + (unsigned)(m & 3) : keys[m & 3],
        .writes = writes[(m >> 16) % 3],
        .ttls = seed % 10 == 4 || seed % 20 == 3 ? 3 : 0,
        .ttl_most = CW_MS(brisk ? 40 : 150),
        .tagged = seed % 5 == 3 || txns,
        .watched = seed % 5 == 3,
        .txns = txns ? 2 : 0,
        .lists = seed % 5 == 3   ? 6
                 : seed % 5 == 4 ? (few ? 100 : 800)
                                 : 0,
        .value_most = m >> 44 & 1 ? 20 : 900,
        .longs = seed % 3 == 2 && !is_calm(seed) ? 4 : 0, /* a calm one demands every answer in time */
        .quota = seed % 6 == 5 ? 4000 + (m >> 46 & 65535) : 0,
        .hand_max = m >> 45 & 1 ? 64 << 20 : 100 << 10,
        .attempt = CW_MS(brisk ? 8 : 60),
        .tick = CW_MS(brisk ? 1 : 6),
        .patience = CW_MS(brisk ? 30 : 120),
        .slow = CW_MS(brisk ? 5 : 30),
        .hearing = CW_MS(brisk ? 150 : 400),
        .settle = CW_MS(brisk ? 10 : 50),
        .away = CW_MS(brisk ? 60 : 200),
        .timeout = CW_MS(brisk ? 60 : 400),
    };
}

static bool run_for(struct world *w, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end) && store_ledger->wrong[0] == '\0') {
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(1)))) != 0) {
            const struct world_violation *v = world_violation(w);
            WRONG("world", "%s", v != NULL ? v->text : "stopped");
        }
    }
    return store_ledger->wrong[0] == '\0';
}

static const struct fake_result *command(struct world *w, cw_server s, const char *line, cw_span most)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const struct fake_words words = fake_words_of(line);
    fake_result_init(&r);
    if (world_command(w, s, "store", words.argc, words.argv, &sink) < 0) {
        return &r;
    }
    for (cw_time end = cw_time_add(world_now(w), most); !r.done && cw_time_before(world_now(w), end);) {
        if (!run_for(w, CW_MS(1))) {
            break;
        }
    }
    return &r;
}

/* Why no store was made, as the command last said. */
static void not_made(const struct fake_result *r)
{
    char text[300] = "";
    for (unsigned i = 0; i < r->fields; i++) {
        if (r->field[i].is_text) {
            snprintf(text, sizeof text, "%s", r->field[i].text);
        }
    }
    WRONG("made", "everybody agrees with everybody, and no store is made: %s",
          r->done ? text : "the command has no answer");
}

/*
 * Everybody has found everybody, and there is a store. False: timers were drawn that are too short for the clocks, so
 * that the servers never agree, and the seed says nothing; or it failed.
 */
static bool create(struct world *w, uint64_t seed, unsigned copies)
{
    char line[64];
    cw_server servers = world_torus(w)->servers;
    const struct fake_result *r = NULL;
    snprintf(line, sizeof line, "create %s copies=%u", power.disks != NULL ? "disk" : "memory", copies);
    for (unsigned i = 0; i < 100 && world_agreeing(w) < servers; i++) {
        if (!run_for(w, CW_MS(20))) {
            return false;
        }
    }
    if (world_running(w) < servers) {
        WRONG("started", "%u of %u servers run: an option is refused", world_running(w), servers);
    }
    for (unsigned i = 0; i < CREATE_TRIES && store_ledger->wrong[0] == '\0'; i++) {
        r = command(w, 0, line, CW_SEC(12));
        if (r->done && r->rc == 0) {
            return true;
        }
        (void)!run_for(w, CW_SEC(2));
    }
    if (store_ledger->wrong[0] == '\0' && (!is_drawn(seed) || world_agreeing(w) == servers)) {
        not_made(r);
    }
    return false;
}

static void on_server(void *context, cw_server s, enum world_server_state state, cw_time now)
{
    (void)context;
    (void)now;
    if (state == WORLD_DEAD) {
        power_died(&power, s);
    }
}

/* Deaths in all worlds would leave nobody: of four seeds one has all that are drawn, one a few, two none. */
static void spare(struct fault_plan *plan, uint64_t seed)
{
    unsigned deaths = seed % 4 == 1 ? 1 : 0, left = 0;
    if (seed % 4 == 3) {
        return;
    }
    for (uint32_t i = 0; i < plan->count; i++) {
        enum fault_kind kind = plan->fault[i].kind;
        bool kills = kind == FAULT_KILL || kind == FAULT_POWER || kind == FAULT_LEAVE;
        bool many = kind == FAULT_KILL_SLAB || kind == FAULT_KILL_ROW;
        if (many || (kills && deaths == 0)) {
            plan->fault[left] = plan->fault[i];
            plan->fault[left].kind = FAULT_PAUSE;
            plan->fault[left].server = plan->fault[i].server;
            plan->fault[left].span = CW_MS(10 + (int64_t)(prng_mix(seed, i) % 60));
            left += !many;
            continue;
        }
        deaths -= kills;
        plan->fault[left++] = plan->fault[i];
    }
    plan->count = left;
}

/* ---- Afterwards -------------------------------------------------------------------------------------------------- */

static uint32_t shard_of(struct world *w, unsigned key)
{
    char text[24];
    struct store_name name = {STORE_TALKER_JOB, (const uint8_t *)text, 0};
    name.length = store_talker_name(key, text);
    cw_key id = store_places_key(&name);
    return store_places_shard(world_torus(w), &id);
}

/* The shards of names, and some others, have as many members as they should have, who hold the same. */
static void count_copies(struct world *w, uint64_t seed)
{
    uint32_t shards = world_torus(w)->servers * STORE_SHARDS_PER_SERVER;
    for (unsigned i = 0; i < store_talker_plan.keys + OTHER_SHARDS && store_ledger->wrong[0] == '\0'; i++) {
        uint32_t shard = i < store_talker_plan.keys ? shard_of(w, i) : (uint32_t)(prng_mix(seed, 700 + i) % shards);
        struct store_census c = store_census_of(w, shard);
        store_ledger->served += store_census_serves(&c);
        store_ledger->unserved += !store_census_serves(&c);
        store_ledger->epochs += c.config.epoch - (c.config.epoch > 0);
        if (store_census_serves(&c) && c.whole >= c.config.count && c.full < c.config.count) {
            WRONG("copies", "all being well, shard %u has %u full members in epoch %u, %u live", shard, c.full,
                  c.config.epoch, c.live);
        }
    }
}

/* The name is read, as the talker reads, by the command: what comes is one more event of the history. */
static void last_words(struct world *w, cw_server s, unsigned key)
{
    const char *words[] = {"get", NULL, NULL, "form=base64", "from=0"}; /* of a long value a piece */
    char name[24], job[24];
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    store_talker_name(key, name);
    snprintf(job, sizeof job, "job=%u", STORE_TALKER_JOB);
    words[1] = name;
    words[2] = job;
    for (unsigned i = 0; i < LAST_TRIES; i++) {
        fake_result_init(&r);
        int64_t begun = world_now(w).ns;
        if (world_command(w, s, "store", 5, words, &sink) < 0) {
            return;
        }
        while (!r.done && run_for(w, CW_MS(5))) {
        }
        int64_t code = r.done && r.rc == 0 ? fake_int(&r, 0, "code") : -1;
        if (store_ledger->wrong[0] != '\0') {
            return;
        }
        if (code == CW_STORE_OK || code == CW_STORE_NOT_FOUND) {
            struct store_entry *e = &store_ledger->entry[store_ledger->count];
            *e = (struct store_entry){.op = CW_STORE_HEAD, .key = key, .answered = true, .begun = begun, .server = s};
            e->status = (cw_store_status)code;
            e->ended = world_now(w).ns;
            e->version = code == CW_STORE_OK ? (uint64_t)fake_int(&r, 0, "version") : 0;
            store_ledger->count += code == CW_STORE_OK && store_ledger->count < STORE_LEDGER_MOST;
            return;
        }
    }
    WRONG("alive", "all being well, server %u is not told of name %u", s, key);
}

/* Whatever was to go by itself has gone, where the shard is served. */
static void await_expiry(struct world *w)
{
    (void)!run_for(w, CW_NS(2 * store_talker_plan.ttl_most.ns + CW_MS(300).ns));
    for (unsigned key = 0; key < store_talker_plan.keys && store_ledger->wrong[0] == '\0'; key++) {
        struct store_census c = store_census_of(w, shard_of(w, key));
        if (store_census_serves(&c) && c.to_expire > 0) {
            WRONG("ttl", "all being well, %u values of name %u's shard have not gone", c.to_expire, key);
        }
    }
}

struct hearsay {
    unsigned key;
    uint64_t version;
};

static void ask_talker(void *context, cw_svc *svc, const void *exports)
{
    struct hearsay *h = context;
    (void)exports;
    h->version = store_talker_told(svc, h->key);
}

/* Every server that watches was told of the last state of every name, where somebody serves the shard. */
static void ask_watchers(struct world *w)
{
    (void)!run_for(w, CW_NS(6 * store_talker_plan.attempt.ns + CW_MS(100).ns));
    for (unsigned key = 0; key < store_talker_plan.keys; key++) {
        char text[24];
        size_t length = store_talker_name(key, text);
        const struct store_name name = {STORE_TALKER_JOB, (const uint8_t *)text, length};
        const struct store_last last = store_census_last(w, shard_of(w, key), &name);
        for (cw_server s = 0; last.served && s < world_torus(w)->servers; s++) {
            struct hearsay h = {key, 0};
            int rc = world_visit(w, s, "storetalker", STORE_TALKER_API, ask_talker, &h);
            bool behind = h.version != last.version && !(h.version == 0 && last.deleted);
            if (rc == 0 && behind && store_ledger->wrong[0] == '\0') {
                WRONG("watch", "all being well, server %u was told of version %llu of name %u last, and %llu is there",
                      s, (unsigned long long)h.version, key, (unsigned long long)last.version);
            }
        }
    }
}

static void ask_all(struct world *w, uint64_t seed)
{
    cw_server servers = world_torus(w)->servers;
    /* Timers that are drawn too short for the clocks never come to rest. */
    if (world_agreeing(w) < world_running(w) || world_running(w) < servers) {
        return;
    }
    for (unsigned key = 0; key < store_talker_plan.keys && store_ledger->wrong[0] == '\0'; key++) {
        struct store_census census = store_census_of(w, shard_of(w, key));
        if (store_census_serves(&census)) {
            last_words(w, (key * 7 + 1) % servers, key);
            last_words(w, (key * 5 + 2) % servers, key);
        }
    }
    if (store_talker_plan.ttls > 0 && store_ledger->wrong[0] == '\0') {
        await_expiry(w);
    }
    if (store_talker_plan.watched && store_ledger->wrong[0] == '\0') {
        ask_watchers(w);
    }
    count_copies(w, seed);
}

static void judge(uint64_t seed)
{
    struct store_ledger *l = store_ledger;
    char why[300] = "";
    uint64_t lost = l->ended[CW_STORE_UNKNOWN] + l->ended[CW_STORE_NO_ANSWER] + l->ended[CW_STORE_NO_QUORUM];
    if (l->wrong[0] != '\0') {
        return;
    }
    if (!store_ledger_check(l, why, sizeof why)) {
        WRONG("order", "%s", why);
    } else if (is_calm(seed) && lost > 0) {
        WRONG("calm", "all being well, %llu questions had no answer", (unsigned long long)lost);
    } else if (l->silent > 0) {
        WRONG("silent", "%llu questions never ended", (unsigned long long)l->silent);
    }
}

static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &store_service}, {.table = &store_talker_service}};
    struct world_config config;
    struct world *w;
    draw(&config, seed);
    config.services = services;
    config.service_count = 2;
    config.grants = grants;
    config.packets_max = PACKETS;
    config.grant_count = sizeof grants / sizeof *grants;
    power = (struct power){.disks = NULL};
    if (is_on_disks(seed)) {
        power_open(&power, &config, (unsigned)config.dims.x * config.dims.y * config.dims.z, seed, is_calm(seed));
    }
    if (world_open(&w, &config) != 0) {
        WRONG("world", "it does not open");
        return;
    }
    unsigned copies = prng_mix(seed, 9) % 4 == 0 && world_torus(w)->servers > 3 ? 4 : 3;
    store_talker_plan.now = clock_now;
    store_talker_plan.context = w;
    world_watch(w, &(struct world_watch){.server = on_server});
    if (power.disks != NULL) {
        store_disks_world(power.disks, w);
    }
    world_start_all(w, CW_MS(20));
    bool made = create(w, seed, copies);
    struct fault_plan plan = {.count = 0};
    if (made) {
        cw_time from = cw_time_add(world_now(w), CW_MS(20)), to = cw_time_add(from, CW_MS(SPAN_MS));
        bool others = power.disks == NULL || power.kind != POWER_OLDER;
        if (power.disks != NULL) {
            power_plan(&power, w, from, to);
        }
        if (!is_calm(seed) && others &&
            fault_plan_draw(&plan, world_torus(w), &config.node.timers, prng_mix(seed, 2), from, to) != 0) {
            abort();
        }
        if (power.disks == NULL) {
            spare(&plan, seed);
        }
        fault_plan_schedule(&plan, w);
        store_talker_plan.talks = true;
        (void)!run_for(w, CW_MS(SPAN_MS + 80));
        store_talker_plan.talks = false;
        (void)!run_for(w, CW_SEC(4));
        ask_all(w, seed);
        if (power.disks != NULL && store_ledger->wrong[0] == '\0') {
            power_all(&power, w);
            (void)!run_for(w, CW_SEC(3));
            ask_all(w, seed);
        }
    }
    world_close(w);
    power_close(&power);
    judge(seed);
    fault_plan_free(&plan);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static void print_key(int64_t key)
{
    static const char *const ops[] = {"", "get", "head", "put", "delete"};
    for (size_t i = 0; i < store_ledger->count; i++) {
        const struct store_entry *e = &store_ledger->entry[i];
        if (e->key == key && e->op != 0) {
            printf("%12.3f .. %12.3f us  question %zu at %u: %s%s %llu: %s; version %llu, value %llu\n",
                   (double)e->begun / 1e3, e->answered ? (double)e->ended / 1e3 : INFINITY, i + 1, e->server,
                   ops[e->op], e->conditional ? " if" : "", (unsigned long long)e->wants,
                   e->answered ? store_status_text(e->status) : "never answered", (unsigned long long)e->version,
                   (unsigned long long)e->value);
        }
    }
}

static unsigned long long asked, ended[CW_STORE_STATUSES], txns[CW_STORE_STATUSES], lists, changes, empty, served,
    unserved, epochs;

static void add(void)
{
    asked += store_ledger->count;
    lists += store_ledger->lists;
    changes += store_ledger->changes;
    empty += store_ledger->count == 0;
    served += store_ledger->served;
    unserved += store_ledger->unserved;
    epochs += store_ledger->epochs;
    for (unsigned i = 0; i < CW_STORE_STATUSES; i++) {
        ended[i] += store_ledger->ended[i];
        txns[i] += store_ledger->txns[i];
    }
    if (shown_key >= 0) {
        print_key(shown_key);
    }
}

static void say(void)
{
    const struct store_ledger *l = store_ledger;
    printf("%zu asked", l->count);
    for (unsigned i = 0; i < CW_STORE_STATUSES; i++) {
        if (l->ended[i] > 0) {
            printf(", %llu %s", (unsigned long long)l->ended[i], store_status_text((cw_store_status)i));
        }
    }
}

int main(int argc, char **argv)
{
    static const struct seeds_option options[] = {{"--key", NULL, &shown_key}, {NULL, NULL, NULL}};
    store_ledger = seeds_share(sizeof *store_ledger);
    struct seeds seeds = {.count = SANITIZED ? 3 : 24,
                          .options = options,
                          .ledger = store_ledger,
                          .ledger_bytes = offsetof(struct store_ledger, entry),
                          .wrong = store_ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    int rc = seeds_run(&seeds);
    printf("%llu questions:", asked);
    for (unsigned i = 0; i < CW_STORE_STATUSES; i++) {
        printf("%s %llu %s", i > 0 ? "," : "", ended[i], store_status_text((cw_store_status)i));
    }
    printf("; %llu transactions done, %llu refused, of %llu nobody knows", txns[CW_STORE_OK], txns[CW_STORE_CONFLICT],
           txns[CW_STORE_UNKNOWN]);
    printf("; %llu pages of lists, %llu changes watched; %llu seeds without a store\n%llu shards counted, %llu without "
           "a majority, %llu "
           "changes of members\n",
           lists, changes, empty, served + unserved, unserved, epochs);
    return rc;
}
