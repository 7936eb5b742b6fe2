/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.h - a fast checksum of 64 bits over a block of bytes, for data that every server on the way looks at byte by
 * byte: it finds damage. The same on every machine.
 *
 * Four lanes take eight bytes each in turn, by steps that lose nothing: exclusive or, rotate, multiply by an odd
 * number. So damage to one word changes its lane for good, whatever follows. Damage to two words of a lane could
 * cancel; the sum of all states of the lane, which is kept beside it, then tells, and with certainty when the two words
 * follow each other. SipHash-1-3 (digest.h) makes one number of the lanes, their sums and the size; it misses a
 * difference once in 2^64. The checksum finds faults and not forgery: whoever wants to fool it can.
 *
 * Half an order of magnitude faster than digest_bytes() on blocks of kilobytes (tests/bench/bench_base), and slower
 * than it on a few words, which are digest_bytes()'s business.
 */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

/*
 * The checksum of size bytes, which are borrowed for the call. Equal bytes with different seeds have different sums:
 * for blocks whose place counts, too.
 */
uint64_t sum_of(uint64_t seed, const void *bytes, size_t size);

#endif
