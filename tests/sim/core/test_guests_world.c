/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attached processes on 27 servers: a service lets them in by seed, they send, ask, answer, flood, serve keys, come and
 * go, while the records of their jobs change at each server by itself and servers die. Beside them a ledger that is too
 * simple to be wrong:
 *
 *   - who is let in, and who is told to go, is what the record that the server holds at that instant says
 *   - what is sent is let through exactly when that record grants it (invariant 50); what comes says the truth about
 *     who sent it, comes once, to whom it is for: process, attachment, or who serves the key
 *   - each call ends once (49); in the end, when all is calm, with what has happened: refused where nobody is, reset
 *     where somebody went
 *   - nobody has more packets waiting than are his (22), who was refused room is told (49)
 *   - and when all have gone nothing of them is left (55)
 */
#include "guests_town.h"
#include "nmu/book.h"

#include <stddef.h>
#include <stdio.h>

static struct ledger sum;

/* ---- What is done ------------------------------------------------------------------------------------------------ */

static struct visitor *come(cw_svc *host, cw_server s, unsigned job, cw_process process)
{
    struct visitor *v = &u.visitor[u.visitors];
    unsigned here = 0;
    int should = why_not(s, job, process, 0);
    if (u.visitors == VISITORS - 1) {
        fail("world", "too many visitors", u.visitors, 0);
        return NULL;
    }
    for (unsigned k = 0; k < u.visitors; k++) {
        const struct visitor *other = &u.visitor[k];
        here += other->open && other->server == s;
        should = other->open && other->server == s && other->job == job && other->process == process ? -EBUSY : should;
    }
    should = should != -EBUSY && here == GUESTS ? -ENOSPC : should;
    *v = (struct visitor){.server = s, .job = job, .process = process};
    int rc = u.desk[s]->open(u.desk[s]->node, host, FIRST + job, process, &visitor_table, v, &v->svc);
    if (rc != should) {
        fail("50", "let in against the record, or not", (unsigned)-rc, (unsigned)-should);
    }
    ledger->came++;
    if (rc < 0) {
        ledger->not_let_in++;
        return NULL;
    }
    ledger->let_in++;
    v->open = true;
    v->life = u.desk[s]->life(v->svc);
    v->generation = u.now[s][job].generation;
    for (unsigned k = 0; k < u.visitors; k++) {
        if (u.visitor[k].server == s && u.visitor[k].life == v->life) {
            fail("50", "two attachments have one life", v->life, s);
        }
    }
    u.visitors++;
    return v;
}

/* One of the latest, most of whom are still there. */
static const struct visitor *any_known(void)
{
    const struct visitor *known = NULL;
    unsigned latest = u.visitors < 400 ? u.visitors : 400;
    for (unsigned tries = 0; latest > 0 && tries < 12 && (known == NULL || !known->open); tries++) {
        known = &u.visitor[u.visitors - 1 - below(latest)];
    }
    return known;
}

static cw_to draw_to(struct sent *sent)
{
    const struct torus *t = world_torus(u.world);
    cw_to to = {.kind = CW_TO_SERVER, .port = (cw_port)below(PORTS)};
    const struct visitor *known = any_known();
    if (known != NULL && below(3) != 0) {
        to.job = FIRST + known->job;
        to.process = known->process;
        to.server = torus_coord(t, known->server);
        sent->meant = below(2) == 0 ? known->life : 0;
    } else {
        cw_server s = below(SERVERS);
        to.job = below(3) == 0 ? HOST_JOB : FIRST + below(JOBS);
        to.process = to.job == HOST_JOB ? s : below(150);
        to.server = torus_coord(t, s);
    }
    if (to.job != HOST_JOB && below(3) == 0) {
        to.kind = CW_TO_KEY;
        put_be64(to.key.b + CW_KEY_BYTES - 8, rng_next(&u.rng));
        sent->route = get_be64(to.key.b + CW_KEY_BYTES - 8);
        sent->meant = 0;
    }
    sent->to = to.job;
    sent->to_process = to.process;
    sent->port = to.port;
    sent->key = to.kind == CW_TO_KEY;
    return to;
}

static bool is_allowed(const struct visitor *v, const cw_to *to)
{
    cw_server server = CW_SERVER_NONE;
    const struct nmu_to ask = {.job = to->job,
                               .port = to->port,
                               .key = to->kind == CW_TO_KEY,
                               .process = to->kind == CW_TO_KEY ? 0 : to->process};
    return v->due == 0 &&
           plain_check(u.now[v->server], ALL_JOBS, v->job, v->generation, &ask, &server) == NMU_ALLOWED &&
           (ask.key || server == torus_id(world_torus(u.world), to->server));
}

/* Sends or asks, and judges what is said of it. */
static int64_t speak(struct visitor *v, const cw_to *to, struct sent *sent, const cw_call_options *options, size_t pad)
{
    cw_packet *p = u.sends < SENDS ? cw_packet_new_padded(v->svc, 8, pad) : NULL;
    if (p == NULL) {
        return -ENOMEM;
    }
    uint32_t number = u.sends++;
    sent->from = FIRST + v->job;
    sent->process = v->process;
    sent->server = v->server;
    sent->life = v->life;
    sent->call = options != NULL;
    sent->attempts = options != NULL ? 1 + options->retries : 1;
    u.sent[number] = *sent;
    put_be64(cw_packet_data(p, NULL), number);
    u.desk[v->server]->mean(v->svc, EXT_GUEST_PLAIN, sent->meant);
    int64_t rc = options != NULL ? cw_call(v->svc, p, to, options, visitor_reply, &u.sent[number])
                                 : cw_send(v->svc, p, to, NULL);
    if (rc < 0) {
        u.sent[number].call = false;
        cw_packet_free(v->svc, p);
    }
    bool may = is_allowed(v, to), refused = rc == -EACCES || rc == -EINVAL || rc == -ESHUTDOWN || rc == -ENOENT;
    if (may ? refused : !refused) {
        fail("50", may ? "it is granted, and refused" : "it is not granted", sent->to, (uint64_t)rc);
    }
    v->refused = v->refused || rc == -EAGAIN;
    ledger->sent += rc >= 0;
    ledger->denied += rc == -EACCES;
    return rc;
}

static void flood(struct visitor *v)
{
    struct sent sent = {.meant = 0};
    unsigned taken = 0;
    cw_to to = draw_to(&sent);
    sent.meant = 0;
    int64_t rc = 0;
    for (unsigned i = 0; i < FLOOD && (rc == 0 || rc == -EAGAIN); i++) {
        rc = speak(v, &to, &sent, NULL, 500 + below(3000));
        taken += rc == 0;
    }
    ledger->floods += taken > 0;
    if (taken > GUEST_PACKETS) {
        fail("22", "more packets than one may have wait", taken, v->process);
    }
}

static void serve(struct visitor *v, cw_port port, bool serves)
{
    v->serves[port] = serves;
    if (u.desk[v->server]->keys(v->svc, port, serves) != 0) {
        fail("world", "keys", v->server, port);
    }
}

static void act(cw_svc *host, cw_server s)
{
    struct visitor *v = any_on(s);
    unsigned what = below(20);
    struct sent sent = {.meant = 0};
    if (what < 3 || v == NULL) {
        unsigned job = below(JOBS);
        cw_process process = below(150);
        bool wild = below(8) == 0;
        for (unsigned tries = 0; tries < 300 && !wild && home_of(&u.now[s][job], process) != s; tries++) {
            process = below(150);
        }
        v = come(host, s, job, process);
        for (unsigned port = 0; v != NULL && port < PORTS; port++) {
            serve(v, (cw_port)port, below(2) == 0);
        }
    } else if (what < 4) {
        leave(v);
    } else if (what < 10) {
        cw_to to = draw_to(&sent);
        (void)speak(v, &to, &sent, NULL, 0);
    } else if (what < 15) {
        cw_to to = draw_to(&sent);
        const cw_call_options options = {CW_CALL_INIT, .timeout = CW_US(500 + below(20000)), .retries = below(3)};
        (void)speak(v, &to, &sent, &options, 0);
    } else if (what < 17 && v->holds > 0 && v->due == 0) {
        v->holds--;
        answer(v->svc, v->right[v->holds], v->number[v->holds]);
    } else if (what < 18) {
        flood(v);
        if (below(3) == 0) {
            leave(v); /* with all that waits */
        }
    } else {
        cw_port port = (cw_port)below(PORTS);
        serve(v, port, !v->serves[port]);
    }
}

/* ---- The exam ---------------------------------------------------------------------------------------------------- */

/* On servers 0, 2, 4.. somebody asks process s + 1, which is there on each second of these servers, and goes then. */
static void exam(cw_svc *host, cw_server s)
{
    struct sent sent = {.to = FIRST, .to_process = s + 1};
    struct visitor *v = any_on(s);
    if (u.exam == 1 && v == NULL && (s % 2 == 0 || s % 4 == 1)) {
        (void)come(host, s, 0, s);
    } else if (u.exam == 2 && s % 2 == 0 && s + 1 < SERVERS && u.asked[s] == 0 && v != NULL) {
        const cw_to to = {.kind = CW_TO_SERVER, .job = FIRST, .process = s + 1, .server = cw_server_coord(host, s + 1)};
        const cw_call_options options = {CW_CALL_INIT, .timeout = CW_SEC(20)};
        if (speak(v, &to, &sent, &options, 0) >= 0) {
            u.asked[s] = u.sends - 1;
        }
    } else if (u.exam == 3 && s % 4 == 1 && v != NULL) {
        leave(v);
    } else if ((u.exam == 4 || u.exam == 5) && v != NULL) {
        leave(v);
    }
}

static void tick(cw_svc *s, void *state, void *arg)
{
    cw_server self = cw_server_id(s, cw_self(s));
    if (u.on) {
        act(s, self);
    } else {
        exam(s, self);
    }
    if (cw_timer_start(s, CW_US(100 + below(400)), tick, arg) == NULL) {
        fail("world", "no timer", self, 0);
    }
    (void)state;
}

static int host_open(cw_svc *s, void *state)
{
    cw_server self = cw_server_id(s, cw_self(s));
    const struct nmu_desk *nmu = cw_find(s, NMU_DESK_NAME, NMU_DESK_VERSION, NULL);
    u.desk[self] = cw_find(s, GUESTS_DESK_NAME, GUESTS_DESK_VERSION, NULL);
    nmu->source(nmu->node, &(struct nmu_source){&u.number[self], record_of});
    tick(s, state, NULL);
    return 0;
}

static void host_close(cw_svc *s, void *state)
{
    (void)state;
    cw_server self = cw_server_id(s, cw_self(s));
    for (unsigned k = 0; k < u.visitors; k++) {
        u.visitor[k].open = u.visitor[k].open && u.visitor[k].server != self;
    }
}

static void churn(struct world *w, void *arg)
{
    (void)arg;
    cw_server s = below(SERVERS);
    if (u.on && world_state(w, s) == WORLD_DEAD) {
        u.dying[s] = false;
        (void)world_start(w, s);
    } else if (u.on && world_running(w) > SERVERS - 4) {
        u.dying[s] = true;
        ledger->kills++;
        world_kill(w, s, below(2) == 0);
    }
    world_at(w, cw_time_add(world_now(w), CW_MS(8 + below(30))), churn, NULL);
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static bool run(cw_span span)
{
    if (world_run(u.world, cw_time_add(world_now(u.world), span)) != 0) {
        seeds_fail(ledger->wrong, "invariant", "%s",
                   world_violation(u.world) != NULL ? world_violation(u.world)->text : "stopped");
    }
    return ledger->wrong[0] == '\0';
}

static bool settle(void)
{
    for (cw_server s = 0; s < SERVERS; s++) {
        u.dying[s] = false;
        if (world_state(u.world, s) == WORLD_DEAD) {
            (void)world_start(u.world, s);
        }
    }
    for (int i = 0; i < 300 && world_agreeing(u.world) < SERVERS; i++) {
        if (!run(CW_MS(10))) {
            return false;
        }
    }
    return world_agreeing(u.world) == SERVERS;
}

static void judge_calm(void)
{
    for (unsigned k = 0; k < u.visitors; k++) {
        const struct visitor *v = &u.visitor[k];
        if (v->open && v->due != 0 && !v->told) {
            fail("50", "one who may not be here was not told", v->server, v->process);
        }
        if (v->open && v->due == 0 && v->refused) {
            fail("49", "one who was refused room was not told", v->server, v->process);
        }
    }
    for (uint32_t i = 0; i < u.sends; i++) {
        if (u.sent[i].call && u.sent[i].ended != 1) {
            fail("49", "a call has not ended", i, u.sent[i].ended);
        }
    }
}

static void judge_exam(void)
{
    for (cw_server s = 0; s + 1 < SERVERS; s += 2) {
        int should = s % 4 == 0 ? -ECONNRESET : -ECONNREFUSED;
        if (u.asked[s] == 0 || u.sent[u.asked[s]].status != should) {
            fail("49", "who asked one who went, or is not there, is told so", s, (unsigned)-u.sent[u.asked[s]].status);
        }
    }
}

static void judge_rest(void)
{
    struct world_totals totals;
    world_totals(u.world, &totals);
    for (cw_server s = 0; s < SERVERS; s++) {
        const struct node *n = world_node(u.world, s);
        if (n->guests.count != 0 || expiry_count(&n->calls.table) != 0 || expiry_count(&n->nmu.responses.table) != 0 ||
            n->turns.packets != 0 || node_bytes(n) == 0) {
            fail("55", "something is left of those who went", s, n->guests.count);
        }
    }
    if (totals.inside != 0 || totals.flying > 0) {
        fail("55", "packets are left", totals.inside, totals.flying);
    }
}

static void run_seed(uint64_t seed)
{
    static const cw_service host = {CW_SERVICE_INIT,   .name = "host",      .job = HOST_JOB,
                                    .open = host_open, .close = host_close, .on_packet = host_packet};
    static const struct book_grant grant = {.from = HOST_JOB, .to = HOST_JOB, .any_port = true, .all_processes = true};
    static struct world_service services[] = {{.table = &host}};
    memset(&u, 0, sizeof u);
    u.rng = (struct rng){seed};
    struct world_config config = world_config_default();
    config.seed = seed;
    config.node.timers = ls_timers_fast();
    config.node.guests = GUESTS;
    config.node.nmu_grants = 4096;
    config.node.nmu_jobs = 2 * NODE_SERVICES;
    config.services = services;
    config.service_count = 1;
    config.grants = &grant;
    config.grant_count = 1;
    config.carrier = CW_MS(1);
    for (cw_server s = 0; s < SERVERS; s++) {
        u.number[s] = s;
        for (unsigned i = 0; i < ALL_JOBS; i++) {
            u.now[s][i] = plain_town(i, 1);
        }
    }
    if (world_open(&u.world, &config) < 0) {
        seeds_fail(ledger->wrong, "world", "it does not begin");
        return;
    }
    world_start_all(u.world, CW_MS(1));
    if (settle()) {
        world_at(u.world, world_now(u.world), put_one, NULL);
        world_at(u.world, world_now(u.world), churn, NULL);
        u.on = true;
        run(CW_MS(RUN_MS));
        u.on = false;
    }
    if (ledger->wrong[0] == '\0' && settle() && run(CW_MS(150))) {
        judge_calm();
        u.exam = 5; /* all leave */
        run(CW_MS(30));
        for (cw_server s = 0; s < SERVERS; s++) {
            const struct plain_job fresh = plain_town(0, 100);
            put(u.world, s, &fresh);
        }
        for (u.exam = 1; u.exam <= 4 && run(CW_MS(30)); u.exam++) {
        }
        judge_exam();
        u.exam = 9;
        run(CW_MS(20));
        judge_rest();
    }
    world_close(u.world);
}

static void add(void)
{
    const uint64_t *from = &ledger->came;
    uint64_t *to = &sum.came;
    for (size_t i = 0; i < (sizeof sum - offsetof(struct ledger, came)) / sizeof *to; i++) {
        to[i] += from[i];
    }
}

static void say(void)
{
    const uint64_t *of = &ledger->came;
    static const char *const words[] = {"came",    "let in", "not let in", "told to go", "sent",    "denied",
                                        "arrived", "by key", "meant",      "answered",   "refused", "reset",
                                        "late",    "floods", "told",       "kills",      "records"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        printf("%s%llu %s", i > 0 ? ", " : "", (unsigned long long)of[i], words[i]);
    }
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
    bool all = true;
    const uint64_t *of = &sum.came;
    for (size_t i = 0; i < (sizeof sum - offsetof(struct ledger, came)) / sizeof *of; i++) {
        all = all && of[i] > 0;
    }
    if (seeds.failed == 0 && !seeds.named && !all) {
        fprintf(stderr, "something of what this world is for has not happened\n");
        return 1;
    }
    return rc;
}
