/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resources.c - what peers and messages share: memory, places where messages are put, and the queue of what is due.
 */
#include "services/transport/internal.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- Places of the service --------------------------------------------------------------------------------------- */

bool places_copy(struct transport_accept *accept, struct transport_place **out)
{
    *out = NULL;
    if (accept->place_count == 0) {
        return true;
    }
    struct transport_place *copy = malloc(accept->place_count * sizeof *copy);
    if (copy != NULL) {
        memcpy(copy, accept->places, accept->place_count * sizeof *copy);
    }
    accept->places = copy;
    *out = copy;
    return copy != NULL;
}

bool places_hold(const struct transport_accept *accept, uint64_t bytes)
{
    uint64_t room = 0;
    if (accept->place_count == 0) {
        return true;
    }
    if (accept->places == NULL || accept->place_count > TRANSPORT_PLACES_MAX) {
        return false;
    }
    for (unsigned i = 0; i < accept->place_count; i++) {
        if (accept->places[i].length > SIZE_MAX - room) {
            return true; /* no message is so long */
        }
        room += accept->places[i].length;
    }
    return room >= bytes;
}

void places_put(const struct transport_accept *accept, uint64_t offset, const uint8_t *bytes, size_t length)
{
    size_t done = 0;
    for (unsigned i = 0; done < length; i++) {
        CHECK(i < accept->place_count);
        const struct transport_place *place = &accept->places[i];
        if (offset >= place->length) {
            offset -= place->length;
            continue;
        }
        size_t room = place->length - (size_t)offset;
        size_t here = length - done < room ? length - done : room;
        memcpy(place->at + offset, bytes + (TP_MUTANT(NEXT_PLACE) ? 0 : done), here);
        done += here;
        offset = 0;
    }
}
