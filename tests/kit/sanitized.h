/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitized.h - is this build watched by a sanitizer? It is some ten times as slow, and looks for faults in memory, not
 * in rules: worlds that try seeds try fewer there. The release build tries them all.
 */
#ifndef KIT_SANITIZED_H
#define KIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc */
#define KIT_IS_SANITIZED 1
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KIT_IS_SANITIZED 1
#endif
#endif

#ifdef KIT_IS_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

#endif
