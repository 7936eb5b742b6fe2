/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/place.h"
#include "boot/graph.h"

#include <errno.h>

int boot_place_check(const struct boot_place *place)
{
    unsigned used = 0, links = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        unsigned length = dims_axis(place->dims, axis);
        if (length < 1 || length > CW_DIM_MAX || coord_axis(place->self, axis) >= length) {
            return -EINVAL;
        }
        links |= length > 1 ? 3u << 2 * axis : 0;
    }
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        unsigned direction = place->direction[port];
        if (direction == BOOT_ABSENT) {
            continue;
        }
        if (direction >= CW_LINK_COUNT || (used & 1u << direction) != 0) {
            return -EINVAL;
        }
        used |= 1u << direction;
    }
    return used == links ? 0 : -EINVAL;
}
