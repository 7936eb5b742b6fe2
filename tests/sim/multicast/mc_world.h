/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_world.h - one simulated torus of 1 Gb/s links and 9,000-byte frames with the multicast on every server; and worlds
 * drawn from a seed, with an oracle.
 */
#ifndef SIM_MC_WORLD_H
#define SIM_MC_WORLD_H

#include "fake_result.h"
#include "simulator/world.h"

extern struct world *mc_world; /* the one that is open */

/* Opens it, and runs it until all servers agree. Exits when it cannot. */
void mc_open(cw_dims dims, uint64_t seed, bool fast_timers);
void mc_close(void);
/* Exits when an invariant of the simulator breaks. */
void mc_run(cw_span span);
/* From now on all wires lose so many frames of a million. */
void mc_lose(uint32_t per_million);
/* Sends a command to the multicast of a server; the answer may come later. False: the server does not run. */
bool mc_command(cw_server s, const char *line, struct fake_result *r);
/* Runs until all commands are answered, for a bounded time. */
void mc_wait(struct fake_result *r, unsigned count, cw_span most);
/* How many pieces of the newest message the server has, by its status; -1: it knows of no message. */
int64_t mc_has(cw_server s);

/*
 * Draws a torus, members, a source, a size, losses, and what happens: deaths, returns, joins, pauses, servers cut off
 * and joined again. False: a promise was broken, and *why says which (borrowed until the next call).
 */
bool mc_drawn(uint64_t seed, bool verbose, const char **why);

#endif
