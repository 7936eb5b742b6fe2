/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - what the files of storage/ share: the members of a store, and the steps that one file does for another.
 *
 *   storage.c     the store as a whole: questions, time, death, the end
 *   gather.c      appends become groups; a group that is on the disk becomes part of the index
 *   making.c      new segments, ahead of need
 *   opening.c     what a folder has: identity, segments, checkpoint; replay.c: the chain of groups; renewing.c: its end
 *   checkpoint.c  the index as a file; loading.c: and back
 *   reading.c     one register; walking.c: all of a kind, in the order of their places
 *   compaction.c  a segment with little alive is moved to the head
 */
#ifndef STORAGE_INTERNAL_H
#define STORAGE_INTERNAL_H

#include "base/check.h"
#include "base/container.h"
#include "storage/identity.h"
#include "storage/log_group.h"
#include "storage/segments.h"
#include "storage/storage.h"

enum {
    GATHER_BLOBS = 8, /* blob segments that values of one group lie in, at most */
    NAME_TAIL = 1 + CW_KEY_BYTES,
    NAME_HEAD = 4, /* the space before each name in the list */
};

enum storage_state { STORAGE_OPENING, STORAGE_OPEN, STORAGE_STOPPING, STORAGE_STOPPED, STORAGE_REFUSED };

/* A group that is put together, or on its way. */
struct gather {
    uint8_t *bytes; /* room for the header, then records */
    uint32_t used;  /* bytes of records */
    uint32_t room;  /* bytes of all */
    uint32_t records;
    uint64_t *tickets;
    uint32_t tickets_count, tickets_room;
    uint32_t blob[GATHER_BLOBS]; /* numbers */
    uint32_t blobs;
    uint64_t position;        /* on its way: its own, */
    uint32_t segment, offset; /* and its place */
};

struct making {
    struct disk_waiter waiter;
    struct segments *of; /* NULL: none is being made */
    uint32_t number;
    uint32_t zeroed; /* bytes */
    int step;
    char name[DISK_NAME_BYTES];
    bool full;     /* there was no room for one more */
    cw_time again; /* full: when it is tried again; CW_NEVER: no time is known yet */
};

struct checkpoint {
    struct disk_waiter waiter;
    bool running, wanted;
    unsigned step, part;
    uint8_t *bytes;
    uint32_t used, room;
    uint64_t offset;   /* in the file */
    uint64_t chunk;    /* number of the next */
    uint64_t slots;    /* written so far */
    uint64_t sequence; /* of the file that is written, or was last */
    uint64_t position; /* that it stands for */
    uint32_t head, head_offset;
    uint32_t file, old_file; /* handles; old_file only with has_old */
    bool has_old;
    uint64_t names_done;
    uint8_t name[SORTED_TEXT_MAX]; /* the last one written */
    uint32_t name_size;
    char file_name[DISK_NAME_BYTES];
    void (*done)(struct storage *s, int result); /* NULL: nobody waits for it */
};

struct compaction;
struct opening;
struct reading;
struct walking;

struct storage {
    struct storage_config config;
    struct storage_events events;
    struct disk *disk;
    enum storage_state state;
    bool dead;
    struct identity identity;
    uint32_t identity_file;
    struct disk_waiter identity_waiter, stop_waiter;
    bool stop_told;
    uint8_t identity_bytes[IDENTITY_BLOCK];

    struct segments meta, blob;
    struct key_index index;
    struct sorted names; /* space and name; tail: kind and key */
    bool counting;       /* segments count what is alive in them; while a folder is opened they do not yet */

    struct disk_waiter group_waiter, value_waiter;
    struct gather gathering, flying;
    bool in_flight;
    uint32_t flight_left; /* orders of the group on its way that were not told yet */
    uint32_t orders_out;  /* these, and those of values */
    uint64_t position;    /* of the last group that was begun */
    uint64_t durable;     /* of the last one on the disk */
    bool last_is_empty;   /* that group had no record */
    bool wants_room;      /* somebody was refused with -EAGAIN */
    cw_time quiet_at;     /* when the empty group is due; CW_NEVER: not known or not needed */

    uint64_t covered;   /* the position that the newest synced checkpoint stands for */
    uint64_t log_since; /* bytes of log since it began */
    struct making making;
    struct checkpoint checkpoint;
    struct compaction *compaction; /* NULL: none is under way */
    struct opening *opening;       /* NULL: it is open */
    struct reading *readings;      /* under way */
    struct walking *walking;       /* NULL: none is under way */
    uint64_t compact_allowance;    /* bytes that compaction may move: half of what comes in */
    uint64_t compact_after;        /* position: before that one has landed none is begun */
    uint64_t scrub_at;
    bool blobs_wanted; /* there was a large value: one blob segment is kept ahead */
    struct storage_status counts;
};

/* gather.c */
/* A record of compaction: appended as it is, without a ticket. Errors as storage_append(). */
CW_MUST_CHECK int gather_move(struct storage *s, const struct log_record *r, const void *value);
/* What a record at this place says becomes part of index and names. */
void gather_apply(struct storage *s, const struct log_record *r, struct log_place place, uint64_t position);
/* Begins a group when none is under way and there is something to write, or `empty` is set. */
void gather_flush(struct storage *s, bool empty);
void gather_told(struct disk_waiter *waiter, uint64_t ticket, int64_t result);
void gather_value_told(struct disk_waiter *waiter, uint64_t ticket, int64_t result);
/* Tells all that wait that nobody knows, once the disk holds none of their bytes any more. */
void gather_give_up(struct storage *s);

/* making.c */
/* Begins to make a segment where one is wanted. */
void making_go_on(struct storage *s);
/* Tries again after a while where the disk was full. */
void making_tick(struct storage *s, cw_time now);
/* May one more be made of this kind, now or when the one under way is there? */
bool making_may(const struct storage *s, const struct segments *all);

/* checkpoint.c */
void checkpoint_go_on(struct storage *s);
void checkpoint_begin(struct storage *s, void (*done)(struct storage *s, int result));
void checkpoint_name(uint64_t sequence, char *out);
uint64_t checkpoint_sequence(const char *name); /* 0: no checkpoint's */

/* storage.c */
/* A write or sync failed: from here on nothing is acknowledged. */
void storage_die(struct storage *s);
/* Writes s->identity, its sequence one higher; told to identity_waiter, which the caller has set. */
void storage_write_identity(struct storage *s);
/* Gives back segments that are free now, makes others, goes on with what waited. */
void storage_settle(struct storage *s);
void storage_mark_damaged(struct storage *s, uint8_t kind, const cw_key *key);

/* opening.c */
CW_MUST_CHECK int opening_begin(struct storage *s);
void opening_free(struct storage *s);

/* reading.c */
/* told(result, record) is called as `read` of struct storage_events; without `value` the value of a place of its own is
 * left out: NULL. */
typedef void (*reading_told)(struct storage *s, uint64_t ticket, int result, const struct log_record *r);
CW_MUST_CHECK int reading_begin(struct storage *s, const struct key_slot *slot, bool value, uint64_t ticket,
                                reading_told told);
void reading_free_all(struct storage *s);

/* walking.c */
void walking_free(struct storage *s);

/* compaction.c */
void compaction_go_on(struct storage *s);
/* Bytes of values that are still to be moved out of a blob segment; 0: none is being emptied. */
uint64_t compaction_owes(const struct storage *s);
void compaction_free(struct storage *s);

#endif
