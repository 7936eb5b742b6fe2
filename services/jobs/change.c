/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/change.h"

#include <errno.h>
#include <stdlib.h>

int change_open(struct change *c, uint32_t servers, const struct jobs_mark *mark, uint64_t ticket, cw_time now)
{
    *c = (struct change){.mark = *mark, .ticket = ticket, .put = now, .servers = servers};
    c->server = calloc(servers, sizeof *c->server);
    return c->server != NULL ? 0 : -ENOMEM;
}

void change_close(struct change *c)
{
    free(c->server);
    c->server = NULL;
}

static void turn(struct change *c, cw_server s, enum change_state state, cw_time now)
{
    struct change_server *server = &c->server[s];
    c->waiting -= server->state == CHANGE_WAITING;
    c->waiting += state == CHANGE_WAITING;
    *server = (struct change_server){.state = (uint8_t)state, .after = cw_time_since(now, c->put)};
    if (state == CHANGE_WAITING) {
        server->ask = cw_time_add(now, CW_MS(CHANGE_ASK_FIRST_MS));
    }
}

static bool out_of_reach(const struct change_server *server)
{
    return server->state == CHANGE_ABSENT || server->state == CHANGE_FENCED;
}

void change_reach(struct change *c, cw_server s, bool in_reach, cw_time now)
{
    if (out_of_reach(&c->server[s]) == in_reach) {
        turn(c, s, in_reach ? CHANGE_WAITING : CHANGE_FENCED, now);
    }
}

void change_doubt(struct change *c, cw_server s, cw_time now)
{
    if (!out_of_reach(&c->server[s])) {
        turn(c, s, CHANGE_WAITING, now);
    }
}

bool change_ack(struct change *c, cw_server s, uint64_t ticket, const struct jobs_mark *mark, unsigned word,
                cw_time now)
{
    if (s >= c->servers || ticket != c->ticket || mark->job != c->mark.job) {
        return false;
    }
    int order = jobs_mark_compare(mark, &c->mark, NULL);
    struct change_server *server = &c->server[s];
    if (order < 0 || out_of_reach(server)) {
        return false;
    }
    if (server->state == CHANGE_WAITING) {
        turn(c, s, order == 0 ? CHANGE_ACKED : CHANGE_SUPERSEDED, now);
    }
    server->kept = (word & CHANGE_KEPT) != 0;
    server->closed = (word & CHANGE_CLOSED) != 0;
    return true;
}

cw_server change_ask(struct change *c, cw_server *from, cw_time now)
{
    for (; *from < c->servers; ++*from) {
        struct change_server *server = &c->server[*from];
        if (server->state != CHANGE_WAITING || !cw_time_due(server->ask, now)) {
            continue;
        }
        int64_t silence = CHANGE_ASK_FIRST_MS;
        for (unsigned i = 0; i <= server->asks && silence < CHANGE_ASK_LATEST_MS; i++) {
            silence *= 2;
        }
        server->asks = (uint8_t)(server->asks + (server->asks < UINT8_MAX));
        server->ask = cw_time_add(now, CW_MS(silence));
        return (*from)++;
    }
    return CW_SERVER_NONE;
}

cw_time change_wake(const struct change *c)
{
    cw_time wake = CW_NEVER;
    for (uint32_t i = 0; i < c->servers && c->waiting > 0; i++) {
        if (c->server[i].state == CHANGE_WAITING) {
            wake = cw_time_min(wake, c->server[i].ask);
        }
    }
    return wake;
}

const char *change_state_name(enum change_state state)
{
    static const char *const names[] = {
        [CHANGE_ABSENT] = "absent",         [CHANGE_WAITING] = "missing", [CHANGE_ACKED] = "acked",
        [CHANGE_SUPERSEDED] = "superseded", [CHANGE_FENCED] = "fenced",
    };
    return names[state];
}
