/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/atlas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 16 };

struct atlas atlas_empty(uint32_t max)
{
    return (struct atlas){.max = max};
}

void atlas_clear(struct atlas *a)
{
    free(a->entry);
    free(a->owed);
    free(a->unsent);
    free(a->slot);
    *a = (struct atlas){.max = a->max, .refused = a->refused};
}

/* The slot that holds id, or the empty slot where it belongs. There are slots. */
static uint32_t slot_of(const struct atlas *a, uint64_t id)
{
    uint64_t mixed = (id ^ id >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(mixed >> 32) & (a->slots - 1);
    while (a->slot[at] != 0 && a->entry[a->slot[at] - 1].id != id) {
        at = (at + 1) & (a->slots - 1);
    }
    return at;
}

uint32_t atlas_find(const struct atlas *a, uint64_t id)
{
    return a->slots == 0 ? ATLAS_NONE : a->slot[slot_of(a, id)] - 1; /* 0 - 1 is ATLAS_NONE */
}

static int grow_slots(struct atlas *a, uint32_t slots)
{
    uint32_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL) {
        return -ENOSPC;
    }
    free(a->slot);
    a->slot = slot;
    a->slots = slots;
    for (uint32_t i = 0; i < a->count; i++) {
        a->slot[slot_of(a, a->entry[i].id)] = i + 1;
    }
    return 0;
}

static int grow(struct atlas *a)
{
    uint32_t room = a->room == 0 ? ROOM_FIRST : 2 * a->room;
    room = room < a->max ? room : a->max;
    if (a->count >= room) {
        return -ENOSPC;
    }
    struct cabling *entry = realloc(a->entry, room * sizeof *entry);
    a->entry = entry != NULL ? entry : a->entry;
    uint8_t *owed = realloc(a->owed, room);
    a->owed = owed != NULL ? owed : a->owed;
    uint8_t *unsent = realloc(a->unsent, room);
    a->unsent = unsent != NULL ? unsent : a->unsent;
    if (entry == NULL || owed == NULL || unsent == NULL) {
        return -ENOSPC;
    }
    uint32_t slots = ROOM_FIRST;
    while (slots < 2 * room) {
        slots *= 2;
    }
    int rc = grow_slots(a, slots);
    if (rc == 0) {
        a->room = room;
    }
    return rc;
}

static void set_owed(struct atlas *a, uint32_t index, cw_links owed)
{
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        unsigned bit = 1u << port;
        a->owed_count[port] += ((owed & bit) != 0) - ((a->owed[index] & bit) != 0);
        a->unsent_count[port] += ((owed & bit) != 0) - ((a->unsent[index] & bit) != 0);
    }
    a->owed[index] = a->unsent[index] = owed;
}

int atlas_put(struct atlas *a, const struct cabling *advert, cw_links owed, struct cabling *held)
{
    struct cabling nothing = {0};
    uint32_t index = atlas_find(a, advert->id);
    if (held != NULL) {
        *held = index != ATLAS_NONE ? a->entry[index] : nothing;
    }
    if (index != ATLAS_NONE && a->entry[index].version >= advert->version) {
        return 0;
    }
    if (index == ATLAS_NONE) {
        if (a->count == a->room && grow(a) != 0) {
            a->refused++;
            return -ENOSPC;
        }
        index = a->count++;
        a->owed[index] = a->unsent[index] = 0;
        a->entry[index].id = advert->id;
        a->slot[slot_of(a, advert->id)] = index + 1;
    }
    a->entry[index] = *advert;
    set_owed(a, index, owed);
    return 1;
}

void atlas_owe(struct atlas *a, uint32_t index, unsigned port)
{
    set_owed(a, index, a->owed[index] | (cw_links)(1u << port));
}

void atlas_owe_all(struct atlas *a, unsigned port)
{
    for (uint32_t i = 0; i < a->count; i++) {
        a->owed[i] |= (uint8_t)(1u << port);
        a->unsent[i] |= (uint8_t)(1u << port);
    }
    a->owed_count[port] = a->unsent_count[port] = a->count;
}

void atlas_owe_none(struct atlas *a, unsigned port)
{
    for (uint32_t i = 0; i < a->count && a->owed_count[port] > 0; i++) {
        a->owed[i] &= (uint8_t) ~(1u << port);
        a->unsent[i] &= (uint8_t) ~(1u << port);
    }
    a->owed_count[port] = a->unsent_count[port] = 0;
}

void atlas_acked(struct atlas *a, unsigned port, uint64_t id, uint32_t version)
{
    uint32_t index = atlas_find(a, id);
    if (index == ATLAS_NONE || a->entry[index].version > version) {
        return;
    }
    unsigned bit = 1u << port;
    if ((a->owed[index] & bit) != 0) {
        a->owed[index] &= (uint8_t)~bit;
        a->owed_count[port]--;
    }
    if ((a->unsent[index] & bit) != 0) {
        a->unsent[index] &= (uint8_t)~bit;
        a->unsent_count[port]--;
    }
}

void atlas_resend(struct atlas *a, unsigned port)
{
    for (uint32_t i = 0; i < a->count; i++) {
        a->unsent[i] = (uint8_t)(a->unsent[i] | (a->owed[i] & 1u << port));
    }
    a->unsent_count[port] = a->owed_count[port];
}

uint32_t atlas_next(struct atlas *a, unsigned port)
{
    unsigned bit = 1u << port;
    if (a->unsent_count[port] == 0) {
        return ATLAS_NONE;
    }
    uint32_t at = a->cursor[port] < a->count ? a->cursor[port] : 0;
    while ((a->unsent[at] & bit) == 0) {
        at = at + 1 < a->count ? at + 1 : 0;
    }
    a->cursor[port] = at + 1;
    a->unsent[at] &= (uint8_t)~bit;
    a->unsent_count[port]--;
    return at;
}
