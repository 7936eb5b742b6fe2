/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - registers on a disk: a segmented log with an index in memory, which knows no shard protocol. What it
 * promises (docs/storage.md has the reasons and the bytes):
 *
 *   durable     what was told as appended is there after any loss of power, in the order in which it was appended; what
 *               was not told yet is there or not, without gaps: a prefix of what was appended
 *   whole       the puts of one storage_append() are there together or not at all
 *   honest      a byte that is not what was written is never given out: damage of a value is told for that value,
 *   damage
 *               of the log makes a new store id, and what could be read is kept as a *warm* copy
 *   final       after one failed write or sync nothing is acknowledged any more, and the next opening has a new store
 *   id
 *
 * Everything is asynchronous: calls return at once, and the owner is told by the functions of struct storage_events,
 * never inside a call of its own. Time comes in by storage_tick(), the disk by contract (storage/disk.h). One thread;
 * pure.
 */
#ifndef STORAGE_STORAGE_H
#define STORAGE_STORAGE_H

#include "cubeway/time.h"
#include "storage/disk.h"
#include "storage/key_index.h"
#include "storage/sorted.h"

struct storage;

/* Sizes are in bytes. What an existing folder was made with must be said again (STORAGE_OTHER). */
struct storage_config {
    uint64_t class_id;         /* the store's class; a folder of another one is refused */
    uint64_t fresh_id;         /* 64 random bits, not 0: the store id, should a new one be needed */
    uint32_t block;            /* what groups and values are padded to: a power of two, 512..65,536; 4,096 */
    uint32_t meta_segment;     /* multiples of block, at least 4; up to 1 GiB; 16 MiB */
    uint32_t blob_segment;     /* 64 MiB */
    uint32_t inline_max;       /* longer values get a place of their own; 3,072 */
    uint32_t group_max;        /* of the records of a group, less than a meta segment by a block; 1 MiB */
    uint64_t bytes_max;        /* of all segments; 0: as many as the disk has room for */
    uint32_t blob_least;       /* of bytes_max, the log leaves room for so many blob segments; 0 */
    uint64_t memory_max;       /* of index and names; 0: no limit */
    uint64_t checkpoint_every; /* of log between two checkpoints; 256 MiB */
    cw_span quiet;             /* after so long without appends an empty group follows the last; 100 ms */
    uint32_t compact_live;     /* a segment with less than so many percent alive is compacted; 50 */
    bool unlisted;             /* nobody asks for names: those that are there take no memory; false */
};

/* The values named above. class_id and fresh_id remain to be filled in. */
struct storage_config storage_config_default(void);

enum storage_opened_as {
    STORAGE_FORMATTED, /* the folder was empty */
    STORAGE_RECOVERED, /* all that was acknowledged is there */
    STORAGE_RENEWED,   /* new store id: damage, or death in the life before; all registers are warm */
    STORAGE_OTHER,     /* refused: another class, or other sizes */
    STORAGE_FAILED,    /* refused: `error` */
};

struct storage_opened {
    enum storage_opened_as as;
    int error;       /* STORAGE_FAILED: the disk's -errno, or -ENOMEM */
    const char *why; /* in words, for people; a constant */
    uint64_t store_id;
    uint64_t boot;     /* how often it was opened, this time counted; on the disk already */
    uint64_t position; /* of the last group */
    uint64_t dropped;  /* groups at the end that were not whole: 0 or 1 */
    uint64_t replayed; /* groups read behind the checkpoint */
};

/* A register to be written. All pointers are borrowed for the call, but for value (see storage_append()). */
struct storage_put {
    uint8_t kind;
    bool drop; /* the register and its name go; value is not used */
    cw_key key;
    uint32_t space;   /* names are listed by space */
    const void *note; /* opaque, up to LOG_NOTE_MAX */
    const void *name; /* up to LOG_NAME_MAX; a drop names what it takes from the list */
    const void *value;
    uint16_t note_size, name_size;
    uint32_t value_size;
    uint64_t value_sum; /* storage_sum() of the value: made where the value was made, and travelling with it */
};

struct storage_events {
    void *arg; /* for all of them */
    /* storage_open() has ended. After STORAGE_OTHER and STORAGE_FAILED only storage_close() may follow. */
    void (*opened)(void *arg, const struct storage_opened *how);
    /* The append is on the disk (result 0), in the group of this position; or -EIO: nobody knows, and nothing more is
     * written. Told in the order of appends. Borrowed values are given back. */
    void (*appended)(void *arg, uint64_t ticket, int result, uint64_t position);
    /* record: as written, its value always there; borrowed for the call. -EBADMSG: damaged, and record is NULL; -EIO:
     * the disk could not read. */
    void (*read)(void *arg, uint64_t ticket, int result, const struct log_record *record);
    /* An append that was refused with -EAGAIN or -ENOSPC may be tried again; after storage_want(), look again. */
    void (*room)(void *arg);
    /* storage_stop() has ended: 0, or -EIO. */
    void (*stopped)(void *arg, int result);
    /* Scrubbing, compaction or a read found the bytes of this register damaged. */
    void (*damaged)(void *arg, uint8_t kind, const cw_key *key);
};

/* Checksum of a value. */
uint64_t storage_sum(const void *value, uint32_t size);

/*
 * Begins to open what the disk has; opened() tells. *config and *events are copied; the disk is borrowed until
 * storage_close(). -EINVAL: config is outside its ranges; -ENOMEM.
 */
CW_MUST_CHECK int storage_open(struct storage **out, const struct storage_config *config,
                               const struct storage_events *events, struct disk *disk);
/*
 * Takes it. As if the power had gone: call storage_stop() before. The disk must hold none of its orders any more: close
 * the disk first.
 */
void storage_close(struct storage *s);
/*
 * Gives this store id up: as after a failed write nothing is acknowledged any more, and the next opening has a new one.
 * For an owner that knows better than the disk what it should hold.
 */
void storage_renounce(struct storage *s);
/* Ends in good order: writes what was appended, and a checkpoint, so that the next opening is quick. */
void storage_stop(struct storage *s);

/*
 * Appends count puts as one. Small values are copied; a value above inline_max is borrowed until appended() tells. It
 * goes to the disk with the group that storage_flush() begins, or that follows the one under way.
 * -EAGAIN: no room just now, room() tells; -ENOSPC: the disk, or memory_max, is full (drops still go); -EMSGSIZE:
 * larger than a group or a blob segment; -EINVAL: note or name too long; -EIO: it is dead; -ENOTCONN: it is not open.
 * Then nothing was done.
 */
CW_MUST_CHECK int storage_append(struct storage *s, const struct storage_put *puts, unsigned count, uint64_t ticket);
/* A value above inline_max will be appended: room for it is made, and room() tells when that has changed. */
void storage_want(struct storage *s);
/* Call it when there is nothing more to append for the moment: begins a group when none is under way. */
void storage_flush(struct storage *s);

/* Where the register is, as of what was told as appended; NULL: there is none. Good until the next call or event. */
const struct key_slot *storage_find(const struct storage *s, uint8_t kind, const cw_key *key);
/* Reads a register; read() tells. -ENOENT, -ENOMEM, -ENOTCONN: nobody will be told. */
CW_MUST_CHECK int storage_read(struct storage *s, uint8_t kind, const cw_key *key, uint64_t ticket);
/*
 * Reads all registers of a kind, as they are now, in the order in which they lie on the disk: few reads for many. Each
 * is told by found(), result and record as in `read` above, and then end(): 0, or the first error, which ends the walk.
 * Both are never called inside this call. One walk at a time: -EBUSY; -ENOMEM, -ENOTCONN: nobody will be told.
 */
struct storage_walker {
    void *arg;
    void (*found)(void *arg, int result, const struct log_record *record);
    void (*end)(void *arg, int result);
};
CW_MUST_CHECK int storage_walk(struct storage *s, uint8_t kind, const struct storage_walker *walker);
/* The registers, as key_index_next(). */
const struct key_slot *storage_next(const struct storage *s, uint64_t *at);

struct storage_name {
    const uint8_t *name; /* borrowed, good until the next call or event */
    uint32_t size;
    uint8_t kind;
    cw_key key;
};
/* The first name of the space at or behind `from` (with `behind`: behind it). False: there is none. */
bool storage_name(const struct storage *s, uint32_t space, const void *from, uint32_t size, bool behind,
                  struct storage_name *out);

/*
 * Does what time brings: the empty group, and one step of compaction. Call it when storage_next_wake() is due, and when
 * something was told. Scrubbing has its own pace: each storage_scrub() reads and verifies the next register, and
 * returns how many bytes that are; 0: all have been read once, and the next call begins anew.
 */
void storage_tick(struct storage *s, cw_time now);
cw_time storage_next_wake(const struct storage *s);
uint64_t storage_scrub(struct storage *s);
/* Begins a checkpoint unless one is under way. */
void storage_checkpoint(struct storage *s);

struct storage_status {
    uint64_t registers, names, memory;                /* bytes */
    uint64_t position;                                /* of the last group on the disk */
    uint64_t groups, records, log_bytes, value_bytes; /* written since the opening */
    uint64_t checkpoints, compacted;                  /* segments */
    uint64_t damaged;                                 /* registers found damaged */
    uint64_t scrubbed;                                /* registers read by scrubbing */
    uint32_t meta_segments, meta_free, blob_segments, blob_free;
    uint64_t meta_live, blob_live; /* bytes */
    uint64_t meta_room;            /* bytes of log that find room, all but the last free segment */
    bool meta_more;                /* another segment may be made */
    uint32_t blob_tail;            /* bytes left in the blob segment that is being filled */
    bool blob_more;                /* another may be made, or compaction is emptying one */
    bool dead;                     /* a write or sync failed */
};
void storage_status(const struct storage *s, struct storage_status *out);

#endif
