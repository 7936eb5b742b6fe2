/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_txns.h - transactions of the talkers (store_talker.h), over two to four names: what each of their guards and
 * steps met or made is an entry of the ledger of its own, as if of a head, get, put or delete.
 */
#ifndef SIM_STORE_TXNS_H
#define SIM_STORE_TXNS_H

#include "store_talker.h"

/* Asks for one at random. seen: the versions that were told last, by name. */
void store_txns_ask(cw_svc *svc, cw_svc *store, const cw_store_api *api, uint64_t seen[static STORE_TALKER_KEYS]);
/*
 * Of a transaction without an answer, one of whose values was read: what it put has versions that follow one another,
 * step by step, so all of them are known.
 */
void store_txns_resolve(struct store_ledger *l);

#endif
