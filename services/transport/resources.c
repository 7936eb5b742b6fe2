/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.c - what peers and messages share: memory, and places in the queue of what is due.
 */
#include "services/transport/internal.h"

#include "base/check.h"

void transport_due(struct transport *t, struct due *due, cw_time at)
{
    bool queued = due->entry.place != 0;
    if (at.ns == INT64_MAX) {
        if (queued) {
            heap_remove(&t->due, &due->entry);
        }
        return;
    }
    if (queued) {
        if (due->entry.at.ns != at.ns) {
            heap_adjust(&t->due, &due->entry, at, due->order);
        }
        return;
    }
    int rc = heap_insert(&t->due, &due->entry, at, due->order);
    CHECK(rc == 0); /* there is a place for every peer and every message */
}

bool transport_charge(struct transport *t, size_t bytes)
{
    if (bytes > t->config.memory_max - t->stats.memory) {
        return false;
    }
    t->stats.memory += bytes;
    t->stats.memory_most = t->stats.memory > t->stats.memory_most ? t->stats.memory : t->stats.memory_most;
    return true;
}

void transport_uncharge(struct transport *t, size_t bytes)
{
    CHECK(bytes <= t->stats.memory);
    t->stats.memory -= bytes;
}
