/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.h - the built-in service `multicast`: one message from its source to a set of servers, over as many arc-disjoint trees as the source has
 * links (CamCubeOS 6.1). docs/services/multicast.md says what is promised.
 *
 *   send BYTES to all|SERVER...   a message of a pattern, compared byte for byte by every member; answered when all members that live have it
 *   status                        the messages this server has to do with
 *   group ...                     groups by name, and texts to them (group/command.h)
 *
 * What other services have of it is cubeway/multicast.h.
 */
#ifndef SERVICES_MULTICAST_MULTICAST_H
#define SERVICES_MULTICAST_MULTICAST_H

#include "cubeway/service.h"

extern const cw_service multicast_service;

#endif
