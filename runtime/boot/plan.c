/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/plan.h"
#include "base/check.h"

static unsigned axes_of(const struct torus *t)
{
    return (unsigned)__builtin_popcount(torus_links(t)) / 2;
}

uint32_t boot_plan_count(const struct torus *t)
{
    return t->servers * axes_of(t);
}

struct boot_cable boot_plan_cable(const struct torus *t, uint32_t i)
{
    CHECK(i < boot_plan_count(t));
    cw_server server = i / axes_of(t);
    cw_links plus = torus_links(t) & (1u << CW_LINK_XP | 1u << CW_LINK_YP | 1u << CW_LINK_ZP);
    for (unsigned skip = i % axes_of(t); skip > 0; skip--) {
        plus &= (cw_links)(plus - 1);
    }
    cw_link link = (cw_link)__builtin_ctz(plus);
    return (struct boot_cable){
        .from = {torus_coord(t, server), link},
        .to = {torus_coord(t, torus_neighbour(t, server, link)), cw_link_opposite(link)},
    };
}
