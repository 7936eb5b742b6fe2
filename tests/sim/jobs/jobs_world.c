/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_world.h"

#include "base/base64.h"
#include "keyspace/reach.h"
#include "nmu/book.h"
#include "services/jobs/jobs.h"

#include <errno.h>

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "jobs world: %s\n", what);
        abort();
    }
}

static struct jobs_world *the; /* services have no other way to it: one at a time */

/* ---- The host of a server ---------------------------------------------------------------------------------------- */

enum { DISK_JOBS = 64 };
struct disk {
    struct jobs_host host;
    struct file {
        cw_job job;
        size_t size;
        uint8_t *bytes;
    } file[DISK_JOBS];
    unsigned files;
};

static int verify(void *context, const uint8_t *record, size_t size,
                  const uint8_t signature[static JOBS_SIGNATURE_BYTES])
{
    (void)context;
    uint8_t good[JOBS_SIGNATURE_BYTES];
    kit_sign(KIT_KEY, KIT_CLUSTER, record, size, good);
    return memcmp(good, signature, sizeof good) == 0;
}

static int store(void *context, cw_job job, const uint8_t *bytes, size_t size)
{
    struct disk *d = context;
    if (the->disk_fails != 0 && prng_below(&the->random, the->disk_fails) == 0) {
        return -EIO;
    }
    unsigned i = 0;
    while (i < d->files && d->file[i].job != job) {
        i++;
    }
    must(i < DISK_JOBS, "a full disk");
    d->files = i == d->files ? i + 1 : d->files;
    struct file *f = &d->file[i];
    free(f->bytes);
    *f = (struct file){job, size, malloc(size)};
    must(f->bytes != NULL, "memory");
    memcpy(f->bytes, bytes, size);
    return 0;
}

static int load(void *context, void (*each)(void *arg, const uint8_t *bytes, size_t size), void *arg)
{
    struct disk *d = context;
    for (unsigned i = 0; i < d->files; i++) {
        each(arg, d->file[i].bytes, d->file[i].size);
    }
    return 0;
}

static const struct node_object *objects_of(void *context, cw_server s)
{
    struct jobs_world *j = context;
    return &j->objects[(size_t)s * 2];
}

/* ---- The naive judge --------------------------------------------------------------------------------------------- */

/* What those say that claim the version which the NMU holds: one of them, or all. There is one but after a fork. */
struct say {
    bool one, all;
};
static bool lives(const struct job_record *r, const struct nmu_to *to);

static struct say they_say(cw_job job, const struct nmu *nmu,
                           bool (*says)(const struct job_record *r, const struct nmu_to *to), const struct nmu_to *to)
{
    const struct map_job *held = nmu_job(nmu, job);
    struct say say = {false, true};
    bool any = false;
    if (held != NULL && held->version == 1) { /* the book's: it lives everywhere, and may do nothing */
        bool yes = says == lives && (to->key || to->process < the->servers);
        return (struct say){yes, yes};
    }
    for (unsigned i = 0; i < the->logged && held != NULL; i++) {
        const struct signed_job *l = &the->log[i];
        struct job_record r;
        if (l->mark.job == job && l->mark.version == held->version && l->mark.generation == held->generation &&
            job_record_decode(l->bytes, l->size - JOBS_SIGNATURE_BYTES, &r) == WIRE_OK) {
            bool yes = says(&r, to);
            any = true;
            say.one |= yes;
            say.all &= yes;
        }
    }
    say.all &= any;
    return say;
}

static bool grants(const struct job_record *r, const struct nmu_to *to)
{
    const uint8_t *at = r->grant_bytes;
    for (unsigned i = 0; i < r->grants && !r->destroyed; i++) {
        struct job_grant g = job_record_next_grant(&at);
        bool port = g.all_ports, process = g.all_processes;
        for (unsigned k = 0; k < g.ports; k++) {
            port |= job_grant_port(&g, k) == to->port;
        }
        for (unsigned k = 0; k < g.spans && !to->key; k++) {
            struct job_span s = job_grant_span(&g, k);
            process |= to->process >= s.first && to->process <= s.last;
        }
        if (g.job == to->job && port && process) {
            return true;
        }
    }
    return false;
}

static bool lives(const struct job_record *r, const struct nmu_to *to)
{
    for (unsigned i = 0; i < r->ranges && !to->key; i++) {
        struct job_range range = job_record_range(r, i);
        if (to->process >= range.first && to->process - range.first < range.count) {
            return !r->destroyed;
        }
    }
    return to->key && !r->destroyed;
}

/* ---- The talkers ------------------------------------------------------------------------------------------------- */

static cw_span talk;

static void speak(cw_svc *s, void *state, void *arg)
{
    cw_to to = {
        .kind = cw_random_below(s, 4) == 0 ? CW_TO_KEY : CW_TO_SERVER,
        .job = TALK_FIRST + (cw_job)cw_random_below(s, TALK_JOBS),
        .port = (cw_port)cw_random_below(s, TALK_PORTS),
        .process = (cw_process)cw_random_below(s, the->servers),
    };
    to.server = cw_server_coord(s, to.process);
    to.key = cw_key_at(s, to.server, 7);
    cw_packet *p = cw_packet_new(s, 16);
    must(p != NULL, "no packet");
    int rc = cw_send(s, p, &to, NULL);
    if (rc < 0) {
        cw_packet_free(s, p);
    }
    const struct nmu *nmu = node_nmu(world_node(the->world, cw_server_id(s, cw_self(s))));
    const struct nmu_to asked = {.job = to.job, .port = to.port, .key = to.kind == CW_TO_KEY, .process = to.process};
    struct say source = they_say(cw_job_of(s), nmu, grants, &asked);
    struct say target = they_say(to.job, nmu, lives, &asked);
    the->said++;
    the->let_in += rc >= 0;
    the->refused += rc == -EACCES;
    the->wrong += (rc >= 0 && !(source.one && target.one)) || (rc == -EACCES && source.all && target.all);
    must(cw_timer_start(s, talk, speak, arg) != NULL, "no timer");
    (void)state;
}

static int talker_open(cw_svc *s, void *state)
{
    (void)state;
    if (talk.ns != 0) {
        must(cw_timer_start(s, CW_NS((int64_t)cw_random_below(s, (uint64_t)talk.ns)), speak, NULL) != NULL, "no timer");
    }
    return 0;
}

static cw_verdict talker_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s;
    (void)state;
    (void)p;
    (void)rx;
    return CW_FORWARD;
}

#define TALKER(n)                                                                                            \
    {                                                                                                        \
        CW_SERVICE_INIT, .name = "talker-" #n, .version = "1", .job = TALK_FIRST + (n), .open = talker_open, \
                         .on_packet = talker_packet, .state_size = 8                                         \
    }
static const cw_service talkers[TALK_JOBS] = {TALKER(0), TALKER(1), TALKER(2), TALKER(3)};

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

void jobs_world_run(struct jobs_world *j, cw_span span)
{
    int rc = world_run(j->world, cw_time_add(world_now(j->world), span));
    if (rc != 0) {
        fprintf(stderr, "%s\n", world_violation(j->world)->text);
        abort();
    }
}

void jobs_world_open(struct jobs_world *j, cw_dims dims, uint64_t seed, cw_span between)
{
    static struct world_service services[1 + TALK_JOBS];
    static const struct book_grant own = {.from = JOBS_JOB, .to = JOBS_JOB, .port = JOBS_PORT, .all_processes = true};
    *j = (struct jobs_world){.servers = (uint32_t)dims.x * dims.y * dims.z};
    the = j;
    talk = between;
    j->random = prng_stream(seed, 0, 77);
    j->objects = calloc(j->servers, 2 * sizeof *j->objects);
    j->disk = calloc(j->servers, sizeof *j->disk);
    must(j->objects != NULL && j->disk != NULL, "memory");
    for (cw_server s = 0; s < j->servers; s++) {
        j->disk[s].host = (struct jobs_host){sizeof(struct jobs_host), &j->disk[s], KIT_CLUSTER, verify, store, load};
        j->objects[(size_t)s * 2] = (struct node_object){JOBS_HOST_NAME, JOBS_HOST_VERSION, &j->disk[s].host};
    }
    services[0].table = &jobs_service;
    for (unsigned i = 0; i < TALK_JOBS; i++) {
        services[1 + i].table = &talkers[i];
    }
    struct world_config config = world_config_default();
    config.dims = dims;
    config.seed = seed;
    config.services = services;
    config.service_count = 1 + (talk.ns != 0 ? TALK_JOBS : 1);
    config.grants = &own;
    config.grant_count = 1;
    config.objects = objects_of;
    config.objects_context = j;
    must(world_open(&j->world, &config) == 0, "no world");
    world_start_all(j->world, CW_MS(1));
    for (int i = 0; i < 500 && (world_active(j->world) < j->servers || world_agreeing(j->world) < j->servers); i++) {
        jobs_world_run(j, CW_MS(10));
    }
    must(world_active(j->world) == j->servers, "they do not come together");
}

void jobs_world_close(struct jobs_world *j)
{
    jobs_world_settle(j);
    world_close(j->world);
    for (cw_server s = 0; s < j->servers; s++) {
        for (unsigned i = 0; i < j->disk[s].files; i++) {
            free(j->disk[s].file[i].bytes);
        }
    }
    for (unsigned i = 0; i < j->logged; i++) {
        free(j->log[i].bytes);
    }
    free(j->disk);
    free(j->objects);
}

/* ---- The operator ------------------------------------------------------------------------------------------------ */

static void draw_grants(struct jobs_world *j, struct job_record_writer *w)
{
    for (cw_job job = TALK_FIRST; job < TALK_FIRST + TALK_JOBS; job++) {
        uint64_t kind = prng_below(&j->random, 4);
        struct job_span span;
        span.first = (cw_process)prng_below(&j->random, j->servers);
        span.last = span.first + (cw_process)prng_below(&j->random, j->servers - span.first);
        const cw_port port = (cw_port)prng_below(&j->random, TALK_PORTS);
        if (kind == 1) {
            job_record_put_grant(w, job, NULL, 0, NULL, 0);
        } else if (kind == 2) {
            job_record_put_grant(w, job, &span, 1, NULL, 0);
        } else if (kind == 3) {
            job_record_put_grant(w, job, &span, 1, &port, 1);
        }
    }
}

unsigned jobs_world_sign(struct jobs_world *j, cw_job job, enum sign how)
{
    must(j->logged < LOG_MAX, "a full log");
    struct jobs_mark last = {.job = job, .generation = 1, .version = 1}; /* the book's, which grants nothing */
    for (unsigned i = 0; i < j->logged; i++) {
        if (j->log[i].mark.job == job && jobs_mark_compare(&j->log[i].mark, &last, NULL) > 0) {
            last = j->log[i].mark;
        }
    }
    /* Now and then an operator does not know of the latest: two records claim one version. */
    bool fork = !last.destroyed && last.version > 1 && prng_below(&j->random, 20) == 0;
    bool late = last.destroyed && how == SIGN_LATE;
    struct job_record head = {
        .job = job,
        .version = fork ? last.version : last.version + 1,
        .generation = last.destroyed && !late ? last.generation + 1 : last.generation,
        .destroyed = how == SIGN_DESTROY && !last.destroyed,
    };
    snprintf(head.name, sizeof head.name, "talker-%u", job - TALK_FIRST);
    struct signed_job *l = &j->log[j->logged];
    l->bytes = malloc(4096);
    must(l->bytes != NULL, "memory");
    struct job_record_writer w;
    job_record_begin(&w, l->bytes, 4096 - JOBS_SIGNATURE_BYTES, &head);
    if (!head.destroyed) {
        struct job_range range = {0, j->servers, 0};
        job_record_put_range(&w, &range);
        draw_grants(j, &w);
    }
    must(job_record_finish(&w, &l->size) == WIRE_OK, "no record");
    kit_sign(KIT_KEY, KIT_CLUSTER, l->bytes, l->size, l->bytes + l->size);
    l->size += JOBS_SIGNATURE_BYTES;
    l->mark = kit_mark(l->bytes, l->size);
    return j->logged++;
}

/* ---- Changes under way ------------------------------------------------------------------------------------------- */

static struct under_way {
    bool busy;
    struct jobs_world *world;
    cw_server origin;
    unsigned index;
    struct fake_result result;
} under_way[CHANGES_MAX];

/* The mark of what an NMU holds: the highest of those that claim its version. */
static struct jobs_mark mark_held(const struct jobs_world *j, const struct map_job *held)
{
    struct jobs_mark mark = {.job = held->job, .generation = held->generation, .version = held->version};
    for (unsigned i = 0; i < j->logged; i++) {
        const struct jobs_mark *m = &j->log[i].mark;
        if (m->job == held->job && m->generation == held->generation && m->version == held->version &&
            jobs_mark_compare(m, &mark, NULL) > 0) {
            mark = *m;
        }
    }
    return mark;
}

/* Whoever the origin can reach, and runs, must hold it by now: told complete is complete. */
static void judge_complete(struct under_way *u)
{
    struct jobs_world *j = u->world;
    struct node *origin = world_node(j->world, u->origin);
    const struct signed_job *put = &j->log[u->index];
    const struct reach *o = ls_optimistic(node_linkstate(origin));
    for (cw_server s = 0; s < j->servers; s++) {
        struct node *n = world_node(j->world, s);
        const struct map_job *held = n != NULL ? nmu_job(node_nmu(n), put->mark.job) : NULL;
        /* Without a link that is up it sends nothing: it has just started again, and its neighbours do not know yet. */
        if (held == NULL || !reach_has(o, s) || ls_live_links(node_linkstate(n)) == CW_LINKS_NONE) {
            continue;
        }
        struct jobs_mark mark = mark_held(j, held);
        bool older = jobs_mark_compare(&mark, &put->mark, NULL) < 0;
        j->unlawful += older;
    }
}

static void put_done(void *context, int rc)
{
    struct under_way *u = context;
    struct jobs_world *j = u->world;
    struct fake_result *r = &u->result;
    fake_result_done(r, rc);
    u->busy = false;
    if (rc == 0 && fake_int(r, r->rows - 1, "complete") == 1) {
        judge_complete(u);
        /* Where nobody could store it, it may go with the last who has it: `unkept` says so. */
        j->log[u->index].complete = fake_int(r, r->rows - 1, "unkept") == 0;
        j->took_us[j->complete++] = fake_int(r, r->rows - 1, "took_ns") / 1000;
    } else if (rc == -ETIMEDOUT || rc == -ECANCELED) {
        j->incomplete++;
    } else {
        j->declined++;
    }
}

static void put_row(void *context)
{
    fake_result_row(&((struct under_way *)context)->result);
}

static void put_int(void *context, const char *name, int64_t value)
{
    fake_result_int(&((struct under_way *)context)->result, name, value);
}

static void put_text(void *context, const char *name, const char *value)
{
    fake_result_text(&((struct under_way *)context)->result, name, value);
}

bool jobs_world_put(struct jobs_world *j, cw_server s, unsigned signed_index)
{
    static struct node_request_sink sinks[CHANGES_MAX];
    unsigned i = 0;
    while (i < CHANGES_MAX && under_way[i].busy) {
        i++;
    }
    if (i == CHANGES_MAX || world_state(j->world, s) != WORLD_RUNS) {
        return false;
    }
    const struct signed_job *l = &j->log[signed_index];
    char *text = malloc(base64_length(l->size) + 1);
    must(text != NULL, "memory");
    base64_encode(l->bytes, l->size, text);
    under_way[i].busy = true;
    under_way[i].world = j;
    under_way[i].origin = s;
    under_way[i].index = signed_index;
    fake_result_init(&under_way[i].result);
    sinks[i] = (struct node_request_sink){&under_way[i], put_row, put_int, put_text, put_done};
    const char *const words[] = {"put", text, "timeout=3000"};
    int rc = world_command(j->world, s, "jobs", 3, words, &sinks[i]);
    free(text);
    must(rc == 0, "the command is not taken");
    return true;
}

void jobs_world_settle(struct jobs_world *j)
{
    for (unsigned i = 0; i < CHANGES_MAX; i++) {
        for (unsigned k = 0; k < 1000 && under_way[i].busy; k++) {
            jobs_world_run(j, CW_MS(10));
        }
        must(!under_way[i].busy, "a put without an answer");
    }
}

void jobs_world_command(struct jobs_world *j, cw_server s, const char *line, struct fake_result *r)
{
    struct fake_words words = fake_words_of(line);
    struct node_request_sink sink = {r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    must(world_command(j->world, s, "jobs", words.argc, words.argv, &sink) == 0, "no server for a command");
    for (int i = 0; i < 10000 && !r->done; i++) {
        jobs_world_run(j, CW_US(100));
    }
    must(r->done, "a command without an answer");
}

bool jobs_world_agrees(struct jobs_world *j, char digest[static 17])
{
    static struct fake_result r;
    bool first = true, agrees = true;
    for (cw_server s = 0; s < j->servers; s++) {
        if (world_state(j->world, s) != WORLD_RUNS) {
            continue;
        }
        jobs_world_command(j, s, "status", &r);
        const char *here = fake_text(&r, 0, "digest");
        if (first) {
            snprintf(digest, 17, "%.16s", here);
        }
        agrees = agrees && strcmp(digest, here) == 0;
        first = false;
    }
    return agrees;
}
