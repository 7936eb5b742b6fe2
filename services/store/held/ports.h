/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h - the store's job, and its ports. */
#ifndef SERVICES_STORE_HELD_PORTS_H
#define SERVICES_STORE_HELD_PORTS_H

enum { STORE_JOB = 10, STORE_CLASS_PORTS = 8 };

/* The ports of a class of the store, by which privileges say who may do what. There is one class so far: 0. */
enum store_port {
    STORE_PORT_LETTERS = 0, /* the transport's: what fits no packet, between servers of the store */
    STORE_PORT_READ = 1,
    STORE_PORT_WRITE = 2,
    STORE_PORT_MEMBERS = 3,   /* members of a shard among themselves */
    STORE_PORT_OPERATORS = 4, /* creating, and who knows of a class */
};

#endif
