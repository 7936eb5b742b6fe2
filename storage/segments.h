/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segments.h - the segments of one kind (meta or blob): which are free, which is being filled, what is alive in each.
 * A segment is a file of a fixed size that is zeroed once and then used again and again: a sync of a block that was
 * written before has no metadata to write, and takes two thirds of the time (docs/storage.md).
 *
 * Numbers are 1, 2, 3 ... without a hole, and no segment is ever removed. Pure bookkeeping; the files are the caller's.
 */
#ifndef STORAGE_SEGMENTS_H
#define STORAGE_SEGMENTS_H

#include "cubeway/types.h"

#include <stdint.h>

enum segment_state {
    SEGMENT_MAKING, /* not whole on the disk yet */
    SEGMENT_FREE,
    SEGMENT_HEAD, /* being filled */
    SEGMENT_FULL,
};

struct segment {
    enum segment_state state;
    uint32_t file; /* handle */
    uint32_t used; /* bytes: the next goes here */
    uint32_t pins; /* reads under way, and values that are written and not in the index yet */
    uint64_t live; /* bytes of registers in it */
    uint64_t last; /* meta: position of its last group */
    bool stuck;    /* it holds what cannot be read, and is not compacted */
};

struct segments {
    struct segment *list; /* number n is list[n - 1] */
    uint32_t count, room;
    uint32_t size;  /* bytes of each */
    uint32_t block; /* what is put into them is padded to */
    uint32_t head;  /* number, 0: none */
    bool meta;
};

void segments_open(struct segments *all, bool meta, uint32_t size, uint32_t block);
void segments_close(struct segments *all);
/* Adds the next number, in state SEGMENT_MAKING. NULL: no memory. */
struct segment *segments_add(struct segments *all);
struct segment *segments_at(const struct segments *all, uint32_t number);
uint32_t segments_free(const struct segments *all);
/* size, padded. */
uint32_t segments_padded(const struct segments *all, uint32_t size);
/* Would size bytes find room in the head, or in one of the free segments less `keep` of them? */
bool segments_has_room(const struct segments *all, uint32_t size, uint32_t keep);
/*
 * Takes room for size bytes, padded, in the head or a new one: its number, and *offset. last: position of the group
 * that was written before, for a meta segment that is full now. 0: there is no room.
 */
uint32_t segments_take(struct segments *all, uint32_t size, uint64_t last, uint32_t *offset);
/* Counts bytes of a register in or out. The segment may be 0, for nowhere. */
void segments_live(struct segments *all, uint32_t number, uint32_t size, bool in);
/*
 * Gives back full segments in which nothing is alive and nobody reads, and begins such a head of values anew; of meta
 * segments only those whose last group is at most `until`, the position that the newest checkpoint stands for. True:
 * some are free now.
 */
bool segments_recycle(struct segments *all, uint64_t until);
/* Ends the head of values when little is left to fill and less than percent alive, so that it may be emptied. */
void segments_close_head(struct segments *all, uint32_t percent);
/* The full segment with the least alive, when that is below percent; 0: none. until: as above. */
uint32_t segments_sparse(const struct segments *all, uint32_t percent, uint64_t until);
/* "meta-000001.seg" into out[DISK_NAME_BYTES]; and the number of such a name, 0 when it is another's. */
void segments_name(bool meta, uint32_t number, char *out);
uint32_t segments_number(bool meta, const char *name);

#endif
