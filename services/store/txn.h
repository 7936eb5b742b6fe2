/* SPDX-License-Identifier: Apache-2.0 */
/*
 * txn.h - a transaction at the server that leads the shard of its {tag}.
 *
 *   1. It waits until no write of its names is under way.
 *   2. Its guards are looked at. Where one does not hold it is refused, after the leader was confirmed.
 *   3. What it guards or writes, and an earlier leader wrote, is written again as it is, so that nothing of that time
 *      can come back any more (store rule 40).
 *   4. Its intent is written, one register (held/intent.h). From here on nothing else changes its names (rule 39).
 *   5. That is chosen: it is done. Who asked is told, and the changes are written, one register for each.
 *   6. These are chosen, and the names are free.
 *
 * A leader that comes in between goes on from where it meets the intent, before it serves (rule 6): first 3., for
 * that transaction; then it writes the intent again.
 */
#ifndef SERVICES_STORE_TXN_H
#define SERVICES_STORE_TXN_H

#include "services/store/held/intent.h"
#include "services/store/writing.h"

/* A transaction whose intent is written, until all its changes are. */
struct store_group {
    struct list_node node; /* of lead.groups */
    struct store_write *write;
    struct store_intent intent; /* of the register that the write made */
    unsigned changes;           /* under way */
    bool chosen;
};

/* Goes on with one, in an open shard. */
void store_txn_go(struct store_lead *lead, struct store_serving *o);
/* The write of the transaction that the name is part of; NULL: of none. */
struct store_write *store_txn_claims(const struct store_lead *lead, const struct store_name *name);
/* The write of one that is chosen and has changes that are not begun yet, for want of memory; NULL: there is none. */
struct store_write *store_txn_owed(const struct store_lead *lead);
/* Its intent is chosen. The write may be gone afterwards. */
void store_txn_chosen(struct store_lead *lead, struct store_write *w);
/* One of its changes is over. The same. */
void store_txn_changed(struct store_lead *lead, struct store_write *w);
/* Begins the changes of a chosen one that could not be begun before, for want of memory. */
void store_txn_again(struct store_lead *lead, struct store_write *w);
/* The write is over, or its leadership is. Does nothing when it is of no transaction. */
void store_txn_drop(struct store_write *w);
/* Begins what earlier leaders left of their transactions. True: there is nothing of that, and no write under way. */
bool store_txn_resume(struct store_lead *lead);

#endif
