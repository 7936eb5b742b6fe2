/* SPDX-License-Identifier: Apache-2.0 */
/*
 * genesis.h - how a class of the store comes to be, and how a server gets to know of one.
 *
 * Creating asks every server of the torus for the id of its store, a number that it has drawn for this life. When all
 * have agreed, each is told the class: a number, a name, how many copies, and the ids of the servers that it shares
 * shards with. Where some did not hear that, creating again tells them, by the same number and ids (making.h).
 * A server that has agreed to one class agrees to no other for ten seconds, and a record is taken only
 * while the agreement stands: of two classes that are made at the same time at most one is. The first members of each
 * shard are the first servers of its sequence, and there are no others so far.
 *
 * A server that starts later, or again, learns the class of its neighbours and of some others. It is no member then:
 * its id is another.
 */
#ifndef SERVICES_STORE_GENESIS_H
#define SERVICES_STORE_GENESIS_H

#include "services/store/internal.h"

enum { STORE_OFFER_S = 10 }; /* who has agreed to be of a class agrees to no other for so long */

/* From now on this server is of the class that the record tells. -ENOMEM. */
CW_MUST_CHECK int store_genesis_take(struct store *s, const struct store_word *w);
/* Asks neighbours and some others which class there is; store_asker_class_known() follows, perhaps from within. */
void store_genesis_learn(struct store *s);
/* A packet to the operators' port. */
void store_genesis_word(struct store *s, const uint8_t *bytes, size_t size, const cw_rx *rx);
/* Says a word to a server's operators' port; done as of cw_call(). */
CW_MUST_CHECK int store_genesis_send(struct store *s, cw_server server, const struct store_word *w,
                                     const cw_call_options *options, cw_reply_fn done, void *arg);
/* Forgets the class, and frees what belongs to it. */
void store_genesis_close(struct store *s);

#endif
