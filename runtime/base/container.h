/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.h - from a member back to the struct that holds it: how to get from a list node or a heap entry to one's
 * own object.
 *
 * The compiler checks the member's type, and that a pointer to a const member gives no writable container. ptr is
 * evaluated once and must not be NULL.
 */
#ifndef BASE_CONTAINER_H
#define BASE_CONTAINER_H

#include <stddef.h>

#define container_of(ptr, type, member) \
    ((type *)(void *)((char *)(1 ? (ptr) : &((type *)0)->member) - offsetof(type, member)))

#define container_of_const(ptr, type, member) \
    ((const type *)(const void *)((const char *)(1 ? (ptr) : &((const type *)0)->member) - offsetof(type, member)))

#endif
