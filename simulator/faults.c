/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/faults.h"

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

/* ---- What each does ---------------------------------------------------------------------------------------------- */

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
