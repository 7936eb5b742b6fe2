/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregate.h - the built-in service `aggregate` (job 8): vectors that the network combines on their way, for services
 * by cubeway/aggregate.h, and what operators see of them.
 */
#ifndef SERVICES_AGGREGATE_AGGREGATE_H
#define SERVICES_AGGREGATE_AGGREGATE_H

#include "cubeway/service.h"

extern const cw_service aggregate_service;

#endif
