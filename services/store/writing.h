/* SPDX-License-Identifier: Apache-2.0 */
/*
 * writing.h - the writes of a leadership that are under way. There is one for each name at a time (store rule 8). A
 * write is over when a majority has accepted it, and so has every member that is in view and does not lag, or that was
 * waited for long enough: it lags from then on.
 */
#ifndef SERVICES_STORE_WRITING_H
#define SERVICES_STORE_WRITING_H

#include "services/store/carry.h"
#include "services/store/held/verdict.h"
#include "services/store/lead.h"

struct store_serving;
struct store_group;

struct store_write {
    struct list_node node;       /* of lead.writes */
    struct store_register *made; /* in the leader's own table */
    unsigned accepted;           /* set of members */
    unsigned acceptances;        /* replies, for a mutant */
    cw_time begun;
    struct store_serving *order;  /* NULL: nobody asked for it */
    struct store_parcel *parcel;  /* what the members are sent, when it fits no packet */
    struct store_verdict verdict; /* what the order is told */
    struct list waiting;          /* operations on the same name: struct store_serving */
    unsigned waiting_count;
    struct store_group *group; /* owned: it is the intent of a transaction, txn.h; NULL: it is none */
    struct store_write *of;    /* it is a change of that transaction, which is chosen; NULL: of none */
};

/* All versions below this are over as far as this write goes. */
static inline uint64_t store_write_first(const struct store_write *w)
{
    return w->group != NULL ? w->made->version : w->made->tag.n;
}

/*
 * Writes what the members are to have: takes r, whose tag has the lead's ballot and store_writing_tag()'s n. order may
 * be NULL. -ENOMEM: nothing was sent, and the order is the caller's.
 */
CW_MUST_CHECK int store_writing_begin(struct store_lead *lead, struct store_register *r, struct store_serving *order,
                                      const struct store_verdict *verdict);
/* The tag of the next write; and of the last of so many, which the write stands for. */
struct store_tag store_writing_tag(struct store_lead *lead);
struct store_tag store_writing_tags(struct store_lead *lead, unsigned count);
/*
 * The write that has to be over before another one of that name may begin, or a get may be told: one of the name, or a
 * transaction that it is part of (store rule 39). NULL: there is none.
 */
struct store_write *store_writing_blocks(const struct store_lead *lead, const struct store_name *name);
/* Is there room for the register's bytes while it is written again? For one write at a time there always is. */
bool store_writing_has_room(const struct store_lead *lead, const struct store_register *r);
/* Writes the register again as it is. Nothing happens while a write of the name is under way. -ENOMEM. And writes that
 * the name, which has no register, is not there. */
CW_MUST_CHECK int store_writing_again(struct store_lead *lead, const struct store_register *r);
CW_MUST_CHECK int store_writing_absent(struct store_lead *lead, const struct store_name *name);
/* The write is over, with all that it stands for: whoever waited for it goes on, and it is gone. */
void store_writing_retire(struct store_lead *lead, struct store_write *w);
/* A member has accepted the write with that n, which may be over. lead may be gone afterwards. */
void store_writing_accepted(struct store_lead *lead, unsigned member, uint64_t n);
/*
 * The value of a register of the lead's own table, if it is to go by itself, goes when its time has come: the shard is
 * open by then. Its time is counted from now on, unless it was before (store rule 35). And those of the whole table.
 */
void store_writing_note_ttl(struct store_lead *lead, struct store_register *r);
void store_writing_note_ttls(struct store_lead *lead);
/* Ends the writes that are done, after the view or the time has changed; sends the others again when asked to. */
void store_writing_review(struct store_lead *lead, bool resend);
/* The leadership is over: forgets all writes, and gives back the orders: begun ones to maybe, others to not. */
void store_writing_drop(struct store_lead *lead, struct list *maybe, struct list * not );

#endif
