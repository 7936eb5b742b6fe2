/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_load.h"

#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/kvcache/common.h"
#include "simulator/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ASKER_JOB = 2002,
    SAMPLES = 1 << 22,
    KEY_ROOM = 40,
    WIRE_NS_PER_BYTE = 8,
    ANSWER_HEADS = 150, /* of an answer to a generator: Ethernet, IP, TCP, memcached's line */
    CARD = 1 << 16,
};

struct client {
    cw_svc *svc, *cache;
    const struct kvcache_api *api;
    struct kvcache *k;
    cw_server self;
    int64_t busy_ns;            /* time for which its processor worked while we measure */
    uint64_t answered;          /* questions of its clients that were answered while we measure */
    struct place *first, *last; /* questions that wait for its processor; the first one has it, or gets it next */
};

/* A place for a question under way. */
struct place {
    struct place *behind;
    struct client *client;
    unsigned generator;
    cw_time begun;
    unsigned key;
};

static struct bench {
    struct kv_load load;
    struct world *world;
    struct client **client;
    struct place *place;
    cw_time *link_free; /* of each generator */
    double *up_to;      /* by key: the chance of this key or one before it */
    cw_server *root;    /* of each key */
    bool running, measuring;
    uint64_t drawn;
    uint32_t *sample; /* ns */
    size_t samples;
    struct kv_load_result *out;
} b;

static void die(const char *what)
{
    fprintf(stderr, "bench_kvcache: %s\n", what);
    exit(1);
}

static void *zeroes(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (p == NULL) {
        die("no memory");
    }
    return p;
}

/* ---- Which key --------------------------------------------------------------------------------------------------- */

static void prepare_keys(void)
{
    double sum = 0;
    b.up_to = zeroes(b.load.keys, sizeof *b.up_to);
    for (unsigned n = 0; n < b.load.keys; n++) {
        sum += 1 / pow(n + 1, b.load.theta);
        b.up_to[n] = sum;
    }
    for (unsigned n = 0; n < b.load.keys; n++) {
        b.up_to[n] /= sum;
    }
}

static unsigned draw_key(cw_svc *s)
{
    double dice = (double)cw_random_below(s, UINT64_C(1) << 53) / (double)(UINT64_C(1) << 53);
    unsigned low = 0, high = b.load.keys - 1;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (b.up_to[middle] > dice) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static struct kv_request request_for(enum kv_op op, unsigned number, char key[KEY_ROOM])
{
    struct kv_request r = {KV_REQUEST_INIT, .op = op, .job = ASKER_JOB, .key = (const uint8_t *)key};
    r.key_length = (size_t)snprintf(key, KEY_ROOM, "image:%llu:%u.jpg", (unsigned long long)b.load.seed, number);
    return r;
}

/* ---- One question after the other -------------------------------------------------------------------------------- */

static void next(struct place *p);

static void note(const struct kv_result *r, int64_t ns)
{
    struct kv_load_result *out = b.out;
    out->answered++;
    out->mean_us += (double)ns / 1e3;
    if (b.samples < SAMPLES) {
        b.sample[b.samples++] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    }
    if (r->status == KV_OK) {
        *(r->source == KV_FROM_HERE ? &out->here : r->source == KV_FROM_COPY ? &out->copy : &out->root) += 1;
    } else if (r->status == KV_MISS) {
        out->misses++;
    } else {
        out->failed++;
    }
}

static void completed(struct world *w, void *arg)
{
    (void)w;
    if (b.running) {
        next(arg);
    }
}

static void answered(void *arg, const struct kv_result *r)
{
    struct place *p = arg;
    cw_time end = world_now(b.world);
    if (b.load.generators > 0) {
        cw_time *idle = &b.link_free[p->generator];
        end = cw_time_add(end, CW_NS(b.load.outside.ns / 2));
        end = cw_time_before(end, *idle) ? *idle : end;
        if (b.load.links) {
            end = cw_time_add(end, CW_NS((int64_t)(r->value_length + ANSWER_HEADS) * WIRE_NS_PER_BYTE));
            *idle = end;
        }
    }
    if (b.measuring) {
        note(r, cw_time_since(end, p->begun).ns);
        p->client->answered++;
    }
    if (b.load.generators > 0) {
        world_at(b.world, end, completed, p);
    } else if (b.running) {
        next(p);
    }
}

static void take_turn(struct client *a);

static void ask(cw_svc *s, void *state, void *arg)
{
    (void)s;
    (void)arg;
    struct client *a = state;
    struct place *p = a->first;
    char key[KEY_ROOM];
    a->first = p->behind;
    if (a->first != NULL) {
        take_turn(a);
    }
    struct kv_request r = request_for(KV_GET, p->key, key);
    if (a->api->run(a->cache, &r, answered, p) < 0) {
        die("a question was refused");
    }
}

/* One question at a time, so that frames and questions take turns at the processor when both wait. */
static void take_turn(struct client *a)
{
    cw_time turn = world_occupy(b.world, a->self, b.load.front);
    a->busy_ns += b.load.front.ns;
    if (cw_timer_start(a->svc, cw_time_since(turn, world_now(b.world)), ask, NULL) == NULL) {
        die("no timer");
    }
}

static void arrived(struct client *a, struct place *p)
{
    p->client = a;
    p->key = draw_key(a->svc);
    p->behind = NULL;
    if (a->first != NULL) {
        a->last->behind = p;
    } else {
        a->first = p;
    }
    a->last = p;
    if (a->first == p) {
        take_turn(a);
    }
}

static void sink_row(void *context)
{
    (void)context;
}
static void sink_int(void *context, const char *name, int64_t value)
{
    (void)context;
    (void)name;
    (void)value;
}
static void sink_text(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}
static void sink_done(void *context, int rc)
{
    (void)context;
    (void)rc;
}

/* A generator asks a server drawn at random. */
static void reaches(struct world *w, void *arg)
{
    static const struct node_request_sink sink = {NULL, sink_row, sink_int, sink_text, sink_done};
    struct place *p = arg;
    char number[24];
    snprintf(number, sizeof number, "%td", p - b.place);
    const char *const words[] = {"ask", number};
    uint64_t z = (b.load.seed << 32) + ++b.drawn;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    if (world_command(w, (cw_server)(z % world_torus(w)->servers), "asker", 2, words, &sink) != 0) {
        die("a server is not there");
    }
}

static void next(struct place *p)
{
    p->begun = world_now(b.world);
    if (b.load.generators > 0) {
        world_at(b.world, cw_time_add(p->begun, CW_NS(b.load.outside.ns / 2)), reaches, p);
    } else {
        arrived(p->client, p);
    }
}

/* ---- The service that asks --------------------------------------------------------------------------------------- */

static int asker_open(cw_svc *s, void *state)
{
    struct client *a = state;
    a->svc = s;
    a->api = cw_find(s, "kvcache", KVCACHE_API_VERSION, &a->cache);
    if (a->api == NULL) {
        return -1;
    }
    a->self = cw_server_id(s, cw_self(s));
    a->k = cw_state(a->cache);
    b.client[a->self] = a;
    return 0;
}

static void stored(void *arg, const struct kv_result *r)
{
    (void)arg;
    if (r->status != KV_OK) {
        die(kv_status_text(r->status));
    }
}

/* Stores all values whose root is this server at once; none of this is measured. */
static void store_own(struct client *a)
{
    char key[KEY_ROOM];
    uint8_t *value = zeroes(1, b.load.bytes);
    for (unsigned n = 0; n < b.load.keys; n++) {
        if (b.root[n] == a->self) {
            struct kv_request r = request_for(KV_SET, n, key);
            r.value = value;
            r.value_length = b.load.bytes;
            if (a->api->run(a->cache, &r, stored, NULL) < 0) {
                die("a value was refused");
            }
        }
    }
    free(value);
}

static void find_roots(struct client *a)
{
    char key[KEY_ROOM];
    for (unsigned n = 0; n < b.load.keys; n++) {
        struct kv_request r = request_for(KV_GET, n, key);
        cw_key id = kv_mem_id(a->k, r.job, r.key, r.key_length);
        cw_coord root;
        if (cw_servers_for_key(a->svc, &id, 1, &root) != 1) {
            die("a key has no root");
        }
        b.root[n] = cw_server_id(a->svc, root);
    }
}

static int on_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    (void)r;
    struct client *a = state;
    if (argc == 2 && strcmp(argv[0], "ask") == 0) {
        arrived(a, &b.place[strtoul(argv[1], NULL, 10)]);
        return 0;
    }
    if (b.root == NULL) {
        b.root = zeroes(b.load.keys, sizeof *b.root);
        find_roots(a);
    }
    if (strcmp(argv[0], "store") == 0) {
        store_own(a);
        return 0;
    }
    for (unsigned i = 0; i < b.load.at_once; i++) { /* "begin" */
        struct place *p = &b.place[(size_t)a->self * b.load.at_once + i];
        p->client = a;
        next(p);
    }
    return 0;
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_DROP;
}

static const cw_service asker_service = {
    CW_SERVICE_INIT,
    .name = "asker",
    .version = "1",
    .job = ASKER_JOB,
    .state_size = sizeof(struct client),
    .open = asker_open,
    .on_packet = on_packet,
    .on_command = on_command,
};

/* ---- The world --------------------------------------------------------------------------------------------------- */

static void run(cw_span span)
{
    if (world_run(b.world, cw_time_add(world_now(b.world), span)) != 0) {
        const struct world_violation *v = world_violation(b.world);
        die(v != NULL ? v->text : "stopped");
    }
}

/* What a frame costs the processor that it reaches. */
static void on_frame(void *context, cw_server s, cw_link link, const struct cw_packet *frame, cw_time now,
                     const struct wire_flight *flight)
{
    (void)context;
    (void)now;
    (void)flight;
    struct client *a = b.client[world_neighbours(b.world)[(size_t)s * CW_LINK_COUNT + link]];
    a->busy_ns += b.load.frame.ns + (int64_t)(frame->length + frame->pad) * b.load.byte_ps / 1000;
}

static void tell_all(const char *word)
{
    static const struct node_request_sink sink = {NULL, sink_row, sink_int, sink_text, sink_done};
    for (cw_server s = 0; s < world_torus(b.world)->servers; s++) {
        if (world_command(b.world, s, "asker", 1, &word, &sink) != 0) {
            die("a server is not there");
        }
    }
}

/* The options that every server's configuration would have. */
static const char *option(void *context, const char *service, const char *name)
{
    static char extras[16], copies[16];
    (void)context;
    if (strcmp(service, "kvcache") == 0 && strcmp(name, "extras") == 0) {
        snprintf(extras, sizeof extras, "%u", b.load.extras);
        return extras;
    }
    if (strcmp(service, "kvcache") == 0 && strcmp(name, "copies_mib") == 0) {
        snprintf(copies, sizeof copies, "%u", b.load.copies_mib);
        return copies;
    }
    return NULL;
}

static void open_world(void)
{
    static const struct world_service services[] = {{.table = &kvcache_service}, {.table = &asker_service}};
    static const struct book_grant grants[] = {
        {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 0, .all_processes = true},
        {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 1, .all_processes = true},
    };
    struct world_config config = world_config_default();
    config.dims = b.load.dims;
    config.seed = b.load.seed;
    config.services = services;
    config.service_count = 2;
    config.grants = grants;
    config.grant_count = 2;
    config.option = option;
    config.wire.hop_delay = b.load.hop;
    config.wire.hop_ps_per_byte = b.load.hop_byte_ps;
    config.cpu_per_frame = b.load.frame;
    config.cpu_ps_per_byte = b.load.byte_ps;
    config.cpu_queue = CARD;
    b.client = zeroes((size_t)config.dims.x * config.dims.y * config.dims.z, sizeof *b.client);
    if (world_open(&b.world, &config) != 0) {
        die("the world does not open");
    }
    world_start_all(b.world, CW_MS(1));
    unsigned servers = world_torus(b.world)->servers;
    for (int i = 0; i < 500 && (world_active(b.world) < servers || world_agreeing(b.world) < servers); i++) {
        run(CW_MS(10));
    }
    if (world_agreeing(b.world) < servers) {
        die("the servers do not agree");
    }
    /* Time in which only hellos pass: a server that has become root takes writes only after a hold. */
    run(cw_span_add(config.node.timers.hold, CW_MS(100)));
}

static void begin(void)
{
    unsigned servers = world_torus(b.world)->servers;
    size_t places = b.load.generators > 0 ? b.load.at_once : (size_t)servers * b.load.at_once;
    b.place = zeroes(places, sizeof *b.place);
    b.link_free = zeroes(b.load.generators + 1, sizeof *b.link_free);
    b.running = true;
    if (b.load.generators == 0) {
        tell_all("begin");
        return;
    }
    for (unsigned i = 0; i < places; i++) {
        b.place[i].generator = i % b.load.generators;
        next(&b.place[i]);
    }
}

struct counts {
    uint64_t fetches, drops, retries, hops;
    uint64_t *given;
};

static void take_counts(struct counts *c, uint64_t *given)
{
    struct world_totals totals;
    world_totals(b.world, &totals);
    *c = (struct counts){.hops = totals.packet_hops, .given = given};
    for (cw_server s = 0; s < world_torus(b.world)->servers; s++) {
        const uint64_t *count = b.client[s]->k->count;
        c->fetches += count[KV_COUNT_FETCHES];
        c->drops += count[KV_COUNT_DROPS];
        c->retries += count[KV_COUNT_RETRIES];
        given[s] = count[KV_COUNT_ROOT_GETS] + count[KV_COUNT_SERVED_COPY];
    }
}

static int by_size(const void *a, const void *c)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)c;
    return x < y ? -1 : x > y;
}

static int by_rate(const void *a, const void *c)
{
    double x = *(const double *)a, y = *(const double *)c;
    return x < y ? -1 : x > y;
}

static double sample_at(unsigned percent)
{
    return b.samples > 0 ? b.sample[(b.samples - 1) * percent / 100] / 1e3 : 0;
}

static void judge(const struct counts *from, const struct counts *to)
{
    struct kv_load_result *out = b.out;
    unsigned servers = world_torus(b.world)->servers;
    double seconds = (double)b.load.measure.ns / 1e9, most = 0, sum = 0;
    double *rate = zeroes(servers, sizeof *rate);
    for (cw_server s = 0; s < servers; s++) {
        double given = (double)(to->given[s] - from->given[s]);
        double busy = (double)b.client[s]->busy_ns / (double)b.load.measure.ns;
        most = given > most ? given : most;
        sum += given;
        rate[s] = (double)b.client[s]->answered / seconds;
        out->busiest = busy > out->busiest ? busy : out->busiest;
        out->busy += busy / servers;
    }
    if (out->answered == 0) {
        die("nobody was answered");
    }
    qsort(b.sample, b.samples, sizeof *b.sample, by_size);
    qsort(rate, servers, sizeof *rate, by_rate);
    out->median_rate = rate[servers / 2];
    free(rate);
    out->worst = sum > 0 ? most * servers / sum : 0;
    out->rate = (double)out->answered / seconds;
    out->mean_us /= (double)out->answered;
    out->p50_us = sample_at(50);
    out->p95_us = sample_at(95);
    out->p99_us = sample_at(99);
    out->hops = (double)(to->hops - from->hops) / (double)out->answered;
    out->fetches = to->fetches - from->fetches;
    out->drops = to->drops - from->drops;
    out->retries = to->retries - from->retries;
    out->digest = world_digest(b.world);
}

void kv_load_run(const struct kv_load *load, struct kv_load_result *out)
{
    struct counts from, to;
    b = (struct bench){.load = *load, .out = out};
    *out = (struct kv_load_result){.answered = 0};
    b.sample = zeroes(SAMPLES, sizeof *b.sample);
    prepare_keys();
    open_world();
    tell_all("store");
    begin();
    run(load->warm);
    unsigned servers = world_torus(b.world)->servers;
    uint64_t *given = zeroes(2 * (size_t)servers, sizeof *given);
    take_counts(&from, given);
    for (cw_server s = 0; s < servers; s++) {
        b.client[s]->busy_ns = 0;
        b.client[s]->answered = 0;
    }
    const struct world_watch watch = {.frame = on_frame};
    world_watch(b.world, &watch);
    b.measuring = true;
    run(load->measure);
    b.measuring = false;
    take_counts(&to, given + servers);
    judge(&from, &to);
    b.running = false;
    world_close(b.world);
    free(given);
    free(b.sample);
    free(b.up_to);
    free(b.root);
    free(b.client);
    free(b.place);
    free(b.link_free);
}
