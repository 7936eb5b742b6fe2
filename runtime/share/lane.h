/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - short messages between two processes of one server, without the daemon on the way.
 *
 * A lane is two areas of memory. Each of the two processes writes one of them: a ring of records for the other, and how
 * far it has read in the other's. Neither believes the other: a reader copies the head of a record once and judges the
 * copy, and copies the payload out before its program sees it. A lane that breaks a rule is closed for ever; the peer
 * is still reached by the daemon.
 *
 * What a lane may reach is the daemon's word (levels.h: share_lane_endpoints()), asked with every batch, and so is who
 * its messages are from. So a record in a lane says neither: job, process, life, server, key and right must be zero.
 */
#ifndef SHARE_LANE_H
#define SHARE_LANE_H

#include "share/record.h"
#include "share/shared.h"

struct share_lane {
    struct share_out ours;
    struct share_in theirs;
    uint32_t tail, published; /* put by us */
    uint32_t head_seen;       /* of that, read by the other */
    uint32_t head, released;  /* read by us */
    uint32_t tail_seen;       /* put by the other */
    bool broken;
    uint64_t refused; /* records for endpoints that the lane may not reach */
};

/* Borrows the areas, SHARE_LANE_AREA bytes each. start is a multiple of 64. */
void share_lane_open(struct share_lane *l, const struct share_out *ours, const struct share_in *theirs, uint32_t start);

/*
 * Puts a message for an endpoint of the other, below SHARE_LANE_PORTS. 0; -EAGAIN: the lane is full; -EMSGSIZE: longer
 * than half a ring; -EPROTO: broken.
 */
CW_MUST_CHECK int share_lane_put(struct share_lane *l, uint16_t endpoint, uint32_t tag, const void *bytes,
                                 uint32_t length);
/* True: the other rests and is to be woken. Also tells it what we have read. */
CW_MUST_CHECK bool share_lane_publish(struct share_lane *l);

struct share_lane_message {
    uint16_t endpoint;
    uint32_t tag, length;
};

/*
 * Takes the next message for one of these endpoints, its bytes into `to` of `most` bytes. 1; 0: none now; -EMSGSIZE: it
 * is longer, and stays; -EPROTO: the lane is broken. A record for another endpoint is passed over and counted, at most
 * a ring of them in a call.
 */
CW_MUST_CHECK int share_lane_take(struct share_lane *l, uint64_t endpoints, struct share_lane_message *out, void *to,
                                  uint32_t most);

/* Sleep on the other's tail, as on a bell (rest.h): what it is before the last look. */
CW_MUST_CHECK uint32_t share_lane_rests(struct share_lane *l, enum share_rest how);
void share_lane_wakes(struct share_lane *l);

#endif
