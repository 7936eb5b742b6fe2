/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - judges from the trails of real daemons whether every key packet was delivered where semantics 4.1 allows
 * it.
 *
 * The rule is the simulator's, and so is the oracle that knows who is connected with whom (scenario/oracle.h). A
 * delivery at A is wrong when another active server of A's component precedes A in the key's sequence, or when A has no
 * link that is up in truth and was replaced. The times at which a real daemon did something are known up to the length
 * of a turn of its loop. Such a doubt is always in the daemon's favour: a link counts as up only while it certainly
 * was, and a delivery during which anything changed is counted, and not judged. So each wrong delivery that is reported
 * was one; and "none was wrong" is said of `judged` deliveries only (docs/testbed.md).
 */
#ifndef TESTBED_CWLAB_OUTCOME_JUDGE_H
#define TESTBED_CWLAB_OUTCOME_JUDGE_H

#include "testbed/cwlab/outcome/trail.h"

enum { JUDGE_TEXT = 240 };

struct judge_result {
    uint64_t delivered, judged, misdelivered;
    char first[JUDGE_TEXT]; /* the first wrong delivery, in words */
    uint64_t turn_worst_ns; /* the longest time from the beginning of a turn to a delivery in it */
};

/*
 * Judges the deliveries between `from` and `to`. cut: cables were taken out, so that a server without links may rightly
 * deliver alone.
 */
CW_MUST_CHECK int judge_trail(const struct trail *t, const struct torus *torus, int64_t from, int64_t to, bool cut,
                              struct judge_result *out);

/*
 * What became of the stream that one witness has sent. Each life of a sender counts its packets from 0 again, so that
 * no two lives may be looked at together: from the beginning of one to that of the next, which judge_next_life() gives.
 */
struct judge_stream {
    uint64_t sent, refused, delivered, duplicated, lost;
    int64_t gap_worst_ns;    /* the longest time between two deliveries in a row */
    int64_t gap_worst_at_ns; /* when that gap began */
    int64_t latency_median_ns, latency_worst_ns;
    uint32_t receivers; /* how many servers took packets of it, as the key's root at different times */
};
CW_MUST_CHECK int judge_stream(const struct trail *t, cw_server source, int64_t from, int64_t to,
                               struct judge_stream *out);
/* When the witness of that server began its first life after `from`; INT64_MAX: it began none. */
int64_t judge_next_life(const struct trail *t, cw_server source, int64_t from);

#endif
