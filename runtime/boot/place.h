/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where a server stands: what a bootstrap ends with, and what stable storage keeps for ever (CamCubeOS 3.1).
 *
 * Ports are numbered 0..5 as the server knows them, directions are links (types.h). A server whose ports are labelled
 * calls port d what is plugged into direction d, and its place maps each port to itself.
 */
#ifndef BOOT_PLACE_H
#define BOOT_PLACE_H

#include "cubeway/types.h"

/* What a server knows of one of its ports: a direction (below CW_LINK_COUNT), or one of these. */
enum boot_label {
    BOOT_UNLABELLED = 6, /* a port of which nobody said where it points */
    BOOT_ABSENT = 7,     /* there is no such port: an axis of one server, which has no cable */
};

struct boot_place {
    cw_dims dims;
    cw_coord self;
    uint8_t direction[CW_LINK_COUNT]; /* of each port; BOOT_ABSENT where the port takes no part */
};

/*
 * -EINVAL: dims or coordinate impossible, two ports with one direction, a port on an axis of 1, or none for a direction
 * that has a cable.
 */
CW_MUST_CHECK int boot_place_check(const struct boot_place *place);

#endif
