/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detour.h - a path of a given length through a torus, as way-points. Pure.
 */
#ifndef SERVICES_PING_DETOUR_H
#define SERVICES_PING_DETOUR_H

#include "cubeway/service.h"

enum { DETOUR_LEGS_MAX = CW_WAYPOINTS_MAX + 1 };

/*
 * Fills out[] with servers so that going from each to the next on shortest paths, from s's own on, crosses `hops` links
 * while nothing is broken; all are in view, and the path does not come by here again if that can be. Gives how many:
 * the last is the destination, those before it way-points. -ENETUNREACH when hops is 0, too many for CW_WAYPOINTS_MAX
 * way-points here, or no such server is in view.
 */
CW_MUST_CHECK int detour_plan(const cw_svc *s, unsigned hops, cw_coord out[static DETOUR_LEGS_MAX]);

#endif
