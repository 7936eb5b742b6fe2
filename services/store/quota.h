/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - how much a job may hold at one server. A leader judges each write before anything is proposed (store rule
 * 37): what grows beyond the quota is refused, what does not grow always goes, deletes first.
 *
 * A server counts all registers that it holds as a member, whoever leads them. Names are spread over all servers by
 * their hashes, so that a job may hold in a cluster of N servers and r copies about N / r times its quota; names of one
 * {tag} are in one shard, and share what its members have.
 */
#ifndef SERVICES_STORE_QUOTA_H
#define SERVICES_STORE_QUOTA_H

#include "services/store/held/bundle.h"
#include "services/store/internal.h"

/*
 * Reads "JOB=MIB[/NAMES], ..", of which JOB may be * for all that are not named; MIB 0: any number of bytes. NULL: no
 * quota at all. -EINVAL: the log says what is wrong. -ENOMEM.
 */
CW_MUST_CHECK int store_quota_read(struct store *s, const char *text);
void store_quota_close(struct store *s);
/* That of the job; bytes or names UINT64_MAX: as many as it likes. */
struct store_used store_quota_of(const struct store *s, cw_job job);
/* May the order be done to what its name has? */
bool store_quota_allows(const struct store *s, const struct store_register *have, const struct store_order *o);
/* May all steps of the transaction be done, to what the table has? */
bool store_quota_allows_all(const struct store *s, const struct store_table *t, const struct store_bundle *b);

#endif
