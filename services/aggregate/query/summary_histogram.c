/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_histogram.h"

#include "base/bytes.h"

#include <errno.h>

enum { EXACT = 4 /* the first buckets hold one number each */, MILLION = 1000000 };

/* ---- Buckets ----------------------------------------------------------------------------------------------------- */

/* 1 .. SUMMARY_SIDE: the bucket of a number above 0. Of the number less one, so that a bound is in its bucket. */
static unsigned index_above(unsigned __int128 v)
{
    unsigned __int128 below = v - 1;
    if (below < EXACT) {
        return 1 + (unsigned)below;
    }
    uint64_t high = (uint64_t)(below >> 64);
    unsigned octave =
        high != 0 ? 127 - (unsigned)__builtin_clzll(high) : 63 - (unsigned)__builtin_clzll((uint64_t)below);
    unsigned part = (unsigned)(below >> (octave - 2)) & 3;
    unsigned i = 1 + EXACT + (octave - 2) * 4 + part;
    return i < SUMMARY_SIDE ? i : SUMMARY_SIDE;
}

/* The greatest number of bucket i of those above 0. */
static summary_value bound_above(unsigned i)
{
    if (i <= EXACT) {
        return i;
    }
    unsigned octave = 2 + (i - 1 - EXACT) / 4, part = (i - 1 - EXACT) % 4;
    return (summary_value)(4 + part + 1) << (octave - 2);
}

unsigned summary_histogram_index(summary_value v)
{
    if (v == 0) {
        return SUMMARY_SIDE;
    }
    return v > 0 ? SUMMARY_SIDE + index_above((unsigned __int128)v) : SUMMARY_SIDE - index_above(-(unsigned __int128)v);
}

void summary_histogram_bounds(unsigned i, summary_value *low, summary_value *high)
{
    if (i >= SUMMARY_SIDE) {
        *high = bound_above(i - SUMMARY_SIDE);
        *low = i == SUMMARY_SIDE ? 0 : bound_above(i - SUMMARY_SIDE - 1);
    } else {
        *low = -bound_above(SUMMARY_SIDE - i);
        *high = -bound_above(SUMMARY_SIDE - i - 1);
    }
}

/* What is read off for a number of the bucket: its middle, and where it holds one number, that. */
static summary_value middle(unsigned i)
{
    summary_value low, high;
    summary_histogram_bounds(i, &low, &high);
    if (high - low <= 1) {
        return i >= SUMMARY_SIDE ? high : low;
    }
    return low + (high - low) / 2;
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

void summary_histogram_add(struct summary_histogram *h, summary_value v, uint64_t times)
{
    h->bucket[summary_histogram_index(v)] += times;
    h->count += times;
}

int summary_histogram_merge(struct summary_histogram *a, const struct summary_histogram *b)
{
    if (a->of != b->of) {
        return -EINVAL;
    }
    for (unsigned i = 0; i < SUMMARY_BUCKETS; i++) {
        a->bucket[i] = summary_count(a->bucket[i], b->bucket[i]);
    }
    a->count = summary_count(a->count, b->count);
    return 0;
}

summary_value summary_histogram_quantile(const struct summary_histogram *h, uint32_t ppm)
{
    unsigned __int128 rank = ((unsigned __int128)h->count * ppm + MILLION - 1) / MILLION, before = 0;
    unsigned last = SUMMARY_SIDE;
    rank = rank > 0 ? rank : 1;
    for (unsigned i = 0; i < SUMMARY_BUCKETS && before < rank; i++) {
        before += h->bucket[i];
        last = h->bucket[i] > 0 ? i : last;
    }
    return middle(last);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

size_t summary_histogram_encode(const struct summary_histogram *h, uint8_t *out)
{
    struct writer w = writer_of(out, SUMMARY_HISTOGRAM_BYTES);
    uint16_t used = 0;
    writer_u8(&w, h->of);
    writer_u8(&w, 0);
    uint8_t *count = writer_take(&w, 2);
    for (unsigned i = 0; i < SUMMARY_BUCKETS; i++) {
        if (h->bucket[i] > 0) {
            writer_be16(&w, (uint16_t)i);
            writer_be64(&w, h->bucket[i]);
            used++;
        }
    }
    put_be16(count, used);
    return writer_size(&w);
}

int summary_histogram_decode(const uint8_t *bytes, size_t size, struct summary_histogram *out)
{
    struct reader r = reader_of(bytes, size);
    *out = (struct summary_histogram){.of = reader_u8(&r)};
    bool good = reader_u8(&r) == 0 && summary_of_valid(out->of);
    unsigned used = reader_be16(&r), next = 0;
    for (unsigned i = 0; i < used && good; i++) {
        unsigned at = reader_be16(&r);
        uint64_t count = reader_be64(&r);
        good = reader_ok(&r) && at >= next && at < SUMMARY_BUCKETS && count > 0;
        if (good) {
            out->bucket[at] = count;
            out->count = summary_count(out->count, count);
            next = at + 1;
        }
    }
    return good && reader_done(&r) ? 0 : -EPROTO;
}
