/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.h - the built-in service `multicast`: one message from its source to a set of servers, over as many arc-disjoint trees as the source has
 * links (CamCubeOS 6.1). docs/services/multicast.md says what is promised.
 *
 *   send BYTES to all|SERVER...   a message of a pattern, compared byte for byte by every member; answered when all members that live have it
 *   status                        the messages this server has to do with
 */
#ifndef SERVICES_MULTICAST_MULTICAST_H
#define SERVICES_MULTICAST_MULTICAST_H

#include "cubeway/service.h"

enum { MULTICAST_JOB = 7, MULTICAST_PORT = 0, MULTICAST_PORT_GROUPS = 2 };

extern const cw_service multicast_service;

#endif
