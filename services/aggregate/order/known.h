/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.h - vectors that every server can compute, and their sum: for `cwctl aggregate check`, which shows that a
 * reduction counts each contributor exactly once.
 *
 * Element i of server s is w(i) * (2 s + 1), as an unsigned number of 64 bits that wraps, where w(i) is a random word
 * that is odd. So the sum over a set of servers is w(i) times the sum of their factors: a contributor that is missing,
 * or counted twice, shows in every element. Pure.
 */
#ifndef SERVICES_AGGREGATE_ORDER_KNOWN_H
#define SERVICES_AGGREGATE_ORDER_KNOWN_H

#include "cubeway/types.h"

/* Writes count elements of the server's vector, from `first` on. */
void known_fill(cw_server server, uint64_t first, size_t count, uint64_t *out);
/* How many of the elements from 0 on are not the sum over the set (by server: bit s % 64 of word s / 64). */
uint64_t known_wrong(const uint64_t *set, cw_server servers, const uint64_t *elements, uint64_t count);

#endif
