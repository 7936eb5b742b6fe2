/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_query_world.c - questions to all servers, on real nodes in a simulated torus where everything goes wrong. Each
 * seed draws a torus, faults and questions: who asks when, what, of whom, and for how long it waits. What a server
 * counts is a random word, so the judge reads off a sum who is in it: exactly those that the answer does not name as
 * missing. Every question must end in its time, and nothing may be left.
 *
 *   test_query_world with the options of seeds.h. Exit code 1: a seed failed.
 */
#include "base/base64.h"
#include "base/container.h"
#include "base/histogram.h"
#include "base/prng.h"
#include "fake_result.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/query/host.h"
#include "services/aggregate/query/summary_number.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { SERVERS_MOST = 27, QUESTIONS = 32, LINES = 60, SLACK_MS = 3, LOSS = 10000 /* of a million frames */ };

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    unsigned asked, whole, fewer, none, cancelled;
};
static struct ledger *ledger;

#define WRONG(rule, ...) seeds_fail(ledger->wrong, rule, __VA_ARGS__)

enum what { SUM_A, SUM_B, MAX, TOP, BY_X, BY_SERVER, SOME, FEED, FEED_TOP, TIMES, LIST, UNKNOWN, WHATS };

/* One question. A server that dies meanwhile answers nothing. */
struct question {
    struct world *w;
    enum what what;
    cw_server asker;
    uint64_t on; /* a bit each */
    cw_span within;
    cw_time at, done; /* done: CW_NEVER until it is */
    unsigned changes; /* of the asker's state, when it was asked */
    bool begun;
    struct fake_result said;
};

static struct question question[QUESTIONS];
static unsigned questions;
static uint64_t world_seed;
static unsigned changes[SERVERS_MOST]; /* starts, pauses and ends */
static bool runs[SERVERS_MOST];        /* it is neither dead nor paused */
static unsigned deaths;

/* ---- What servers count ------------------------------------------------------------------------------------------ */

static uint64_t word(unsigned which, cw_server s)
{
    return prng_mix(prng_mix(world_seed, which), s);
}

/* Half of the servers do not have it. */
static bool has_some(cw_server s)
{
    return word(7, s) % 2 == 0;
}

static struct torus torus;

static void each(void *context, cw_coord self, const struct figures_visit *visit)
{
    static struct histogram h;
    cw_server s = torus_id(&torus, self);
    (void)context;
    memset(&h, 0, sizeof h);
    for (unsigned i = 0; i < 10; i++) {
        histogram_note(&h, (int64_t)(word(20 + i, s) % 10000000));
    }
    visit->counter(visit->context, "w", "a", word(1, s));
    visit->counter(visit->context, "w", "b", word(2, s));
    visit->times(visit->context, "w", "t", &h);
    if (has_some(s)) {
        visit->counter(visit->context, "w", "some", word(3, s));
    }
}

static const struct node_object *objects(void *context, cw_server s)
{
    static const struct figures_host host = {.size = sizeof host, .each = each};
    static const struct node_object all[] = {{FIGURES_HOST_NAME, FIGURES_HOST_VERSION, &host}, {NULL, 0, NULL}};
    (void)context;
    (void)s;
    return all;
}

/* Line i of a server's feed: numbers, of which some are on all servers, and line 0 is there often. */
static uint64_t line(cw_server s, unsigned i)
{
    return i < LINES / 3 ? 5 : i < LINES / 2 ? i : word(100 + i, s) % 1000000000;
}

static void feed(struct world *w, cw_server s)
{
    static struct fake_result r;
    char text[LINES * 12], data[8 + sizeof text * 2];
    size_t used = 0;
    for (unsigned i = 0; i < LINES; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%" PRIu64 "\n", line(s, i));
    }
    memcpy(data, "data=", 5);
    base64_encode((const uint8_t *)text, used, data + 5);
    const char *const words[] = {"query", "feed", "lines", "keep_ms=3600000", data};
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(&r);
    if (world_command(w, s, "aggregate", 5, words, &sink) == 0 && r.rc != 0) {
        WRONG("feed", "server %u does not take lines: %d", s, r.rc);
    }
}

static void feed_all(struct world *w, void *arg)
{
    (void)arg;
    for (cw_server s = 0; s < torus.servers; s++) {
        if (world_state(w, s) == WORLD_RUNS) {
            feed(w, s);
        }
    }
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static void said_done(void *context, int rc)
{
    struct question *q = container_of(context, struct question, said);
    fake_result_done(context, rc);
    q->done = world_now(q->w);
}

static void ask(struct world *w, void *arg)
{
    static const char *const lines[WHATS] = {
        [SUM_A] = "query sum w.a",
        [SUM_B] = "query sum w.b",
        [MAX] = "query max w.a",
        [TOP] = "query top w.b k=5",
        [BY_X] = "query sum w.a by=x",
        [BY_SERVER] = "query sum w.b by=server",
        [SOME] = "query sum w.some",
        [FEED] = "query sum lines",
        [FEED_TOP] = "query top lines k=3",
        [TIMES] = "query quantile w.t p=0.5",
        [LIST] = "query list",
        [UNKNOWN] = "query sum w.c",
    };
    struct question *q = arg;
    char text[1000], one[32];
    snprintf(text, sizeof text, "%s within_ms=%d", lines[q->what], (int)(q->within.ns / CW_MS(1).ns));
    for (cw_server s = 0; s < torus.servers && q->on != (UINT64_C(1) << torus.servers) - 1; s++) {
        if (q->on >> s & 1) {
            cw_coord c = torus_coord(&torus, s);
            snprintf(one, sizeof one, " on=%u,%u,%u", c.x, c.y, c.z);
            strcat(text, one);
        }
    }
    const struct fake_words words = fake_words_of(text);
    struct node_request_sink sink = {&q->said, fake_result_row, fake_result_int, fake_result_text, said_done};
    fake_result_init(&q->said);
    q->w = w;
    q->done = CW_NEVER;
    q->changes = changes[q->asker];
    q->at = world_now(w);
    q->begun = true;
    q->begun = world_command(w, q->asker, "aggregate", words.argc, words.argv, &sink) == 0;
}

static void draw_questions(struct world *w, uint64_t seed, cw_time from, cw_time to)
{
    struct prng random = prng_stream(seed, 0, 91);
    const uint64_t all = (UINT64_C(1) << torus.servers) - 1;
    questions = QUESTIONS - 1;
    for (unsigned i = 0; i < questions; i++) {
        struct question *q = &question[i];
        q->what = (enum what)prng_below(&random, WHATS);
        q->asker = (cw_server)prng_below(&random, torus.servers);
        q->on = prng_below(&random, 4) == 0 ? prng_next(&random) & all : all;
        q->on = q->on == 0 ? all : q->on;
        q->within = CW_MS((int64_t)(20 + prng_below(&random, 100)));
        cw_span late = prng_span(&random, CW_NS(0), cw_time_since(to, from));
        if (i % 4 != 0) { /* several at once, of one server */
            q->asker = q[-1].asker;
            q->at = cw_time_add(q[-1].at, prng_span(&random, CW_NS(0), CW_MS(2)));
        } else {
            q->at = cw_time_add(from, late);
        }
        world_at(w, q->at, ask, q);
    }
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

static bool server_of(const char *text, cw_server *out)
{
    cw_coord c;
    bool good = torus_parse(&torus, text, strlen(text), &c) == 0;
    *out = good ? torus_id(&torus, c) : 0;
    return good;
}

/* Who is in the answer: those that were asked and are not named as missing. */
static uint64_t counted(const struct question *q)
{
    uint64_t set = q->on;
    for (unsigned row = 1; row < q->said.rows; row++) {
        cw_server s;
        if (strcmp(fake_text(&q->said, row, "what"), "missing") == 0 &&
            server_of(fake_text(&q->said, row, "server"), &s)) {
            set &= ~(UINT64_C(1) << s);
        }
    }
    return set;
}

static void value_text(const struct question *q, unsigned row, char out[static FAKE_TEXT])
{
    const struct fake_field *f = fake_find(&q->said, row, "value");
    if (f == NULL) {
        strcpy(out, "nothing");
    } else if (f->is_text) {
        memcpy(out, f->text, FAKE_TEXT);
    } else {
        snprintf(out, FAKE_TEXT, "%" PRId64, f->value);
    }
}

static void judge_value(const struct question *q, unsigned row, summary_value must)
{
    char text[FAKE_TEXT], right[SUMMARY_TEXT];
    value_text(q, row, text);
    summary_value_text(SUMMARY_OF_COUNTER, must, right);
    if (strcmp(text, right) != 0) {
        WRONG("sum", "question %u: it says %s, and the servers that it names have %s", (unsigned)(q - question), text,
              right);
    }
}

static summary_value sum_of(unsigned which, uint64_t set)
{
    summary_value sum = 0;
    for (cw_server s = 0; s < torus.servers; s++) {
        sum += (set >> s & 1) ? word(which, s) : 0;
    }
    return sum;
}

static void judge_max(const struct question *q, uint64_t set)
{
    uint64_t most = 0;
    for (cw_server s = 0; s < torus.servers; s++) {
        most = (set >> s & 1) && word(1, s) > most ? word(1, s) : most;
    }
    judge_value(q, 0, most);
}

/* The five servers with most, the largest first. */
static void judge_top(const struct question *q, uint64_t set)
{
    for (unsigned row = 1; row <= 5 && set != 0; row++) {
        cw_server most = CW_SERVER_NONE, said = 0;
        for (cw_server s = 0; s < torus.servers; s++) {
            most = (set >> s & 1) && (most == CW_SERVER_NONE || word(2, s) > word(2, most)) ? s : most;
        }
        if (row >= q->said.rows || !fake_has(&q->said, row, "item") ||
            !server_of(fake_text(&q->said, row, "item"), &said) || said != most) {
            WRONG("top", "question %u: place %u is not that of server %u", (unsigned)(q - question), row, most);
            return;
        }
        set &= ~(UINT64_C(1) << most);
    }
}

static void judge_groups(const struct question *q, uint64_t set)
{
    uint64_t seen = 0;
    for (unsigned row = 1; row < q->said.rows; row++) {
        unsigned x = 0;
        uint64_t group = 0;
        cw_server only;
        if (strcmp(fake_text(&q->said, row, "what"), "row") != 0) {
            continue;
        }
        const char *name = fake_text(&q->said, row, "group");
        if (q->what == BY_SERVER && server_of(name, &only)) {
            group = UINT64_C(1) << only;
        } else if (sscanf(name, "x=%u", &x) == 1) {
            for (cw_server s = 0; s < torus.servers; s++) {
                group |= (uint64_t)(torus_coord(&torus, s).x == x) << s;
            }
        }
        judge_value(q, row, sum_of(q->what == BY_X ? 1 : 2, set & group));
        seen |= group;
    }
    if ((set & ~seen) != 0) {
        WRONG("groups", "question %u: a server that is in the answer has no group", (unsigned)(q - question));
    }
}

/* Those that died have lost their lines: only where all still have them the judge knows what must be there. */
static void judge_feed(const struct question *q, uint64_t set)
{
    if (fake_int(&q->said, 0, "with_source") != fake_int(&q->said, 0, "answered")) {
        if (deaths == 0) {
            WRONG("feed", "question %u: a server that never died has no lines", (unsigned)(q - question));
        }
        return;
    }
    summary_value sum = 0;
    int64_t fives = 0;
    for (cw_server s = 0; s < torus.servers; s++) {
        for (unsigned i = 0; i < LINES && (set >> s & 1); i++) {
            sum += line(s, i);
            fives += line(s, i) == 5;
        }
    }
    if (q->what == FEED) {
        judge_value(q, 0, sum);
    } else if (set != 0 && (!fake_has(&q->said, 1, "item") || strcmp(fake_text(&q->said, 1, "item"), "5") != 0 ||
                            fake_int(&q->said, 1, "count") < fives ||
                            fake_int(&q->said, 1, "count") - fake_int(&q->said, 1, "error_most") > fives)) {
        WRONG("feed top", "question %u: the most frequent line is not the one that came %d times",
              (unsigned)(q - question), (int)fives);
    }
}

/* The median that is said is within an eighth of one that is right. */
static void judge_times(const struct question *q, uint64_t set)
{
    unsigned below = 0, up_to = 0, count = 0;
    int64_t said = fake_int(&q->said, 1, "value_ns");
    for (cw_server s = 0; s < torus.servers; s++) {
        for (unsigned i = 0; i < 10 && (set >> s & 1); i++) {
            int64_t ns = (int64_t)(word(20 + i, s) % 10000000);
            below += ns * 9 < said * 8;
            up_to += ns * 7 <= said * 8;
            count++;
        }
    }
    if (fake_int(&q->said, 0, "count") != count || 2 * below > count || 2 * up_to < count) {
        WRONG("times", "question %u: %" PRId64 " ns is no median of %u times", (unsigned)(q - question), said, count);
    }
}

static void judge_values(const struct question *q, uint64_t set)
{
    switch (q->what) {
    case SUM_A:
    case SUM_B:
        judge_value(q, 0, sum_of(q->what == SUM_A ? 1 : 2, set));
        break;
    case MAX:
        judge_max(q, set);
        break;
    case TOP:
        judge_top(q, set);
        break;
    case BY_X:
    case BY_SERVER:
        judge_groups(q, set);
        break;
    case SOME:
        for (cw_server s = 0; s < torus.servers; s++) {
            set &= has_some(s) ? ~UINT64_C(0) : ~(UINT64_C(1) << s);
        }
        judge_value(q, 0, sum_of(3, set));
        if (fake_int(&q->said, 0, "with_source") != __builtin_popcountll(set)) {
            WRONG("with source", "question %u: another number of servers has it", (unsigned)(q - question));
        }
        break;
    case FEED:
    case FEED_TOP:
        judge_feed(q, set);
        break;
    case TIMES:
        judge_times(q, set);
        break;
    case LIST:
    case UNKNOWN:
    case WHATS:
        break;
    }
}

/* Nobody in the answer has the source: this is refused, whatever else happened. */
static bool may_be_unknown(const struct question *q)
{
    return q->what == UNKNOWN || q->what == SOME || (deaths > 0 && (q->what == FEED || q->what == FEED_TOP));
}

static void judge(const struct question *q, bool calm)
{
    unsigned number = (unsigned)(q - question);
    bool steady = q->changes == changes[q->asker] && runs[q->asker];
    if (!q->begun) {
        return;
    }
    ledger->asked++;
    if (!q->said.done) {
        if (steady) {
            WRONG("ends", "question %u of server %u, asked at %" PRId64 " us, has not ended", number, q->asker,
                  q->at.ns / 1000);
        }
        ledger->cancelled++;
        return;
    }
    cw_span took = cw_time_since(q->done, q->at);
    int64_t most = q->within.ns * (may_be_unknown(q) ? 2 : 1) + CW_MS(SLACK_MS).ns;
    if (steady && took.ns > most) {
        WRONG("deadline", "question %u took %" PRId64 " us of %" PRId64, number, took.ns / 1000, q->within.ns / 1000);
    }
    if (q->said.rc == -EINVAL && may_be_unknown(q)) {
        return;
    }
    if (q->said.rc == -ECANCELED && !steady) {
        ledger->cancelled++;
        return;
    }
    uint64_t set = counted(q);
    unsigned answered = (unsigned)__builtin_popcountll(set);
    if (q->said.rc == -ETIMEDOUT && answered == 0 && !calm) {
        ledger->none++;
        return;
    }
    if (q->said.rc != 0 || q->what == UNKNOWN) {
        WRONG("status", "question %u ended with %d", number, q->said.rc);
        return;
    }
    if (fake_int(&q->said, 0, "asked") != __builtin_popcountll(q->on) ||
        fake_int(&q->said, 0, "answered") != (int64_t)answered || (set & ~q->on) != 0) {
        WRONG("named", "question %u: %" PRId64 " of %" PRId64 " answered, and it names all but %u", number,
              fake_int(&q->said, 0, "answered"), fake_int(&q->said, 0, "asked"), answered);
        return;
    }
    if (calm && set != q->on) {
        WRONG("calm", "question %u: all is well, and only %u of %d servers are in it", number, answered,
              __builtin_popcountll(q->on));
    }
    ledger->whole += set == q->on;
    ledger->fewer += set != q->on;
    judge_values(q, set);
}

/* ---- A seed ------------------------------------------------------------------------------------------------------ */

static void on_server(void *context, cw_server s, enum world_server_state state, cw_time now)
{
    (void)context;
    (void)now;
    changes[s]++;
    runs[s] = state == WORLD_RUNS;
    deaths += state == WORLD_DEAD;
}

static bool run_for(struct world *w, cw_span span)
{
    if (ledger->wrong[0] == '\0' && world_run(w, cw_time_add(world_now(w), span)) != 0) {
        const struct world_violation *v = world_violation(w);
        WRONG("world", "%s", v != NULL ? v->text : "stopped");
    }
    return ledger->wrong[0] == '\0';
}

/* Short pauses and losses, so that parts come late, and a few deaths. */
static void draw_lateness(struct fault_plan *plan, uint64_t seed, cw_time from, cw_time to)
{
    struct prng random = prng_stream(seed, 0, 92);
    for (unsigned i = 0; i < 40; i++) {
        struct fault f = {.kind = FAULT_PAUSE, .server = (cw_server)prng_below(&random, torus.servers)};
        f.at = cw_time_add(from, prng_span(&random, CW_NS(0), cw_time_since(to, from)));
        f.span = prng_span(&random, CW_MS(1), CW_MS(70));
        struct fault back = f;
        back.kind = FAULT_START;
        back.at = cw_time_add(f.at, prng_span(&random, CW_MS(1), CW_MS(100)));
        bool dies = prng_below(&random, 10) == 0;
        f.kind = dies ? FAULT_KILL : FAULT_PAUSE;
        if (fault_plan_add(plan, &f) != 0 || (dies && fault_plan_add(plan, &back) != 0)) {
            abort();
        }
    }
    fault_plan_sort(plan);
}

static void look_at_rest(struct world *w, cw_server s)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const words[] = {"totals"};
    fake_result_init(&r);
    if (world_command(w, s, "aggregate", 1, words, &sink) != 0 || !r.done || fake_int(&r, 0, "questions") != 0) {
        WRONG("rest", "server %u has questions left", s);
    }
}

/* All is well again: a question to all that run must be answered by all, at one of some attempts. */
static void last_question(struct world *w)
{
    const struct wire_harm none = {.loss = 0};
    struct question *q = &question[questions];
    uint64_t running = 0;
    for (cw_server s = 0; s < torus.servers; s++) {
        running |= (uint64_t)(world_state(w, s) == WORLD_RUNS) << s;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &none);
        }
    }
    for (unsigned turn = 0; turn < 30 && running != 0; turn++) {
        *q = (struct question){.what = SUM_A, .on = running, .within = CW_MS(200), .at = world_now(w)};
        q->asker = (cw_server)__builtin_ctzll(running);
        if (!run_for(w, CW_MS(100))) {
            return;
        }
        ask(w, q);
        if (!run_for(w, CW_MS(300)) || (q->said.done && q->said.rc == 0 && counted(q) == running)) {
            judge(q, true);
            return;
        }
    }
    if (running != 0 && world_agreeing(w) == world_running(w)) { /* views of drawn timers may not come to rest */
        WRONG("alive", "all being well, %d of %d servers answer", __builtin_popcountll(counted(q)),
              __builtin_popcountll(running));
    }
}

/*
 * Odd seeds: everything is drawn. 0 mod 4: all kinds of faults. 2 mod 4: pauses and deaths, but for 2 mod 16, where
 * nothing goes wrong, and 6 mod 8, where packets are lost, too.
 */
static void run_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &aggregate_service}};
    static const struct book_grant grants[] = {
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_QUERY, .all_processes = true}};
    struct world_config config = world_config_default();
    struct world *w;
    bool calm = seed % 16 == 2;
    world_seed = seed;
    config.seed = seed;
    if (seed % 2 == 1) {
        world_config_draw(&config, seed, SERVERS_MOST);
        config.seed = seed;
    }
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = 1;
    config.objects = objects;
    if (world_open(&w, &config) != 0) {
        WRONG("world", "it does not open");
        return;
    }
    torus = *world_torus(w);
    world_watch(w, &(struct world_watch){.server = on_server});
    cw_time from = {CW_MS(60).ns}, to = {CW_MS(460).ns};
    struct fault_plan plan = {.count = 0};
    if (seed % 4 == 2 && !calm) {
        draw_lateness(&plan, seed, from, to);
    } else if (seed % 4 != 2 && fault_plan_draw(&plan, &torus, &config.node.timers, prng_mix(seed, 2), from, to) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(20));
    for (cw_server s = 0; s < torus.servers && seed % 8 == 6; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(w, s, link, &(struct wire_harm){.loss = LOSS});
        }
    }
    world_at(w, (cw_time){CW_MS(40).ns}, feed_all, NULL);
    draw_questions(w, seed, calm ? (cw_time){CW_MS(200).ns} : from, to);
    fault_plan_schedule(&plan, w);
    if (run_for(w, CW_MS(500)) && run_for(w, CW_SEC(1))) {
        last_question(w);
    }
    for (unsigned i = 0; i < questions && ledger->wrong[0] == '\0'; i++) {
        judge(&question[i], calm);
    }
    for (cw_server s = 0; s < torus.servers && ledger->wrong[0] == '\0'; s++) {
        if (world_state(w, s) == WORLD_RUNS) {
            look_at_rest(w, s);
        }
    }
    world_close(w);
    fault_plan_free(&plan);
}

static unsigned long long asked, whole, fewer, none, cancelled; /* by all seeds together */

static void add(void)
{
    asked += ledger->asked;
    whole += ledger->whole;
    fewer += ledger->fewer;
    none += ledger->none;
    cancelled += ledger->cancelled;
}

static void say(void)
{
    printf("%u questions: %u by all, %u by some, %u by none, %u whose asker died", ledger->asked, ledger->whole,
           ledger->fewer, ledger->none, ledger->cancelled);
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 4 : 16,
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
    printf("%llu questions: %llu answered by all, %llu by some, %llu by none; of %llu the asker died\n", asked, whole,
           fewer, none, cancelled);
    return rc;
}
