/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/announcer.h"

#include "services/multicast/group/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES_OFTEN = 25, /* then more seldom by SELDOM */
    SELDOM = 5,
};

static void free_announced(struct announced *m)
{
    while (m->waiters != NULL) {
        struct announcer_waiter *w = m->waiters;
        m->waiters = w->next;
        free(w);
    }
    free(m);
}

void announcer_free(struct announcer *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        free_announced(s->group[i]);
    }
    free(s->group);
    s->group = NULL;
    s->count = s->room = 0;
}

struct announced *announcer_find(const struct announcer *s, const struct group_name *name)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (group_name_compare(&s->group[i]->name, name) == 0) {
            return s->group[i];
        }
    }
    return NULL;
}

static int add(struct announcer *s, const struct group_name *name, const cw_key *key, struct announced **out)
{
    if (s->count == s->most) {
        return -ENOSPC;
    }
    if (s->count == s->room) {
        unsigned room = s->room == 0 ? 8 : 2 * s->room;
        struct announced **grown = realloc(s->group, room * sizeof *grown); /* NOLINT(bugprone-sizeof-expression) */
        if (grown == NULL) {
            return -ENOMEM;
        }
        s->group = grown;
        s->room = room;
    }
    struct announced *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return -ENOMEM;
    }
    m->name = *name;
    m->key = *key;
    s->group[s->count++] = m;
    *out = m;
    return 0;
}

/* Those who wait for that announcement are done, with that status. */
static void end_waiters(struct announced *m, uint32_t serial, int status)
{
    for (struct announcer_waiter *w = m->waiters; w != NULL; w = w->next) {
        if (!w->done && w->serial == serial) {
            w->done = true;
            w->status = status;
        }
    }
}

int announcer_want(struct announcer *s, const struct group_name *name, const cw_key *key, uint8_t flags, cw_time now,
                   struct announced **out)
{
    struct announced *m = announcer_find(s, name);
    if (m == NULL && flags == 0) {
        return -ENOENT;
    }
    if (m == NULL) {
        int rc = add(s, name, key, &m);
        if (rc < 0) {
            return rc;
        }
    }
    if (m->serial == 0 || m->flags != flags) {
        end_waiters(m, m->serial, -ECANCELED);
        m->flags = flags;
        m->serial = ++s->serials;
        m->acked = false;
        m->tries = 0;
        m->since = now;
        m->due = now;
    }
    if (out != NULL) {
        *out = m;
    }
    return 0;
}

int announcer_wait(struct announcer *s, struct announced *m, cw_time now, announcer_done_fn fn, void *arg)
{
    struct announcer_waiter *w = malloc(sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = (struct announcer_waiter){m->waiters, m->serial, m->acked, 0, cw_time_add(now, s->patience), fn, arg};
    m->waiters = w;
    return 0;
}

struct announced *announcer_due(const struct announcer *s, cw_time now)
{
    struct announced *first = NULL;
    for (unsigned i = 0; i < s->count; i++) {
        struct announced *m = s->group[i];
        if (!m->announcing && cw_time_due(m->due, now) && (first == NULL || cw_time_before(m->due, first->due))) {
            first = m;
        }
    }
    return first;
}

cw_time announcer_wake(const struct announcer *s)
{
    cw_time wake = CW_NEVER;
    for (unsigned i = 0; i < s->count; i++) {
        const struct announced *m = s->group[i];
        wake = cw_time_min(wake, m->announcing ? CW_NEVER : m->due);
        for (const struct announcer_waiter *w = m->waiters; w != NULL; w = w->next) {
            wake = cw_time_min(wake, w->until);
        }
        wake = m->flags == 0 ? cw_time_min(wake, cw_time_add(m->since, s->patience)) : wake;
    }
    return wake;
}

void announcer_sent(struct announced *m, uint64_t epoch)
{
    m->announcing = true;
    m->sent_serial = m->serial;
    m->epoch = epoch;
    m->due = CW_NEVER; /* but for announcer_unsure() */
    if (GROUP_MUTANT(ACK_UNSAID)) {
        end_waiters(m, m->sent_serial, 0);
    }
}

void announcer_answered(const struct announcer *s, struct announced *m, int status, cw_time now, uint32_t draw)
{
    m->announcing = false;
    if (status == -ENOSPC) {
        end_waiters(m, m->sent_serial, status);
    }
    bool unsure = cw_time_due(m->due, now);
    if (status == -EINPROGRESS && m->acked && m->sent_serial == m->serial) {
        status = 0; /* it was acknowledged before, and the new root has it */
    }
    if (status == 0) {
        end_waiters(m, m->sent_serial, 0);
        m->acked = m->sent_serial == m->serial;
        m->tries = 0;
    }
    if (unsure && status == 0 && m->acked) {
        return; /* announcer_unsure() while it was on its way: once more */
    }
    if (m->acked && status == 0) {
        int64_t quarter = s->refresh.ns / 4;
        if (GROUP_MUTANT(NO_REFRESH)) {
            m->due = CW_NEVER;
            return;
        }
        m->due = cw_time_add(now, (cw_span){s->refresh.ns - (int64_t)(draw % (uint64_t)(quarter > 0 ? quarter : 1))});
        return;
    }
    m->tries = status == -EINPROGRESS ? 0 : m->tries + 1;
    bool often = m->tries < TRIES_OFTEN && status != -ENOSPC;
    cw_span pause = {often ? s->again.ns : SELDOM * s->again.ns};
    pause.ns += status == -EINPROGRESS ? s->again.ns : 0;
    m->due = status == 0 || (status == -ETIMEDOUT && often) ? now : cw_time_add(now, pause);
}

void announcer_unsure(struct announced *m, cw_time now)
{
    m->due = now;
    m->tries = 0;
}

struct announcer_waiter *announcer_take_waiter(struct announcer *s, cw_time now)
{
    for (unsigned i = 0; i < s->count; i++) {
        for (struct announcer_waiter **at = &s->group[i]->waiters; *at != NULL; at = &(*at)->next) {
            struct announcer_waiter *w = *at;
            if (w->done || cw_time_due(w->until, now)) {
                w->status = w->done ? w->status : -ETIMEDOUT;
                *at = w->next;
                return w;
            }
        }
    }
    return NULL;
}

void announcer_sweep(struct announcer *s, cw_time now)
{
    for (unsigned i = s->count; i-- > 0;) {
        struct announced *m = s->group[i];
        bool over = m->acked || cw_time_since(now, m->since).ns >= s->patience.ns;
        if (m->flags == 0 && over && m->waiters == NULL && !m->announcing) {
            free_announced(m);
            s->group[i] = s->group[--s->count];
        }
    }
}
