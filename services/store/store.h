/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the key-value store as a service: its number, its ports and its table. What other services call is
 * include/cubeway/store.h; what operators type is in command.c.
 */
#ifndef SERVICES_STORE_STORE_H
#define SERVICES_STORE_STORE_H

#include "cubeway/store.h"

enum { STORE_JOB = 10, STORE_CLASS_PORTS = 8 };

/* The ports of a class of the store, by which privileges say who may do what. There is one class so far: 0. */
enum store_port {
    STORE_PORT_READ = 1,
    STORE_PORT_WRITE = 2,
    STORE_PORT_MEMBERS = 3,   /* members of a shard among themselves */
    STORE_PORT_OPERATORS = 4, /* creating, and who knows of a class */
};

extern const cw_service store_service;

#endif
