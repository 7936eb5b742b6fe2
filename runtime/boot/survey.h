/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - from the servers' adverts to the graph: all servers that are connected with this one over cables that both
 * ends name.
 *
 * Servers that have a place are the border of the graph: they belong to it, and what lies behind them does not, because
 * it does not change any more.
 */
#ifndef BOOT_SURVEY_H
#define BOOT_SURVEY_H

#include "boot/atlas.h"
#include "boot/graph.h"

/*
 * Gives in *g, for graph_free() to release, the graph of what is connected with the server `self`, which the atlas must
 * hold. *missing becomes the number of cables that a server without a place names and the other end does not (yet): as
 * long as there are some, the graph is not whole. 0 or -ENOMEM.
 */
CW_MUST_CHECK int boot_survey(const struct atlas *a, uint64_t self, struct graph *g, uint32_t *missing);

/* The index of a server in the graph; GRAPH_NONE when it is not in it. */
uint32_t boot_survey_find(const struct graph *g, uint64_t id);

#endif
