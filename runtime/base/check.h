/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - our own mistakes stop the program. (What a peer or the system does wrong must not: that gets an error code
 * and a counter.)
 *
 *   CHECK(x)         in every build: for a test that costs nothing beside the work that it guards.
 *   CHECK_SLOW(x)    only where CW_CHECK_SLOW is defined, in debug and sanitizer builds: for a test that walks a
 *                    structure.
 *   CHECK_HONEST(x)  only where CW_CHECK_HONEST is defined: for what is true as long as all nodes are honest. The
 *                    simulator defines it, the daemon does not, for a neighbour's lie must not stop a daemon.
 *
 * x is evaluated at most once, and must have no side effect.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* Prints file, line, function and text to standard error, and aborts. For the macros below. */
_Noreturn void check_failed(const char *text, const char *file, unsigned line, const char *function);

#define CHECK(x) (__builtin_expect(!(x), 0) ? check_failed(#x, __FILE__, __LINE__, __func__) : (void)0)

#ifdef CW_CHECK_SLOW
#define CHECK_SLOW(x) CHECK(x)
#else
#define CHECK_SLOW(x) ((void)sizeof(x))
#endif

#ifdef CW_CHECK_HONEST
#define CHECK_HONEST(x) CHECK(x)
#else
#define CHECK_HONEST(x) ((void)sizeof(x))
#endif

#endif
