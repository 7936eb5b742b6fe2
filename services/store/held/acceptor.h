/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acceptor.h - one member's part of one shard: what it has promised, and the registers that it has accepted. A state
 * machine without network, clock or chance.
 *
 * An acceptor promises a ballot that is above all it promised before, and accepts nothing below its promise (store
 * rule 2). Every register's tag has a ballot that is not above the promise.
 */
#ifndef SERVICES_STORE_HELD_ACCEPTOR_H
#define SERVICES_STORE_HELD_ACCEPTOR_H

#include "services/store/held/table.h"

struct store_acceptor {
    struct store_ballot promised;
    uint64_t n_max; /* the highest n that was seen in the shard */
    struct store_table table;
};

void store_acceptor_open(struct store_acceptor *a, uint64_t class_id);
void store_acceptor_close(struct store_acceptor *a);

/* Promises b, also again. False: something above is promised. */
bool store_acceptor_prepare(struct store_acceptor *a, struct store_ballot b);
/* Does the promise of b stand? */
bool store_acceptor_confirm(const struct store_acceptor *a, struct store_ballot b);
/*
 * Accepts a register that the leader of b wrote; r->tag.ballot is b. 1: accepted, or there is a newer one already. 0:
 * something above b is promised. -ENOMEM. Takes r in any case.
 */
CW_MUST_CHECK int store_acceptor_accept(struct store_acceptor *a, struct store_ballot b, struct store_register *r);
/*
 * Takes what is chosen, as an open leader gives it, or what was accepted before a restart, under the tag that it has
 * there; nothing else, since that tag may be below the promise. As above.
 */
CW_MUST_CHECK int store_acceptor_adopt(struct store_acceptor *a, struct store_register *r);

#endif
