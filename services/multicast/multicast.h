/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multicast.h - the built-in service `multicast`: takes one message from its source to a set of servers, over as many
 * arc-disjoint trees as the source has links (CamCubeOS 6.1). docs/services/multicast.md says what is promised.
 *
 *   send BYTES to all|SERVER...|GROUP   a message of a pattern, of which every member compares every byte; answered
 *                                       when all members that live have it
 *   status                              the messages that this server has to do with
 *   group ...                           groups by name, and texts to them (group/command.h)
 *   file-send, file-status, file-stop   files (file/files.h)
 *
 * What other services call is cubeway/multicast.h.
 */
#ifndef SERVICES_MULTICAST_MULTICAST_H
#define SERVICES_MULTICAST_MULTICAST_H

#include "cubeway/service.h"

extern const cw_service multicast_service;

#endif
