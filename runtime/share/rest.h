/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rest.h - who sleeps and who wakes: two handshakes without a system call while both are awake.
 *
 *   a process rests                             its daemon has news
 *     bell = what the bell says                   ring published
 *     rest = how                                  fence
 *     fence                                       rest is looked at: who rests is woken, and the bell rung
 *     everything is looked at once more
 *     sleeps, unless the bell is another
 *
 *   a daemon rests                              a process has commands
 *     awake = 0                                   ring published
 *     fence                                       fence
 *     the ring is looked at once more             awake is looked at: 0, the doorbell is pressed
 *
 * Without one of the four fences a store may pass the load behind it, and both sides may then miss one another: the
 * sleeper sleeps, and the other does not wake it. tests/sim/share tries it with every store kept back as long as it can
 * be.
 *
 * Nothing here sleeps, wakes or presses: what is to be done is said to who can. A process may say that it rests all
 * the time, or something that is no way to rest; it is woken for nothing, or not at all, and it is its own.
 */
#ifndef SHARE_REST_H
#define SHARE_REST_H

#include "cubeway/types.h"
#include "share/layout.h"
#include "share/shared.h"

/* The daemon's side. */
struct share_waker {
    struct share_out com;
    struct share_in sub;
    uint32_t bell;
    bool awake;
    uint64_t wakes, senseless; /* senseless: what it said was no enum share_rest */
};

void share_waker_open(struct share_waker *w, const struct share_out *com, const struct share_in *sub);

/* Behind whatever was published: how the process is to be woken, SHARE_REST_AWAKE: not at all. The bell is rung. */
CW_MUST_CHECK enum share_rest share_waker_published(struct share_waker *w);

/* From now on no doorbell is needed: its ring is looked at in each turn. */
void share_waker_attends(struct share_waker *w);
/*
 * From now on a doorbell is needed. True: a command tail that is not `tail_seen` is there already, so it came without
 * one: look at the ring before sleeping.
 */
CW_MUST_CHECK bool share_waker_rests(struct share_waker *w, uint32_t tail_seen);

/* The process's side: rests in this way. Returns the bell to sleep on, once all was looked at and nothing is there. */
CW_MUST_CHECK uint32_t share_sleeper_rests(const struct share_out *sub, const struct share_in *com,
                                           enum share_rest how);
void share_sleeper_wakes(const struct share_out *sub);
/* Behind published commands: is the doorbell to be pressed? */
CW_MUST_CHECK bool share_sleeper_must_ring(const struct share_in *com);

#endif
