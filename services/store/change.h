/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h - the leader's side of a change of members: a member that is another life, or that has been away for long,
 * makes room for another server, the newcomer. The newcomer learns until it holds what the leader holds; then the
 * members that stay seal the next config, all of them, and the newcomer is a member.
 *
 * Why that is safe: a member may be exchanged for a copy of the leader's registers, since these are at least as new as
 * all that was chosen, as long as nothing more can be chosen without the copy. From the last comparison on the leader
 * writes nothing (store rule 9); whoever else would write needs a promise of one that stays, and finds out from it what
 * is sealed, or it keeps that one from sealing (rule 10). So all that stay have to seal it (rule 12).
 */
#ifndef SERVICES_STORE_CHANGE_H
#define SERVICES_STORE_CHANGE_H

#include "services/store/lead.h"

/* The newcomer's place in sets of members and in items: behind the members. */
static inline unsigned store_change_newcomer(const struct store_lead *lead)
{
    return lead->shard->config.count;
}
/* Is there one, in view? */
bool store_change_sees(const struct store_lead *lead);
/* Begins to put that server in the member's place. The shard is open, and no change is under way. */
void store_change_begin(struct store_lead *lead, unsigned place, cw_server server);
/* May nothing be written at the moment? Then operations wait in lead.waiting. */
bool store_change_stops(const struct store_lead *lead);
/* A comparison with the newcomer has ended, in which so many registers were given and taken away. lead may be gone. */
void store_change_compared(struct store_lead *lead, unsigned given);
/* A reply of the newcomer, or to a SEAL. lead may be gone afterwards. */
void store_change_heard(struct store_lead *lead, unsigned member, uint64_t number, const struct store_reply *reply);
/* What this server has sealed as the leader is on its disk. lead may be gone afterwards. */
void store_change_voted(struct store_lead *lead);
/* Goes on, after time has passed; asks again what was not answered. lead may be gone afterwards. */
void store_change_review(struct store_lead *lead, bool resend);
/* The newcomer does not become a member this time. */
void store_change_drop(struct store_lead *lead);
/* A member of another epoch has answered: who is behind is told. lead may be gone afterwards. */
void store_change_epoch(struct store_lead *lead, unsigned member, const struct store_reply *reply);
/* That config is decided: the shard goes on with it, under this server if that is still a member. lead is gone. */
void store_change_decided(struct store_lead *lead, const struct store_config *next);

#endif
