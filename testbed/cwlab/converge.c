/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/converge.h"

#include "testbed/cwlab/command.h"

#include <string.h>
#include <time.h>

static const cw_span patience = CW_MS(2000), pause_between = CW_MS(10);

static void take(void *context, const struct message *row)
{
    struct converge_view *v = context;
    const char *state = message_get_text(row, "state", NULL);
    v->reachable = (uint32_t)message_get_integer(row, "reachable", 0);
    v->stalls = (uint64_t)message_get_integer(row, "stalls", 0);
    v->stall_longest = CW_NS(message_get_integer(row, "stall_longest_ns", 0));
    v->stall_ago = CW_NS(message_get_integer(row, "stall_last_ns", 0));
    v->memory = message_get_integer(row, "memory_bytes", 0);
    v->hold_longest = CW_NS(message_get_integer(row, "hold_longest_ns", 0));
    v->hold_ago = CW_NS(message_get_integer(row, "hold_last_ns", 0));
    snprintf(v->hold_service, sizeof v->hold_service, "%s", message_get_text(row, "hold_service", ""));
    snprintf(v->hold_upcall, sizeof v->hold_upcall, "%s", message_get_text(row, "hold_upcall", ""));
    snprintf(v->state, sizeof v->state, "%s", state != NULL ? state : "");
}

int converge_ask(const struct lab *lab, cw_server s, struct converge_view *out)
{
    char why[PEER_WHY];
    *out = (struct converge_view){.reachable = 0};
    int rc = command_daemon(lab, s, peer_request("status", 0, NULL), patience, take, out, why);
    out->whole = rc == 0;
    return rc < 0 ? rc : 0; /* 1: the server answered, but is not whole */
}

static bool has_arrived(const struct lab *lab, const struct converge_goal *goal, cw_server s, uint32_t *reachable)
{
    struct converge_view v;
    bool there = converge_ask(lab, s, &v) == 0 && v.reachable == goal->want && strcmp(v.state, "serving") == 0;
    *reachable = v.reachable;
    return there && (v.whole || !goal->links);
}

unsigned converge_wait(const struct lab *lab, const struct converge_goal *goal, cw_time until,
                       bool (*progress)(void *context, const struct converge_sight *sight), void *context)
{
    struct converge_sight sight = {.done = 0};
    uint32_t servers = lab->torus.servers;
    for (cw_server s = 0; s < servers; s++) {
        sight.total += goal->who == NULL || goal->who[s];
    }
    /*
     * Servers are asked in order, and asked again until they have reached the goal: while one has not, those behind it
     * are left in peace. Nearly all of the time is spent asleep.
     */
    for (cw_server s = 0; s < servers && cw_time_before(peer_clock(), until);) {
        bool asked = goal->who == NULL || goal->who[s];
        if (!asked || has_arrived(lab, goal, s, &sight.reachable)) {
            sight.done += asked;
            s++;
            continue;
        }
        sight.server = s;
        if (progress != NULL && !progress(context, &sight)) {
            break;
        }
        nanosleep(&(struct timespec){0, (long)pause_between.ns}, NULL);
    }
    return sight.done;
}
