/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - what a member of the store has to remember over a loss of power, in the order in which it happened. A
 * journal stands on storage/ and knows no protocol: records of a few kinds, each under a key, the last one counts.
 *
 *   order     Records reach the disk in the order of journal_put(). After a loss of power those are there that were put
 *             first, up to some one that is not older than the last that was told.
 *   waiting   Who waits by journal_wait() is told when all that was put before is on the disk: so an answer that leaves
 *             then tells nothing that a loss of power could take back (store rule 1).
 *   death     After one failed write nobody is told anything good any more: died().
 *
 * Nobody waits for room: what does not find any stays in memory, in its order, until there is some. All that comes
 * after waits with it, also what would make room; so nobody should put a long value without journal_room().
 *
 * One thread. The disk is borrowed, and closed before journal_close().
 */
#ifndef SERVICES_STORE_DISK_JOURNAL_H
#define SERVICES_STORE_DISK_JOURNAL_H

#include "base/list.h"
#include "cubeway/time.h"
#include "storage/disk.h"

enum {
    JOURNAL_KINDS = 4,         /* kinds are 1..JOURNAL_KINDS - 1 */
    JOURNAL_INLINE_MAX = 8192, /* longer values have places of their own on the disk */
    JOURNAL_VALUE_MAX = (4 << 20) + 8192,
    JOURNAL_LONG_SEGMENT = 16 << 20, /* least bytes of a file with such places */
};

struct journal;

struct journal_options {
    uint64_t owner;     /* a folder of another owner is refused */
    uint64_t fresh_id;  /* random, not 0: the journal's id, should it need a new one */
    uint32_t segment;   /* bytes of a file of the log; a folder that was made with others is refused */
    uint64_t bytes_max; /* of the log; 0: as many as the disk has room for */
};

enum journal_state {
    JOURNAL_OPENING,
    JOURNAL_OPEN,
    JOURNAL_REFUSED, /* the folder is not ours, or cannot be read: `why` */
    JOURNAL_DEAD,    /* a write failed, or the journal was given up: the next opening has a new id */
};

struct journal_events {
    void *arg;
    /* While it opens: a record that is there, those of kind 1 first, then those of kind 2, and so on. Borrowed. */
    void (*found)(void *arg, uint8_t kind, const uint8_t *value, size_t size);
    /* It is open, or refused. */
    void (*opened)(void *arg, enum journal_state state);
    /* Some of what was put is on the disk now, and who waited for it has been told; or there may be room. Call
     * journal_tick(). */
    void (*landed)(void *arg);
    /* It is dead. */
    void (*died)(void *arg);
    /* The record of that key is damaged on the disk: put it again. */
    void (*damaged)(void *arg, uint8_t kind, const cw_key *key);
};

/* Borrowed until told() is called, which may free it; good: all that was put before is on the disk. */
struct journal_waiter {
    struct list_node node;
    uint64_t ticket;
    void (*told)(struct journal_waiter *waiter, bool good);
};

/* Begins to open; events tell. *options and *events are copied. -EINVAL, -ENOMEM. */
CW_MUST_CHECK int journal_open(struct journal **out, const struct journal_options *options,
                               const struct journal_events *events, struct disk *disk);
/* Takes it; who waits is told that it is no good. The disk is closed already. NULL is allowed. */
void journal_close(struct journal *j);

enum journal_state journal_state(const struct journal *j);
/* One sentence: how it opened, or why not. */
const char *journal_why(const struct journal *j);
/* The journal's id; it is another one after every loss. And how often it was opened with this id: 1 at first. */
uint64_t journal_id(const struct journal *j);
uint64_t journal_boot(const struct journal *j);
/* How far the log goes on the disk: grows, also over restarts, unless the disk is an older one. */
uint64_t journal_position(const struct journal *j);

/* Puts a record; value: at most JOURNAL_VALUE_MAX bytes, copied. */
void journal_put(struct journal *j, uint8_t kind, const cw_key *key, const void *value, size_t size);
/*
 * The same without a copy: the value is borrowed until back(arg) is called, once, perhaps from within; by
 * journal_close() at the latest.
 */
void journal_lend(struct journal *j, uint8_t kind, const cw_key *key, const void *value, size_t size,
                  void (*back)(void *arg), void *arg);
/*
 * There was no memory for what had to be put next: nothing that is put or waited for from now on is ever told as good,
 * and the next journal_tick() is its death, since an order with a hole is none. The id goes with it.
 */
void journal_doom(struct journal *j);
/* Is a journal_tick() due for that? */
bool journal_is_doomed(const struct journal *j);
/* The record of that key is gone. */
void journal_drop(struct journal *j, uint8_t kind, const cw_key *key);
/* Is all that was put on the disk? */
bool journal_is_settled(const struct journal *j);
/* The number of the last put, and that of the last one that is on the disk. */
uint64_t journal_put_last(const struct journal *j);
uint64_t journal_put_told(const struct journal *j);
/* Tells the waiter when all is that was put until now; never from inside this call. */
void journal_wait(struct journal *j, struct journal_waiter *waiter);
/*
 * Reads the next record from the disk and verifies it: damaged() tells. Gives its bytes; 0: all have been read since it
 * gave 0 last, or nothing can be read at the moment. journal_status() counts those that came back.
 */
uint64_t journal_scrub(struct journal *j);
/* Little room is left: nothing that grows should be put. */
bool journal_is_full(const struct journal *j);
/*
 * May a long value of so many bytes be put? It may: there is room on the disk for it, and for others of `besides` bytes
 * together. Soon: room is being made. No: deletes have to make some.
 */
enum journal_room { JOURNAL_ROOM, JOURNAL_ROOM_SOON, JOURNAL_ROOM_NONE };
enum journal_room journal_room(struct journal *j, size_t bytes, size_t besides);
/* Gives this id up, because the disk is not what it was: dead, and died() is not called. */
void journal_give_up(struct journal *j);

/* Does what time brings; call it when journal_next_wake() is due. */
void journal_tick(struct journal *j, cw_time now);
cw_time journal_next_wake(const struct journal *j);

struct journal_status {
    uint64_t records, live, bytes; /* bytes: of all files of the log */
    uint64_t groups, put;          /* writes to the disk, and records put, since it was opened */
    uint64_t waiting;              /* records that wait for room */
    uint64_t scrubbed, damaged;    /* records that were read by journal_scrub(), and those found damaged, however */
};
void journal_status(const struct journal *j, struct journal_status *out);

#endif
