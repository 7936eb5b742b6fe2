/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/merge.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>

enum { ENDED = -1 };

void merge_open(struct merge *m, struct merge_source *source, unsigned sources, const struct combine *combine)
{
    CHECK(sources >= 1 && sources <= MERGE_SOURCES);
    memset(m, 0, offsetof(struct merge, sum));
    m->source = source;
    m->sources = sources;
    if (combine != NULL && combine->table != NULL && combine->table->associative) {
        m->combine = *combine;
    }
    for (unsigned i = 0; i < sources; i++) {
        record_reader_init(&m->source[i].reader);
        m->source[i].common = 0;
        m->source[i].fed = m->source[i].ended = false;
    }
}

void merge_feed(struct merge *m, unsigned i, const void *block, size_t length)
{
    CHECK(i < m->sources && merge_hungry(m, i));
    record_reader_block(&m->source[i].reader, block, length);
    m->source[i].fed = true;
}

void merge_end(struct merge *m, unsigned i)
{
    CHECK(i < m->sources && merge_hungry(m, i));
    m->source[i].fed = m->source[i].ended = true;
}

bool merge_hungry(const struct merge *m, unsigned i)
{
    return !m->source[i].fed;
}

cw_bytes merge_key(const struct merge *m)
{
    return (cw_bytes){m->key, m->key_length};
}

/* Does the source have to give back its block before it shows its next record? Then its values are kept here. */
static int gather_keep(struct merge *m)
{
    uint8_t *into = m->sum[m->half];
    size_t length = m->value[0].length;
    if (m->values == 0 || (m->values == 1 && m->value[0].bytes == m->sum[m->half ^ 1])) {
        return 0;
    }
    if (m->values > 1) {
        int rc = combine_values(&m->combine, merge_key(m), m->value, m->values, into, RECORD_MOST - m->key_length);
        if (rc < 0) {
            return rc;
        }
        length = (size_t)rc;
    } else if (length > 0) {
        memcpy(into, m->value[0].bytes, length);
    }
    m->value[0] = (cw_bytes){into, length};
    m->values = 1;
    m->half ^= 1;
    return 0;
}

/*
 * Shows the next record of a source whose last one came out, or which has shown none. 1: it has one, or has ended. 0:
 * it needs a block. Or -errno.
 */
static int source_next(struct merge *m, unsigned i)
{
    struct merge_source *s = &m->source[i];
    int rc = s->ended || !s->fed ? 0 : record_reader_next(&s->reader);
    m->waits = i;
    if (rc == 1) {
        s->common = (int32_t)s->reader.shared;
        return 1;
    }
    if (rc < 0) {
        return rc;
    }
    if (s->ended) {
        s->common = ENDED;
        return 1;
    }
    s->fed = false;
    return gather_keep(m); /* values lie in the block */
}

/*
 * Which of two heads comes out first? Both know how much they share with the key that came out last, and neither is
 * below it: so who shares more is less. The loser then knows how much it shares with the winner: what it shared before,
 * unless both had shared as much.
 */
static unsigned play(struct merge *m, unsigned a, unsigned b)
{
    struct merge_source *x = &m->source[a], *y = &m->source[b];
    if (x->common != y->common) {
        return x->common > y->common ? a : b;
    }
    if (x->common == ENDED) {
        return a;
    }
    const struct record_reader *r = &x->reader, *q = &y->reader;
    size_t common = record_common(r->key, r->key_length, q->key, q->key_length, (size_t)x->common);
    int order = record_order(r->key, r->key_length, q->key, q->key_length, common);
    bool first = order != 0 ? order < 0 : a < b;
    (first ? y : x)->common = (int32_t)common;
    return first ? a : b;
}

static unsigned won(const struct merge *m, unsigned node)
{
    return node >= m->sources ? node - m->sources : m->source[node].won;
}

/* Builds the tree, of heads that have nothing in common with a key that came out. Gives the winner. */
static unsigned build(struct merge *m)
{
    for (unsigned n = m->sources - 1; n >= 1; n--) {
        unsigned a = won(m, 2 * n), b = won(m, 2 * n + 1), first = play(m, a, b);
        m->source[n].won = (uint16_t)first;
        m->source[n].loser = (uint16_t)(a + b - first);
    }
    return m->sources == 1 ? 0 : won(m, 1);
}

/* The winner's source shows its next record: plays it against the losers on its way to the root. */
static void replay(struct merge *m)
{
    unsigned winner = m->source[0].loser;
    for (unsigned n = (m->sources + winner) / 2; n >= 1; n /= 2) {
        unsigned other = m->source[n].loser, first = play(m, winner, other);
        m->source[n].loser = (uint16_t)(winner + other - first);
        winner = first;
    }
    m->source[0].loser = (uint16_t)winner;
}

/* The next winner stands in loser[0]. 1: it does; 0: m waits; or -errno. */
static int advance(struct merge *m)
{
    if (!m->started) {
        for (unsigned i = 0; i < m->sources; i++) {
            int rc = m->source[i].reader.key_length > 0 ? 1 : source_next(m, i);
            if (rc <= 0) {
                return rc;
            }
        }
        m->source[0].loser = (uint16_t)build(m);
        m->started = true;
        return 1;
    }
    if (m->behind) {
        int rc = source_next(m, m->source[0].loser);
        if (rc <= 0) {
            return rc;
        }
        m->behind = false;
        replay(m);
    }
    return 1;
}

/* Writes the record whose values are gathered. 0; -ENOSPC: there is no room; or the combiner's error. */
static int gather_write(struct merge *m, struct record_writer *w)
{
    if (!m->pending) {
        return 0;
    }
    int rc = m->values > 1 ? gather_keep(m) : 0;
    rc = rc < 0 ? rc : record_write_shared(w, merge_key(m), m->value[0], m->shared);
    if (rc == 0) {
        m->pending = false;
        m->values = 0;
        m->records_out++;
    }
    return rc;
}

/* Adds the winner's value to those of its key, and writes those of the key before when it is another one. */
static int gather_winner(struct merge *m, struct record_writer *w)
{
    const struct merge_source *s = &m->source[m->source[0].loser];
    const struct record_reader *r = &s->reader;
    uint32_t shared = (uint32_t)s->common;
    bool same = m->pending && shared == m->key_length && shared == r->key_length;
    int rc = 0;
    if (!same) {
        rc = gather_write(m, w);
        if (rc < 0) {
            return rc;
        }
        memcpy(m->key + shared, r->key + shared, r->key_length - shared);
        m->key_length = r->key_length;
        m->shared = shared;
        m->pending = true;
    } else if (m->values == CW_COMBINE_VALUES) {
        rc = gather_keep(m);
    }
    if (rc == 0) {
        m->value[m->values++] = (cw_bytes){r->value, r->value_length};
    }
    return rc;
}

/* Without combiner: the winner's record goes out as it is. */
static int pass_winner(struct merge *m, struct record_writer *w)
{
    const struct merge_source *s = &m->source[m->source[0].loser];
    const struct record_reader *r = &s->reader;
    int rc = record_write_shared(w, (cw_bytes){r->key, r->key_length}, (cw_bytes){r->value, r->value_length},
                                 (size_t)s->common);
    m->records_out += rc == 0;
    return rc;
}

int merge_run(struct merge *m, struct record_writer *w)
{
    for (;;) {
        int rc = advance(m);
        if (rc <= 0) {
            return rc == 0 ? MERGE_WAITS : rc;
        }
        if (m->source[m->source[0].loser].common == ENDED) {
            rc = gather_write(m, w);
            return rc == 0 ? MERGE_DONE : rc == -ENOSPC ? MERGE_FULL : rc;
        }
        rc = m->combine.table != NULL ? gather_winner(m, w) : pass_winner(m, w);
        if (rc < 0) {
            return rc == -ENOSPC ? MERGE_FULL : rc;
        }
        m->records_in++;
        m->behind = true;
    }
}
