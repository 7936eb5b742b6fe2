/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - our own mistakes stop the program. (A peer's or the system's mistake never does: it gets a code and a
 * counter.)
 *
 *   CHECK(x)         always, in every build: a test that costs nothing beside the work it guards.
 *   CHECK_SLOW(x)    walks a structure; only where CW_CHECK_SLOW is defined (debug and sanitizer builds).
 *   CHECK_HONEST(x)  true only if every node of this world is honest: defined by the simulator, never by a daemon,
 *                    where a neighbour's lie must not stop us.
 *   CHECK_RULE(x, rule, who), CHECK_RULE_SLOW(x, rule, who)
 *                    the first two with words for whoever reads the message: which rule is broken ("transport rule 5:
 *                    bytes in flight are those of its packets"), and of whom (a peer, a key, a server). Both are
 *                    const char *, and evaluated only when x is false, so that `who` may format a text:
 *                    CHECK_RULE(sum == held, "...", peer_text((char[32]){0}, p)).
 *
 * x is evaluated at most once and must have no side effect.
 *
 * A walker of invariants is a function that returns true and contains a CHECK_RULE for each of them. It is called as
 * CHECK_SLOW(walk(table)): a release build neither calls it nor links it when it stands in a file of its own.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* Prints file:line, the function and the text on standard error, and aborts. For the macros below. */
_Noreturn void check_failed(const char *text, const char *file, unsigned line, const char *function);
/* The same; the text becomes "TEXT (RULE; WHO)", cut after 500 bytes. */
_Noreturn void check_rule_failed(const char *text, const char *rule, const char *who, const char *file, unsigned line,
                                 const char *function);

#define CHECK(x) (__builtin_expect(!(x), 0) ? check_failed(#x, __FILE__, __LINE__, __func__) : (void)0)
#define CHECK_RULE(x, rule, who) \
    (__builtin_expect(!(x), 0) ? check_rule_failed(#x, rule, who, __FILE__, __LINE__, __func__) : (void)0)

#ifdef CW_CHECK_SLOW
#define CHECK_SLOW(x) CHECK(x)
#define CHECK_RULE_SLOW(x, rule, who) CHECK_RULE(x, rule, who)
#else
#define CHECK_SLOW(x) ((void)sizeof(x))
#define CHECK_RULE_SLOW(x, rule, who) ((void)sizeof(x), (void)sizeof(rule), (void)sizeof(who))
#endif

#ifdef CW_CHECK_HONEST
#define CHECK_HONEST(x) CHECK(x)
#else
#define CHECK_HONEST(x) ((void)sizeof(x))
#endif

#endif
