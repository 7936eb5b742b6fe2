/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asker.h - the asker's side: a question, from when it is asked at this server to its answer. It goes to the member
 * that led the shard when an answer came last, else to the first one in view; it is sent on by answers, and by silence
 * to the next member. A write keeps its number over all attempts (store rules 23 to 25).
 */
#ifndef SERVICES_STORE_ASK_ASKER_H
#define SERVICES_STORE_ASK_ASKER_H

#include "services/store/internal.h"

/* As run() of cw_store_api. */
CW_MUST_CHECK int store_asker_do(struct store *s, const cw_store_request *r, cw_store_done done, void *arg);
/*
 * Asks for one order, a list of one shard's names too, and calls done() once, not from within. Borrows the order for
 * the call. -ESHUTDOWN, -ENOBUFS, -ENOMEM.
 */
CW_MUST_CHECK int store_asker_begin(struct store *s, const struct store_order *o, cw_time until, cw_store_done done,
                                    void *arg);
/* Until when an answer is of use; 0: 5 s. And is that a timeout that may be asked for? */
cw_time store_asker_until(const struct store *s, cw_span timeout);
bool store_asker_waits(cw_span timeout);
/* As list() of cw_store_api: lister.c. */
CW_MUST_CHECK int store_lister_do(struct store *s, const cw_store_list *l, cw_store_list_done done, void *arg);
/* As watch() of cw_store_api: lister.c. */
CW_MUST_CHECK int store_watcher_do(struct store *s, const cw_store_watch *w, cw_store_watch_done done, void *arg);
/* As txn() of cw_store_api: txn.c. */
CW_MUST_CHECK int store_asker_txn(struct store *s, const cw_store_txn *x, cw_store_txn_done done, void *arg);
/* It has come out whether there is a class: questions that waited for that go on, or end. */
void store_asker_class_known(struct store *s);
/* Before all else: room for what is remembered of shards, which is freed with the store. -ENOMEM. */
CW_MUST_CHECK int store_asker_open(struct store *s);
/* Ends all questions. */
void store_asker_close(struct store *s);
/* Who led the shard of the name when an answer came last; CW_SERVER_NONE: not known. */
cw_server store_asker_hint(const struct store *s, uint32_t shard);

#endif
