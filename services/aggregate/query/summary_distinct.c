/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_distinct.h"

#include "base/bytes.h"

#include <errno.h>

enum { INDEX_BITS = 12, SPARSE = 1, DENSE = 2, SIGMA_ROUNDS = 64 };
_Static_assert(1 << INDEX_BITS == SUMMARY_REGISTERS, "a register for each index");

void summary_distinct_add(struct summary_distinct *d, uint64_t hash)
{
    uint8_t *rank = &d->rank[hash >> (64 - INDEX_BITS)];
    uint64_t rest = hash << INDEX_BITS;
    uint8_t r = rest == 0 ? SUMMARY_RANK_MOST : (uint8_t)(1 + __builtin_clzll(rest));
    *rank = r > *rank ? r : *rank;
}

void summary_distinct_merge(struct summary_distinct *a, const struct summary_distinct *b)
{
    for (unsigned i = 0; i < SUMMARY_REGISTERS; i++) {
        a->rank[i] = b->rank[i] > a->rank[i] ? b->rank[i] : a->rank[i];
    }
}

/* Ertl's sigma(x) = x + sum of x^(2^k) 2^(k - 1), for 0 <= x < 1. */
static double sigma(double x)
{
    double sum = x, y = 1;
    for (unsigned i = 0; i < SIGMA_ROUNDS; i++) {
        double before = sum;
        x *= x;
        sum += x * y;
        y += y;
        if (sum == before) {
            break;
        }
    }
    return sum;
}

/*
 * Ertl's algorithm 6, with one thing left out: tau() is 0 as long as no register is at its end, and before one is, 2^64
 * different lines must have come.
 */
uint64_t summary_distinct_count(const struct summary_distinct *d)
{
    const double m = SUMMARY_REGISTERS, alpha = 0.72134752044448170368; /* 1 / (2 ln 2) */
    unsigned of_rank[SUMMARY_RANK_MOST + 1] = {0};
    for (unsigned i = 0; i < SUMMARY_REGISTERS; i++) {
        of_rank[d->rank[i]]++;
    }
    if (of_rank[0] == SUMMARY_REGISTERS) {
        return 0;
    }
    double z = 0;
    for (unsigned k = SUMMARY_RANK_MOST; k >= 1; k--) {
        z = 0.5 * (z + of_rank[k]);
    }
    z += m * sigma(of_rank[0] / m);
    return (uint64_t)(alpha * m * m / z + 0.5);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

size_t summary_distinct_encode(const struct summary_distinct *d, uint8_t *out)
{
    struct writer w = writer_of(out, SUMMARY_DISTINCT_BYTES);
    unsigned used = 0;
    for (unsigned i = 0; i < SUMMARY_REGISTERS; i++) {
        used += d->rank[i] != 0;
    }
    bool sparse = used <= SUMMARY_SPARSE_MOST;
    writer_u8(&w, sparse ? SPARSE : DENSE);
    writer_u8(&w, 0);
    writer_be16(&w, (uint16_t)used);
    for (unsigned i = 0; i < SUMMARY_REGISTERS && sparse; i++) {
        if (d->rank[i] != 0) {
            writer_be16(&w, (uint16_t)i);
            writer_u8(&w, d->rank[i]);
        }
    }
    if (!sparse) {
        writer_copy(&w, d->rank, SUMMARY_REGISTERS);
    }
    return writer_size(&w);
}

static bool read_sparse(struct reader *r, unsigned used, struct summary_distinct *out)
{
    for (unsigned i = 0, next = 0; i < used; i++) {
        unsigned at = reader_be16(r);
        uint8_t rank = reader_u8(r);
        if (!reader_ok(r) || at < next || at >= SUMMARY_REGISTERS || rank == 0 || rank > SUMMARY_RANK_MOST) {
            return false;
        }
        out->rank[at] = rank;
        next = at + 1;
    }
    return used <= SUMMARY_SPARSE_MOST;
}

static bool read_dense(struct reader *r, unsigned used, struct summary_distinct *out)
{
    unsigned found = 0;
    reader_copy(r, out->rank, SUMMARY_REGISTERS);
    for (unsigned i = 0; i < SUMMARY_REGISTERS; i++) {
        if (out->rank[i] > SUMMARY_RANK_MOST) {
            return false;
        }
        found += out->rank[i] != 0;
    }
    return found == used && used > SUMMARY_SPARSE_MOST;
}

int summary_distinct_decode(const uint8_t *bytes, size_t size, struct summary_distinct *out)
{
    struct reader r = reader_of(bytes, size);
    unsigned form = reader_u8(&r), zero = reader_u8(&r), used = reader_be16(&r);
    memset(out, 0, sizeof *out);
    bool good = zero == 0 && (form == SPARSE ? read_sparse(&r, used, out) : form == DENSE && read_dense(&r, used, out));
    return good && reader_done(&r) ? 0 : -EPROTO;
}
