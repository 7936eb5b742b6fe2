/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/faults.h"

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

/* ---- Plans --------------------------------------------------------------------------------------------------------- */

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

static void happen(struct world *w, void *arg)
{
    fault_apply(w, arg);
}

void fault_plan_schedule(const struct fault_plan *plan, struct world *w)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        struct fault *f = &plan->fault[i];
        world_at(w, cw_time_max(f->at, world_now(w)), happen, f);
    }
}

/* ---- What each does ------------------------------------------------------------------------------------------------ */

static unsigned part(cw_coord c, unsigned axis)
{
    return axis == 0 ? c.x : axis == 1 ? c.y : c.z;
}

/* Kills who shares the coordinates of the fault: those of one plane, or of one row. */
static void kill_some(struct world *w, const struct fault *f)
{
    const struct torus *torus = world_torus(w);
    for (cw_server s = 0; s < torus->servers; s++) {
        cw_coord c = torus_coord(torus, s);
        bool hit = true;
        if (f->kind == FAULT_KILL_SLAB) {
            hit = part(c, f->axis) == (unsigned)f->number;
        } else {
            for (unsigned axis = 0; axis < CW_AXES; axis++) {
                hit &= axis == f->axis || part(c, axis) == part(torus_coord(torus, f->server), axis);
            }
        }
        if (hit) {
            world_kill(w, s, false);
        }
    }
}

/* Two halves of the torus along an axis: planes 0 to number - 1, and the rest. */
static void divide(struct world *w, const struct fault *f, bool works)
{
    const struct torus *torus = world_torus(w);
    cw_link down = (cw_link)(2 * f->axis + 1);
    for (cw_server s = 0; s < torus->servers; s++) {
        unsigned at = part(torus_coord(torus, s), f->axis);
        if (at == 0 || at == (unsigned)f->number) {
            world_cable(w, s, down, true, works);
        }
    }
}

static void harm_some(struct world *w, const struct fault *f)
{
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        if (f->server != CW_SERVER_NONE && f->server != s) {
            continue;
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (f->link == CW_LINK_SELF || f->link == link) {
                world_harm(w, s, link, &f->harm);
            }
        }
    }
}

static void heal(struct world *w)
{
    static const struct wire_harm none = {.loss = 0};
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_cable(w, s, link, false, true);
            world_harm(w, s, link, &none);
        }
        world_clock(w, s, 0);
        (void)world_start(w, s);
    }
}

void fault_apply(struct world *w, const struct fault *f)
{
    switch (f->kind) {
    case FAULT_KILL:
    case FAULT_POWER:
        world_kill(w, f->server, f->kind == FAULT_POWER);
        break;
    case FAULT_START:
        (void)world_start(w, f->server);
        break;
    case FAULT_LEAVE:
        world_leave(w, f->server);
        break;
    case FAULT_PAUSE:
        world_pause(w, f->server, f->span);
        break;
    case FAULT_CUT:
    case FAULT_CUT_OUT:
        world_cable(w, f->server, f->link, f->kind == FAULT_CUT, false);
        break;
    case FAULT_MEND:
        world_cable(w, f->server, f->link, true, true);
        break;
    case FAULT_HARM:
        harm_some(w, f);
        break;
    case FAULT_CLOCK:
        world_clock(w, f->server, f->number);
        break;
    case FAULT_KILL_SLAB:
    case FAULT_KILL_ROW:
        kill_some(w, f);
        break;
    case FAULT_PARTITION:
    case FAULT_REJOIN:
        divide(w, f, f->kind == FAULT_REJOIN);
        break;
    default:
        heal(w);
        break;
    }
}

/* ---- In words ------------------------------------------------------------------------------------------------------ */

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
