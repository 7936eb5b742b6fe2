/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where a server stands: what a bootstrap ends with, and stable storage keeps for ever (CamCubeOS 3.1).
 *
 * Ports are numbered 0..5 as the server knows them; directions are links (types.h). On a server whose ports are
 * labelled, port d is the one of direction d, and its place maps each port to itself.
 */
#ifndef BOOT_PLACE_H
#define BOOT_PLACE_H

#include "cubeway/types.h"

/* What a server knows of one of its ports: a direction (below CW_LINK_COUNT), or one of these. */
enum boot_label {
    BOOT_UNLABELLED = 6, /* nobody has said what the port's direction is */
    BOOT_ABSENT = 7,     /* there is no such port: its axis has the length 1 and no cables */
};

struct boot_place {
    cw_dims dims;
    cw_coord self;
    uint8_t direction[CW_LINK_COUNT]; /* of each port; BOOT_ABSENT where the port takes no part */
};

/*
 * 0, or -EINVAL: the dims or the coordinate are impossible, two ports have one direction, a port is on an axis of
 * length 1, or a direction that has a cable has no port.
 */
CW_MUST_CHECK int boot_place_check(const struct boot_place *place);

#endif
