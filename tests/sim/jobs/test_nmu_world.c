/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nmu_world.c - jobs, grants, calls and answers drawn by seed, while records change at each server by itself and
 * servers die, pause and return, against a reference that is too simple to be wrong: for each server the list of what
 * each job may do by the version it holds.
 *
 *   - what is sent is let through exactly when the version that the server holds at that instant allows it
 *   - every packet that enters the network is one that the reference allows at that instant (seen at the queues)
 *   - a handle is used once, by the service it was given to, within its time
 *   - a call ends once; a third party is told the truth about who asked, and once
 */
#include "base/bytes.h"
#include "core/node_internal.h"
#include "jobs.h"
#include "keyspace/key.h"
#include "rng.h"
#include "sanitized.h"
#include "simulator/world.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { JOBS = 4, FIRST = 2001, STRANGER = 2009, PORTS = 3, SERVERS_MAX = 12, VERSIONS = 24, HANDLES = 16 };
enum { SENDS_MAX = 1 << 16, RUN_MS = 400, PAYLOAD = 8 };

/* Every packet's payload is its number here. */
struct sent {
    cw_job from;
    cw_server server;
    bool held;  /* it has waited at its sender's for a right: what it is later is no new decision */
    bool third; /* for the recipient: */
    cw_job told_job;
    cw_process told_process;
    uint32_t call;
    unsigned told, ended, open;
};

struct handle {
    uint32_t call;
    uint32_t number;
    cw_time until;
    cw_server from; /* the requester's server */
    /* How often this server had seen that one leave when it came: a right ends with its requester's server. */
    unsigned left;
    bool used;
};

static struct universe {
    struct world *world;
    struct rng rng;
    unsigned servers;
    struct plain_job version[JOBS][VERSIONS + 1]; /* all that there were; [0] unused */
    unsigned versions[JOBS];
    struct plain_job now[SERVERS_MAX][JOBS]; /* what each server holds */
    struct sent sent[SENDS_MAX];
    uint32_t sends;
    struct handle handle[SERVERS_MAX][JOBS][HANDLES];
    unsigned handles[SERVERS_MAX][JOBS];
    unsigned left[SERVERS_MAX][SERVERS_MAX]; /* at the first, the second left the view */
    uint64_t allowed, refused, entered, replies, stale, told, ended, left_rights, puts;
} u;

/* ---- Jobs drawn -------------------------------------------------------------------------------------------------- */

static struct plain_job draw_job(unsigned i, unsigned version)
{
    struct plain_job job = {.job = FIRST + i, .version = version, .generation = 1 + version / 4};
    job.destroyed = rng_below(&u.rng, 12) == 0;
    /* Processes live on their servers; some do not live. */
    for (cw_process p = 0; p < u.servers;) {
        cw_process end = p + 1 + (cw_process)rng_below(&u.rng, 2 * u.servers);
        end = end < u.servers ? end : u.servers;
        job.range[job.ranges++] = (struct job_range){p, end - p, p};
        p = end + 1;
        if (job.ranges == JOBS_RANGES) {
            break;
        }
    }
    for (unsigned to = 0; to <= JOBS; to++) {
        for (unsigned port = 0; port <= PORTS; port++) { /* 0: all of them */
            if (rng_below(&u.rng, port == 0 ? 6 : 2) != 0) {
                continue;
            }
            struct plain_grant *g = &job.grant[job.grants++];
            *g = (struct plain_grant){.job = to < JOBS ? FIRST + to : STRANGER, .all_ports = port == 0};
            if (port > 0) {
                g->ports = 1;
                g->port[0] = (cw_port)(port - 1);
            }
            g->all_processes = rng_below(&u.rng, 2) == 0;
            if (!g->all_processes) {
                cw_process first = (cw_process)rng_below(&u.rng, u.servers);
                g->spans = 1;
                g->span[0] = (struct job_span){first, first + (cw_process)rng_below(&u.rng, u.servers)};
            }
        }
    }
    return job;
}

static void put_one(struct world *w, void *arg)
{
    (void)arg;
    cw_server s = (cw_server)rng_below(&u.rng, u.servers);
    unsigned i = (unsigned)rng_below(&u.rng, JOBS);
    if (u.versions[i] < VERSIONS && rng_below(&u.rng, 3) == 0) {
        unsigned version = ++u.versions[i];
        u.version[i][version] = draw_job(i, version + 1);
    }
    unsigned version = u.versions[i] > 0 ? 1 + (unsigned)rng_below(&u.rng, u.versions[i]) : 0;
    if (version > 0 && world_state(w, s) != WORLD_DEAD) {
        static uint8_t bytes[JOBS_BYTES];
        const struct plain_job *job = &u.version[i][version];
        struct plain_job *held = &u.now[s][i];
        int rc = node_job_put(world_node(w, s), bytes, plain_write(job, bytes, sizeof bytes));
        ck_assert_int_eq(rc, job->version > held->version ? 1 : job->version == held->version ? 0 : -ESTALE);
        if (rc == 1) {
            *held = *job;
            u.puts++;
            for (unsigned k = 0; k < u.handles[s][i] && held->destroyed; k++) {
                u.handle[s][i][k].until = (cw_time){0}; /* ends with the job */
            }
        }
    }
    world_at(w, cw_time_add(world_now(w), CW_US(50 + rng_below(&u.rng, 400))), put_one, NULL);
}

/* What a server knows when it starts: jobs that may do nothing. */
static void begin(cw_server s)
{
    for (unsigned i = 0; i < JOBS; i++) {
        u.now[s][i] = (struct plain_job){
            .job = FIRST + i, .version = 1, .generation = 1, .ranges = 1, .range = {{0, u.servers, 0}}};
        u.handles[s][i] = 0;
    }
}

static enum nmu_cause reference(cw_server s, cw_job from, const struct nmu_to *to, cw_server *server)
{
    return plain_check(u.now[s], JOBS, from - FIRST, 0, to, server);
}

/* ---- Services that do anything ----------------------------------------------------------------------------------- */

static cw_packet *numbered(cw_svc *s, uint32_t *number)
{
    cw_packet *p = cw_packet_new(s, PAYLOAD);
    ck_assert_uint_lt(u.sends, SENDS_MAX);
    *number = u.sends;
    put_be64(cw_packet_data(p, NULL), u.sends++);
    return p;
}

static struct sent *sent_of(cw_packet *p)
{
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    ck_assert_uint_eq(length, PAYLOAD);
    uint64_t number = get_be64(data);
    ck_assert_uint_lt(number, u.sends);
    return &u.sent[number];
}

static cw_to draw_to(cw_svc *s)
{
    cw_server target = (cw_server)rng_below(&u.rng, u.servers);
    cw_to to = {.kind = (cw_to_kind)(1 + rng_below(&u.rng, 3))};
    to.job = rng_below(&u.rng, 12) == 0 ? STRANGER : FIRST + (cw_job)rng_below(&u.rng, JOBS);
    to.port = (cw_port)rng_below(&u.rng, PORTS);
    if (to.kind == CW_TO_KEY) {
        put_be64(to.key.b + CW_KEY_BYTES - 8, rng_next(&u.rng));
    } else if (to.kind == CW_TO_LINK) {
        const struct torus *t = world_torus(u.world);
        do {
            to.link = (cw_link)rng_below(&u.rng, CW_LINK_COUNT);
        } while (!(torus_links(t) & cw_links_of(to.link)));
        to.process = torus_neighbour(t, cw_server_id(s, cw_self(s)), to.link);
    } else {
        to.server = cw_server_coord(s, target);
        to.process = target;
    }
    if (to.kind != CW_TO_KEY && rng_below(&u.rng, 12) == 0) {
        to.process = (cw_process)rng_below(&u.rng, u.servers + 2);
    }
    return to;
}

/* What the reference says of it: 0, -EACCES, or -EINVAL for a process that does not live there. */
static int verdict(cw_svc *s, const cw_to *to)
{
    cw_server self = cw_server_id(s, cw_self(s)), server = CW_SERVER_NONE;
    struct nmu_to ask = {.job = to->job, .port = to->port, .key = to->kind == CW_TO_KEY};
    ask.process = ask.key ? 0 : to->process;
    if (reference(self, cw_job_of(s), &ask, &server) != NMU_ALLOWED) {
        return -EACCES;
    }
    cw_server target =
        to->kind == CW_TO_LINK ? torus_neighbour(world_torus(u.world), self, to->link) : cw_server_id(s, to->server);
    return ask.key || server == target ? 0 : -EINVAL;
}

/* rc is what was said when the reference says should. */
static void judge(int64_t rc, int should)
{
    if (should < 0) {
        ck_assert_int_eq(rc, should);
        u.refused++;
    } else {
        ck_assert(rc != -EACCES && rc != -EINVAL);
        u.allowed += rc >= 0;
    }
}

static void ended(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)state;
    struct sent *call = arg;
    call->ended++;
    u.ended++;
    ck_assert_uint_eq(call->ended, 1);
    ck_assert(call->from == cw_job_of(s) && call->server == cw_server_id(s, cw_self(s)));
    if (rx != NULL) {
        ck_assert(status <= 0 && reply != NULL && rx->requester_job == call->from);
        ck_assert_uint_eq(rx->requester_process, call->server);
    }
}

static void act_call(cw_svc *s)
{
    uint32_t number;
    cw_packet *p = numbered(s, &number);
    struct sent *sent = &u.sent[number];
    cw_to to = draw_to(s), told = draw_to(s);
    cw_call_options options = {CW_CALL_INIT, .timeout = CW_US(500 + rng_below(&u.rng, 20000))};
    sent->third = rng_below(&u.rng, 2) == 0;
    if (sent->third && told.kind == CW_TO_SERVER && told.job == cw_job_of(s) &&
        told.process == cw_server_id(s, cw_self(s))) {
        sent->third = false;
    }
    int should = 0;
    if (sent->third) {
        options.reply_to = &told;
        should = told.kind != CW_TO_SERVER ? -EINVAL : verdict(s, &told);
    } else {
        options.retries = (unsigned)rng_below(&u.rng, 4);
    }
    should = should < 0 ? should : verdict(s, &to);
    int64_t call = cw_call(s, p, &to, &options, sent->third ? NULL : ended, sent);
    judge(call, should);
    if (call < 0) {
        cw_packet_free(s, p);
        return;
    }
    sent->told_job = told.job;
    sent->told_process = told.process;
    sent->call = (uint32_t)call;
    sent->open = !sent->third;
}

static void act_reply(cw_svc *s)
{
    cw_server self = cw_server_id(s, cw_self(s));
    unsigned i = cw_job_of(s) - FIRST;
    if (u.handles[self][i] == 0) {
        return;
    }
    struct handle *h = &u.handle[self][i][rng_below(&u.rng, u.handles[self][i])];
    /* Another service with the same handle has none. */
    cw_svc *other = s->node->service[(s->index + 1) % JOBS];
    if (other != NULL && rng_below(&u.rng, 4) == 0) {
        ck_assert_int_eq(cw_reply(other, h->call, 0, NULL), -ENOENT);
    }
    cw_packet *p = cw_packet_new(s, PAYLOAD);
    put_be64(cw_packet_data(p, NULL), h->number);
    int rc = cw_reply(s, h->call, (int)rng_below(&u.rng, 5), p);
    bool left = u.left[self][h->from] != h->left;
    if (h->used || left || !cw_time_before(cw_now(s), h->until)) {
        ck_assert_int_eq(rc, -ENOENT);
        u.stale++;
        u.left_rights += left && !h->used;
    } else {
        ck_assert_int_ne(rc, -ENOENT);
        ck_assert_int_ne(rc, -EACCES);
    }
    h->used = h->used || rc == 0 || rc == -ENOENT;
    u.replies += rc == 0;
}

static void act(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    (void)state;
    uint32_t number;
    unsigned what = (unsigned)rng_below(&u.rng, 10);
    if (what < 4) {
        cw_to to = draw_to(s);
        cw_packet *p = numbered(s, &number);
        u.sent[number] = (struct sent){.from = cw_job_of(s), .server = cw_server_id(s, cw_self(s))};
        int should = verdict(s, &to);
        int rc = cw_send(s, p, &to, NULL);
        judge(rc, should);
        if (rc < 0) {
            cw_packet_free(s, p);
        }
    } else if (what < 8) {
        u.sent[u.sends] = (struct sent){.from = cw_job_of(s), .server = cw_server_id(s, cw_self(s))};
        act_call(s);
    } else {
        act_reply(s);
    }
    (void)cw_timer_start(s, CW_US(50 + rng_below(&u.rng, 500)), act, NULL);
}

static int act_open(cw_svc *s, void *state)
{
    (void)state;
    return cw_timer_start(s, CW_US(1), act, NULL) != NULL ? 0 : -ENOMEM;
}

static cw_verdict act_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)state;
    cw_server self = cw_server_id(s, cw_self(s));
    struct sent *sent = sent_of(p);
    if (rx->requester_job != 0) { /* an answer that another asked for */
        sent->told++;
        u.told++;
        ck_assert(sent->third && sent->told == 1);
        ck_assert(sent->told_job == cw_job_of(s) && sent->told_process == self);
        ck_assert(rx->requester_job == sent->from && rx->requester_process == sent->server);
        ck_assert_uint_eq(rx->requester_call, sent->call);
        return CW_DROP;
    }
    ck_assert(rx->src_job == sent->from && rx->src_process == sent->server);
    unsigned i = cw_job_of(s) - FIRST;
    if (rx->call != 0) {
        unsigned at = u.handles[self][i] < HANDLES ? u.handles[self][i]++ : (unsigned)rng_below(&u.rng, HANDLES);
        uint64_t number = get_be64(cw_packet_data(p, NULL));
        const struct response_right *right = response_find(&node_nmu(s->node)->responses, s->index, rx->call);
        ck_assert_ptr_nonnull(right);
        u.handle[self][i][at] = (struct handle){.call = rx->call,
                                                .number = (uint32_t)number,
                                                .until = right->item.due.at,
                                                .from = right->requester.server,
                                                .left = u.left[self][right->requester.server]};
    }
    return CW_DROP;
}

/* The first job's service counts for all of its server. */
static void act_event(cw_svc *s, void *state, const cw_event *event)
{
    (void)state;
    if (cw_job_of(s) == FIRST && event->kind == CW_EVENT_SERVER_DOWN) {
        u.left[cw_server_id(s, cw_self(s))][cw_server_id(s, event->server)]++;
    }
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

/* A packet enters the network here for the first time: now it must be allowed. */
static void on_packet(void *context, cw_server s, enum node_point point, const struct cw_packet *p, cw_drop cause,
                      cw_time now)
{
    (void)context;
    (void)cause;
    if (point == NODE_DROPPED || p->in != CW_LINK_SELF || (p->head.flags & packet_flag(EXT_RESPONSE))) {
        return;
    }
    struct sent *sent = &u.sent[get_be64(p->data + packet_head_bytes(&p->head))];
    if (point == NODE_HELD) {
        sent->held = true;
    } else if (!sent->held && (point == NODE_DELIVERED || p->queued.ns == now.ns)) {
        cw_server server;
        struct nmu_to to = {.job = p->head.job, .port = p->head.port, .key = p->head.kind == PACKET_KEY};
        to.process = to.key ? 0 : p->head.to.process;
        ck_assert(sent->server == s && sent->from == p->head.source_job);
        ck_assert_int_eq(reference(s, p->head.source_job, &to, &server), NMU_ALLOWED);
        u.entered++;
    }
}

static void churn(struct world *w, void *arg)
{
    (void)arg;
    cw_server s = (cw_server)rng_below(&u.rng, u.servers);
    switch (rng_below(&u.rng, 4)) {
    case 0:
        for (uint32_t i = 0; i < u.sends; i++) { /* its calls end with it, or have ended */
            if (u.sent[i].server == s && u.sent[i].open && u.sent[i].ended == 0) {
                u.sent[i].open = 0;
            }
        }
        world_kill(w, s, false);
        break;
    case 1:
        world_pause(w, s, CW_MS(1 + rng_below(&u.rng, 60)));
        break;
    default:
        if (world_state(w, s) == WORLD_DEAD) {
            begin(s);
            ck_assert_int_eq(world_start(w, s), 0);
        }
        break;
    }
    world_at(w, cw_time_add(world_now(w), CW_MS(10 + rng_below(&u.rng, 60))), churn, NULL);
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static void run_seed(uint64_t seed)
{
    static const cw_dims shapes[] = {{1, 1, 4}, {2, 2, 2}, {3, 2, 2}, {3, 3, 1}};
    static const char *const names[JOBS] = {"a", "b", "c", "d"};
    cw_service table[JOBS];
    struct world_service list[JOBS];
    for (unsigned i = 0; i < JOBS; i++) {
        table[i] = (cw_service){CW_SERVICE_INIT, .name = names[i], .job = FIRST + i};
        table[i].open = act_open;
        table[i].on_packet = act_packet;
        table[i].on_event = act_event;
        list[i] = (struct world_service){.table = &table[i]};
    }
    struct world_config config = world_config_default();
    config.dims = shapes[seed % 4];
    config.seed = seed;
    config.node.timers = ls_timers_fast();
    config.services = list;
    config.service_count = JOBS;
    u.rng = (struct rng){seed};
    u.sends = 0;
    memset(u.versions, 0, sizeof u.versions);
    ck_assert_int_eq(world_open(&u.world, &config), 0);
    u.servers = world_torus(u.world)->servers;
    world_watch(u.world, &(struct world_watch){.packet = on_packet});
    for (cw_server s = 0; s < u.servers; s++) {
        begin(s);
        ck_assert_int_eq(world_start(u.world, s), 0);
    }
    world_at(u.world, (cw_time){1000}, put_one, NULL);
    world_at(u.world, (cw_time){100 * 1000 * 1000}, churn, NULL);
    int rc = world_run(u.world, (cw_time){(int64_t)RUN_MS * 1000 * 1000});
    ck_assert_msg(rc == 0, "%s", world_violation(u.world) != NULL ? world_violation(u.world)->text : "stopped");
    world_close(u.world);
    for (uint32_t i = 0; i < u.sends; i++) { /* all that were open have ended by now: closing a server ends them */
        ck_assert_msg(!u.sent[i].open || u.sent[i].ended == 1, "call %u", i);
    }
}

START_TEST(nothing_enters_without_a_privilege)
{
    const char *soak = getenv("CUBEWAY_SOAK");
    uint64_t seeds = soak != NULL ? 2000 : SANITIZED ? 3 : 12;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        run_seed(seed);
    }
    printf("%llu puts, %llu let in, %llu refused, %llu seen to enter, %llu answers, %llu handles that were dead, %llu "
           "third parties told, %llu calls ended\n",
           (unsigned long long)u.puts, (unsigned long long)u.allowed, (unsigned long long)u.refused,
           (unsigned long long)u.entered, (unsigned long long)u.replies, (unsigned long long)u.stale,
           (unsigned long long)u.told, (unsigned long long)u.ended);
    /* All of it has happened; a seed makes some 200 puts, and far more of the others. */
    ck_assert(u.puts > 100 * seeds && u.allowed > 1000 && u.refused > 1000 && u.entered > 1000);
    ck_assert(u.replies > 100 && u.stale > 100 && u.told > 10 && u.ended > 100);
    ck_assert(u.left_rights > 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(nothing_enters_without_a_privilege)};
SUITE_MAIN("nmu_world", tests)
