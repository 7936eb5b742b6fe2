/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sorted_world.c - runs of the sorted engine on real nodes in a simulated torus where everything goes wrong. Each
 * seed draws a torus, faults (loss, duplication, delay, cuts, churn, pauses, partitions) and runs: contributors, root,
 * desk, records, mapper, combination, partitions, who is told to end early. The judge makes the result again, by a sort
 * of all records of the contributors that the answer names: the file, the files of all parts together, or each of the
 * files that all have, must be that, line by line; and of a run that failed there must be no file. The input of some
 * runs is fed by programs, of which some die halfway: what they have fed is in no result. Of the inputs of some runs
 * others have copies, and stand in for those that die. In half of the seeds services order some runs, feed them, and
 * take their results piece by piece; and in some of these a service of another job orders more than its share of the
 * memory, which harms no other job's runs. Every run must end; nothing may be left; and when all is well again, a run
 * of all servers must be right at the first attempt.
 *
 *   test_sorted_world with the options of seeds.h, and, for the run in which one server dies: --deaths N, it dies after
 *   each Nth of the time; --dying SERVER. Exit code 1: a seed failed.
 */
#include "base/base64.h"
#include "base/prng.h"
#include "fake_result.h"
#include "nmu/book.h"
#include "sanitized.h"
#include "seeds.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/multicast.h"
#include "simulator/faults.h"
#include "simulator/world.h"
#include "sr_patron.h"
#include "stream_disk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SERVERS_MOST = 27,
    DRAWN = 5,
    SERVED = 3, /* runs of services; and of the greedy one */
    GREEDY = 14,
    RUNS = DRAWN + SERVED + GREEDY + 8,
    LINE = 48,
    LOSS = 3000 /* of a million frames */,
    SLOW = 20 * 1000 * 1000,
    FED = 3000 /* bytes of a piece */
};

/* What a seed has to say. */
struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    unsigned ordered, succeeded, failed, again, fewer, fed, stood_in, own;
    unsigned served, refused; /* runs of services that ended well; and those that wanted more than the job's share */
    bool unlike;              /* one server has another module */
};
static struct ledger *ledger;

#define WRONG(rule, ...) seeds_fail(ledger->wrong, rule, __VA_ARGS__)

/* A mapper, a combination, and how the judge does it. */
enum kind { KIND_WORDS, KIND_SUM, KIND_MIN, KIND_MAX, KIND_COUNT, KIND_NONE, KIND_OWN, KINDS };
static const struct {
    const char *map, *combine;
} kinds[KINDS] = {[KIND_WORDS] = {"words", "sum"},
                  [KIND_SUM] = {"kv", "sum"},
                  [KIND_MIN] = {"kv", "min"},
                  [KIND_MAX] = {"kv", "max"},
                  [KIND_COUNT] = {"kv", "count"},
                  [KIND_NONE] = {"kv", "none"},
                  [KIND_OWN] = {"module:pairs", "module:total"}};

struct entry {
    char key[12];
    int64_t value;
};

/* Where the result goes: to one server, a part to some or each, or all of it to all members. */
enum to { TO_ONE, TO_SOME, TO_EACH, TO_ALL, TOS, TO_CALLER };

/* A program that feeds a server's input to a run. */
struct program {
    char *text; /* NULL: there is none, or it has come to its end, or died */
    size_t length, sent;
    size_t dies; /* when it has sent so much; SIZE_MAX: never */
    uint64_t number;
    bool ended;
    cw_time next;
    struct fake_result answer;
    struct node_request_sink sink;
};

struct run {
    struct patron_run *patron; /* of a service, which orders and feeds it; NULL: of operators */
    bool fed;                  /* its inputs are no files */
    struct program *program;   /* of each server, if it is */
    uint64_t seed;
    enum kind kind;
    unsigned number;
    enum to to;
    cw_server root, desk; /* root: of TO_ONE */
    uint64_t members, writers;
    unsigned keys;    /* so many keys there are, at most */
    unsigned records; /* of a server, at most */
    bool skewed;      /* one server has nearly all of them */
    bool copied;      /* others have copies of its inputs */
    bool without, started;
    unsigned partitions, path;
    cw_time at, cancel; /* cancel: CW_NEVER: not */
    struct fake_result result;
    struct node_request_sink sink;
};

static struct run runs[RUNS];
static unsigned run_count;
static struct stream_disk disks[SERVERS_MOST];
static struct node_object objects[SERVERS_MOST][4];

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static unsigned records_of(const struct run *run, cw_server s)
{
    uint64_t word = prng_mix(run->seed, s + 1000);
    if (run->skewed) {
        return s == word % 3 ? run->records * 4 : (unsigned)(word % 4);
    }
    return word % 8 == 0 ? 0 : run->records / 2 + (unsigned)(word >> 8) % (run->records / 2 + 1);
}

static struct entry entry_of(const struct run *run, cw_server s, unsigned i)
{
    uint64_t word = prng_mix(prng_mix(run->seed, s + 1), i);
    struct entry r = {.value = run->kind == KIND_WORDS ? 1 : (int64_t)(word >> 24)};
    snprintf(r.key, sizeof r.key, "k%u", (unsigned)(word % run->keys));
    return r;
}

/* One to three servers have a copy. */
static void put_copies(const struct run *run, const struct torus *torus, cw_server of, const char *text, size_t length)
{
    char server[TORUS_TEXT], name[STREAM_DISK_NAME];
    uint64_t word = prng_mix(run->seed, of + 3000);
    torus_format(torus_coord(torus, of), server);
    snprintf(name, sizeof name, "c%u-%s", run->number, server);
    for (uint64_t n = word % 3 + 1; n > 0; n--) {
        word = prng_mix(word, n);
        stream_disk_put(&disks[word % torus->servers], name, text, length);
    }
}

static void put_input(const struct run *run, const struct torus *torus, cw_server s)
{
    unsigned n = records_of(run, s);
    char *text = malloc((size_t)n * LINE + 1), name[16];
    size_t length = 0;
    for (unsigned i = 0; i < n; i++) {
        struct entry r = entry_of(run, s, i);
        length += (size_t)(run->kind == KIND_WORDS ? sprintf(text + length, "%s%c", r.key, i % 7 == 6 ? '\n' : ' ')
                                                   : sprintf(text + length, "%s\t%" PRId64 "\n", r.key, r.value));
    }
    if (run->fed && run->patron != NULL) {
        struct patron_feed *f = &run->patron->feed[s];
        *f = (struct patron_feed){.text = text, .length = length};
        f->dies = prng_mix(run->seed, s + 5000) % 32 == 0 ? length / 2 : SIZE_MAX;
        return;
    }
    if (run->fed) {
        uint64_t word = prng_mix(run->seed, s + 5000);
        struct program *p = &run->program[s];
        *p = (struct program){.text = text, .length = length, .number = word >> 8 | 1};
        p->dies = word % 32 == 0 ? length / 2 : SIZE_MAX;
        p->answer.done = true;
        p->next = cw_time_add(run->at, CW_MS((int64_t)(word >> 8) % 20));
        return;
    }
    snprintf(name, sizeof name, "in%u", run->number);
    stream_disk_put(&disks[s], name, text, length);
    if (run->copied) {
        put_copies(run, torus, s, text, length);
    }
    free(text);
}

/* ---- Programs that feed ------------------------------------------------------------------------------------------ */

static void end_program(struct program *p)
{
    free(p->text);
    p->text = NULL;
}

/*
 * The next piece goes to the server, as soon as it has room; its end; then what has become of it is asked. Nobody waits
 * for a run that has ended.
 */
static void feed(struct world *w, const struct run *run, cw_server s, struct program *p)
{
    static char text[4][2 * FED];
    const char *const words[] = {"feed", text[0], "keep_ms=300", text[1], text[2], text[3], "end=1"};
    const struct fake_result *r = &p->answer;
    bool first = p->sink.context == NULL;
    if (p->sent >= p->dies || !run->started || run->result.done ||
        (!first && (r->rc != 0 || fake_int(r, 0, "done") != 0))) {
        end_program(p);
        return;
    }
    size_t most = p->length < p->dies ? p->length : p->dies, left = most - p->sent;
    size_t length = !first && fake_int(r, 0, "taken") == 0 ? 0 : left < FED ? left : FED;
    p->ended = p->ended || p->sent + length == p->length;
    snprintf(text[0], sizeof *text, "f%u", run->number);
    memcpy(text[1], "data=", 5);
    base64_encode((const uint8_t *)p->text + p->sent, length, text[1] + 5);
    snprintf(text[2], sizeof *text, "feeder=%" PRIu64, p->number);
    snprintf(text[3], sizeof *text, "at=%zu", p->sent);
    p->sent += length;
    p->sink =
        (struct node_request_sink){&p->answer, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(&p->answer);
    if (world_command(w, s, "aggregate", p->ended ? 7 : 6, words, &p->sink) != 0) {
        end_program(p); /* the server is gone */
    }
}

static void feed_all(struct world *w)
{
    for (unsigned i = 0; i < run_count; i++) {
        for (cw_server s = 0; s < SERVERS_MOST && runs[i].program != NULL; s++) {
            struct program *p = &runs[i].program[s];
            if (p->text != NULL && p->answer.done && !cw_time_before(world_now(w), p->next)) {
                feed(w, &runs[i], s, p);
            }
        }
    }
}

/* ---- The judge --------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : x->value < y->value ? -1 : x->value > y->value;
}

static int64_t combined(enum kind kind, const struct entry *r, unsigned n)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += r[i].value;
    }
    return kind == KIND_MIN ? r[0].value : kind == KIND_MAX ? r[n - 1].value : kind == KIND_COUNT ? n : sum;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* What the file must have, sorted lines; gives how many. */
static unsigned must_be(const struct run *run, uint64_t set, char (**out)[LINE])
{
    unsigned n = 0, lines = 0;
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        n += set >> s & 1 ? records_of(run, s) : 0;
    }
    struct entry *r = calloc(n + 1, sizeof *r);
    *out = calloc(n + 1, LINE);
    n = 0;
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        for (unsigned i = 0; (set >> s & 1) && i < records_of(run, s); i++) {
            r[n++] = entry_of(run, s, i);
        }
    }
    qsort(r, n, sizeof *r, by_key);
    for (unsigned i = 0, k; i < n; i = k) {
        for (k = i + 1; run->kind != KIND_NONE && k < n && strcmp(r[i].key, r[k].key) == 0; k++) {
        }
        snprintf((*out)[lines++], LINE, "%s\t%" PRId64, r[i].key, combined(run->kind, r + i, k - i));
    }
    free(r);
    qsort(*out, lines, LINE, by_text);
    return lines;
}

/* Adds the lines of a file to n of them; keys must ascend in it. Gives how many there are. */
static unsigned lines_of(const struct run *run, const struct stream_blob *b, char (**out)[LINE], unsigned n)
{
    *out = realloc(*out, (n + b->length / 2 + 1) * LINE);
    char last[LINE] = "";
    for (size_t at = 0; at < b->length;) {
        size_t length = (size_t)((const uint8_t *)memchr(b->bytes + at, '\n', b->length - at) - (b->bytes + at));
        snprintf((*out)[n], LINE, "%.*s", (int)length, (const char *)b->bytes + at);
        size_t key = strcspn((*out)[n], "\t"), key2 = strcspn(last, "\t");
        int order = memcmp(last, (*out)[n], key < key2 ? key : key2);
        if (order > 0 || (order == 0 && key2 > key)) {
            WRONG("order", "run %u: key %s comes after %s", run->number, (*out)[n], last);
        }
        snprintf(last, sizeof last, "%s", (*out)[n++]);
        at += length + 1;
    }
    return n;
}

static const struct stream_blob *file_of(const struct run *run, cw_server s)
{
    char name[16];
    snprintf(name, sizeof name, "out%u", run->number);
    return stream_disk_result(&disks[s], name);
}

/* The files of these servers together, or what the service took, must be the result of those in the set. */
static void compare(const struct run *run, uint64_t set, uint64_t files)
{
    char(*must)[LINE], (*is)[LINE] = NULL;
    unsigned n = must_be(run, set, &must), m = 0;
    if (run->to == TO_CALLER) {
        const struct stream_blob text = {.bytes = (uint8_t *)run->patron->text, .length = run->patron->length};
        m = lines_of(run, &text, &is, m);
        files = 0;
    }
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        const struct stream_blob *b = files >> s & 1 ? file_of(run, s) : NULL;
        if ((files >> s & 1) && b == NULL) {
            WRONG("file", "run %u: it ended well, and server %u has no file", run->number, s);
        }
        m = b != NULL ? lines_of(run, b, &is, m) : m;
    }
    qsort(is, m, LINE, by_text);
    if (n != m) {
        WRONG("sum", "run %u: %u lines, must be %u", run->number, m, n);
    }
    for (unsigned i = 0; i < n && i < m; i++) {
        if (strcmp(must[i], is[i]) != 0) {
            WRONG("sum", "run %u: '%s', must be '%s'", run->number, is[i], must[i]);
            break;
        }
    }
    free(must);
    free(is);
}

/* Who feeds has died, or did not come. */
static bool is_of_feed(int64_t status)
{
    return status == -EPIPE || status == -ENOTCONN;
}

/* The servers of rows with that state. there: only those that are not gone themselves. */
static uint64_t servers_of_state(const struct fake_result *r, const struct torus *torus, const char *state, bool there)
{
    uint64_t set = 0;
    for (unsigned row = 1; row < r->rows && fake_has(r, row, "server"); row++) {
        unsigned x, y, z;
        if (strcmp(fake_text(r, row, "state"), state) == 0 && (!there || is_of_feed(fake_int(r, row, "status"))) &&
            sscanf(fake_text(r, row, "server"), "%u,%u,%u", &x, &y, &z) == 3) {
            set |= UINT64_C(1) << torus_id(torus, (cw_coord){(uint8_t)x, (uint8_t)y, (uint8_t)z});
        }
    }
    return set;
}

/* Compares all that was written. */
static void compare_files(const struct run *run, const struct torus *torus, uint64_t counted)
{
    uint64_t bare = servers_of_state(&run->result, torus, "no result", false);
    uint64_t gone = run->members & ~counted & ~servers_of_state(&run->result, torus, "not counted", true);
    uint64_t files = run->writers & ~bare;
    for (cw_server s = 0; s < SERVERS_MOST && run->to == TO_ALL; s++) {
        if (files & ~gone & UINT64_C(1) << s) {
            compare(run, counted, UINT64_C(1) << s);
        }
    }
    if (run->to == TO_EACH || run->to == TO_SOME) {
        files &= ~gone;
    }
    /* A part is missing where a server died when it was to name it. */
    if (run->to != TO_ALL &&
        (bare == 0 || fake_int(&run->result, 0, "parts") == fake_int(&run->result, 0, "with_result"))) {
        compare(run, counted, files);
    }
}

/* Of a run that has failed nothing may be there, unless who wrote it died when it was to name it. */
static void look_for_files(const struct run *run)
{
    const struct fake_result *r = &run->result;
    if (!fake_has(r, 0, "id") ||
        (fake_has(r, 0, "error") && strstr(fake_text(r, 0, "error"), "which is to write") != NULL)) {
        return; /* or who was to be told */
    }
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        if (file_of(run, s) != NULL) {
            WRONG("whole", "run %u failed, and server %u has a file", run->number, s);
        }
    }
}

static bool is_deadly(uint64_t seed)
{
    return seed % 4 == 2 && seed % 16 != 2;
}

/* In an eighth of the seeds a server has another module of the same name, whose sums are wrong. */
static bool is_unlike(uint64_t seed)
{
    return seed % 8 == 4;
}

/* Ends that a fault explains; everything else is a mistake of ours. */
static bool is_fault(const struct run *run, int rc)
{
    if (run->fed && is_of_feed(rc)) {
        return true;
    }
    if (run->kind == KIND_OWN && rc == -ELIBBAD) {
        return ledger->unlike; /* a module that others have not is refused */
    }
    return rc == -ECONNRESET || rc == -ETIMEDOUT || rc == -ENETUNREACH || rc == -ECANCELED || rc == -ESTALE;
}

static bool a_program_dies(const struct run *run)
{
    bool dies = false;
    for (cw_server s = 0; s < SERVERS_MOST && run->fed; s++) {
        size_t at = run->patron != NULL ? run->patron->feed[s].dies : run->program[s].dies;
        dies = dies || ((run->members >> s & 1) != 0 && at != SIZE_MAX);
    }
    return dies;
}

static bool is_quota(int rc)
{
    return rc == -ENOSR || rc == -EXFULL || rc == -EUSERS;
}

/* The same of a run of a service that lives. */
static void judge_served(const struct world *w, const struct run *run, uint64_t seed)
{
    const struct patron_run *p = run->patron;
    bool calm = seed % 16 == 2, dies = a_program_dies(run);
    if (!run->started || world_state(w, run->desk) == WORLD_DEAD || patron_life(p->greedy, run->desk) != p->life) {
        return;
    }
    ledger->ordered++;
    if (p->ends != 1 || p->late) {
        WRONG("ends", "run %u of a service: it was told of %u ends, %s", run->number, p->ends,
              p->late ? "and had pieces behind one" : "no more");
        return;
    }
    if (p->status < 0) {
        ledger->failed++;
        ledger->refused += p->greedy && is_quota(p->status);
        bool quota = is_quota(p->status) && p->limit > 0 && p->named;
        if (!(is_fault(run, p->status) || (p->greedy && quota)) || (is_deadly(seed) && p->status == -ETIMEDOUT) ||
            (calm && run->cancel.ns == INT64_MAX && !dies && !p->greedy)) {
            WRONG("ends", "run %u of a service ended with %d", run->number, p->status);
        }
        return;
    }
    ledger->succeeded++;
    ledger->served++;
    ledger->fewer += p->counted != run->members;
    if ((p->counted & ~run->members) != 0 || (p->counted != run->members && (!run->without || (calm && !dies)))) {
        WRONG("named", "run %u of a service names %#llx of %#llx", run->number, (unsigned long long)p->counted,
              (unsigned long long)run->members);
    }
    if (run->to != TO_EACH || calm) {
        compare(run, p->counted, run->writers); /* no row says whose part is missing where its writer died */
    }
}

static void judge(const struct run *run, const struct torus *torus, uint64_t seed)
{
    const struct fake_result *r = &run->result;
    bool calm = seed % 16 == 2, lossy = seed % 32 == 18, dies = a_program_dies(run);
    if (!run->started) {
        return;
    }
    ledger->ordered++;
    if (!r->done) {
        WRONG("ends", "run %u: nobody was told how it ended", run->number);
        return;
    }
    if (r->rc != 0) {
        ledger->failed++;
        /* Deaths are noticed long before the limit. */
        if (!is_fault(run, r->rc) || (is_deadly(seed) && r->rc == -ETIMEDOUT) ||
            (calm && run->cancel.ns == INT64_MAX && !dies)) {
            WRONG("ends", "run %u ended with %d: %s", run->number, r->rc,
                  fake_has(r, 0, "error") ? fake_text(r, 0, "error") : "");
        }
        look_for_files(run);
        return;
    }
    uint64_t counted = run->members & ~servers_of_state(r, torus, "not counted", false);
    int64_t attempts = fake_int(r, 0, "attempts");
    ledger->succeeded++;
    ledger->again += attempts > 1;
    ledger->fewer += counted != run->members;
    ledger->fed += run->fed;
    ledger->own += run->kind == KIND_OWN;
    ledger->stood_in += fake_has(r, 0, "stood_in");
    if ((counted != run->members && (!run->without || (calm && !dies))) || (calm && !lossy && attempts != 1)) {
        WRONG("named", "run %u names %#llx of %#llx, after %d attempts", run->number, (unsigned long long)counted,
              (unsigned long long)run->members, (int)attempts);
    }
    compare_files(run, torus, counted);
}

/* ---- What is drawn ----------------------------------------------------------------------------------------------- */

/* As test_aggregate_world.c draws them: odd seeds everything; of the others 2 mod 4 deaths, 2 mod 16 nothing. */
static void draw_config(struct world_config *config, uint64_t seed)
{
    *config = world_config_default();
    config->seed = seed;
    if (seed % 2 == 1) {
        world_config_draw(config, seed, SERVERS_MOST);
        config->seed = seed;
    } else if (seed % 4 == 0) {
        config->node.mtu = 1500;
    } else if (is_deadly(seed)) {
        config->wire.bits_per_second = SLOW; /* so that runs are still under way when servers die */
    }
}

/* In half of the seeds there are runs of services, which are not those that mutants.py knows; in some, greedy ones. */
static bool is_served(uint64_t seed)
{
    return seed % 8 < 3 || seed % 8 == 7;
}

static bool is_greedy(uint64_t seed)
{
    return seed % 16 == 8 || seed % 64 == 34;
}

static void draw_served(const struct torus *torus, uint64_t seed, cw_time from, cw_time to)
{
    struct prng random = prng_stream(seed, 0, 99);
    cw_span span = cw_time_since(to, from);
    for (unsigned i = 0; i < SERVED + (is_greedy(seed) ? GREEDY : 0); i++) {
        struct run *run = &runs[run_count];
        bool greedy = i >= SERVED;
        *run = (struct run){.seed = prng_next(&random), .number = run_count++, .cancel = CW_NEVER};
        run->patron = &patron_runs[run->number];
        run->patron->greedy = greedy;
        run->kind = (enum kind)prng_below(&random, KIND_OWN);
        run->keys = 1 + (unsigned)prng_below(&random, 2) * 3000;
        run->records = greedy ? 200 : is_deadly(seed) ? 2000 : 2 + (unsigned)prng_below(&random, 900);
        run->partitions = greedy ? 500 : 1 + (unsigned)prng_below(&random, 30);
        run->without = prng_below(&random, 2) != 0;
        run->fed = !greedy && prng_below(&random, 4) != 0;
        run->path = greedy ? 1 : (unsigned)prng_below(&random, 3);
        run->desk = greedy ? i / 7 % torus->servers : (cw_server)prng_below(&random, torus->servers);
        run->root = (cw_server)prng_below(&random, torus->servers);
        run->to = greedy ? TO_EACH : prng_below(&random, 4) == 0 ? TO_ONE : TO_CALLER;
        run->at = greedy ? from : cw_time_add(from, prng_span(&random, CW_NS(0), span));
        if (prng_below(&random, 8) == 0) {
            run->cancel = cw_time_add(run->at, prng_span(&random, CW_MS(1), CW_MS(20)));
        }
        for (cw_server s = 0; s < torus->servers; s++) {
            run->members |= (uint64_t)(greedy || s == run->root || prng_below(&random, 2) == 0) << s;
        }
        run->writers = greedy ? run->members : run->to == TO_ONE ? UINT64_C(1) << run->root : 0;
    }
}

static void draw_runs(const struct torus *torus, uint64_t seed, cw_time from, cw_time to)
{
    bool deaths = is_deadly(seed);
    struct prng random = prng_stream(seed, 0, 97);
    run_count = DRAWN;
    for (unsigned i = 0; i < DRAWN; i++) {
        struct run *run = &runs[i];
        static const unsigned keys[] = {1, 10, 300, 5000, 100000};
        *run = (struct run){.seed = prng_next(&random), .number = i, .cancel = CW_NEVER};
        run->kind = (enum kind)prng_below(&random, KIND_OWN);
        bool own = prng_mix(run->seed, 10) % (is_unlike(seed) ? 2 : 6) == 0;
        run->kind = own && run->kind != KIND_WORDS ? KIND_OWN : run->kind;
        run->keys = keys[prng_below(&random, sizeof keys / sizeof *keys)];
        run->records = deaths && i % 2 == 0 ? 2500 : 2 + (unsigned)prng_below(&random, 600);
        run->keys = deaths && i % 2 == 0 ? 100000 : run->keys;
        run->skewed = prng_below(&random, 4) == 0;
        run->partitions = 1 + (unsigned)prng_below(&random, prng_below(&random, 3) == 0 ? 200 : 12);
        run->without = prng_below(&random, deaths ? 4 : 2) != 0;
        run->root = (cw_server)prng_below(&random, torus->servers);
        run->desk = (cw_server)prng_below(&random, torus->servers);
        run->at = cw_time_add(from, prng_span(&random, CW_NS(0), cw_time_since(to, from)));
        if (prng_below(&random, 8) == 0) {
            run->cancel = cw_time_add(run->at, prng_span(&random, CW_MS(1), CW_MS(20)));
        }
        run->to = (enum to)prng_below(&random, TOS);
        run->path = prng_mix(run->seed, 20) % 6 == 0 ? 3 : (unsigned)(prng_mix(run->seed, 7) % 3);
        run->fed = prng_mix(run->seed, 8) % 4 == 0;
        run->copied = !run->fed && prng_mix(run->seed, 9) % 2 == 0;
        run->program = run->fed ? calloc(SERVERS_MOST, sizeof *run->program) : NULL;
        uint64_t share = 1 + prng_below(&random, 4);
        for (cw_server s = 0; s < torus->servers; s++) {
            bool member = prng_below(&random, 4) < share || (s == torus->servers - 1 && run->members == 0);
            run->members |= (uint64_t)member << s;
            run->writers |= (uint64_t)(run->to == TO_SOME && (s == run->root || prng_below(&random, 4) == 0)) << s;
        }
        run->writers = run->to == TO_ONE ? UINT64_C(1) << run->root : run->to == TO_SOME ? run->writers : run->members;
    }
}

/* Servers die while runs are under way, and most return soon; some only pause, some lose a cable for a while. */
static void draw_deaths(struct fault_plan *plan, const struct torus *torus, uint64_t seed)
{
    struct prng random = prng_stream(seed, 0, 98);
    unsigned deaths = 1 + (unsigned)prng_below(&random, 9);
    for (unsigned i = 0; i < deaths; i++) {
        const struct run *run = &runs[prng_below(&random, DRAWN)];
        cw_time at = cw_time_add(run->at, prng_span(&random, CW_MS(1), CW_MS(60)));
        struct fault f = {.at = at, .kind = FAULT_KILL, .server = (cw_server)prng_below(&random, torus->servers)};
        for (unsigned k = 0; k < 8 && i % 2 == 0 && (run->members >> f.server & 1) != 0; k++) {
            f.server = (cw_server)prng_below(&random, torus->servers); /* rather one that is only on the way */
        }
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

/* ---- A seed ------------------------------------------------------------------------------------------------------ */

/* A service on server s does something about its run. 0: it was asked to. */
static int tell_patron(struct world *w, const struct run *run, cw_server s, const char *what)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    char number[16];
    const char *const words[] = {what, number};
    snprintf(number, sizeof number, "%u", run->number);
    fake_result_init(&r);
    int rc = world_command(w, s, run->patron->greedy ? "greedy" : "patron", 2, words, &sink);
    return rc == 0 ? r.rc : rc;
}

/* Its service orders the run, and services feed it. */
static void order_served(struct world *w, struct run *run, char (*text)[PATRON_WORD], int n)
{
    struct patron_run *p = run->patron;
    for (int i = 0; i < n; i++) {
        memcpy(p->word[i], text[i], PATRON_WORD);
    }
    p->words = (unsigned)n;
    p->takes = run->to == TO_CALLER;
    snprintf(p->name, sizeof p->name, "f%u", run->number);
    run->started = tell_patron(w, run, run->desk, "order") == 0;
    run->result.done = !run->started;
    for (cw_server s = 0; s < world_torus(w)->servers && run->fed && run->started; s++) {
        if (run->members >> s & 1) {
            (void)tell_patron(w, run, s, "feed"); /* who is gone does not */
        }
    }
}

/* Services that feed runs that have ended close, and so nobody waits for another one; all have been heard. */
static void leave_served(struct world *w)
{
    for (unsigned i = 0; i < run_count; i++) {
        for (cw_server s = 0; s < world_torus(w)->servers && runs[i].patron != NULL; s++) {
            const struct patron_feed *f = &runs[i].patron->feed[s];
            (void)tell_patron(w, &runs[i], s, "leave");
            bool lives = f->life != 0 && patron_life(runs[i].patron->greedy, s) == f->life;
            if (world_state(w, s) == WORLD_RUNS && lives && (f->waits || f->heard > 0)) {
                WRONG("fed", "run %u: the feed of server %u %s", i, s,
                      f->waits ? "was not answered" : "was told twice");
            }
        }
    }
}

static void order(struct world *w, struct run *run)
{
    static const char *const paths[] = {"auto", "trees", "direct", "shortest"};
    static char text[11 + 2 * SERVERS_MOST][PATRON_WORD];
    const char *words[11 + 2 * SERVERS_MOST];
    const struct torus *torus = world_torus(w);
    int n = 0;
    for (cw_server s = 0; s < torus->servers; s++) {
        if (run->members >> s & 1) {
            char name[TORUS_TEXT];
            put_input(run, torus, s);
            torus_format(torus_coord(torus, s), name);
            snprintf(text[n++], sizeof *text, "of=%s", name);
        }
    }
    if (run->to == TO_CALLER) {
        snprintf(text[n++], sizeof *text, "to=-");
    }
    for (cw_server s = 0; s < torus->servers && run->to < TO_EACH; s++) {
        if (run->writers >> s & 1) {
            char name[TORUS_TEXT];
            torus_format(torus_coord(torus, s), name);
            snprintf(text[n++], sizeof *text, "to=%s:out%u", name, run->number);
        }
    }
    if (run->to == TO_EACH || run->to == TO_ALL) {
        snprintf(text[n++], sizeof *text, "to=%s:out%u", run->to == TO_EACH ? "each" : "all", run->number);
    }
    snprintf(text[n++], sizeof *text, run->fed ? "from=feed:f%u" : "from=in%u", run->number);
    snprintf(text[n++], sizeof *text, "map=%s", kinds[run->kind].map);
    snprintf(text[n++], sizeof *text, "combine=%s", kinds[run->kind].combine);
    snprintf(text[n++], sizeof *text, "partitions=%u", run->partitions);
    snprintf(text[n++], sizeof *text, "path=%s", paths[run->path]);
    snprintf(text[n++], sizeof *text, "limit_ms=2000");
    if (run->copied) {
        snprintf(text[n++], sizeof *text, "copies=c%u-%%", run->number);
    }
    if (run->without) {
        snprintf(text[n++], sizeof *text, "without=1");
    }
    if (run->patron != NULL) {
        order_served(w, run, text, n);
        return;
    }
    words[0] = "run";
    for (int i = 0; i < n; i++) {
        words[i + 1] = text[i];
    }
    run->sink =
        (struct node_request_sink){&run->result, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(&run->result);
    run->started = world_command(w, run->desk, "aggregate", n + 1, words, &run->sink) == 0;
}

static void cancel(struct world *w, struct run *run)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    char number[16];
    const char *const words[] = {"cancel", number};
    run->cancel = (cw_time){0};
    if (run->patron != NULL) {
        (void)tell_patron(w, run, run->desk, "cancel");
        return;
    }
    if (run->started && !run->result.done) {
        snprintf(number, sizeof number, "%u", 1u); /* as long as this server has ordered nothing else */
        fake_result_init(&r);
        (void)world_command(w, run->desk, "aggregate", 2, words, &sink);
    }
}

/* Orders and cancels what is due, and lets programs go on. */
static void look_at_clock(struct world *w)
{
    feed_all(w);
    for (unsigned i = 0; i < run_count; i++) {
        struct run *run = &runs[i];
        if (!run->started && !run->result.done && run->result.rows == 0 && !cw_time_before(world_now(w), run->at)) {
            order(w, run);
            run->result.rows += run->result.rows == 0;
        }
        if (run->cancel.ns != 0 && !cw_time_before(world_now(w), run->cancel)) {
            cancel(w, run);
        }
    }
}

static int run_for(struct world *w, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end) && ledger->wrong[0] == '\0') {
        look_at_clock(w);
        if (world_run(w, cw_time_min(end, cw_time_add(world_now(w), CW_MS(2)))) != 0) {
            const struct world_violation *v = world_violation(w);
            WRONG("world", "%s", v != NULL ? v->text : "stopped");
        }
    }
    return ledger->wrong[0] != '\0';
}

/* A number of what `totals` says. */
static int64_t total(struct world *w, cw_server s, const char *name)
{
    static struct fake_result r;
    struct node_request_sink sink = {&r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    const char *const words[] = {"totals"};
    fake_result_init(&r);
    if (world_command(w, s, "aggregate", 1, words, &sink) != 0 || !r.done) {
        WRONG("command", "server %u does not answer", s);
        return 0;
    }
    return fake_int(&r, 0, name);
}

static void look_at_rest(struct world *w, cw_server s)
{
    static const char *const names[] = {"sorted_tasks", "sorted_vertices", "sorted_roots", "sorted_memory_bytes",
                                        "sorted_feeds"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t left = total(w, s, names[i]);
        if (left != 0) {
            WRONG("rest", "server %u still has %" PRId64 " %s", s, left, names[i]);
        }
    }
}

/* All is well: a run of all that live. True: it was right, or wrong in a way that was told. */
static bool try_last(struct world *w, unsigned turn)
{
    for (unsigned i = 0; i < 100 && world_agreeing(w) < world_running(w); i++) {
        if (run_for(w, CW_MS(100)) != 0) {
            return true;
        }
    }
    struct run *run = &runs[run_count];
    *run = (struct run){.seed = turn + 5, .number = run_count++, .keys = 700, .records = 900, .partitions = 10};
    run->at = world_now(w);
    run->cancel = CW_NEVER;
    run->kind = KIND_SUM;
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        if (world_state(w, s) == WORLD_RUNS) {
            run->members |= UINT64_C(1) << s;
            run->root = s;
            run->desk = turn % 2 == 0 ? s : run->desk;
        }
    }
    run->desk = run->root;
    run->to = turn % 2 == 0 ? TO_EACH : TO_ONE;
    run->writers = run->to == TO_EACH ? run->members : UINT64_C(1) << run->root;
    if (run->members == 0 || run_for(w, CW_SEC(4)) != 0) {
        return true;
    }
    return run->result.done && run->result.rc == 0;
}

static void last_words(struct world *w, bool ordinary)
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
    const struct run *run = &runs[run_count - 1];
    WRONG("alive", "all being well, the last run %s, with %d", run->result.done ? "ended" : "did not end",
          run->result.rc);
}

static const struct node_object *objects_of(void *context, cw_server s)
{
    (void)context;
    return objects[s];
}

static const char *option_of(void *context, const char *service, const char *name)
{
    bool share = *(const bool *)context; /* of one job: half, as when nothing is set; or all */
    if (strcmp(service, "aggregate") != 0 || (share && strcmp(name, "job_memory") == 0)) {
        return NULL;
    }
    return strcmp(name, "data") == 0                                        ? "/data"
           : strcmp(name, "spool") == 0                                     ? "/spool"
           : strcmp(name, "modules") == 0                                   ? "/modules"
           : strcmp(name, "memory") == 0 || strcmp(name, "job_memory") == 0 ? "256M"
                                                                            : NULL;
}

static void open_config(struct world_config *config, uint64_t seed)
{
    static const struct world_service services[] = {{.table = &multicast_service},
                                                    {.table = &aggregate_service},
                                                    {.table = &patron_service},
                                                    {.table = &greedy_service}};
    static const struct book_grant grants[] = {
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_STREAM, .all_processes = true},
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_STREAM_CALL, .all_processes = true},
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_EDGE, .all_processes = true},
        {.from = AGGREGATE_JOB, .to = AGGREGATE_JOB, .port = AGGREGATE_PORT_CALL, .all_processes = true},
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true},
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = 1, .all_processes = true},
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT_GROUPS, .all_processes = true}};
    draw_config(config, seed);
    config->services = services;
    config->service_count = sizeof services / sizeof *services;
    config->grants = grants;
    config->grant_count = sizeof grants / sizeof *grants;
    static bool share;
    share = is_greedy(seed);
    config->option = option_of;
    config->option_context = &share;
    config->objects = objects_of;
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        stream_disk_open(&disks[s]);
        objects[s][0] = (struct node_object){VECTORS_HOST_NAME, VECTORS_HOST_VERSION, &disks[s].results};
        objects[s][1] = (struct node_object){SPOOL_HOST_NAME, SPOOL_HOST_VERSION, &disks[s].spool};
        objects[s][2] = (struct node_object){MODULES_HOST_NAME, MODULES_HOST_VERSION, &disks[s].modules};
        disks[s].other_module = is_unlike(seed) && s == prng_mix(seed, 77) % SERVERS_MOST;
    }
}

static void run_world(uint64_t seed)
{
    struct world_config config;
    struct world *w;
    open_config(&config, seed);
    if (world_open(&w, &config) != 0) {
        WRONG("world", "it does not open");
        return;
    }
    ledger->unlike = is_unlike(seed);
    patron_forget();
    cw_time from = {CW_MS(50).ns}, to = {CW_MS(450).ns};
    struct fault_plan plan = {.count = 0};
    draw_runs(world_torus(w), seed, from, to);
    if (is_served(seed)) {
        draw_served(world_torus(w), seed, from, to);
    }
    if (is_deadly(seed)) {
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
    if (run_for(w, CW_MS(500)) == 0 && run_for(w, CW_SEC(5)) == 0) {
        leave_served(w);
        last_words(w, seed % 2 == 0);
    }
    for (unsigned i = 0; i < run_count && ledger->wrong[0] == '\0'; i++) {
        if (runs[i].patron != NULL) {
            judge_served(w, &runs[i], seed);
        } else {
            judge(&runs[i], world_torus(w), seed);
        }
    }
    for (cw_server s = 0; s < world_torus(w)->servers && ledger->wrong[0] == '\0'; s++) {
        if (world_state(w, s) == WORLD_RUNS) {
            look_at_rest(w, s);
        }
    }
    world_close(w);
    for (unsigned i = 0; i < run_count; i++) {
        for (cw_server s = 0; s < SERVERS_MOST && runs[i].program != NULL; s++) {
            end_program(&runs[i].program[s]);
        }
        free(runs[i].program);
    }
    fault_plan_free(&plan);
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        stream_disk_close(&disks[s]);
    }
}

/* ---- One death --------------------------------------------------------------------------------------------------- */

enum { ROOT = 13 /* 1,1,1 */, EACH = 4096 };

static int64_t deaths = 4; /* the run is cut into so many parts; a server dies after each of them but the last */
/* This one: 1,2,1, in the trees, and no member; or, where none is named, the one that all records come by as well. */
static int64_t dying = 16;
static const int64_t below_root = 22; /* 2,1,1 */

/* What a run of nine of 27 servers has moved over all edges, whose links are slow, when a server on the way dies. */
struct one_death {
    bool right;
    int64_t moved, kept, read, attempts;
    cw_span took;
};

static struct one_death run_with_death(cw_span dies, bool before)
{
    struct world_config config;
    struct world *w;
    struct one_death d = {.moved = 0};
    open_config(&config, 2);
    config.wire.bits_per_second = SLOW;
    if (world_open(&w, &config) != 0) {
        abort();
    }
    world_start_all(w, CW_MS(1));
    run_count = 0;
    (void)run_for(w, CW_MS(100));
    if (before) { /* it is dead from the beginning */
        world_kill(w, (cw_server)dying, false);
    }
    (void)run_for(w, CW_MS(200));
    runs[run_count++] = (struct run){.seed = 7,
                                     .kind = KIND_SUM,
                                     .keys = 100000,
                                     .records = 6000,
                                     .partitions = 1,
                                     .root = ROOT,
                                     .desk = ROOT,
                                     .path = 1,
                                     .cancel = CW_NEVER,
                                     .writers = UINT64_C(1) << ROOT,
                                     .at = world_now(w)};
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        cw_coord c = torus_coord(world_torus(w), s);
        runs[0].members |= (uint64_t)((c.x + c.y + c.z) % 3 == 0) << s;
    }
    cw_time from = world_now(w);
    (void)run_for(w, dies);
    bool kills = dies.ns > 0 && !runs[0].result.done;
    if (kills) {
        d.moved = total(w, (cw_server)dying, "sorted_moved_bytes");
        world_kill(w, (cw_server)dying, false);
    }
    while (!runs[0].result.done && run_for(w, CW_MS(2)) == 0) {
    }
    d.took = cw_time_since(world_now(w), from);
    (void)run_for(w, CW_MS(50));
    d.attempts = runs[0].result.rc == 0 ? fake_int(&runs[0].result, 0, "attempts") : 0;
    compare(&runs[0], runs[0].members, runs[0].writers);
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        d.moved += s == dying && (kills || before) ? 0 : total(w, s, "sorted_moved_bytes");
        d.kept += s == dying && (kills || before) ? 0 : total(w, s, "sorted_kept_bytes");
        d.read += s == dying && (kills || before) ? 0 : total(w, s, "sorted_read_bytes");
    }
    world_close(w);
    for (cw_server s = 0; s < SERVERS_MOST; s++) {
        stream_disk_close(&disks[s]);
    }
    return d;
}

/*
 * What is moved again after a death is what was in the windows of the edges, and not what had come to the root. The
 * rest goes by other ways, which may be longer: those of a run for which the server was dead from the beginning.
 */
static void look_at_death(const struct one_death *calm, const struct one_death *dead, int64_t i)
{
    int64_t most = (SERVERS_MOST - 1) * 8 * EACH; /* one partition, eight blocks of it above each server */
    struct one_death d = run_with_death(CW_NS(calm->took.ns / deaths * i), false);
    int64_t share = d.kept * 1000 / calm->read; /* of all records, per mille */
    int64_t once = calm->moved / 1000 * share + dead->moved / 1000 * (1000 - share), again = d.moved - once;
    printf("%" PRId64 " dies after %" PRId64 " of %" PRId64 ": %" PRId64 " attempts, %" PRId64
           " bytes had come; over all "
           "edges %" PRId64 " bytes, for %" PRId64 " with it and %" PRId64 " without; %" PRId64 " of them again\n",
           dying, i, deaths, d.attempts, d.kept, d.moved, calm->moved, dead->moved, again);
    if (d.attempts != 2 || (i > deaths / 4 && d.kept == 0)) {
        WRONG("again", "%" PRId64 " attempts, and %" PRId64 " bytes had come: nothing was tried", d.attempts, d.kept);
    } else if (again > most) {
        WRONG("again", "%" PRId64 " bytes were moved again, more than the windows have", again);
    }
}

static int after_a_death(void)
{
    struct one_death calm = run_with_death(CW_NS(0), false), dead = run_with_death(CW_NS(0), true);
    int64_t named = dying;
    for (int64_t i = SANITIZED ? deaths - 1 : 1; i < deaths && ledger->wrong[0] == '\0'; i++) {
        look_at_death(&calm, &dead, i);
    }
    if (named == 16 && !SANITIZED && ledger->wrong[0] == '\0') {
        dying = below_root;
        dead = run_with_death(CW_NS(0), true);
        look_at_death(&calm, &dead, deaths / 2);
        dying = named;
    }
    if (ledger->wrong[0] != '\0') {
        printf("%s\n", ledger->wrong);
        return 1;
    }
    return 0;
}

static unsigned long long succeeded, failed, again, fewer, stood_in, served, refused; /* by all seeds together */

static void add(void)
{
    succeeded += ledger->succeeded;
    failed += ledger->failed;
    again += ledger->again;
    fewer += ledger->fewer;
    stood_in += ledger->stood_in;
    served += ledger->served;
    refused += ledger->refused;
}

static void say(void)
{
    printf("%u runs, %u succeeded, %u failed; results after several attempts %u, without some %u; fed %u; "
           "with heirs %u, by own functions %u; of services %u, %u more than their share",
           ledger->ordered, ledger->succeeded, ledger->failed, ledger->again, ledger->fewer, ledger->fed,
           ledger->stood_in, ledger->own, ledger->served, ledger->refused);
}

int main(int argc, char **argv)
{
    static const struct seeds_option options[] = {
        {.name = "--deaths", .number = &deaths}, {.name = "--dying", .number = &dying}, {.name = NULL}};
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.count = SANITIZED ? 3 : 10,
                          .ledger = ledger,
                          .options = options,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run_world,
                          .add = add,
                          .say = say};
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    if (!seeds.named && after_a_death() != 0) {
        return 1;
    }
    int rc = seeds_run(&seeds);
    printf("%llu runs succeeded, %llu failed; %llu results after several attempts, %llu without some contributors, "
           "%llu with heirs; %llu of services, and %llu of those wanted more than their share\n",
           succeeded, failed, again, fewer, stood_in, served, refused);
    return rc;
}
