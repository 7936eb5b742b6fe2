/* SPDX-License-Identifier: Apache-2.0 */
#include "groups_talker.h"

#include "cubeway/multicast.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct groups_plan groups_plan;
struct groups_ledger *groups_ledger;

enum { SMALL_HEAD = 8, LARGE = 30000, NO_STAY = -1 };
static const char *const names[GROUPS_NAMES] = {"g", "gg", "web", "x"};

struct talker {
    cw_svc *svc, *peer;
    const cw_multicast_api *api;
    cw_multicast *multicast;
    cw_server self;
    uint8_t job;
    uint32_t life;
    bool joined[GROUPS_NAMES];
    uint32_t term[GROUPS_NAMES]; /* numbers joinings */
    int stay[GROUPS_NAMES];
};

/* What waits for an acknowledgement of a joining. */
struct joining {
    struct talker *t;
    unsigned group;
    uint32_t term;
};

static int64_t now(void)
{
    return groups_plan.now(groups_plan.context).ns;
}

static void wrong(const char *what, size_t message, cw_server server)
{
    const struct groups_message *g = &groups_ledger->message[message < GROUPS_MESSAGES ? message : 0];
    if (groups_ledger->wrong[0] == '\0') {
        snprintf(groups_ledger->wrong, sizeof groups_ledger->wrong,
                 "%s: message %zu, server %u, at %lld us; published at %lld us by %u, ended at %lld us with %d, and %d "
                 "there",
                 what, message, server, (long long)now() / 1000, (long long)g->begun / 1000, g->publisher,
                 (long long)g->end / 1000, g->status, g->said[server]);
    }
}

/*
 * ---- What comes
 * ---------------------------------------------------------------------------------------------------------
 */

static void fill(uint8_t *bytes, size_t length, uint32_t message, uint8_t job)
{
    memcpy(bytes, &message, 4);
    memset(bytes + 4, job, 4);
    for (size_t i = SMALL_HEAD; i < length; i++) {
        bytes[i] = (uint8_t)(message * 7 + i * 13);
    }
}

static void deliver(void *context, const cw_multicast_message *m)
{
    static uint8_t expected[LARGE + 64];
    struct talker *t = context;
    uint32_t number;
    if (m->length < SMALL_HEAD || m->length > sizeof expected) {
        wrong("a message of a wrong length", 0, t->self);
        return;
    }
    memcpy(&number, m->bytes, 4);
    if (number >= groups_ledger->messages) {
        wrong("a message that was never sent", number, t->self);
        return;
    }
    struct groups_message *g = &groups_ledger->message[number];
    fill(expected, m->length, number, g->job);
    if (m->length != g->bytes || memcmp(expected, m->bytes, m->length) != 0) {
        wrong("wrong bytes", number, t->self);
    }
    if (g->job != t->job) {
        wrong("another job's message", number, t->self);
    }
    if (m->to_group != (g->group < GROUPS_NAMES) || cw_server_id(t->svc, m->from) != g->publisher ||
        m->best_effort != !g->reliable) {
        wrong("a message that is said to be another", number, t->self);
    }
    if (m->to_group && !t->joined[g->group]) {
        wrong("a message for a member, at a server that is none", number, t->self);
    }
    if (!m->to_group && !(g->set >> t->self & 1)) {
        wrong("a message for a set, at a server that is not in it", number, t->self);
    }
    if (g->got[t->self] > 0 && g->got_life[t->self] == t->life) {
        wrong("a message that came twice", number, t->self);
    }
    g->got[t->self]++;
    g->got_life[t->self] = t->life;
    groups_ledger->delivered++;
}

static bool forward(void *context, const cw_multicast_message *m)
{
    (void)context, (void)m;
    groups_ledger->forwards++;
    return true;
}

/*
 * ---- What it does
 * ---------------------------------------------------------------------------------------------------------
 */

/* A message and who published it: the result's rows are coordinates, and need a service to become ids. */
struct sending {
    struct talker *t;
    uint32_t number;
};

static void sent(void *arg, const cw_multicast_result *r)
{
    struct sending *sending = arg;
    struct groups_message *g = &groups_ledger->message[sending->number];
    unsigned complete = 0;
    for (unsigned i = 0; i < r->rows && r->status != -ECANCELED; i++) {
        cw_server s = cw_server_id(sending->t->svc, r->row[i].server);
        g->named |= UINT32_C(1) << s;
        g->said[s] = (int16_t)r->row[i].status;
        g->complete |= (uint32_t)(r->row[i].status == 0) << s;
        complete += r->row[i].status == 0;
    }
    if (complete != r->complete) {
        wrong("a result that does not count its rows", sending->number, g->publisher);
    }
    if (g->reliable && r->status == 0 && now() - g->begun > groups_ledger->slowest) {
        groups_ledger->slowest = now() - g->begun;
    }
    if (g->ended) {
        wrong("a message that ended twice", sending->number, g->publisher);
    }
    g->ended = true;
    g->status = r->status;
    g->end = now();
    groups_ledger->ended++;
    free(sending);
}

static void publish(struct talker *t)
{
    static uint8_t bytes[LARGE + 64];
    struct groups_ledger *l = groups_ledger;
    if (l->messages == GROUPS_MESSAGES) {
        return;
    }
    uint32_t number = (uint32_t)l->messages++;
    struct groups_message *g = &l->message[number];
    *g = (struct groups_message){.job = t->job,
                                 .group = (uint8_t)cw_random_below(t->svc, GROUPS_NAMES + 1),
                                 .reliable = cw_random_below(t->svc, 3) > 0,
                                 .publisher = t->self,
                                 .life = t->life,
                                 .begun = now(),
                                 .end = GROUPS_NO_END,
                                 .bytes = SMALL_HEAD + (uint32_t)cw_random_below(t->svc, 400)};
    if (g->reliable && cw_random_below(t->svc, 100) < groups_plan.large) {
        g->bytes = LARGE + (uint32_t)cw_random_below(t->svc, 64);
    }
    fill(bytes, g->bytes, number, t->job);
    struct sending *sending = malloc(sizeof *sending);
    if (sending == NULL) {
        abort();
    }
    *sending = (struct sending){t, number};
    const cw_multicast_content content = {bytes, g->bytes, g->reliable ? 0 : CW_MULTICAST_BEST_EFFORT};
    int rc;
    l->best += !g->reliable;
    if (g->group < GROUPS_NAMES) {
        rc = t->api->publish(t->multicast, names[g->group], strlen(names[g->group]), &content, sent, sending);
    } else {
        cw_coord to[GROUPS_SERVERS];
        unsigned count = 0;
        cw_dims dims = cw_torus(t->svc);
        for (cw_server s = 0; s < (cw_server)dims.x * dims.y * dims.z; s++) {
            if (cw_random_below(t->svc, 3) == 0 || (count == 0 && s == 1)) {
                to[count++] = cw_server_coord(t->svc, s);
                g->set |= UINT32_C(1) << s;
            }
        }
        rc = t->api->send(t->multicast, to, count, "topic", 5, &content, sent, sending);
    }
    if (rc < 0) {
        l->refused++;
        g->ended = true;
        g->status = rc;
        g->reliable = false;
        free(sending);
        if (rc != -EAGAIN) {
            wrong("a message that was refused", number, t->self);
        }
    }
}

static void joined(void *arg, int status)
{
    struct joining *j = arg;
    struct talker *t = j->t;
    struct groups_ledger *l = groups_ledger;
    if (status == 0 && t->joined[j->group] && t->term[j->group] == j->term && l->stays < GROUPS_STAYS) {
        t->stay[j->group] = (int)l->stays;
        l->stay[l->stays++] = (struct groups_stay){t->job, (uint8_t)j->group, t->self, now(), GROUPS_NO_END};
    }
    free(j);
}

static void join_or_leave(struct talker *t)
{
    unsigned group = (unsigned)cw_random_below(t->svc, GROUPS_NAMES);
    const char *name = names[group];
    int rc;
    if (t->joined[group]) {
        rc = t->api->leave(t->multicast, name, strlen(name), NULL, NULL);
        t->joined[group] = false;
        if (t->stay[group] != NO_STAY) {
            groups_ledger->stay[t->stay[group]].left = now();
            t->stay[group] = NO_STAY;
        }
        groups_ledger->leaves++;
    } else {
        struct joining *j = malloc(sizeof *j);
        if (j == NULL) {
            abort();
        }
        t->joined[group] = true;
        *j = (struct joining){t, group, ++t->term[group]};
        rc = t->api->join(t->multicast, name, strlen(name), joined, j);
        groups_ledger->joins++;
    }
    if (rc < 0) {
        wrong("a joining or leaving that was refused", 0, t->self);
    }
}

static void due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct talker *t = state;
    if (t->multicast == NULL) {
        const cw_multicast_config config = {CW_MULTICAST_INIT, .context = t, .deliver = deliver, .forward = forward};
        if (t->api->open(t->peer, s, &config, &t->multicast) != 0 || t->api->listen(t->multicast, "topic", 5) != 0) {
            wrong("a service cannot open", 0, t->self);
            return;
        }
    }
    if (now() >= groups_plan.quiet.ns) {
        return;
    }
    if (now() >= groups_plan.from.ns) {
        if (cw_random_below(s, 4) == 0) {
            join_or_leave(t);
        } else {
            publish(t);
        }
    }
    if (cw_timer_start(s, CW_NS((int64_t)cw_random_below(s, (uint64_t)groups_plan.pause_most.ns)), due, NULL) == NULL) {
        abort();
    }
}

static int open_talker(cw_svc *s, void *state)
{
    struct talker *t = state;
    t->svc = s;
    t->self = cw_server_id(s, cw_self(s));
    t->job = (uint8_t)(cw_job_of(s) - GROUPS_TALKER_JOB);
    t->life = ++groups_ledger->lives;
    t->api = cw_find(s, "multicast", CW_MULTICAST_API, &t->peer);
    for (unsigned g = 0; g < GROUPS_NAMES; g++) {
        t->stay[g] = NO_STAY;
    }
    return t->api == NULL || cw_timer_start(s, CW_MS(1), due, NULL) == NULL ? -1 : 0;
}

static void close_talker(cw_svc *s, void *state)
{
    (void)s;
    struct talker *t = state;
    t->api->close(t->multicast);
}

static cw_verdict on_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)state, (void)p, (void)rx;
    return CW_DROP;
}

#define TALKER(NAME, NUMBER)                                                                                   \
    {                                                                                                          \
        CW_SERVICE_INIT, .name = (NAME), .version = "1", .job = (NUMBER), .state_size = sizeof(struct talker), \
                         .open = open_talker, .close = close_talker, .on_packet = on_packet                    \
    }
const cw_service groups_talker_service = TALKER("talker", GROUPS_TALKER_JOB);
const cw_service groups_other_service = TALKER("other", GROUPS_TALKER_JOB + 1);

/*
 * ---- The judge
 * ----------------------------------------------------------------------------------------------------------------
 */

static bool died(cw_server s, int64_t from, int64_t to)
{
    for (size_t i = 0; i < groups_ledger->deaths; i++) {
        if (groups_ledger->death[i].server == s && groups_ledger->death[i].at >= from &&
            groups_ledger->death[i].at <= to) {
            return true;
        }
    }
    return false;
}

static void judge_member(size_t number, cw_server s)
{
    const struct groups_message *g = &groups_ledger->message[number];
    if (g->status != 0) {
        wrong(g->status == -ENOENT ? "a group that is not there, and has a member"
                                   : "a message that did not reach a group",
              number, s);
    } else if (g->got[s] == 0 || !(g->complete >> s & 1)) {
        wrong(g->named >> s & 1 ? "a member that was named and did not get it" : "a member that was not asked for",
              number, s);
    }
}

static void judge(size_t number)
{
    const struct groups_message *g = &groups_ledger->message[number];
    if (!g->ended) {
        wrong("a message that did not end", number, g->publisher);
        return;
    }
    for (cw_server s = 0; s < GROUPS_SERVERS; s++) {
        if ((g->complete >> s & 1) && g->got[s] == 0) {
            wrong("a member that is said to have it, and has not", number, s);
        }
        if (groups_plan.strict && (g->set >> s & 1) && !died(s, 0, INT64_MAX)) {
            judge_member(number, s);
        }
    }
    for (size_t i = 0; i < groups_ledger->stays && groups_plan.strict; i++) {
        const struct groups_stay *y = &groups_ledger->stay[i];
        if (y->job == g->job && y->group == g->group && y->acked < g->begun && y->left > g->end &&
            !died(y->server, y->acked, g->end)) {
            judge_member(number, y->server);
        }
    }
}

bool groups_waits(void)
{
    for (size_t i = 0; i < groups_ledger->messages; i++) {
        const struct groups_message *g = &groups_ledger->message[i];
        if (!g->ended && g->reliable && !died(g->publisher, g->begun, INT64_MAX)) {
            return true;
        }
    }
    return false;
}

void groups_judge(void)
{
    for (size_t i = 0; i < groups_ledger->messages; i++) {
        const struct groups_message *g = &groups_ledger->message[i];
        if (g->reliable && !died(g->publisher, g->begun, INT64_MAX)) {
            judge(i);
        }
    }
}
