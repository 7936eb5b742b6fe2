/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/converge.h"

#include "testbed/command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const cw_span patience = CW_MS(2000), pause_between = CW_MS(10);

static void take(void *context, const struct message *row)
{
    struct converge_view *v = context;
    const char *state = message_get_text(row, "state");
    v->reachable = (uint32_t)message_get_integer(row, "reachable", 0);
    snprintf(v->state, sizeof v->state, "%s", state != NULL ? state : "");
}

int converge_ask(const struct lab *lab, cw_server s, struct converge_view *out)
{
    char why[PEER_WHY];
    *out = (struct converge_view){.reachable = 0};
    return command_daemon(lab, s, peer_request("status", 0, NULL), patience, take, out, why);
}

unsigned converge_wait(const struct lab *lab, const bool *who, uint32_t want, cw_time until,
                       bool (*progress)(void *context, unsigned done, unsigned total), void *context)
{
    uint32_t servers = lab->torus.servers;
    bool *done = calloc(servers, sizeof *done);
    unsigned count = 0, total = 0;
    for (cw_server s = 0; s < servers && done != NULL; s++) {
        done[s] = who != NULL && !who[s];
        total += !done[s];
    }
    /* From the first who has not arrived: while that one has not, the others are not asked either. Nearly all is sleep. */
    for (cw_server s = 0; done != NULL && s < servers && cw_time_before(peer_clock(), until);) {
        struct converge_view v;
        if (done[s] || (converge_ask(lab, s, &v) == 0 && v.reachable == want && strcmp(v.state, "serving") == 0)) {
            count += !done[s];
            s++;
            continue;
        }
        if (progress != NULL && !progress(context, count, total)) {
            break;
        }
        nanosleep(&(struct timespec){0, (long)pause_between.ns}, NULL);
    }
    free(done);
    return count;
}
