/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lead.h - a leadership: this server leads a shard, or tries to. It begins by promises of a majority, goes on by
 * comparing what these members hold and by writing again what they do not agree on, and then serves, until another
 * server takes over or no majority answers any more. Nothing of a leadership is kept when it ends.
 */
#ifndef SERVICES_STORE_LEAD_H
#define SERVICES_STORE_LEAD_H

#include "services/store/internal.h"

enum store_phase {
    STORE_PHASE_RESTING,   /* another leader was there a moment ago */
    STORE_PHASE_PREPARING, /* waits for promises of a majority */
    STORE_PHASE_COMPARING, /* what do those who promised hold? */
    STORE_PHASE_SYNCING,   /* what they did not agree on is written again (store rule 5) */
    STORE_PHASE_OPEN,      /* serves */
};

/* A comparison with one member that is under way: compare.c. */
struct store_comparison {
    bool runs;
    enum {
        STORE_COMPARE_TAKEOVER, /* the higher tag of two wins */
        STORE_COMPARE_LATE,     /* the shard is open, and what the leader holds is right */
        STORE_COMPARE_FILL,     /* the other one is a newcomer, which is given what it lacks */
    } how;
    unsigned member; /* by its place */
    enum { COMPARE_BUCKETS, COMPARE_LIST, COMPARE_FETCH, COMPARE_GIVE, COMPARE_DROP } stage;
    unsigned bucket, from;
    uint32_t give_at;            /* of the bucket, the register that is given next */
    unsigned given;              /* registers given and taken away, or that were to be */
    size_t refused;              /* LATE: there was no room for a register of that size */
    uint32_t serial;             /* registers that it has met carry this number */
    uint64_t question;           /* replies to an earlier one do not count */
    cw_time asked;               /* it was asked first */
    bool large;                  /* FETCH: by a letter */
    struct store_parcel *parcel; /* GIVE: what is given, when it goes as a letter */
    bool more;                   /* the bucket has more names than were listed */
    bool differs[STORE_BUCKETS];
    struct store_register *wanted; /* names to be fetched, or to be dropped, in a row by `next` */
};

/* A change of members that is under way: change.c. */
struct store_change {
    enum {
        STORE_CHANGE_NONE,
        STORE_CHANGE_LEARN,   /* the newcomer is given what it lacks, while writes go on */
        STORE_CHANGE_STOPPED, /* waits for the writes under way to be over, and begins no others */
        STORE_CHANGE_LAST,    /* the newcomer is given what is left */
        STORE_CHANGE_SEALING, /* waits until all that stay have sealed the next config */
    } step;
    bool waits;        /* for the answer to a LEARN */
    uint8_t place;     /* of the member that leaves */
    cw_server server;  /* the newcomer */
    uint64_t store_id; /* its; 0: not known yet */
    uint64_t number;   /* replies to earlier questions do not count */
    unsigned passes;   /* comparisons so far */
    unsigned sealed;   /* set of members */
    cw_time begun;     /* this step */
};

struct store_lead {
    struct store *store;
    struct store_shard *shard;
    struct store_ballot ballot;
    enum store_phase phase;
    cw_time begun;         /* this phase; RESTING and PREPARING: the leadership */
    uint64_t n;            /* of the last write */
    uint64_t settled;      /* a majority has seen this n, or a higher one: what askers are told (store rule 23) */
    unsigned promised;     /* set of members, by place */
    unsigned voters;       /* those of `promised` whose states make the shard's */
    unsigned compared;     /* of the voters */
    unsigned lagging;      /* members that are not waited for: they have missed something */
    unsigned full;         /* members that had no room for more when they were heard of last */
    uint64_t promises_min; /* the lowest n that was told with a promise */
    uint64_t promises_max; /* the highest n that was told with a promise */
    struct store_sum root[STORE_COPIES_MOST];  /* as told with the promise */
    struct store_seal seal[STORE_COPIES_MOST]; /* as told with the promise */
    struct store_comparison comparison;
    struct store_table fetched; /* what voters hold and this server did not accept: it goes when it is written again */
    struct store_change change;
    cw_time cramped[STORE_COPIES_MOST]; /* that member had no room: it is not caught up before */
    bool doubtful[STORE_BUCKETS];       /* a voter holds that bucket otherwise: it has doubtful registers */
    unsigned sync_fetched;              /* the bucket of `fetched` to look at while syncing */
    unsigned sync_bucket, sync_at;      /* behind these, the next register of the own table */

    struct list writes; /* struct store_write, the oldest first */
    unsigned write_count;
    struct list groups; /* of these, transactions: struct store_group */

    struct list waiting;  /* operations that wait until the shard is open: struct store_serving */
    struct list reads;    /* those that wait for the next round of CONFIRM */
    struct list round;    /* those of the round under way */
    struct list watching; /* those that wait for changes */
    cw_timer *watch_timer;
    bool confirming;
    uint64_t round_number;
    unsigned confirmed;     /* set of members */
    unsigned confirmations; /* replies, for a mutant */
    cw_time round_begun;

    cw_timer *timer;
    cw_timer *expiry_timer; /* runs while a value of the shard is to go by itself */
    cw_time expiry_at;      /* when that timer ends */
};

/* How a leadership ends, as its askers see it. ASIDE: this server cannot lead at the moment, and another is to. */
enum store_end { STORE_END_DEPOSED, STORE_END_NO_QUORUM, STORE_END_ASIDE, STORE_END_CLOSED };

/* Begins to lead, unless it does already. -ENOMEM. */
CW_MUST_CHECK int store_lead_begin(struct store *s, struct store_shard *shard);
/* Ends it: writes under way as MAYBE, all others as not done. lead is gone afterwards. */
void store_lead_end(struct store_lead *lead, enum store_end how);
/* A reply to an item of this leadership. lead may be gone afterwards. */
void store_lead_heard(struct store_lead *lead, unsigned member, uint64_t number, const struct store_reply *reply);
/* What this server has promised, or accepted under that number, as the leader is on its disk. lead may be gone
 * afterwards. */
void store_lead_voted(struct store_lead *lead, enum store_item_kind kind, uint64_t number);
/* Goes on to the next phase, if it may. lead may be gone afterwards. */
void store_lead_go_on(struct store_lead *lead);
/* Has the timer run while there is anything to be sent again. */
void store_lead_wind(struct store_lead *lead);
/* The view has changed. */
void store_lead_review(struct store_lead *lead);

static inline unsigned store_lead_majority(const struct store_lead *lead)
{
    return lead->shard->config.count / 2u + 1;
}
/* Another member, in view, and in the life that the class was made with? */
bool store_lead_sees(const struct store_lead *lead, unsigned member);
/*
 * Is there no room for what grows: at this server, or at a member that can be asked? One that is lost, or not in view,
 * takes nothing anyway, and whoever comes in its place has room of its own.
 */
bool store_lead_is_full(const struct store_lead *lead);
/* The set of all members. */
static inline unsigned store_lead_all(const struct store_lead *lead)
{
    return (1u << lead->shard->config.count) - 1;
}

#endif
