/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/boot_internal.h"

/* Compares what a port of a server with a place hears with what belongs there. Gives a kind of fault, or 0. */
static uint8_t judge_neighbour(const struct boot *b, unsigned port, cw_coord expected)
{
    const struct probe *far = &b->port[port].far;
    unsigned direction = b->place.direction[port], opposite = cw_link_opposite((cw_link)direction);
    if (far->label < CW_LINK_COUNT && far->label != opposite) {
        return far->label == direction ? BOOT_FAULT_SAME_SIGN : BOOT_FAULT_CROSSED;
    }
    if ((far->flags & PROBE_PLACED) == 0) {
        return 0; /* a newcomer, which will adapt */
    }
    return dims_equal(far->dims, b->place.dims) && coord_equal(far->at, expected) ? 0 : BOOT_FAULT_WRONG_PLACE;
}

/* Cable and coordinate may be right: then it is the dims of the torus on which the two servers do not agree. */
static void note_dims(const struct boot *b, unsigned port, struct boot_fault *fault)
{
    const struct probe *far = &b->port[port].far;
    if (!dims_equal(far->dims, b->place.dims)) {
        fault->dims = far->dims;
        fault->expected.placed = false;
    }
}

static uint8_t judge_placed_port(const struct boot *b, unsigned port, struct boot_fault *fault)
{
    const struct boot_port *p = &b->port[port];
    unsigned direction = b->place.direction[port];
    fault->direction = (uint8_t)direction;
    if (direction >= CW_LINK_COUNT) {
        return p->heard ? BOOT_FAULT_SPARE : 0;
    }
    cw_coord expected = coord_step(b->place.dims, b->place.self, direction);
    fault->expected.placed = true;
    fault->expected.at = expected;
    if (!p->heard) {
        fault->tells_only = true;
        return BOOT_FAULT_SILENT;
    }
    uint8_t kind = judge_neighbour(b, port, expected);
    if (kind == BOOT_FAULT_WRONG_PLACE) {
        note_dims(b, port, fault);
    }
    return kind;
}

static void check_port(struct boot *b, unsigned port)
{
    const struct boot_port *p = &b->port[port];
    struct boot_fault fault = {.port = (uint8_t)port, .direction = b->config.port[port], .far_port = p->far.port};
    fault.who = boot_self(b);
    fault.far = boot_far_who(p);
    fault.far_direction = p->heard ? p->far.label : BOOT_UNLABELLED;
    fault.kind = p->heard ? p->strange : 0;
    if (fault.kind == 0 && p->heard && !p->both_ways) {
        fault.kind = BOOT_FAULT_ONE_WAY;
        fault.tells_only = b->placed;
    }
    if (fault.kind == 0 && b->placed) {
        fault.kind = judge_placed_port(b, port, &fault);
    }
    if (fault.kind == BOOT_FAULT_LOOP && !b->placed) {
        return; /* the graph has this cable, and boot_inspect() finds the loop */
    }
    if (fault.kind != 0) {
        fault_add(&b->faults, &fault);
    }
}

void boot_check_ports(struct boot *b)
{
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        if (b->config.port[i] != BOOT_ABSENT) {
            check_port(b, i);
        }
    }
}
