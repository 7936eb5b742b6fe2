/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the state of one instance of the store, and a tour of its files. Only services/store and its folders
 * include it, and tests. Each file has a header with what the others may call; arrows run down.
 *
 *   entry/       store.c  the service's table: packets and events go to the files below;  command.c, operate.c  what
 *                operators ask, pieces.c  by as many answers as it takes;  member.c  a member's answers to a leader,
 *                and to whoever takes it for one;  learner.c  those of a newcomer;  letters.c  what comes by the
 *                transport
 *   ask/         asker.c  the asker's side: which member a question goes to, how often, until when;  lister.c  a list
 *                of names, asked of all shards;  txn.c  a transaction
 *   making.c     an operator makes a class, on all servers
 *   genesis.c    what a server of a class is a member of; who knows of one
 *   durable.c    what waits for the disk; found.c  its records, and what is made of them at the next start;
 *   hearing.c    what others heard of a log that has just been read; scrub.c  whether what was written can still be
 *                read; disk/ is below these
 *   serve.c      the leader's side of an operation, txn.c  of a transaction;  quota.c  how much a job may hold
 *   warden.c     which members are gone for good, and who is to stand in their place;  change.c  until it does
 *   lead.c       a leadership of one shard, from its first PREPARE to its end
 *   compare.c    what a leader and another member hold differently
 *   writing.c    writes under way, until the members have them
 *   peers.c      items to the other members, and their replies
 *   carry.c      what fits a packet, and what goes by the transport
 *   members.c    who the members are, and have sealed to be
 *   common.c     counts and words
 *   held/        wire.c, word.c  bytes;  verdict.c  what an operation makes of a register;  acceptor.c, table.c  what a
 *                member holds;  bundle.c  what a transaction says;  intent.c  one as a register;  page.c  a shard's
 *                names, and its changes;  merge.c  one list of those of many shards;  places.c  who is a member of
 *                what;  ballot.h
 *
 * The last one knows no network and no time. docs/services/store.md has the rules, and one drawing of a put's way.
 */
#ifndef SERVICES_STORE_INTERNAL_H
#define SERVICES_STORE_INTERNAL_H

#include "base/list.h"
#include "keyspace/torus.h"
#include "services/reply/download.h"
#include "services/reply/upload.h"
#include "services/store/held/acceptor.h"
#include "services/store/held/mutant.h"
#include "services/store/held/places.h"
#include "services/store/held/ports.h"
#include "services/store/held/wire.h"
#include "services/transport/transport.h"

/* Bounds of one instance. */
enum {
    STORE_QUESTIONS_MOST = 65536, /* asked at this server and not answered yet */
    STORE_LISTINGS_MOST = 4,      /* of these, lists of names: each asks many questions */
    STORE_WATCHES_MOST = 64,      /* and watches, each of which holds a right to answer at a leader, of 256 */
    STORE_SERVING_MOST = 4096,    /* operations at this server as leader that are not answered yet */
    STORE_WATCHERS_MOST = 1024,   /* of these, waiting for changes */
    STORE_KEY_MOST = 64,          /* of these, waiting for one name's write */
    STORE_ASKED_MOST = 64 << 20,  /* bytes of questions asked at this server */
    STORE_DAMAGED_MOST = 64,      /* records on the disk that are written again at a time */
    STORE_HINTS_MOST = 32768,     /* shards of which the asker remembers who led; fewer where there are fewer */
};

enum store_count {
    STORE_COUNT_GETS,
    STORE_COUNT_WRITES,
    STORE_COUNT_SERVED_GETS,
    STORE_COUNT_SERVED_WRITES,
    STORE_COUNT_LISTS,
    STORE_COUNT_SERVED_LISTS,
    STORE_COUNT_WATCHES,
    STORE_COUNT_SERVED_WATCHES,
    STORE_COUNT_TXNS,
    STORE_COUNT_SERVED_TXNS,
    STORE_COUNT_RESUMED,
    STORE_COUNT_EXPIRED,
    STORE_COUNT_REPEATED,
    STORE_COUNT_STALE,
    STORE_COUNT_CONFLICTS,
    STORE_COUNT_MOVED,
    STORE_COUNT_BUSY,
    STORE_COUNT_FULL,
    STORE_COUNT_OVER_QUOTA,
    STORE_COUNT_UNKNOWN,
    STORE_COUNT_NO_QUORUM,
    STORE_COUNT_NO_ANSWER,
    STORE_COUNT_ATTEMPTS,
    STORE_COUNT_TAKEOVERS,
    STORE_COUNT_SYNCED,
    STORE_COUNT_REPAIRED,
    STORE_COUNT_DEPOSED,
    STORE_COUNT_GIVEN_UP,
    STORE_COUNT_ASIDE,
    STORE_COUNT_DISK_SLOW,
    STORE_COUNT_RESENT,
    STORE_COUNT_LETTERS,
    STORE_COUNT_LETTERS_HELD,
    STORE_COUNT_REPLACED,
    STORE_COUNT_GIVEN,
    STORE_COUNT_STRANGE,
    STORE_COUNT_WRONG_STORE,
    STORE_COUNT_WRONG_SHARD,
    STORE_COUNT_WRONG_EPOCH,
    STORE_COUNT_WRONG_BALLOT,
    STORE_COUNT_WRONG_LENGTH,
    STORE_COUNT_DENIED,
    STORE_COUNT_MALFORMED,
    STORE_COUNTS,
};

enum store_time { STORE_TIME_GET, STORE_TIME_WRITE, STORE_TIME_COMMIT, STORE_TIME_TAKEOVER, STORE_TIMES };

struct store_limits {
    size_t bytes_max; /* of registers: what grows is refused above it */
    size_t hand_max;  /* bytes of long questions and items, of each sort: carry.h */
    cw_span attempt;  /* an asker waits so long for one answer */
    cw_span tick;     /* a leader sends again what is not answered */
    cw_span patience; /* a leader without a majority gives up */
    cw_span slow;     /* a live member without an answer is waited for; then it lags */
    cw_span hearing;  /* a member that has restarted waits so long for what others heard of it, at most */
    cw_span settle;   /* a member that is another life is replaced after so long */
    cw_span away;     /* a member that is not in view is replaced after so long */
};

/* What long bytes at this server are counted as: carry.h. */
enum store_hand {
    STORE_HAND_ASKS,  /* questions, and what a leader makes of them until it is over */
    STORE_HAND_ITEMS, /* items for a member, until they are on its disk */
    STORE_HAND_GIVES, /* what a leader gives to members that lack it: nobody who asks waits for these */
    STORE_HANDS,
};

/* The right to answer a question: a call, or if that is 0 a letter. */
struct store_right {
    uint32_t call;
    struct transport_reply_to letter;
};

struct store_lead;
struct journal;
struct disk;
struct disks_host;

/* What this server is in a shard. */
enum store_role {
    STORE_ROLE_MEMBER,
    STORE_ROLE_LEARNER, /* a leader fills it; it has no vote */
    STORE_ROLE_LEFT,    /* it was a member, or was to be one, and knows who came after */
};

/* A shard that this server knows of. */
struct store_shard {
    uint32_t number;
    enum store_role role;
    struct store_config config;      /* the newest that is known to be decided; a learner is not in it */
    uint8_t me;                      /* a member: its place */
    bool lost[STORE_COPIES_MOST];    /* that member has said that it is another life: it never votes again */
    bool unsure[STORE_COPIES_MOST];  /* it has come back since it was heard of last: it may be another life */
    cw_time gone[STORE_COPIES_MOST]; /* since when it is not in view; CW_NEVER: it is */
    unsigned skip;                   /* servers that could not be made members the last times */
    struct store_acceptor acceptor;
    struct store_seal seal;    /* the next config, which this member has sealed */
    struct store_ballot heard; /* the highest that others named */
    /* On disks: the promise that was put last, and the number of that put. */
    struct store_ballot saved;
    uint64_t saved_ticket;
    struct store_lead *lead; /* NULL: this server does not lead, nor try to */
    cw_time quiet;           /* it does not try again before */
    cw_time aside;           /* nor before this, while another member is in view: it could not lead a moment ago */
    bool aside_of_disk;      /* because of its own disk: so nor while anything waits for that */
};

/* Who led the shard when an answer came last, and its n. */
struct store_hint {
    uint32_t shard;
    cw_server server; /* CW_SERVER_NONE: not known */
    uint64_t n;
};

/* A server that shares shards with this one: its store's id, and how far it said that its log goes. */
struct store_peer {
    cw_server server;
    uint64_t store_id, position;
    bool asked, told; /* of this server's own position, after a restart */
};

/*
 * Registers whose records were found damaged on the disk, by their keys; and how far the walk has come that looks for
 * the first `sought` of them in memory.
 */
struct store_damage {
    cw_key key[STORE_DAMAGED_MOST];
    unsigned count, sought;
    uint32_t shard; /* by number */
    unsigned bucket;
    uint32_t at;
    cw_timer *timer; /* NULL: nothing is looked for */
};

/* Why this server votes in nothing at the moment, or never again. */
enum store_health {
    STORE_WELL,
    STORE_OPENING, /* the disk is being read */
    STORE_HEARING, /* what do others know of this server's log? */
    STORE_DEAD,    /* the store id is dead: the disk failed, or was an older one */
};

struct store_genesis;

/* The disk is read, register after register: scrub.h. */
struct store_scrub {
    cw_timer *timer; /* NULL: there is nothing to read */
    bool now;        /* an operator waits for it */
    uint64_t read;   /* records of this pass */
    uint64_t asked;  /* records asked for since the disk was opened */
    uint64_t passes; /* that have ended */
};

struct store {
    cw_svc *svc;
    cw_server self;
    struct torus torus;
    uint64_t instance; /* of this asker: drawn when it opens, never 0 */
    uint64_t number;   /* of the last operation asked for here */
    uint64_t store_id; /* of this life's memory, or of the disk; never 0 */
    uint64_t boot;     /* what tells the ballots of this life from those of others */
    struct store_limits limits;
    bool closing;

    struct store_class of;      /* id 0: none is known */
    bool joined;                /* this server is of it, and not only knows of it */
    struct store_shard **shard; /* by number */
    unsigned shards, shards_room;
    size_t bytes, registers; /* of all shards' registers */
    struct store_tally tally;
    struct store_used *quota; /* of a job; of job 0: of all that are not named */
    unsigned quotas;
    struct store_peer *peer;
    unsigned peers;

    enum store_health health;
    const struct disks_host *disks; /* NULL: the host has none */
    const char *folder;             /* NULL: no folder is set */
    struct disk *disk;              /* open; NULL: none is */
    struct journal *journal;        /* on it; NULL as that is */
    cw_timer *warden_timer;
    cw_time warden_at;    /* when it ends */
    unsigned filling;     /* newcomers that this server fills */
    uint32_t comparisons; /* so far: their serial numbers */
    cw_timer *disk_timer;
    cw_timer *hearing_timer;
    cw_time hearing_ends;
    struct store_damage damage;
    unsigned disk_waits;  /* answers and votes that wait for the disk */
    cw_time disk_stirred; /* when it told of something last, or the first of these began to wait */
    struct store_scrub scrub;
    uint64_t found_position; /* of the log when it was opened */
    uint64_t found_strange;  /* records in it that could not be read, or kept */
    uint32_t segment;        /* options of the journal */
    uint64_t disk_max;

    uint64_t offered; /* the class that this server has agreed to be of, until `offer_ends`; 0: none */
    cw_time offer_ends;
    struct store_genesis *genesis; /* asked for here; NULL: none */
    unsigned learning;             /* servers that are being asked for the class */
    cw_time learned_last;          /* when they were asked */

    /* It has come out whether there is a class: what was asked for here goes on, or ends. */
    void (*class_known)(struct store *s);
    struct list questions;
    size_t question_count, question_bytes;
    unsigned listings; /* under way */
    unsigned watches;  /* asked for here */
    size_t serving_count;
    size_t watchers;         /* of these */
    struct store_hint *hint; /* of a shard: its number modulo `hints` */
    unsigned hints;

    struct uploads uploads;      /* of operators */
    struct downloads downloads;  /* the same */
    cw_timer *pieces_timer;      /* while one of both is under way: entry/pieces.c */
    struct transport *transport; /* what fits no packet goes by it; NULL: the service closes */
    struct list letters;         /* items that are under way by it: peers.c */
    size_t hand[STORE_HANDS];    /* bytes */

    uint64_t count[STORE_COUNTS];
    cw_counter *counter[STORE_COUNTS];
    cw_histogram *took[STORE_TIMES];
};

/* NULL: this server is no member of it. */
struct store_shard *store_shard_find(struct store *s, uint32_t number);

#endif
