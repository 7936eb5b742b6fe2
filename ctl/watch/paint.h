/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paint.h - draws a scene for a terminal: the planes of the torus side by side, z rising; in each, x to the right and y
 * downwards.
 *
 *     z=0             a cell: the server, then the cable in +x; below it the cable in +y, and beside that the one in
 *      o---o===o---   +z. The last cables of a row and of a column lead to its other end, where the torus closes.
 *      |.  |.  #-
 *
 * Where there is less room, cables in y and z are left out, then cables in x are one character long; planes that do not
 * fit are shown after paint_view.plane is moved. No line is longer than the room. Every state and every load has a
 * character of its own, so nothing is said by colour alone. Pure: text goes to `out` and nowhere else.
 */
#ifndef CTL_WATCH_PAINT_H
#define CTL_WATCH_PAINT_H

#include "ctl/watch/scene.h"

#include <stdio.h>

struct paint_view {
    unsigned columns, lines; /* room; at least 20 by 4 are assumed */
    bool colour;             /* escape sequences may be written */
    bool ascii;              /* no other characters than ASCII */
    unsigned plane;          /* the first z that is shown */
    uint64_t full;           /* bits a second that are a full cable; 0: the busiest of the scene, or 1 Mbit/s */
    cw_server selected;      /* stands in brackets; torus.servers: none */
    const char *mark;        /* by server: a character in the place of its state, or 0. NULL: none. Borrowed */
    const cw_links *way;     /* by server: links by which a packet left, drawn as arrows. NULL: none. Borrowed */
};

/* How many planes are shown at once. */
unsigned paint_planes(const struct scene *s, const struct paint_view *v);
/* The planes; ends with a newline. */
void paint_scene(const struct scene *s, const struct paint_view *v, FILE *out);
/* One line: what the characters of cables mean now, and what counts as a full one. */
void paint_legend(const struct scene *s, const struct paint_view *v, FILE *out);
/* One line about one server: its state, what it delivers and drops, what waits in it, what its six links send. */
void paint_server(const struct scene *s, const struct paint_view *v, cw_server server, FILE *out);

#endif
