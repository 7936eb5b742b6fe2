/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share_watch.h - every load and store of shared memory, as a test sees it: the functions that share/shared.h asks for
 * where it is compiled with CW_SHARE_WATCHED or CW_MUTANTS. What a hook does itself is not watched.
 */
#ifndef KIT_SHARE_WATCH_H
#define KIT_SHARE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share_watch {
    void (*load)(void *arg, const void *at, size_t bytes);            /* before it; NULL: nothing happens */
    bool (*store)(void *arg, void *at, uint64_t value, size_t bytes); /* true: it is kept back */
    void (*fence)(void *arg);
    void *arg;
    bool inside;
};

extern struct share_watch share_watch;

/* Carries out a store that was kept back. */
void share_watch_do(void *at, uint64_t value, size_t bytes);

#endif
