/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/membership.h"

#include "base/bytes.h"
#include "base/check.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/group/mutant.h"
#include "services/reply/metrics.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Epochs of the map of keys are sampled at most once in sample_apart; SAMPLES of them reach back past GROUP_SETTLE. */
enum { SAMPLES = 16 };
static const cw_span sample_apart = CW_MS(20);
/* A call to a root is repeated when it was not answered for so long. */
static const cw_span call_lasts = CW_MS(20);
/* The pause before a question that was answered "not yet" is repeated. */
static const cw_span ask_again = CW_MS(10);
/* The time between two looks for memberships that have expired. */
static const cw_span sweep_every = CW_MS(500);

enum { COUNT_ANNOUNCED, COUNT_ACKNOWLEDGED, COUNT_STALE, COUNT_REFUSED, COUNT_UNSETTLED, COUNTS };
static const struct metric metrics[COUNTS] = {
    [COUNT_ANNOUNCED] = {"group_announced", "Announcements of memberships sent to the roots of groups."},
    [COUNT_ACKNOWLEDGED] = {"group_acknowledged", "Announcements of memberships recorded here as the root of a group."},
    [COUNT_STALE] = {"group_stale", "Announcements of memberships that arrived after a newer one."},
    [COUNT_REFUSED] = {"group_refused", "Announcements of memberships for which there was no room."},
    [COUNT_UNSETTLED] = {"group_unsettled", "Questions for members that came too soon after a change of the root."},
};

/* The epoch of the map of keys at an instant. */
struct sample {
    cw_time at;
    uint64_t epoch;
};

struct question {
    struct question *next;
    struct membership *g;
    struct group_name name;
    cw_key key;
    cw_time until, due;
    bool asking; /* a call is out; its arg is this */
    bool over;
    membership_answer_fn done;
    void *arg;
};

struct membership {
    cw_svc *s;
    struct torus torus;
    uint64_t life;
    struct group_table table;
    struct announcer announcer;
    struct question *questions;
    unsigned question_count, calls;
    /* The newest is at [samples - 1]; each is at least sample_apart later than the one before it. */
    struct sample sample[SAMPLES];
    unsigned samples;
    cw_time came; /* the last server that came into view; at first, this one */
    cw_time sweep;
    cw_timer *timer;
    cw_counter *count[COUNTS];
};

/* An announcement on its way. */
struct announcement {
    struct membership *g;
    struct announced *m;
};

static void work(struct membership *g);

bool membership_audit(const struct membership *g)
{
    unsigned questions = 0, calls = 0;
    for (const struct question *q = g->questions; q != NULL; q = q->next) {
        questions++;
    }
    for (unsigned i = 0; i < g->announcer.count; i++) {
        const struct announced *a = g->announcer.group[i];
        calls += a->announcing;
        CHECK_RULE(a->serial <= g->announcer.serials, "groups G2: a serial was given out", "an announced group");
        CHECK_RULE(!a->acked || a->serial != 0, "groups G2: what is acknowledged was wanted", "an announced group");
    }
    CHECK_RULE(questions == g->question_count && questions <= GROUPS_QUESTIONS_MOST,
               "groups G2: the questions under way are counted right", "this server");
    CHECK_RULE(calls == g->calls && calls <= GROUPS_CALLS_MOST, "groups G2: a group has at most one call under way",
               "this server");
    CHECK_RULE(g->announcer.count <= GROUPS_HERE_MOST, "groups G2: the groups of this server are bounded",
               "this server");
    return group_table_audit(&g->table);
}

/* ---- Since when a key has its root ------------------------------------------------------------------------------- */

static void take_sample(struct membership *g)
{
    cw_time now = cw_now(g->s);
    if (g->samples > 0 && cw_time_since(now, g->sample[g->samples - 1].at).ns < sample_apart.ns) {
        return;
    }
    if (g->samples == SAMPLES) {
        memmove(g->sample, g->sample + 1, (SAMPLES - 1) * sizeof *g->sample);
        g->samples--;
    }
    g->sample[g->samples++] = (struct sample){now, cw_epoch(g->s)};
}

/*
 * This server has been the key's root, undisputed, for GROUP_SETTLE, and nobody has come into view since: whoever came
 * may be a member, of a group that had another root where it was.
 */
static bool settled(struct membership *g, const cw_key *key)
{
    take_sample(g);
    if (GROUP_MUTANT(NO_SETTLE)) {
        return true;
    }
    if (cw_time_since(cw_now(g->s), g->came).ns < GROUP_SETTLE.ns) {
        return false;
    }
    for (unsigned i = g->samples; i-- > 0;) {
        if (cw_time_since(cw_now(g->s), g->sample[i].at).ns >= GROUP_SETTLE.ns) {
            return cw_is_root(g->s, key) && cw_key_steady(g->s, key, g->sample[i].epoch);
        }
    }
    return false; /* we have not been here for so long */
}

static cw_key key_of(const struct membership *g, const struct group_name *name)
{
    uint8_t bytes[4 + GROUP_NAME_MOST];
    put_be32(bytes, name->job);
    memcpy(bytes + 4, name->text, name->length);
    return cw_key_of(g->s, bytes, 4u + name->length);
}

/* ---- As a root --------------------------------------------------------------------------------------------------- */

static void answer_set(struct membership *g, const struct group *group, cw_packet *p, uint32_t call)
{
    size_t set = cast_set_bytes(g->torus.servers);
    cw_packet *answer = cw_packet_new(g->s, GROUP_SET_HEAD + set);
    if (answer == NULL) {
        cw_reply(g->s, call, -ENOMEM, p);
        return;
    }
    uint8_t *bytes = cw_packet_data(answer, NULL);
    put_be32(bytes, g->torus.servers);
    for (unsigned i = 0; i < group->count; i++) {
        const struct group_entry *e = &group->entry[i];
        if ((e->flags & GROUP_MEMBER) && !cw_time_due(e->until, cw_now(g->s)) &&
            cw_reachable(g->s, torus_coord(&g->torus, e->server))) {
            bytes[GROUP_SET_HEAD + e->server / 8] |= (uint8_t)(1 << e->server % 8);
        }
    }
    cw_packet_free(g->s, p);
    cw_reply(g->s, call, 0, answer);
}

static void reply_empty(struct membership *g, uint32_t call, int status, cw_packet *p)
{
    if (cw_packet_resize(p, 0) < 0) {
        cw_packet_free(g->s, p);
        p = NULL;
    }
    cw_reply(g->s, call, status, p);
}

static void take_announcement(struct membership *g, const struct group_name *name, const cw_key *key,
                              const struct group_head *h, const cw_rx *rx, cw_packet *p)
{
    const struct group_entry e = {.server = rx->src_process,
                                  .flags = h->flags,
                                  .serial = h->serial,
                                  .life = h->life,
                                  .until = cw_time_add(cw_now(g->s), GROUP_LASTS)};
    int rc = group_table_update(&g->table, name, &e);
    if (rc == -ENOSPC) {
        group_table_expire(&g->table, cw_now(g->s));
        rc = group_table_update(&g->table, name, &e);
    }
    cw_counter_add(rc == -ESTALE ? g->count[COUNT_STALE]
                   : rc < 0      ? g->count[COUNT_REFUSED]
                                 : g->count[COUNT_ACKNOWLEDGED],
                   1);
    if (rc == 0 && h->flags != 0 && !settled(g, key)) {
        rc = -EINPROGRESS; /* it is known, but publishers may ask another root still */
    }
    if (g->timer == NULL) {
        work(g);
    }
    reply_empty(g, rx->call, rc, p);
}

static void take_question(struct membership *g, const struct group_name *name, const cw_key *key, const cw_rx *rx,
                          cw_packet *p)
{
    if (!settled(g, key)) {
        cw_counter_add(g->count[COUNT_UNSETTLED], 1);
        reply_empty(g, rx->call, -EAGAIN, p);
        return;
    }
    const struct group *group = group_table_find(&g->table, name);
    if (group == NULL || !group_exists(group, cw_now(g->s))) {
        reply_empty(g, rx->call, -ENOENT, p);
        return;
    }
    answer_set(g, group, p, rx->call);
}

bool membership_packet(struct membership *g, cw_packet *p, const struct group_head *h, const cw_rx *rx)
{
    struct group_name name;
    if (rx->call == 0 || rx->src_process >= g->torus.servers ||
        group_name_make(&name, h->job, h->name, h->name_bytes) < 0) {
        return false;
    }
    cw_key key = key_of(g, &name);
    if (!cw_is_root(g->s, &key)) {
        return false; /* asks again, where it belongs */
    }
    if (h->kind == GROUP_ANNOUNCE) {
        take_announcement(g, &name, &key, h, rx, p);
    } else {
        take_question(g, &name, &key, rx, p);
    }
    return true;
}

/* ---- As a member ------------------------------------------------------------------------------------------------- */

static void on_announce_reply(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)state, (void)reply, (void)rx;
    struct announcement *announcement = arg;
    struct membership *g = announcement->g;
    struct announced *m = announcement->m;
    free(announcement);
    g->calls--;
    if (status == -ECANCELED) {
        m->announcing = false; /* the service closes */
        return;
    }
    announcer_answered(&g->announcer, m, status, cw_now(s), (uint32_t)cw_random(s));
    work(g);
}

static int call(struct membership *g, const struct group_head *h, const cw_key *key, cw_span lasts, cw_reply_fn fn,
                void *arg)
{
    cw_packet *p = cw_packet_new(g->s, group_head_bytes(h));
    if (p == NULL) {
        return -ENOMEM;
    }
    group_head_encode(h, cw_packet_data(p, NULL));
    const cw_to to = {.kind = CW_TO_KEY, .job = MULTICAST_JOB, .port = MULTICAST_PORT_GROUPS, .key = *key};
    const cw_call_options options = {CW_CALL_INIT, .timeout = lasts};
    int64_t rc = cw_call(g->s, p, &to, &options, fn, arg);
    if (rc < 0) {
        cw_packet_free(g->s, p);
    }
    return rc < 0 ? (int)rc : 0;
}

static void announce(struct membership *g, struct announced *m)
{
    struct announcement *announcement = malloc(sizeof *announcement);
    const struct group_head h = {.kind = GROUP_ANNOUNCE,
                                 .flags = m->flags,
                                 .job = m->name.job,
                                 .life = g->life,
                                 .serial = m->serial,
                                 .name = m->name.text,
                                 .name_bytes = m->name.length};
    announcer_sent(m, cw_epoch(g->s));
    if (announcement != NULL) {
        *announcement = (struct announcement){g, m};
    }
    int rc = announcement != NULL ? call(g, &h, &m->key, call_lasts, on_announce_reply, announcement) : -ENOMEM;
    if (rc < 0) {
        free(announcement);
        announcer_answered(&g->announcer, m, rc == -ENOSPC ? -ENOBUFS : rc, cw_now(g->s), 0);
        return;
    }
    g->calls++;
    cw_counter_add(g->count[COUNT_ANNOUNCED], 1);
}

int membership_want(struct membership *g, const struct group_name *name, uint8_t flags, announcer_done_fn done,
                    void *arg)
{
    cw_key key = key_of(g, name);
    struct announced *m;
    int rc = (flags & ~GROUP_FLAGS) != 0 ? -EINVAL : announcer_want(&g->announcer, name, &key, flags, cw_now(g->s), &m);
    if (rc == 0 && done != NULL) {
        rc = announcer_wait(&g->announcer, m, cw_now(g->s), done, arg);
    }
    work(g);
    return rc;
}

uint8_t membership_wanted(const struct membership *g, const struct group_name *name)
{
    const struct announced *m = announcer_find(&g->announcer, name);
    return m != NULL ? m->flags : 0;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static void end_question(struct question *q, int status, const uint8_t *set)
{
    unsigned count = 0;
    for (size_t i = 0; set != NULL && i < cast_set_bytes(q->g->torus.servers); i++) {
        count += (unsigned)__builtin_popcount(set[i]);
    }
    q->over = true; /* and freed by work() */
    if (q->done != NULL) {
        q->done(q->arg, status, set, count);
    }
}

static void on_members_reply(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)state, (void)rx;
    struct question *q = arg;
    struct membership *g = q->g;
    q->asking = false;
    if (status == -ECANCELED) {
        return; /* the service closes */
    }
    size_t length = 0;
    const uint8_t *bytes = status == 0 && reply != NULL ? cw_packet_data(reply, &length) : NULL;
    const uint8_t *set = bytes != NULL ? group_set_decode(bytes, length, g->torus.servers) : NULL;
    if (!q->over && (set != NULL || status == -ENOENT)) {
        end_question(q, status, set); /* it may be gone now */
    } else {
        q->due = status == -ETIMEDOUT ? cw_now(s) : cw_time_add(cw_now(s), ask_again);
    }
    work(g);
}

static void ask(struct membership *g, struct question *q)
{
    const struct group_head h = {
        .kind = GROUP_MEMBERS, .job = q->name.job, .name = q->name.text, .name_bytes = q->name.length};
    int rc = call(g, &h, &q->key, call_lasts, on_members_reply, q);
    q->asking = rc == 0;
    q->due = rc == 0 ? CW_NEVER : cw_time_add(cw_now(g->s), ask_again);
}

int membership_ask(struct membership *g, const struct group_name *name, membership_answer_fn done, void *arg)
{
    if (g->question_count >= GROUPS_QUESTIONS_MOST) {
        return -EAGAIN;
    }
    struct question *q = calloc(1, sizeof *q);
    if (q == NULL) {
        return -ENOMEM;
    }
    *q = (struct question){
        .next = g->questions, .g = g, .name = *name, .key = key_of(g, name), .done = done, .arg = arg};
    q->due = cw_now(g->s);
    q->until = cw_time_add(q->due, GROUP_PATIENCE);
    g->questions = q;
    g->question_count++;
    ask(g, q);
    work(g);
    return 0;
}

void membership_cancel(struct membership *g, const void *arg)
{
    for (struct question *q = g->questions; q != NULL; q = q->next) {
        if (q->arg == arg) {
            q->done = NULL;
            q->over = true;
        }
    }
    for (unsigned i = 0; i < g->announcer.count; i++) {
        for (struct announcer_waiter *w = g->announcer.group[i]->waiters; w != NULL; w = w->next) {
            w->fn = w->arg == arg ? NULL : w->fn;
        }
    }
}

/* ---- Time and events --------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg);

/* Those that are over go; gives when the others want to be looked at. */
static cw_time look_at_questions(struct membership *g)
{
    cw_time wake = CW_NEVER;
    for (struct question **at = &g->questions; *at != NULL;) {
        struct question *q = *at;
        if (q->over && !q->asking) {
            *at = q->next;
            g->question_count--;
            free(q);
            continue;
        }
        if (!q->over && !q->asking && cw_time_due(q->due, cw_now(g->s))) {
            ask(g, q);
        }
        wake = q->over ? wake : cw_time_min(wake, cw_time_min(q->until, q->asking ? CW_NEVER : q->due));
        at = &q->next;
    }
    return wake;
}

/* Sends what is due and sets the clock; tells nobody anything. */
static void work(struct membership *g)
{
    cw_time now = cw_now(g->s);
    for (struct announced *m; g->calls < GROUPS_CALLS_MOST && (m = announcer_due(&g->announcer, now)) != NULL;) {
        announce(g, m);
    }
    bool waits = g->calls >= GROUPS_CALLS_MOST; /* a call that ends will look again */
    cw_time wake = cw_time_min(look_at_questions(g), waits ? CW_NEVER : announcer_wake(&g->announcer));
    bool tells = false;
    for (unsigned i = 0; i < g->announcer.count && !tells; i++) {
        for (const struct announcer_waiter *w = g->announcer.group[i]->waiters; w != NULL; w = w->next) {
            tells = tells || w->done;
        }
    }
    wake = tells ? now : g->table.count > 0 ? cw_time_min(wake, g->sweep) : wake;
    cw_timer_stop(g->s, g->timer);
    g->timer = NULL;
    if (wake.ns != CW_NEVER.ns) {
        cw_span span = cw_time_since(wake, now);
        g->timer = cw_timer_start(g->s, span.ns > 0 ? span : CW_NS(0), tick, g);
    }
    CHECK_SLOW(membership_audit(g));
}

static void tick(cw_svc *s, void *state, void *arg)
{
    (void)state;
    struct membership *g = arg;
    cw_time now = cw_now(s);
    g->timer = NULL;
    for (struct announcer_waiter *w; (w = announcer_take_waiter(&g->announcer, now)) != NULL;) {
        struct announcer_waiter waiter = *w;
        free(w);
        if (waiter.fn != NULL) {
            waiter.fn(waiter.arg, waiter.status);
        }
    }
    for (struct question *q = g->questions; q != NULL;) {
        bool late = !q->over && cw_time_due(q->until, now);
        if (late) {
            end_question(q, -ETIMEDOUT, NULL); /* whoever is told may ask again: from the start */
        }
        q = late ? g->questions : q->next;
    }
    announcer_sweep(&g->announcer, now);
    if (cw_time_due(g->sweep, now)) {
        group_table_expire(&g->table, now);
        g->sweep = cw_time_add(now, sweep_every);
    }
    work(g);
}

void membership_event(struct membership *g, const cw_event *ev)
{
    take_sample(g);
    g->came = ev->kind == CW_EVENT_SERVER_UP ? cw_now(g->s) : g->came;
    for (unsigned i = 0; i < g->announcer.count; i++) {
        struct announced *m = g->announcer.group[i];
        if (!cw_key_steady(g->s, &m->key, m->epoch) && !GROUP_MUTANT(NOT_UNSURE)) {
            announcer_unsure(m, cw_now(g->s));
        }
    }
    work(g);
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

int membership_open(struct membership **out, cw_svc *s)
{
    struct membership *g = calloc(1, sizeof *g);
    if (g == NULL) {
        return -ENOMEM;
    }
    g->s = s;
    int rc = torus_init(&g->torus, cw_torus(s));
    if (rc < 0) {
        free(g);
        return rc;
    }
    g->life = cw_random(s) | 1;
    g->table.groups_most = GROUPS_ROOT_MOST;
    g->table.entries_most = GROUPS_ENTRIES_MOST;
    g->announcer.most = GROUPS_HERE_MOST;
    g->announcer.refresh = GROUP_REFRESH;
    g->announcer.again = call_lasts;
    g->announcer.patience = GROUP_PATIENCE;
    metrics_counters(s, metrics, COUNTS, g->count);
    take_sample(g);
    g->came = cw_now(s);
    *out = g;
    return 0;
}

void membership_close(struct membership *g)
{
    if (g == NULL) {
        return;
    }
    cw_timer_stop(g->s, g->timer);
    while (g->questions != NULL) {
        struct question *q = g->questions;
        g->questions = q->next;
        free(q);
    }
    announcer_free(&g->announcer);
    group_table_free(&g->table);
    free(g);
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

bool group_plain_name(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr("._-", text[i]) == NULL) {
            return false;
        }
    }
    return length >= 1 && length <= GROUP_NAME_MOST && strcmp(text, "all") != 0;
}

static bool as_root(const struct membership *g, const struct group_name *name, unsigned *members)
{
    const struct group *group = group_table_find(&g->table, name);
    cw_key key = key_of(g, name);
    *members = 0;
    if (group == NULL || !group_exists(group, cw_now(g->s)) || !cw_is_root(g->s, &key)) {
        return false;
    }
    for (unsigned i = 0; i < group->count; i++) {
        *members += (group->entry[i].flags & GROUP_MEMBER) &&
                    cw_reachable(g->s, torus_coord(&g->torus, group->entry[i].server));
    }
    return true;
}

bool membership_row(const struct membership *g, unsigned at, struct membership_row *out)
{
    *out = (struct membership_row){.flags = 0};
    if (at < g->announcer.count) {
        const struct announced *m = g->announcer.group[at];
        out->name = m->name;
        out->flags = m->flags;
        out->acked = m->acked;
        out->root = as_root(g, &m->name, &out->members);
        return true;
    }
    at -= g->announcer.count;
    for (unsigned i = 0; i < g->table.count; i++) {
        out->name = g->table.group[i]->name;
        if (announcer_find(&g->announcer, &out->name) == NULL && as_root(g, &out->name, &out->members) && at-- == 0) {
            out->root = true;
            return true;
        }
    }
    return false;
}
