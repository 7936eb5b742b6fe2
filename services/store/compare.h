/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - what a leader and another member hold differently: sums of buckets first, then the names and tags of
 * those buckets that differ, then the registers that the leader lacks. One question at a time, of one member at a time.
 *
 * While the leader takes over, the higher tag of two wins, and will be written again: what is its own is marked as
 * doubtful, and what it fetches is kept apart until then. Once the shard is open, what the leader holds is right, and
 * what a member holds otherwise is written again at once; a name that the leader does not know is written as deleted.
 * What is long and older at that member, or missing, is given to it alone as it is, at the end of each bucket, one at a
 * time: it is chosen. A member without room for that goes on lagging, and is asked again some time later. A newcomer is
 * no member, and is given all its registers so, in the service's background place.
 */
#ifndef SERVICES_STORE_COMPARE_H
#define SERVICES_STORE_COMPARE_H

#include "services/store/lead.h"

/* Begins; none runs. store_lead_go_on() is called when it has ended. */
void store_compare_begin(struct store_lead *lead, unsigned member, int how);
/* A reply to a question of a comparison. lead may be gone afterwards. */
void store_compare_heard(struct store_lead *lead, unsigned member, uint64_t question, const struct store_reply *reply);
/* The member had no room for what it was given. lead may be gone afterwards. */
void store_compare_refused(struct store_lead *lead, unsigned member, uint64_t question);
/* Asks the last question again, or passes over what the member does not take. lead may be gone afterwards. */
void store_compare_resend(struct store_lead *lead);
/* Bytes that are under way for it by a letter. */
size_t store_compare_bytes(const struct store_lead *lead);
/* Ends it without a result. */
void store_compare_drop(struct store_lead *lead);

#endif
