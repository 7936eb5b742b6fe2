/* SPDX-License-Identifier: Apache-2.0 */
#include "share/rest.h"
#include "share/mutant.h"

void share_waker_open(struct share_waker *w, const struct share_out *com, const struct share_in *sub)
{
    *w = (struct share_waker){.com = *com, .sub = *sub};
}

enum share_rest share_waker_published(struct share_waker *w)
{
    if (!SHARE_MUTANT(DAEMON_NO_FENCE)) {
        share_fence();
    }
    uint32_t rest = share_load_32(&w->sub, SHARE_SUB_REST);
    if (rest != SHARE_REST_FUTEX && rest != SHARE_REST_SOCKET) {
        w->senseless += rest != SHARE_REST_AWAKE;
        return SHARE_REST_AWAKE;
    }
    w->wakes++;
    /* For who looked at the bell and does not sleep yet: the kernel compares it. */
    share_store_32_release(&w->com, SHARE_COM_BELL, ++w->bell);
    return (enum share_rest)rest;
}

void share_waker_attends(struct share_waker *w)
{
    if (!w->awake) {
        w->awake = true;
        share_store_32(&w->com, SHARE_COM_AWAKE, 1);
    }
}

bool share_waker_rests(struct share_waker *w, uint32_t tail_seen)
{
    if (w->awake) {
        w->awake = false;
        share_store_32(&w->com, SHARE_COM_AWAKE, 0);
    }
    share_fence();
    return share_load_32_acquire(&w->sub, SHARE_SUB_COMMAND_TAIL) != tail_seen && !SHARE_MUTANT(NO_LOOK);
}

uint32_t share_sleeper_rests(const struct share_out *sub, const struct share_in *com, enum share_rest how)
{
    uint32_t bell = share_load_32_acquire(com, SHARE_COM_BELL);
    share_store_32(sub, SHARE_SUB_REST, how);
    if (!SHARE_MUTANT(PROCESS_NO_FENCE)) {
        share_fence();
    }
    return bell;
}

void share_sleeper_wakes(const struct share_out *sub)
{
    share_store_32(sub, SHARE_SUB_REST, SHARE_REST_AWAKE);
}

bool share_sleeper_must_ring(const struct share_in *com)
{
    share_fence();
    return share_load_32(com, SHARE_COM_AWAKE) == 0;
}
