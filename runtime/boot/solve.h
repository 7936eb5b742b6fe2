/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.h - where does every server stand? A pure function of the graph: all servers that know the same graph find the
 * same answer.
 *
 *   some servers have a place   the others adapt to these, and take their origin and dims (join.h)
 *   all ports are labelled      positions are found by walking (walk.h)
 *   otherwise                   directions are found from squares (squares.h), then positions by walking
 *
 * A port without a label takes the opposite of the label at the other end of its cable. The origin is the server with
 * the smallest id. When cables are wrong there is an answer, too: the assignment with which most cables agree. Whether
 * an answer is the torus is for verify.h to say, and what is wrong for inspect.h.
 */
#ifndef BOOT_SOLVE_H
#define BOOT_SOLVE_H

#include "boot/graph.h"

/* Gives the solution in *s, for solution_free() to release. 0 or -ENOMEM. */
CW_MUST_CHECK int boot_solve(const struct graph *g, struct solution *s);

#endif
