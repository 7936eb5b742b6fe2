/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - our own mistakes stop the program. (A peer's or the system's mistake never does: it gets a code and a
 * counter.)
 *
 *   CHECK(x)         always, in every build: a test that costs nothing beside the work it guards.
 *   CHECK_SLOW(x)    walks a structure; only where CW_CHECK_SLOW is defined (debug and sanitizer builds).
 *   CHECK_HONEST(x)  true only if every node of this world is honest: defined by the simulator, never by a daemon,
 *                    where a neighbour's lie must not stop us.
 *
 * x is evaluated at most once and must have no side effect.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* Prints file:line, the function and the text on standard error, and aborts. For the macros below. */
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
