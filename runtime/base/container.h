/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.h - from a member back to the struct that holds it: the way home from list nodes and heap entries.
 *
 * The member's type is checked by the compiler and a const member never yields a writable container. ptr is evaluated
 * once and must not be NULL.
 */
#ifndef BASE_CONTAINER_H
#define BASE_CONTAINER_H

#include <stddef.h>

#define container_of(ptr, type, member) \
    ((type *)(void *)((char *)(1 ? (ptr) : &((type *)0)->member) - offsetof(type, member)))

#define container_of_const(ptr, type, member) \
    ((const type *)(const void *)((const char *)(1 ? (ptr) : &((const type *)0)->member) - offsetof(type, member)))

#endif
