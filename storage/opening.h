/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opening.h - what the files that open a folder share. One order is under way at a time; opening_order() submits it and
 * says which step follows.
 *
 *   opening.c   list, identity, segments; at the end free segments are told from full ones
 *   loading.c   the newest checkpoint that is whole
 *   replay.c    the chain of groups behind it, and what lies where the chain ends: a torn tail, or damage
 *   renewing.c  the end: the last group is written again, what was dropped is wiped; or a new store id
 */
#ifndef STORAGE_OPENING_H
#define STORAGE_OPENING_H

#include "storage/internal.h"

enum { CHECKPOINTS_MAX = 4 };

typedef void (*opening_step)(struct storage *s, int64_t result);

/* What was read at the start of a meta segment. */
struct first {
    uint64_t position; /* of the group there; 0: none of this store */
    bool blank;        /* all zero: never used */
    bool scanned;      /* looked through for later groups */
};

/* A group that was read: the last whole one, which is applied once the next is seen. */
struct pending {
    uint8_t *bytes; /* header, records, padding; NULL: there is none */
    uint32_t size;  /* padded */
    uint32_t segment, offset;
    struct log_group group;
};

struct opening {
    struct storage *storage;
    struct disk_waiter waiter;
    opening_step next;
    struct disk_file *files;
    uint32_t files_count, at; /* at: the file or segment that is looked at */
    uint64_t checkpoint_size[CHECKPOINTS_MAX], checkpoint_number[CHECKPOINTS_MAX];
    uint32_t checkpoint_file[CHECKPOINTS_MAX], checkpoints;
    unsigned synced; /* kinds of segments whose last one was synced */
    bool has_id;
    const char *damage; /* why there must be a new store id; NULL: there need not */
    struct storage_opened how;
    uint8_t id_bytes[IDENTITY_BYTES];

    uint8_t *window; /* loading: bytes of a checkpoint, from file offset window_at on */
    uint64_t window_at, chunk, slots, names;
    struct checkpoint_head_seen {
        uint64_t position;
        uint32_t head, head_offset;
    } seen;

    struct first *first; /* of meta segment n at [n - 1] */
    uint8_t *segment;    /* bytes of the meta segment that is read */
    uint32_t number;     /* which */
    uint32_t offset;     /* where the next group is looked for */
    uint64_t position;   /* of the last whole group */
    struct pending pending;
    uint32_t torn_segment, torn_offset; /* a group whose header alone is whole; segment 0: none */
    bool scanning_only;                 /* the chain has ended: is there anything behind? */

    uint32_t value_at; /* offset in the pending group of the record whose value is looked at */
    uint8_t *value;
    uint8_t *zeros; /* a block */
};

/* Submits an order of the opening, after which `next` goes on. The order's lane and waiter are set here. */
void opening_order(struct storage *s, struct disk_order order, opening_step next);
/* Ends it: refused, with an error. */
void opening_fail(struct storage *s, int error, const char *why);
/* Notes damage, unless some was seen before. */
void opening_damage(struct storage *s, const char *why);

/* loading.c: loads the newest whole checkpoint, then replay_begin(). */
void loading_begin(struct storage *s);
/* replay.c: reads the chain, then renewing_begin(). */
void replay_begin(struct storage *s);
/* renewing.c: then opening_end(). */
void renewing_begin(struct storage *s);
/* opening.c: the index is complete, and the disk agrees with it. */
void opening_end(struct storage *s);

#endif
