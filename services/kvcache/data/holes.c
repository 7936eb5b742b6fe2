/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/holes.h"

/* How many places of a ring are exactly so far from one of them. */
static uint32_t ring_at(unsigned length, unsigned distance)
{
    if (distance == 0) {
        return 1;
    }
    return 2 * distance < length ? 2 : 2 * distance == length ? 1 : 0;
}

/* How many are at most so far. */
static uint32_t ring_within(unsigned length, unsigned distance)
{
    return 2 * distance + 1 < length ? 2 * distance + 1 : length;
}

static uint64_t ball(cw_dims dims, unsigned links)
{
    uint64_t count = 0;
    for (unsigned x = 0; x <= dims.x / 2u && x <= links; x++) {
        for (unsigned y = 0; y <= dims.y / 2u && x + y <= links; y++) {
            count += (uint64_t)ring_at(dims.x, x) * ring_at(dims.y, y) * ring_within(dims.z, links - x - y);
        }
    }
    return count;
}

unsigned holes_reach(cw_dims dims)
{
    uint64_t servers = (uint64_t)dims.x * dims.y * dims.z;
    unsigned links = 1;
    while (4 * ball(dims, links) < 3 * servers) {
        links++;
    }
    return links;
}

/* Puts the server of that place into the hole, if it is missing and not in it yet. */
static uint32_t add(cw_dims dims, unsigned x, unsigned y, unsigned z, uint8_t *missing, cw_server *order,
                    uint32_t count)
{
    cw_server s = (x * dims.y + y) * dims.z + z;
    if (missing[s] != 0) {
        missing[s] = 0;
        order[count++] = s;
    }
    return count;
}

uint32_t holes_largest(cw_dims dims, uint8_t *missing, cw_server *order)
{
    uint32_t servers = (uint32_t)dims.x * dims.y * dims.z, largest = 0;
    for (cw_server s = 0; s < servers; s++) {
        uint32_t count = 0;
        if (missing[s] != 0) {
            missing[s] = 0;
            order[count++] = s;
        }
        for (uint32_t done = 0; done < count; done++) {
            unsigned z = order[done] % dims.z, y = order[done] / dims.z % dims.y, x = order[done] / dims.z / dims.y;
            count = add(dims, (x + 1) % dims.x, y, z, missing, order, count);
            count = add(dims, (x + dims.x - 1) % dims.x, y, z, missing, order, count);
            count = add(dims, x, (y + 1) % dims.y, z, missing, order, count);
            count = add(dims, x, (y + dims.y - 1) % dims.y, z, missing, order, count);
            count = add(dims, x, y, (z + 1) % dims.z, missing, order, count);
            count = add(dims, x, y, (z + dims.z - 1) % dims.z, missing, order, count);
        }
        largest = count > largest ? count : largest;
    }
    return largest;
}
