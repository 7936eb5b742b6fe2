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
/* All wires lose so many frames of a million. */
void mc_lose(uint32_t per_million);
/* To the multicast of a server; the answer may come later. False: the server does not run. */
bool mc_command(cw_server s, const char *line, struct fake_result *r);
/* Until all are answered, for at most a while. */
void mc_wait(struct fake_result *r, unsigned count, cw_span most);
/* Pieces a server has of the newest message, as its status says; -1: it knows of none. */
int64_t mc_has(cw_server s);

/*
 * Draws a torus, members, a source, a size, losses, and what happens: deaths, returns, joins, pauses, servers cut off
 * and joined again. False: it is not as promised, and *why says what (borrowed until the next call).
 */
bool mc_drawn(uint64_t seed, bool verbose, const char **why);

#endif
