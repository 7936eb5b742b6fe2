/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/mine.h"

#include "services/multicast/group/mutant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES_OFTEN = 25, /* then more seldom by SELDOM */
    SELDOM = 5,
};

static void free_mine(struct group_mine *m)
{
    while (m->waiters != NULL) {
        struct group_waiter *w = m->waiters;
        m->waiters = w->next;
        free(w);
    }
    free(m);
}

void group_mine_free(struct group_mine_set *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        free_mine(s->mine[i]);
    }
    free(s->mine);
    s->mine = NULL;
    s->count = s->room = 0;
}

struct group_mine *group_mine_find(const struct group_mine_set *s, const struct group_name *name)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (group_name_compare(&s->mine[i]->name, name) == 0) {
            return s->mine[i];
        }
    }
    return NULL;
}

static int add(struct group_mine_set *s, const struct group_name *name, const cw_key *key, struct group_mine **out)
{
    if (s->count == s->most) {
        return -ENOSPC;
    }
    if (s->count == s->room) {
        unsigned room = s->room == 0 ? 8 : 2 * s->room;
        struct group_mine **grown = realloc(s->mine, room * sizeof *grown); /* NOLINT(bugprone-sizeof-expression) */
        if (grown == NULL) {
            return -ENOMEM;
        }
        s->mine = grown;
        s->room = room;
    }
    struct group_mine *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return -ENOMEM;
    }
    m->name = *name;
    m->key = *key;
    s->mine[s->count++] = m;
    *out = m;
    return 0;
}

static void settle(struct group_mine *m, uint32_t serial, int status)
{
    for (struct group_waiter *w = m->waiters; w != NULL; w = w->next) {
        if (!w->done && w->serial == serial) {
            w->done = true;
            w->status = status;
        }
    }
}

int group_mine_want(struct group_mine_set *s, const struct group_name *name, const cw_key *key, uint8_t flags,
                    cw_time now, struct group_mine **out)
{
    struct group_mine *m = group_mine_find(s, name);
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
        settle(m, m->serial, -ECANCELED);
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

int group_mine_wait(struct group_mine_set *s, struct group_mine *m, cw_time now, group_done_fn fn, void *arg)
{
    struct group_waiter *w = malloc(sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    *w = (struct group_waiter){m->waiters, m->serial, m->acked, 0, cw_time_add(now, s->patience), fn, arg};
    m->waiters = w;
    return 0;
}

struct group_mine *group_mine_due(const struct group_mine_set *s, cw_time now)
{
    struct group_mine *first = NULL;
    for (unsigned i = 0; i < s->count; i++) {
        struct group_mine *m = s->mine[i];
        if (!m->saying && cw_time_due(m->due, now) && (first == NULL || cw_time_before(m->due, first->due))) {
            first = m;
        }
    }
    return first;
}

cw_time group_mine_wake(const struct group_mine_set *s)
{
    cw_time wake = CW_NEVER;
    for (unsigned i = 0; i < s->count; i++) {
        const struct group_mine *m = s->mine[i];
        wake = cw_time_min(wake, m->saying ? CW_NEVER : m->due);
        for (const struct group_waiter *w = m->waiters; w != NULL; w = w->next) {
            wake = cw_time_min(wake, w->until);
        }
        wake = m->flags == 0 ? cw_time_min(wake, cw_time_add(m->since, s->patience)) : wake;
    }
    return wake;
}

void group_mine_said(struct group_mine *m, uint64_t epoch)
{
    m->saying = true;
    m->said = m->serial;
    m->epoch = epoch;
    m->due = CW_NEVER; /* but for group_mine_unsure() */
    if (GROUP_MUTANT(ACK_UNSAID)) {
        settle(m, m->said, 0);
    }
}

void group_mine_heard(const struct group_mine_set *s, struct group_mine *m, int status, cw_time now, uint32_t draw)
{
    m->saying = false;
    if (status == -ENOSPC) {
        settle(m, m->said, status);
    }
    bool unsure = cw_time_due(m->due, now);
    if (status == -EINPROGRESS && m->acked && m->said == m->serial) {
        status = 0; /* it was acknowledged before, and the new root has it */
    }
    if (status == 0) {
        settle(m, m->said, 0);
        m->acked = m->said == m->serial;
        m->tries = 0;
    }
    if (unsure && status == 0 && m->acked) {
        return; /* group_mine_unsure() while it was on its way: once more */
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

void group_mine_unsure(struct group_mine *m, cw_time now)
{
    m->due = now;
    m->tries = 0;
}

struct group_waiter *group_mine_tell(struct group_mine_set *s, cw_time now)
{
    for (unsigned i = 0; i < s->count; i++) {
        for (struct group_waiter **at = &s->mine[i]->waiters; *at != NULL; at = &(*at)->next) {
            struct group_waiter *w = *at;
            if (w->done || cw_time_due(w->until, now)) {
                w->status = w->done ? w->status : -ETIMEDOUT;
                *at = w->next;
                return w;
            }
        }
    }
    return NULL;
}

void group_mine_sweep(struct group_mine_set *s, cw_time now)
{
    for (unsigned i = s->count; i-- > 0;) {
        struct group_mine *m = s->mine[i];
        bool over = m->acked || cw_time_since(now, m->since).ns >= s->patience.ns;
        if (m->flags == 0 && over && m->waiters == NULL && !m->saying) {
            free_mine(m);
            s->mine[i] = s->mine[--s->count];
        }
    }
}
