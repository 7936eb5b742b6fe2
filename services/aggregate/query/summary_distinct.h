/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_distinct.h - how many different lines there are: HyperLogLog (Flajolet, Fusy, Gandouet, Meunier, 2007) of
 * 4,096 registers over 64-bit hashes, read off by the estimator of O. Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches" (arXiv 1702.01284, 2017), which needs no tables and is good from 0 on. The standard error is
 * 1.04 / sqrt(4096) = 1.6 %: of a thousand answers, some three are wrong by more than 4.9 %. Pure.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SUMMARY_DISTINCT_H
#define SERVICES_AGGREGATE_QUERY_SUMMARY_DISTINCT_H

#include "services/aggregate/query/summary.h"

enum {
    SUMMARY_REGISTERS = 4096,
    SUMMARY_RANK_MOST = 53,     /* a hash has 52 bits beside the number of its register */
    SUMMARY_SPARSE_MOST = 1000, /* with so many registers or fewer that are not 0, those alone are written */
    SUMMARY_DISTINCT_HEAD = 4,
    SUMMARY_DISTINCT_BYTES = SUMMARY_DISTINCT_HEAD + SUMMARY_REGISTERS, /* at most */
    SUMMARY_DISTINCT_PPM = 16250,                                       /* the standard error, in millionths */
};

/* Zeroed it is empty. */
struct summary_distinct {
    uint8_t rank[SUMMARY_REGISTERS];
};

void summary_distinct_add(struct summary_distinct *d, uint64_t hash);
void summary_distinct_merge(struct summary_distinct *a, const struct summary_distinct *b);
/* About how many different hashes were added. */
uint64_t summary_distinct_count(const struct summary_distinct *d);

/* Gives the bytes written, at most SUMMARY_DISTINCT_BYTES. */
size_t summary_distinct_encode(const struct summary_distinct *d, uint8_t *out);
/* -EPROTO: it is none. */
CW_MUST_CHECK int summary_distinct_decode(const uint8_t *bytes, size_t size, struct summary_distinct *out);

#endif
