/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cast_members_open(struct cast_members *b, const uint8_t *set, cw_server servers, cw_server self, cw_time now)
{
    *b = (struct cast_members){.began = now};
    b->member = calloc((size_t)servers + 1, sizeof *b->member);
    if (b->member == NULL) {
        return -ENOMEM;
    }
    for (cw_server i = 0; i < servers; i++) {
        if (i != self && (set[i / 8] >> i % 8 & 1)) {
            b->member[b->count++] = (struct cast_member){.server = i, .missing = UINT32_MAX, .lacked = UINT32_MAX};
        }
    }
    b->waiting = b->count;
    if (b->count == 0) {
        cast_members_close(b);
        return -EINVAL;
    }
    return 0;
}

void cast_members_close(struct cast_members *b)
{
    free(b->member);
    b->member = NULL;
    b->count = b->waiting = 0;
}

struct cast_member *cast_members_find(const struct cast_members *b, cw_server server)
{
    unsigned low = 0, high = b->count;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (b->member[mid].server == server) {
            return &b->member[mid];
        }
        if (b->member[mid].server < server) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return NULL;
}

static void leave(struct cast_members *b, struct cast_member *m, enum cast_member_state state, int status)
{
    b->waiting -= m->state == CAST_WAITING;
    m->state = state;
    m->status = status;
}

bool cast_members_end(struct cast_members *b, cw_server server, int status, cw_time now)
{
    struct cast_member *m = cast_members_find(b, server);
    if (m == NULL || (m->state != CAST_WAITING && m->state != CAST_AWAY)) {
        return false;
    }
    leave(b, m, status == 0 ? CAST_HAS : CAST_LOST, status);
    m->took = cw_time_since(now, b->began);
    return true;
}

bool cast_members_away(struct cast_members *b, cw_server server, bool away, cw_time now)
{
    struct cast_member *m = cast_members_find(b, server);
    if (m == NULL || m->state != (away ? CAST_WAITING : CAST_AWAY)) {
        return false;
    }
    if (away) {
        leave(b, m, CAST_AWAY, -ENETUNREACH);
        m->away_at = now;
    } else {
        b->waiting++;
        m->state = CAST_WAITING;
        m->returned = true;
        m->status = 0;
        m->reported = m->counted = false;
        m->missing = UINT32_MAX; /* it may have forgotten all */
    }
    return true;
}

bool cast_members_any_away(const struct cast_members *b)
{
    for (unsigned i = 0; i < b->count; i++) {
        if (b->member[i].state == CAST_AWAY) {
            return true;
        }
    }
    return false;
}

bool cast_members_flap(const struct cast_members *b, cw_span patience, cw_time now)
{
    for (unsigned i = 0; i < b->count; i++) {
        const struct cast_member *m = &b->member[i];
        if (m->state == CAST_AWAY && m->returned && cw_time_since(now, m->away_at).ns < patience.ns) {
            return true;
        }
    }
    return false;
}

void cast_members_report(struct cast_members *b, cw_server server, uint32_t missing, cw_time now)
{
    struct cast_member *m = cast_members_find(b, server);
    if (m == NULL || m->state != CAST_WAITING || m->reported) {
        return;
    }
    m->reported = true;
    if (missing < m->missing || missing == 0) { /* 0: its sink is about to end */
        m->progress_at = now;
        m->counted = true;
    }
    m->missing = missing;
}

void cast_members_lacks(struct cast_members *b, cw_server server, uint32_t missing, bool sent)
{
    struct cast_member *m = cast_members_find(b, server);
    if (m == NULL || m->state == CAST_HAS || m->state == CAST_LOST) {
        return;
    }
    if (sent) {
        m->missed += missing;
    } else if (m->lacked == UINT32_MAX) {
        m->lacked = missing;
    }
}

bool cast_members_all_reported(const struct cast_members *b)
{
    for (unsigned i = 0; i < b->count; i++) {
        if (b->member[i].state == CAST_WAITING && !b->member[i].reported) {
            return false;
        }
    }
    return true;
}

unsigned cast_members_round(struct cast_members *b, cw_span limit, cw_time now)
{
    unsigned lost = 0;
    for (unsigned i = 0; i < b->count; i++) {
        struct cast_member *m = &b->member[i];
        if (m->state != CAST_WAITING) {
            continue;
        }
        if (!m->counted) {
            m->progress_at = now;
            m->counted = true;
        } else if (cw_time_since(now, m->progress_at).ns > limit.ns) {
            lost += cast_members_end(b, m->server, -ETIMEDOUT, now);
        }
        m->reported = false;
    }
    return lost;
}

void cast_members_set(const struct cast_members *b, uint8_t *set, size_t bytes)
{
    memset(set, 0, bytes);
    for (unsigned i = 0; i < b->count; i++) {
        const struct cast_member *m = &b->member[i];
        if (m->state == CAST_WAITING || m->state == CAST_AWAY) {
            set[m->server / 8] |= (uint8_t)(1 << m->server % 8);
        }
    }
}

int cast_member_result(const struct cast_member *m, int ended)
{
    switch (m->state) {
    case CAST_HAS:
        return 0;
    case CAST_LOST:
        return m->status;
    case CAST_AWAY:
        return -ENETUNREACH;
    case CAST_WAITING:
        break;
    }
    return ended < 0 ? ended : -ETIMEDOUT;
}
