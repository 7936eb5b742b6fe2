/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lead.c - a run at the server where it was ordered: its lead. When all inputs are ready, it orders each root to
 * collect its partitions, of the contributors that are there: a round. When all roots hold their parts of the result,
 * these get their names. When somebody is lost on the way, and the run may go on without, all begin again: the next
 * round has the same contributors at all roots, and nothing of the one before.
 */
#include "services/aggregate/stream/lead.h"
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An order or a name that is asked for. */
struct asked {
    struct stream *st;
    struct run_name run;
    uint32_t round;
    cw_server server;
};

struct lead *lead_of_run(struct stream *st, const struct run_name *run)
{
    for (struct list_node *n = list_first(&st->leads); n != NULL; n = list_next(&st->leads, n)) {
        struct lead *l = (struct lead *)(void *)n;
        if (run_name_equal(&l->run, run)) {
            return l;
        }
    }
    return NULL;
}

struct lead *lead_of_number(const struct stream *st, uint32_t number)
{
    for (struct list_node *n = list_first(&st->leads); n != NULL; n = list_next(&st->leads, n)) {
        struct lead *l = (struct lead *)(void *)n;
        if (l->number == number) {
            return l;
        }
    }
    return NULL;
}

unsigned lead_count_of(const struct stream *st, cw_job job)
{
    unsigned n = 0;
    for (const struct list_node *i = list_first(&st->leads); i != NULL; i = list_next(&st->leads, i)) {
        const struct lead *l = (const struct lead *)(const void *)i;
        n += l->wish.job == job && !l->over;
    }
    return n;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

struct lead *lead_make(struct stream *st)
{
    enum { SETS = 6 };
    size_t words = stream_words(st);
    struct lead *l = calloc(1, sizeof *l);
    uint64_t *sets = calloc(SETS * words, sizeof *sets);
    int64_t *asked = calloc(st->torus.servers, sizeof *asked);
    int *why = calloc(st->torus.servers, sizeof *why);
    uint64_t *records = calloc(st->torus.servers, sizeof *records), *digest = calloc(st->torus.servers, sizeof *digest);
    cw_server *by = calloc(st->torus.servers, sizeof *by);
    struct lead_part *part = calloc(st->torus.servers, sizeof *part);
    bool all = asked != NULL && why != NULL && records != NULL && digest != NULL && by != NULL && part != NULL;
    if (l == NULL || sets == NULL || !all) {
        free(l);
        free(sets);
        free(asked);
        free(why);
        free(records);
        free(digest);
        free(by);
        free(part);
        return NULL;
    }
    l->st = st;
    l->members = sets;
    l->counted = sets + words;
    l->writers = sets + 2 * words;
    l->bare = sets + 3 * words;
    l->silent = sets + 4 * words;
    l->gone = sets + 5 * words;
    l->asked = asked;
    l->why = why;
    l->records = records;
    l->digest = digest;
    l->by = by;
    for (cw_server s = 0; s < st->torus.servers; s++) {
        by[s] = s;
    }
    l->part = part;
    l->who = l->unlike = CW_SERVER_NONE;
    return l;
}

void lead_free(struct lead *l)
{
    if (list_is_linked(&l->link)) {
        list_remove(&l->link);
        l->st->lead_count--;
    }
    free(l->members); /* and the sets behind it */
    free(l->asked);
    free(l->why);
    free(l->records);
    free(l->digest);
    free(l->by);
    free(l->part);
    free(l->keys);
    free(l);
}

void lead_begin(struct stream *st, struct lead *l)
{
    l->run = (struct run_name){st->self, st->life, ++st->numbers};
    memcpy(l->counted, l->members, stream_words(st) * sizeof *l->counted);
    list_push_back(&st->leads, &l->link);
    st->lead_count++;
    l->began = l->moved = cw_now(st->s);
    l->state = LEAD_PREPARES;
    muster_begin(l);
    stream_soon(st);
    stream_wake(st);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Everybody forgets the run, or its rounds up to this one. Who does not hear of it asks, and is told so. */
static void tell_all(struct lead *l, uint32_t round)
{
    struct stream *st = l->st;
    const struct letter end = {.kind = LETTER_END, .run = l->run, .attempt = round};
    uint64_t heirs[MESSAGE_SET_WORDS];
    heir_set(l, heirs);
    for (cw_server s = 0; s < st->torus.servers; s++) {
        bool tasks = trees_set_has(l->members, s) || trees_set_has(heirs, s);
        bool knows = trees_set_has(l->writers, s) || (round == 0 && tasks);
        if (s != st->self && knows && stream_sees(st, s)) {
            (void)stream_say(st, s, &end);
        }
    }
    stream_forget(st, &l->run, round, false);
}

static void drop_orders(struct lead *l)
{
    for (unsigned i = 0; i < l->parts; i++) {
        int64_t id = l->part[i].request;
        l->part[i].request = 0;
        if (id > 0) {
            (void)transport_cancel(l->st->call, id);
        }
    }
}

static void end(struct lead *l)
{
    muster_forget(l);
    drop_orders(l);
    tell_all(l, 0);
    asker_conclude(l);
    lead_free(l);
}

void lead_fail(struct lead *l, int status, cw_server who, bool at_root)
{
    if (!l->over) {
        l->over = true;
        l->status = status;
        l->who = who;
        l->at_root = at_root;
    }
    stream_soon(l->st);
}

void lead_cancel(struct lead *l)
{
    l->cancelled = true;
    if (l->state != LEAD_NAMES) { /* names may have been given */
        lead_fail(l, -ECANCELED, CW_SERVER_NONE, false);
    }
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void named(struct lead *l, cw_server server, int status)
{
    l->asked[server] = 0;
    l->awaited--;
    trees_set_remove(l->silent, server);
    if (status < 0) {
        trees_set_add(l->bare, server);
        l->status = status;
        l->who = server;
    }
    stream_soon(l->st);
}

static void heard_name(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                       const struct transport_message *m)
{
    struct stream *st = context;
    struct asked a = *(struct asked *)arg;
    (void)bytes;
    (void)size;
    (void)m;
    free(arg);
    struct lead *l = st->closing ? NULL : lead_of_run(st, &a.run);
    if (l != NULL && l->asked[a.server] != 0) {
        named(l, a.server, status);
    }
}

static int64_t ask(struct lead *l, const struct letter *letter, cw_server server, transport_answer_fn heard)
{
    struct asked *a = malloc(sizeof *a);
    if (a == NULL) {
        return -ENOMEM;
    }
    *a = (struct asked){l->st, l->run, l->round, server};
    int64_t id = stream_ask(l->st, server, letter, heard, a);
    if (id < 0) {
        free(a);
    }
    return id;
}

static void name(struct lead *l, cw_server server)
{
    struct letter commit = {.kind = LETTER_COMMIT, .run = l->run, .attempt = l->round};
    commit.servers = l->st->torus.servers;
    memcpy(commit.members, l->writers, stream_words(l->st) * sizeof *commit.members);
    trees_set_add(l->silent, server);
    l->awaited++;
    int64_t id = ask(l, &commit, server, heard_name);
    if (id < 0) {
        named(l, server, (int)id);
    } else {
        l->asked[server] = id;
    }
}

void lead_pass_commit(struct stream *st, const struct letter *commit)
{
    cw_server n = st->torus.servers;
    unsigned told = 0;
    for (cw_server i = 1; i < n && told < STREAM_TELLS && commit->run.root != st->self && !STREAM_MUTANT(COMMIT_ENDS);
         i++) {
        cw_server next = (st->self + i) % n;
        if (trees_set_has(commit->members, next) && next != commit->run.root && stream_sees(st, next)) {
            told += stream_say(st, next, commit) == 0; /* if the lead lives, it asks that one itself */
        }
    }
}

/* All parts are held, and so the result is whole (aggregate rule 28). */
static void name_all(struct lead *l)
{
    struct stream *st = l->st;
    if (l->to == LEAD_TO_CALLER) {
        l->state = LEAD_GIVES;
        l->moved = cw_now(st->s);
        asker_conclude(l);
        return;
    }
    l->state = LEAD_NAMES;
    l->awaited = 0;
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (trees_set_has(l->writers, s)) {
            name(l, s);
        }
    }
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

static void begin_round(struct lead *l);

/* A server is gone. True: the run goes on without. */
static bool lose(struct lead *l, int status, cw_server server, bool at_root)
{
    cw_server whose;
    bool writing, tolerant = (l->wish.flags & LETTER_WITHOUT) != 0 || l->copies[0] != '\0';
    if (!heir_lose(l, server, &whose, &writing)) {
        lead_fail(l, status, whose, tolerant ? writing : at_root);
        return false;
    }
    if (stream_first(l->st, l->counted) == CW_SERVER_NONE) {
        lead_fail(l, status, server, writing);
        return false;
    }
    return true;
}

/* The same while roots collect: all of them begin again (aggregate rule 25). */
static void lose_in_round(struct lead *l, int status, cw_server server, bool at_root, uint32_t attempts)
{
    if (!lose(l, status, server, at_root)) {
        return;
    }
    drop_orders(l);
    if (!STREAM_MUTANT(KEPT)) {
        tell_all(l, l->round);
    }
    l->attempts += attempts > 0 ? attempts : 1;
    l->state = LEAD_PREPARES; /* the next round begins when all heirs are ready; there may be none */
    stream_soon(l->st);
}

static struct lead_part *part_of(struct lead *l, cw_server root)
{
    for (unsigned i = 0; i < l->parts; i++) {
        if (l->part[i].root == root) {
            return &l->part[i];
        }
    }
    return NULL;
}

static void order_more(struct lead *l);

static void held(struct lead *l, struct lead_part *p, const struct letter *answer)
{
    p->state = LEAD_PART_HELD;
    p->attempts = answer->attempts;
    p->keys = answer->keys;
    p->bytes = answer->bytes;
    unsigned have = 0;
    for (unsigned i = 0; i < l->parts; i++) {
        have += l->part[i].state == LEAD_PART_HELD;
    }
    if (STREAM_MUTANT(NAMED_EARLY) && have < l->parts) {
        name(l, p->root);
    }
    if (have == l->parts) {
        name_all(l);
    } else {
        order_more(l);
    }
}

static void heard_order(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                        const struct transport_message *m)
{
    struct stream *st = context;
    struct asked a = *(struct asked *)arg;
    struct letter answer;
    free(arg);
    struct lead *l = st->closing ? NULL : lead_of_run(st, &a.run);
    struct lead_part *p = l != NULL && l->round == a.round && !l->over ? part_of(l, a.server) : NULL;
    if (p == NULL || p->request == 0) {
        return;
    }
    bool whole = size > 0 && letter_decode(bytes, (size_t)size, &answer) == 0 && answer.kind == LETTER_ORDERED;
    p->request = 0;
    if (status == 0 && whole) {
        held(l, p, &answer);
    } else if (whole && answer.who < st->torus.servers && (status == -ECONNRESET || status == -ENETUNREACH)) {
        lose_in_round(l, status, answer.who, answer.who == a.server, answer.attempts);
    } else if (whole) {
        l->limit = answer.limit;
        lead_fail(l, status, answer.who, answer.limit > 0 && answer.who == a.server);
    } else if (m == NULL && muster_is_gone(status)) {
        lose_in_round(l, status, a.server, true, 1);
    } else {
        lead_fail(l, status == 0 ? -EPROTO : status, a.server, true);
    }
}

static void order(struct lead *l, struct lead_part *p)
{
    struct stream *st = l->st;
    size_t bytes = stream_words(st) * sizeof *l->counted;
    struct letter letter = {.kind = LETTER_ORDER, .run = l->run, .attempt = l->round, .wish = l->wish};
    letter.first = p->first;
    letter.count = p->count;
    letter.bytes = l->bytes;
    letter.wish.flags |= l->way == LETTER_PAST ? LETTER_DIRECT : l->way == LETTER_SHORT ? LETTER_SHORTEST : 0;
    letter.servers = st->torus.servers;
    heir_set(l, letter.members);
    if (l->to == LEAD_TO_ALL) {
        memcpy(letter.others, l->writers, bytes);
        trees_set_remove(letter.others, p->root);
    }
    p->state = LEAD_PART_COLLECTS;
    p->request = ask(l, &letter, p->root, heard_order);
    if (p->request < 0) {
        int rc = (int)p->request;
        p->request = 0;
        if (muster_is_gone(rc)) {
            lose_in_round(l, rc, p->root, true, 1);
        } else {
            lead_fail(l, rc, p->root, true);
        }
    }
}

/* Roots collect one after the other, a few at a time: each has room of its own at every server. */
static void order_more(struct lead *l)
{
    unsigned collecting = 0, most = l->way == LETTER_PAST ? STREAM_ROOTS_DIRECT : STREAM_ROOTS;
    for (unsigned i = 0; i < l->parts; i++) {
        collecting += l->part[i].state == LEAD_PART_COLLECTS;
    }
    /* A root that is gone ends the round from within. */
    for (unsigned i = 0; i < l->parts && collecting < most && !l->over && l->state == LEAD_COLLECTS; i++) {
        if (l->part[i].state == LEAD_PART_WAITS) {
            order(l, &l->part[i]);
            collecting++;
        }
    }
}

static void begin_round(struct lead *l)
{
    struct stream *st = l->st;
    cw_server own = trees_set_has(l->writers, st->self) ? st->self : stream_first(st, l->writers);
    bool kept = STREAM_MUTANT(KEPT) && l->round > 0;
    l->state = LEAD_COLLECTS;
    l->round++;
    l->parts = kept ? l->parts : 0;
    if (l->to == LEAD_TO_ALL || l->to == LEAD_TO_CALLER) {
        l->part[l->parts++] = (struct lead_part){.root = l->to == LEAD_TO_ALL ? own : st->self};
    }
    for (cw_server s = 0; s < st->torus.servers && (l->to == LEAD_TO_SERVERS || l->to == LEAD_TO_EACH) && !kept; s++) {
        if (trees_set_has(l->writers, s)) {
            l->part[l->parts++] = (struct lead_part){.root = s};
        }
    }
    for (unsigned i = 0; i < l->parts; i++) {
        uint32_t from = (uint32_t)((uint64_t)i * l->wish.partitions / l->parts);
        uint32_t to = (uint32_t)((uint64_t)(i + 1) * l->wish.partitions / l->parts);
        l->part[i].first = from;
        l->part[i].count = to - from;
        if (kept && l->part[i].state != LEAD_PART_HELD) {
            l->part[i].state = LEAD_PART_WAITS;
        }
    }
    order_more(l);
}

int lead_collected(struct stream *st, const struct letter *letter, cw_server root)
{
    struct lead *l = lead_of_run(st, &letter->run);
    struct lead_part *p = l != NULL && l->round == letter->attempt && !l->over ? part_of(l, root) : NULL;
    if (p == NULL) {
        return -ESTALE;
    }
    if (l->state == LEAD_COLLECTS && p->state == LEAD_PART_COLLECTS) {
        p->state = LEAD_PART_WRITES;
        order_more(l);
    }
    return 0;
}

/* ---- What happens ------------------------------------------------------------------------------------------------ */

void lead_down(struct lead *l, cw_server server)
{
    if (l->over) {
        return;
    }
    if (l->state == LEAD_PREPARES) {
        muster_down(l, server);
        return;
    }
    /* Who collects still, or is to name its part, has an answer to give: that ends. */
    const struct lead_part *p = l->state == LEAD_COLLECTS ? part_of(l, server) : NULL;
    if (p != NULL && p->request == 0) { /* it holds its part, or its turn has not come */
        lose_in_round(l, -ECONNRESET, server, true, p->attempts);
    }
}

/* How many servers are to have a part of the result. */
static unsigned roots_of(const struct lead *l)
{
    return l->to == LEAD_TO_SERVERS || l->to == LEAD_TO_EACH ? stream_count_of(l->st, l->writers) : 1;
}

/* By which way records go: once, for all rounds. */
static void choose_path(struct lead *l)
{
    struct stream *st = l->st;
    if (l->round > 0) {
        return;
    }
    static const enum letter_way ways[] = {LETTER_TREES, LETTER_TREES, LETTER_PAST, LETTER_SHORT};
    l->way = ways[l->path];
    if (l->keys == NULL || (st->trees == NULL && trees_open(&st->trees, &st->torus) < 0)) {
        return;
    }
    const struct path_question q = {.torus = &st->torus,
                                    .depths = trees_extent(st->trees),
                                    .members = stream_count_of(st, l->counted),
                                    .roots = roots_of(l),
                                    .keys = summary_distinct_count(l->keys),
                                    .keys_of_each = l->keys_of_each};
    l->way = path_choose(&q);
}

/* All inputs are ready, or cannot be. */
static void all_prepared(struct lead *l)
{
    struct stream *st = l->st;
    if (l->refusals > 0) {
        lead_fail(l, l->refusal[0].status, l->refusal[0].server, false);
    } else if (stream_first(st, l->counted) == CW_SERVER_NONE) {
        cw_server s = stream_first(st, l->members);
        lead_fail(l, l->why[s] < 0 ? l->why[s] : -ENETUNREACH, s, false);
    } else {
        choose_path(l);
        begin_round(l);
    }
}

/* Everybody who has the result has given it its name, or cannot. */
static void all_named(struct lead *l)
{
    bool some = false;
    for (size_t i = 0; i < stream_words(l->st); i++) {
        some = some || (l->writers[i] & ~l->bare[i]) != 0;
    }
    l->over = true;
    l->at_root = !some;
    l->status = some ? 0 : l->status;
}

void lead_tick(struct lead *l)
{
    struct stream *st = l->st;
    if (!l->over && l->state == LEAD_PREPARES && l->awaited == 0) {
        all_prepared(l);
    }
    if (!l->over && l->state == LEAD_NAMES && l->awaited == 0) {
        all_named(l);
    }
    if (!l->over && l->state == LEAD_GIVES &&
        cw_time_due(cw_time_add(l->moved, CW_MS((int64_t)l->wish.limit_ms)), cw_now(st->s))) {
        lead_fail(l, -ETIMEDOUT, CW_SERVER_NONE, false); /* nobody has fetched the result */
    }
    if (l->over) {
        end(l);
    }
}

void lead_close(struct stream *st)
{
    while (!list_is_empty(&st->leads)) {
        struct lead *l = (struct lead *)(void *)list_first(&st->leads);
        cw_request_done(l->taker, -ECANCELED);
        cw_request_done(l->request, -ECANCELED);
        lead_free(l);
    }
}
