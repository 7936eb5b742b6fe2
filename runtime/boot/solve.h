/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.h - where does every server stand? One pure function of the graph: everybody who knows the same graph finds the same answer.
 *
 *   somebody has a place   the others adapt to it (join.h); origin and dims are theirs
 *   all ports labelled     positions by walking (walk.h)
 *   else                   directions from squares (squares.h), then positions by walking
 *
 * A port without label takes the opposite of the label at the other end of its cable. The server with the smallest id is the
 * origin. It answers even when cables are wrong, with the assignment most of them agree with; whether the answer is the torus is for
 * verify.h to say, and what is wrong for inspect.h.
 */
#ifndef BOOT_SOLVE_H
#define BOOT_SOLVE_H

#include "boot/graph.h"

/* Makes *s, which the caller frees. 0 or -ENOMEM. */
CW_MUST_CHECK int boot_solve(const struct graph *g, struct solution *s);

#endif
