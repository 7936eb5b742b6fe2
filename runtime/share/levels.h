/* SPDX-License-Identifier: Apache-2.0 */
/*
 * levels.h - what a daemon shows as it is, and not as an entry in a ring: notification words, peers that are gone, the
 * state of lanes and of the attachment. A level cannot get lost and cannot pile up; a process makes one event of all
 * changes since it looked last.
 *
 * Words are changed by the daemon alone, on behalf of whoever sends for an endpoint to which the process opened them.
 * It keeps their values itself and never reads them back.
 */
#ifndef SHARE_LEVELS_H
#define SHARE_LEVELS_H

#include "cubeway/types.h"
#include "share/layout.h"
#include "share/shared.h"

/* How a word is changed (the public header will have the same numbers). */
enum share_change { SHARE_SET = 0, SHARE_ADD = 1, SHARE_OR = 2, SHARE_MAX = 3, SHARE_CHANGES = 4 };

enum share_state {
    SHARE_STATE_NONE = 0,
    SHARE_STATE_ATTACHED = 1,
    SHARE_STATE_INDEX = 2,   /* detached: an index was out of bounds */
    SHARE_STATE_EVICTED = 3, /* an operator did it */
    SHARE_STATE_REVOKED = 4, /* the job, its generation, the process's range or the rule that let it in is gone */
    SHARE_STATE_MEMORY = 5,  /* its memory could not be read */
    SHARE_STATE_LEAVING = 6, /* the daemon ends */
};

enum share_lane_state { SHARE_LANE_CLOSED = 0, SHARE_LANE_OPEN = 1 };

/* The daemon's side. */
struct share_levels {
    struct share_out com;
    uint32_t words;
    uint64_t word[SHARE_WORDS_MOST];
    uint16_t opened_to[SHARE_WORDS_MOST]; /* endpoint + 1; 0: to nobody */
    uint64_t gone[SHARE_GONE_WORDS];
    uint64_t lane_ports[SHARE_LANES_MOST];
};

/* Borrows com. */
void share_levels_open(struct share_levels *l, const struct share_out *com, const struct share_geometry *g);

/*
 * Opens words to an endpoint, from whoever had them before. 0, or -EINVAL when there are no such words. endpoint is
 * below SHARE_ENDPOINTS_MOST.
 */
CW_MUST_CHECK int share_words_allow(struct share_levels *l, uint16_t endpoint, uint32_t first, uint32_t count);
/* Its words are open to nobody any more. */
void share_words_forget(struct share_levels *l, uint16_t endpoint);
/*
 * Changes a word for who sent to that endpoint: 0, -EACCES it is not open to it, -EINVAL there is no such word or
 * change. What was stored before, the last byte of a message, is seen by whoever sees the new value.
 */
CW_MUST_CHECK int share_word_change(struct share_levels *l, uint16_t endpoint, uint32_t word, unsigned change,
                                    uint64_t value);

/* peer is below SHARE_PEERS_MOST. */
void share_gone_set(struct share_levels *l, uint32_t peer, bool gone);
/* Endpoints of the process that the lane may reach, a bit each; none closes it. lane is below SHARE_LANES_MOST. */
void share_lane_show(struct share_levels *l, uint32_t lane, uint64_t endpoints);
void share_state_show(const struct share_levels *l, uint32_t state);

/* The process's side: one load each. Numbers are within their limits; a word is below geometry's. */
uint64_t share_word(const struct share_in *com, uint32_t word);
bool share_gone(const struct share_in *com, uint32_t peer);
uint32_t share_state(const struct share_in *com);
/* The set of endpoints that the lane may reach now; 0: it is closed. Asked with every batch of its records. */
uint64_t share_lane_endpoints(const struct share_in *com, uint32_t lane);

#endif
