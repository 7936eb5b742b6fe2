/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - was every key packet delivered where semantics 4.1 allows it? Said of real daemons, from their trails.
 *
 * The rule is the simulator's: a link is up in truth when both its ends call it up; a delivery at A is wrong when
 * another active server of A's component precedes A in the key's sequence, or when A has no link left and was already
 * replaced. What is known of a real daemon is known with an uncertainty, the length of a turn of its loop. It is taken
 * against the accusation: a link counts as up only while it certainly was, and a delivery during which anything changed
 * is not judged, but counted as such. So a charge is sound, and a judgement of 0 is one of `judged` deliveries
 * (docs/testbed.md).
 */
#ifndef TESTBED_CWLAB_JUDGE_H
#define TESTBED_CWLAB_JUDGE_H

#include "testbed/cwlab/trail.h"

enum { JUDGE_TEXT = 240 };

struct judge_result {
    uint64_t delivered, judged, misdelivered;
    char first[JUDGE_TEXT]; /* the first wrong one, in words */
    uint64_t turn_worst_ns; /* from the beginning of a turn to a delivery in it */
};

/*
 * from..to: deliveries in that stretch count. cut: cables were taken out, so that a server without links may be rightly
 * alone.
 */
CW_MUST_CHECK int judge_trail(const struct trail *t, const struct torus *torus, int64_t from, int64_t to, bool cut,
                              struct judge_result *out);

/* The witness's own stream, from one sender. */
struct judge_stream {
    uint64_t sent, refused, delivered, duplicated, lost;
    int64_t gap_worst_ns;    /* between two deliveries, one after the other */
    int64_t gap_worst_at_ns; /* when it began */
    int64_t latency_median_ns, latency_worst_ns;
    uint32_t receivers; /* servers that were the root at one time */
};
CW_MUST_CHECK int judge_stream(const struct trail *t, cw_server source, int64_t from, int64_t to,
                               struct judge_stream *out);

#endif
