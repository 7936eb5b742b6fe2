/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atlas.h - the newest advert (what a server says of its six ports) of every server, and which of them are still owed
 * to the neighbour on which port.
 *
 * Flooding: a new advert is owed on all ports but the one that it came by. It is sent there once, again when
 * atlas_resend() says so, and is no longer owed when it was acknowledged. The atlas grows with what it holds, up to max
 * entries of about 130 bytes each; single entries are not removed, only all at once.
 */
#ifndef BOOT_ATLAS_H
#define BOOT_ATLAS_H

#include "wire/cabling.h"

#define ATLAS_NONE UINT32_MAX

struct atlas {
    struct cabling *entry;
    uint8_t *owed;   /* of each entry: the ports on which it is not acknowledged */
    uint8_t *unsent; /* of each entry: those of these ports on which it has to be sent, for the first time or again */
    uint32_t *slot;  /* hash table of ids: index + 1, 0 where it is empty */
    uint32_t count;  /* entries */
    uint32_t room;   /* for entries */
    uint32_t slots;  /* a power of two, at least twice count */
    uint32_t max;    /* of entries */
    uint32_t owed_count[CW_LINK_COUNT], unsent_count[CW_LINK_COUNT];
    uint32_t cursor[CW_LINK_COUNT]; /* by port: where to look for the next unsent entry */
    uint64_t refused;               /* adverts that were not kept because there was no room */
};

/* An empty atlas; there is nothing to release. */
struct atlas atlas_empty(uint32_t max);
/* Releases all memory, and leaves an empty atlas. */
void atlas_clear(struct atlas *a);

/* The index of a server's entry; ATLAS_NONE when there is none. */
uint32_t atlas_find(const struct atlas *a, uint64_t id);

/*
 * Keeps a copy of the advert when it is newer than the one held, and owes it on these ports and no others. 1: it was
 * kept; 0: it is not newer; -ENOSPC: there is no room. *held (held may be NULL) becomes what was held before, with id 0
 * when nothing was.
 */
CW_MUST_CHECK int atlas_put(struct atlas *a, const struct cabling *advert, cw_links owed, struct cabling *held);

/* Owes all entries on the port; none; one more. */
void atlas_owe_all(struct atlas *a, unsigned port);
void atlas_owe_none(struct atlas *a, unsigned port);
void atlas_owe(struct atlas *a, uint32_t index, unsigned port);
/* The neighbour on the port acknowledged that version, which may be an old one by now and then changes nothing. */
void atlas_acked(struct atlas *a, unsigned port, uint64_t id, uint32_t version);
/* Marks all that is owed on the port to be sent again. */
void atlas_resend(struct atlas *a, unsigned port);
/* Gives the index of the next entry to send on the port, and marks it as sent; ATLAS_NONE: there is none. */
uint32_t atlas_next(struct atlas *a, unsigned port);

#endif
