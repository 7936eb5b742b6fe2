/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atlas.h - the newest advert of every server about its ports, and on which port which of them is still owed to a neighbour.
 *
 * Flooding: a new advert is owed on all ports but the one it came by, sent once, sent again when resend says so, and done when
 * it is acknowledged. Grows with what it holds, up to max entries (about 130 bytes each); entries are never removed but all at once.
 */
#ifndef BOOT_ATLAS_H
#define BOOT_ATLAS_H

#include "wire/cabling.h"

#define ATLAS_NONE UINT32_MAX

struct atlas {
    struct cabling *entry;
    uint8_t *owed;   /* of each entry: ports on which it is not acknowledged */
    uint8_t *unsent; /* of those: not sent yet, or to be sent again */
    uint32_t *slot;  /* hash of ids: index + 1, 0 empty; slots is a power of two, at least twice count */
    uint32_t count, room, slots, max;
    uint32_t owed_count[CW_LINK_COUNT], unsent_count[CW_LINK_COUNT];
    uint32_t cursor[CW_LINK_COUNT]; /* where to look for the next unsent entry */
    uint64_t refused;               /* adverts not kept for want of room */
};

struct atlas atlas_empty(uint32_t max);
void atlas_clear(struct atlas *a); /* releases all; as empty as at first */

/* Index of a server, or ATLAS_NONE. */
uint32_t atlas_find(const struct atlas *a, uint64_t id);

/*
 * Keeps the advert when it is newer than the one held, and owes it on those ports (which replaces what was owed). 1 when it was
 * kept, 0 when it is not newer, -ENOSPC when there is no room. *held (may be NULL) is set to what was held before, id 0 for nothing.
 */
CW_MUST_CHECK int atlas_put(struct atlas *a, const struct cabling *advert, cw_links owed, struct cabling *held);

void atlas_owe_all(struct atlas *a, unsigned port);
void atlas_owe_none(struct atlas *a, unsigned port);
void atlas_owe(struct atlas *a, uint32_t index, unsigned port);
/* Acknowledged: that version, which may be an old one by now. */
void atlas_acked(struct atlas *a, unsigned port, uint64_t id, uint32_t version);
/* All that is owed on the port is to be sent again. */
void atlas_resend(struct atlas *a, unsigned port);
/* The next entry to send on the port, marked as sent; ATLAS_NONE. */
uint32_t atlas_next(struct atlas *a, unsigned port);

#endif
