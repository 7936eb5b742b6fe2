/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - from the adverts of servers to the graph: who hangs together with this server over cables that both ends name.
 *
 * Servers with a place are its border: they belong to it, and what lies behind them does not, as it will not change.
 */
#ifndef BOOT_SURVEY_H
#define BOOT_SURVEY_H

#include "boot/atlas.h"
#include "boot/graph.h"

/*
 * Makes *g (the caller's to free) of what hangs together with the server `self`, which the atlas holds. *missing: cables that a server
 * without a place names and the other end does not (yet): the graph is not whole while there are some. 0 or -ENOMEM.
 */
CW_MUST_CHECK int boot_survey(const struct atlas *a, uint64_t self, struct graph *g, uint32_t *missing);

/* Index of a server in a graph, whose ids rise; GRAPH_NONE. */
uint32_t boot_survey_find(const struct graph *g, uint64_t id);

#endif
