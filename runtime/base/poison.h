/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poison.h - under AddressSanitizer, marks memory that nobody may touch although the process owns it: free objects of a
 * pool, the gaps between two carvings of an arena. Touching it stops the program with the usual report. In other builds
 * these functions do nothing.
 */
#ifndef BASE_POISON_H
#define BASE_POISON_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISON_ON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON_ON 1
#endif
#endif

#ifdef POISON_ON

#include <sanitizer/asan_interface.h>

/* How many bytes behind each carving must not be touched. */
enum { POISON_GAP = 32 };

static inline void poison(const volatile void *p, size_t size)
{
    __asan_poison_memory_region(p, size);
}

static inline void unpoison(const volatile void *p, size_t size)
{
    __asan_unpoison_memory_region(p, size);
}

#else

enum { POISON_GAP = 0 };

static inline void poison(const volatile void *p, size_t size)
{
    (void)p;
    (void)size;
}

static inline void unpoison(const volatile void *p, size_t size)
{
    (void)p;
    (void)size;
}

#endif

#endif
