/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/holes.h"

unsigned holes_reach(cw_dims dims)
{
    return dims.x / 2u + dims.y / 2u + dims.z / 2u + 1;
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
