/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/plan.h"

#include "base/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_FIRST = 16 };

static const char *const names[FAULT_KINDS] = {
    [FAULT_KILL] = "kill",
    [FAULT_POWER] = "power-off",
    [FAULT_START] = "start",
    [FAULT_LEAVE] = "leave",
    [FAULT_PAUSE] = "pause",
    [FAULT_CUT] = "cut",
    [FAULT_CUT_OUT] = "cut-out",
    [FAULT_MEND] = "mend",
    [FAULT_HARM] = "harm",
    [FAULT_CLOCK] = "clock",
    [FAULT_KILL_SLAB] = "kill-plane",
    [FAULT_KILL_ROW] = "kill-row",
    [FAULT_PARTITION] = "partition",
    [FAULT_REJOIN] = "rejoin",
    [FAULT_HEAL] = "heal",
};

const char *fault_name(enum fault_kind kind)
{
    return (unsigned)kind < FAULT_KINDS ? names[kind] : "?";
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

int fault_plan_add(struct fault_plan *plan, const struct fault *fault)
{
    if (plan->count == plan->room) {
        uint32_t room = plan->room == 0 ? PLAN_FIRST : plan->room * 2;
        struct fault *more = realloc(plan->fault, room * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        plan->fault = more;
        plan->room = room;
    }
    plan->fault[plan->count++] = *fault;
    return 0;
}

void fault_plan_free(struct fault_plan *plan)
{
    free(plan->fault);
    *plan = (struct fault_plan){.fault = NULL};
}

/* Merges from[low, middle) and from[middle, high) into to. */
static void merge(const struct fault *from, struct fault *to, uint32_t low, uint32_t middle, uint32_t high)
{
    uint32_t a = low, b = middle;
    for (uint32_t i = low; i < high; i++) {
        bool first = a < middle && (b == high || !cw_time_before(from[b].at, from[a].at));
        to[i] = first ? from[a++] : from[b++];
    }
}

void fault_plan_sort(struct fault_plan *plan)
{
    uint32_t n = plan->count;
    struct fault *other = malloc((n + 1) * sizeof *other), *from = plan->fault, *to = other;
    CHECK(other != NULL);
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t low = 0; low < n; low += 2 * width) {
            uint32_t middle = (uint32_t)(low + width < n ? low + width : n);
            uint32_t high = (uint32_t)(low + 2 * width < n ? low + 2 * width : n);
            merge(from, to, (uint32_t)low, middle, high);
        }
        struct fault *swap = from;
        from = to;
        to = swap;
    }
    if (from != plan->fault) {
        memcpy(plan->fault, from, n * sizeof *from);
    }
    free(other);
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static const char *const links[] = {"+x", "-x", "+y", "-y", "+z", "-z", "all"};

int fault_format(const struct fault *f, const struct torus *torus, char *out, size_t room)
{
    char at[TORUS_TEXT] = "all";
    const char *link = f->link <= CW_LINK_SELF ? links[f->link] : "?";
    char axis = f->axis < CW_AXES ? "xyz"[f->axis] : '?';
    if (f->server < torus->servers) {
        torus_format(torus_coord(torus, f->server), at);
    }
    const char *name = fault_name(f->kind);
    switch (f->kind) {
    case FAULT_PAUSE:
        return snprintf(out, room, "%s %s %lldns", name, at, (long long)f->span.ns);
    case FAULT_CUT:
    case FAULT_CUT_OUT:
    case FAULT_MEND:
        return snprintf(out, room, "%s %s %s", name, at, link);
    case FAULT_HARM:
        return snprintf(out, room, "%s %s %s loss=%uppm duplicate=%uppm corrupt=%uppm delayed=%uppm delay=%lldns", name,
                        at, link, f->harm.loss, f->harm.duplicate, f->harm.corrupt, f->harm.delayed,
                        (long long)f->harm.delay_most.ns);
    case FAULT_CLOCK:
        return snprintf(out, room, "%s %s %dppm", name, at, f->number);
    case FAULT_KILL_SLAB:
    case FAULT_PARTITION:
    case FAULT_REJOIN:
        return snprintf(out, room, "%s %c %d", name, axis, f->number);
    case FAULT_KILL_ROW:
        return snprintf(out, room, "%s %s %c", name, at, axis);
    case FAULT_HEAL:
        return snprintf(out, room, "%s", name);
    default:
        return snprintf(out, room, "%s %s", name, at);
    }
}
