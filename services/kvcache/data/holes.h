/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holes.h - how far a server must look to see most of a torus, and how large a hole is that failures made in it. The
 * cache waits by these two numbers (kvcache rule 18). Pure.
 */
#ifndef SERVICES_KVCACHE_DATA_HOLES_H
#define SERVICES_KVCACHE_DATA_HOLES_H

#include "cubeway/types.h"

/*
 * One link more than from a server of a whole torus to the farthest one. While more than half of the servers hang
 * together, a server of theirs has more than half of all within so many links, detours included, but for shapes like
 * that of a snake.
 */
unsigned holes_reach(cw_dims dims);

/*
 * The size of the largest hole: of a set of servers that are missing and hang together by cables of the torus. missing
 * has a byte for each server by id, 1 where it is missing and 0 otherwise, and is used up; order lends room for as many
 * ids as there are servers. 0 when nobody is missing.
 */
uint32_t holes_largest(cw_dims dims, uint8_t *missing, cw_server *order);

#endif
