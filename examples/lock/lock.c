/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - locks by name, for all servers of a cluster: state that belongs to a key. The root of a lock's key grants
 * the lock; when the root dies, another server is the root, and knows nothing of what was granted.
 *
 *   take NAME   asks the root of NAME's key for the lock, or for more time when this server has it; refused: who asks
 *               may try again
 *   give NAME   gives it back
 *   use NAME    takes it, holds it for a moment, gives it back, and so on: for examples/lock/churn.txt
 *   holds       when this server has held which lock, a row for each time, and until when it holds what it has now
 *
 * A lock is held by one server at a time, whoever dies, comes back, is cut off or stops for a while. Three rules make
 * it so, and each is marked below. With the option `naive = yes` the service leaves them out: that is WRONG, and
 * examples/lock/churn.txt shows how soon.
 *
 * Rule 1: a grant ends by itself. The holder counts from the instant before it asked, the root from the instant at
 *         which it granted, and for a quarter longer: so the root never counts less than the holder, although the
 *         clocks of two servers do not run alike.
 * Rule 2: a root grants only when it has been the root, in the majority of servers and without a break, for as long as
 *         a grant lasts: then whatever another root has granted is over. Until then it refuses. (When the cluster is
 *         cut in two, a key has a root on each side.)
 * Rule 3: what is asked may arrive twice, late, or in another order. Each time a lock is taken has a number, and what
 *         is older than the number that the root knows does nothing.
 *
 * docs/writing-a-service.md goes through it.
 */
#include <cubeway/service.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOB = 4097,
    PORT_ASK = 1,
    TAKE = 1, /* what is asked */
    GIVE = 2,
    HEAD_BYTES = 9, /* what is asked, and the number; the name follows */
    NAME_BYTES = 48,
    LOCKS = 64,    /* that one root has granted at a time */
    HOLDS = 8,     /* that one server holds at a time */
    CHANGES = 64,  /* of the view, that are remembered */
    RECORDS = 512, /* of what was held */
    TRY_MS = 50,   /* one attempt to ask */
    RETRIES = 3,
    USE_MS = 60, /* how long `use` holds a lock */
};

/* What the root of a lock's key knows. */
struct grant {
    char name[NAME_BYTES]; /* "": free */
    cw_process holder;
    uint64_t number;
    cw_time until;
};

/* What a holder knows. */
struct hold {
    char name[NAME_BYTES]; /* "": free */
    uint64_t number;
    cw_time from, until;
};

struct lock {
    bool naive;
    cw_span term;  /* how long a grant lasts for its holder */
    cw_span grace; /* and for roots: a quarter longer */
    struct grant grant[LOCKS];
    struct hold hold[HOLDS];
    uint64_t numbers; /* the last number that this instance has given to a take */

    /* Which view was there at which time, the latest ones, as a ring. */
    struct {
        uint64_t epoch;
        cw_time at;
    } change[CHANGES];
    unsigned changes;
    /* Does this server serve keys at all, with a majority of servers, and since when? */
    bool serves;
    cw_time serves_since;

    struct hold record[RECORDS];
    unsigned records;
    char use[NAME_BYTES]; /* "": not asked to */
    cw_counter *grants, *refusals;
};

/* ---- The root: when to answer, and when to refuse ---------------------------------------------------------------- */

static void note_view(cw_svc *s, struct lock *l)
{
    /* A key at home here is this server's as soon as it may deliver any. */
    cw_key own = cw_key_at(s, cw_self(s), 0);
    bool serves = cw_is_root(s, &own) && cw_in_majority(s);
    if (serves && !l->serves) {
        l->serves_since = cw_now(s);
    }
    l->serves = serves;
    if (l->changes == 0 || l->change[(l->changes - 1) % CHANGES].epoch != cw_epoch(s)) {
        unsigned at = l->changes++ % CHANGES;
        l->change[at].epoch = cw_epoch(s);
        l->change[at].at = cw_now(s);
    }
}

/* Rule 2. Has this server been the key's root since a grace ago, without a break? */
static bool settled(cw_svc *s, const struct lock *l, const cw_key *key)
{
    cw_time then = {cw_now(s).ns - l->grace.ns};
    if (!l->serves || cw_time_before(then, l->serves_since) || !cw_is_root(s, key)) {
        return false;
    }
    for (unsigned i = 0; i < CHANGES && i < l->changes; i++) {
        unsigned at = (l->changes - 1 - i) % CHANGES;
        if (!cw_time_before(then, l->change[at].at)) {
            return cw_key_steady(s, key, l->change[at].epoch); /* the view of that time */
        }
    }
    return false; /* too much has changed since, or the service is too young */
}

/* The grant of that name, or room for one; NULL: neither. */
static struct grant *find_grant(cw_svc *s, struct lock *l, const char *name)
{
    struct grant *room = NULL;
    for (unsigned i = 0; i < LOCKS; i++) {
        struct grant *g = &l->grant[i];
        if (strcmp(g->name, name) == 0) {
            return g;
        }
        if (g->name[0] == '\0' || cw_time_due(g->until, cw_now(s))) {
            room = g;
        }
    }
    return room;
}

static int decide(cw_svc *s, struct lock *l, int what, const char *name, uint64_t number, cw_process who)
{
    cw_key key = cw_key_of(s, name, strlen(name));
    struct grant *g = find_grant(s, l, name);
    if (!l->naive && !settled(s, l, &key)) {
        return -EAGAIN;
    }
    if (g == NULL) {
        return -ENOSPC;
    }
    bool held = strcmp(g->name, name) == 0 && !cw_time_due(g->until, cw_now(s));
    bool ours = held && g->holder == who;
    if (ours && !l->naive && number < g->number) {
        return -ESTALE; /* rule 3: it was asked before what the root knows, and came later */
    }
    if (what == GIVE) {
        if (ours) {
            g->name[0] = '\0';
        }
        return 0;
    }
    if (held && !ours) {
        return -EBUSY;
    }
    *g = (struct grant){.holder = who, .number = number};
    g->until = l->naive ? CW_NEVER : cw_time_add(cw_now(s), l->grace); /* rule 1 */
    memcpy(g->name, name, NAME_BYTES);
    return 0;
}

static uint64_t number_of(const uint8_t *bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

static cw_verdict lock_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct lock *l = state;
    char name[NAME_BYTES] = "";
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    if (rx->call == 0 || length <= HEAD_BYTES || length - HEAD_BYTES >= NAME_BYTES || rx->src_job != JOB) {
        return CW_DROP;
    }
    memcpy(name, data + HEAD_BYTES, length - HEAD_BYTES);
    int rc = decide(s, l, data[0], name, number_of(data + 1), rx->src_process);
    if (data[0] == TAKE) {
        cw_counter_add(rc == 0 ? l->grants : l->refusals, 1);
    }
    cw_reply(s, rx->call, rc, NULL);
    return CW_FORWARD; /* it has arrived: the runtime disposes of it */
}

static void lock_event(cw_svc *s, void *state, const cw_event *ev)
{
    struct lock *l = state;
    note_view(s, l);
    for (unsigned i = 0; l->naive && ev->kind == CW_EVENT_SERVER_DOWN && i < LOCKS; i++) {
        if (l->grant[i].holder == cw_server_id(s, ev->server)) {
            l->grant[i].name[0] = '\0'; /* WRONG: who is out of this server's view may live, and hold the lock */
        }
    }
}

/* ---- The holder -------------------------------------------------------------------------------------------------- */

/* One question that is under way. */
struct asking {
    char name[NAME_BYTES];
    uint64_t number;
    cw_time asked;
    cw_request *request; /* NULL: asked by `use` */
};

static struct hold *find_hold(struct lock *l, const char *name)
{
    for (unsigned i = 0; i < HOLDS; i++) {
        if (strcmp(l->hold[i].name, name) == 0) {
            return &l->hold[i];
        }
    }
    return NULL;
}

/* The lock is held no more from now on, or has not been for a while. */
static void end_hold(cw_svc *s, struct lock *l, struct hold *h)
{
    struct hold *record = &l->record[l->records++ % RECORDS];
    *record = *h;
    record->until = cw_time_min(h->until, cw_now(s));
    h->name[0] = '\0';
}

static void look_at_time(cw_svc *s, struct lock *l)
{
    for (unsigned i = 0; i < HOLDS; i++) {
        if (l->hold[i].name[0] != '\0' && cw_time_due(l->hold[i].until, cw_now(s))) {
            end_hold(s, l, &l->hold[i]);
        }
    }
}

static int ask(cw_svc *s, struct lock *l, int what, const char *name, uint64_t number, cw_request *r);

/* It is granted: held from now on, until the term is over that began before the question was sent (rule 1). */
static int begin_hold(cw_svc *s, struct lock *l, const struct asking *a)
{
    cw_time until = l->naive ? CW_NEVER : cw_time_add(a->asked, l->term);
    struct hold *h = find_hold(l, a->name);
    h = h != NULL ? h : find_hold(l, "");
    if (h == NULL || cw_time_due(until, cw_now(s))) {
        (void)ask(s, l, GIVE, a->name, a->number, NULL);
        return h == NULL ? -ENOSPC : -ETIMEDOUT;
    }
    cw_time from = h->name[0] != '\0' ? h->from : cw_now(s);
    *h = (struct hold){.number = a->number, .from = from, .until = until};
    memcpy(h->name, a->name, NAME_BYTES);
    return 0;
}

static void turn(cw_svc *s, void *state, void *arg);

static void taken(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    struct lock *l = state;
    struct asking *a = arg;
    (void)reply, (void)rx;
    int rc = status == 0 ? begin_hold(s, l, a) : status;
    if (a->request != NULL) {
        if (rc == -EBUSY || rc == -EAGAIN) {
            cw_request_text(a->request, "error",
                            rc == -EBUSY ? "another server holds it"
                                         : "its root is new, and does not know yet what was granted: try again");
        }
        cw_request_done(a->request, rc);
    } else if (status != -ECANCELED) {
        cw_span pause = rc == 0 ? CW_MS(USE_MS) : CW_US(1000 + cw_random_below(s, 9000));
        (void)cw_timer_start(s, pause, turn, NULL);
    }
    free(a);
}

static void given(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    struct asking *a = arg;
    (void)s, (void)state, (void)reply, (void)rx;
    if (a->request != NULL) {
        cw_request_done(a->request, status);
    }
    free(a); /* what did not reach the root ends by itself: rule 1 */
}

/* 1: taken() or given() follows. */
static int ask(cw_svc *s, struct lock *l, int what, const char *name, uint64_t number, cw_request *r)
{
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(TRY_MS), .retries = RETRIES};
    size_t length = strlen(name);
    struct asking *a = calloc(1, sizeof *a);
    cw_packet *p = cw_packet_new(s, HEAD_BYTES + length);
    cw_to to = {.kind = CW_TO_KEY, .job = JOB, .port = PORT_ASK, .key = cw_key_of(s, name, length)};
    (void)l;
    int64_t call = -ENOMEM;
    if (a != NULL && p != NULL) {
        *a = (struct asking){.number = number, .asked = cw_now(s), .request = r};
        memcpy(a->name, name, length);
        uint8_t *data = cw_packet_data(p, NULL);
        data[0] = (uint8_t)what;
        for (int i = 0; i < 8; i++) {
            data[1 + i] = (uint8_t)(number >> (56 - 8 * i));
        }
        memcpy(data + HEAD_BYTES, name, length);
        call = cw_call(s, p, &to, &options, what == TAKE ? taken : given, a);
    }
    if (call < 0) {
        cw_packet_free(s, p);
        free(a);
        return (int)call;
    }
    return 1;
}

/* Numbers grow from one take to the next, in the next life of this server too: time goes on. */
static uint64_t next_number(cw_svc *s, struct lock *l)
{
    uint64_t now = (uint64_t)cw_now(s).ns;
    l->numbers = now > l->numbers ? now : l->numbers + 1;
    return l->numbers;
}

static int take(cw_svc *s, struct lock *l, const char *name, cw_request *r)
{
    return ask(s, l, TAKE, name, next_number(s, l), r);
}

static int give(cw_svc *s, struct lock *l, const char *name, cw_request *r)
{
    struct hold *h = find_hold(l, name);
    if (h == NULL) {
        return -ENOENT;
    }
    uint64_t number = h->number;
    end_hold(s, l, h); /* before anybody is told: from now on another server may have it */
    return ask(s, l, GIVE, name, number, r);
}

/* `use`: gives back what it holds, or takes it. */
static void turn(cw_svc *s, void *state, void *arg)
{
    struct lock *l = state;
    (void)arg;
    look_at_time(s, l);
    bool again = true;
    if (find_hold(l, l->use) != NULL) {
        (void)give(s, l, l->use, NULL);
    } else {
        again = take(s, l, l->use, NULL) < 0;
    }
    if (again) {
        (void)cw_timer_start(s, CW_US(1000 + cw_random_below(s, 9000)), turn, NULL);
    }
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void tell_hold(cw_request *r, const struct hold *h, unsigned *rows)
{
    if ((*rows)++ > 0) {
        cw_request_row(r);
    }
    cw_request_text(r, "lock", h->name);
    cw_request_int(r, "from_us", h->from.ns / 1000);
    cw_request_int(r, "until_us", h->until.ns / 1000);
}

static int holds(cw_svc *s, struct lock *l, cw_request *r)
{
    unsigned rows = 0;
    look_at_time(s, l);
    for (unsigned i = l->records > RECORDS ? l->records - RECORDS : 0; i < l->records; i++) {
        tell_hold(r, &l->record[i % RECORDS], &rows);
    }
    for (unsigned i = 0; i < HOLDS; i++) {
        if (l->hold[i].name[0] != '\0') {
            tell_hold(r, &l->hold[i], &rows);
        }
    }
    return 0;
}

static int lock_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct lock *l = state;
    look_at_time(s, l);
    if (argc == 1 && strcmp(argv[0], "holds") == 0) {
        return holds(s, l, r);
    }
    if (argc != 2 || argv[1][0] == '\0' || strlen(argv[1]) >= NAME_BYTES) {
        cw_request_text(r, "error", "commands are take NAME, give NAME, use NAME, holds; a name has 1 to 47 bytes");
        return -EINVAL;
    }
    if (strcmp(argv[0], "take") == 0) {
        return take(s, l, argv[1], r);
    }
    if (strcmp(argv[0], "give") == 0) {
        int rc = give(s, l, argv[1], r);
        if (rc == -ENOENT) {
            cw_request_text(r, "error", "this server does not hold it, or not any more");
        }
        return rc;
    }
    if (strcmp(argv[0], "use") == 0) {
        bool runs = l->use[0] != '\0';
        memcpy(l->use, argv[1], strlen(argv[1]) + 1);
        return runs || cw_timer_start(s, CW_NS(0), turn, NULL) != NULL ? 0 : -ENOMEM;
    }
    cw_request_text(r, "error", "commands are take NAME, give NAME, use NAME, holds");
    return -EINVAL;
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static int lock_open(cw_svc *s, void *state)
{
    struct lock *l = state;
    unsigned term = 100;
    char end;
    const char *text = cw_option(s, "term_ms"), *naive = cw_option(s, "naive");
    if (text != NULL && (sscanf(text, "%u%c", &term, &end) != 1 || term < 10 || term > 60000)) {
        cw_log(s, CW_LOG_ERROR, "option term_ms, how long a lock is granted for, is a whole number from 10 to 60000");
        return -EINVAL;
    }
    if (naive != NULL && strcmp(naive, "yes") != 0 && strcmp(naive, "no") != 0) {
        cw_log(s, CW_LOG_ERROR, "option naive is yes (and then wrong) or no");
        return -EINVAL;
    }
    l->naive = naive != NULL && naive[0] == 'y';
    l->term = CW_MS(term);
    l->grace = cw_span_add(l->term, CW_NS(l->term.ns / 4));
    l->grants = cw_counter_new(s, "grants", "Locks granted here, as the root of their keys.");
    l->refusals = cw_counter_new(s, "refusals", "Requests for locks refused here.");
    note_view(s, l);
    return 0;
}

static const cw_command commands[] = {
    {"take", "NAME", "take the lock, or extend the time for which this server has it"},
    {"give", "NAME", "give the lock back"},
    {"use", "NAME", "take it, hold it for a moment, give it back, and so on"},
    {"holds", "", "when this server has held which lock"},
    {NULL, NULL, NULL},
};

static const cw_service lock = {
    CW_SERVICE_INIT,
    .name = "lock",
    .version = "1.0",
    .job = JOB,
    .state_size = sizeof(struct lock),
    .open = lock_open,
    .on_packet = lock_packet,
    .on_event = lock_event,
    .on_command = lock_command,
    .commands = commands,
};

const cw_service *cw_service_entry(void)
{
    return &lock;
}
