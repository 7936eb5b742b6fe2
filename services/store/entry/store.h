/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the key-value store as a service: its number, its ports and its table. What other services call is
 * include/cubeway/store.h; what operators type is in command.c.
 */
#ifndef SERVICES_STORE_ENTRY_STORE_H
#define SERVICES_STORE_ENTRY_STORE_H

#include "cubeway/store.h"
#include "services/store/held/ports.h"

extern const cw_service store_service;

#endif
