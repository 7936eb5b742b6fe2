/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - what one server reports to operators of its cache: its numbers, and the keys that it is asked for most. It
 * is encoded here for the way (survey.c), and turned into fields of a reply at the server that was asked.
 */
#include "services/kvcache/report.h"

#include "base/bytes.h"
#include "services/kvcache/common.h"
#include "services/kvcache/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers: 64 bits each, in this order ------------------------------------------------------------------------ */

enum { FACTS = 11 };
static const char *const fact_names[FACTS] = {"values",  "value_bytes", "value_bytes_max", "evicted",
                                              "expired", "copies",      "copy_bytes",      "held_keys",
                                              "extras",  "under_way",   "flushing"};
enum { NUMBERS = KV_COUNTS + FACTS + 3 * KV_TIMES };
_Static_assert(8 * NUMBERS <= SURVEY_BYTES, "the numbers fit a report");

size_t report_stats(const struct kvcache *k, uint8_t out[static SURVEY_BYTES])
{
    const uint64_t facts[FACTS] = {k->values.count,         items_bytes(&k->values), k->values.bytes_max,
                                   k->values.evicted,       k->values.expired,       k->copies.count,
                                   items_bytes(&k->copies), k->holders.count,        k->limits.extras,
                                   k->question_count,       k->flush_count};
    size_t at = 0;
    for (unsigned i = 0; i < KV_COUNTS; i++, at += 8) {
        put_be64(out + at, k->count[i]);
    }
    for (unsigned i = 0; i < FACTS; i++, at += 8) {
        put_be64(out + at, facts[i]);
    }
    for (unsigned i = 0; i < KV_TIMES; i++, at += 24) {
        put_be64(out + at, cw_histogram_count(k->took[i]));
        put_be64(out + at + 8, (uint64_t)cw_histogram_quantile(k->took[i], 500).ns);
        put_be64(out + at + 16, (uint64_t)cw_histogram_quantile(k->took[i], 990).ns);
    }
    return at;
}

void report_fields(cw_request *r, const uint8_t *bytes, size_t length)
{
    char name[64];
    if (length != (size_t)8 * NUMBERS) {
        cw_request_text(r, "state", "another version");
        return;
    }
    for (unsigned i = 0; i < KV_COUNTS; i++, bytes += 8) {
        cw_request_int(r, kv_count_names[i].name, (int64_t)get_be64(bytes));
    }
    for (unsigned i = 0; i < FACTS; i++, bytes += 8) {
        cw_request_int(r, fact_names[i], (int64_t)get_be64(bytes));
    }
    for (unsigned i = 0; i < KV_TIMES; i++, bytes += 24) {
        static const char *const of[] = {"times", "median_ns", "p99_ns"};
        unsigned fields = get_be64(bytes) > 0 ? 3 : 1; /* what was never done took no time, not 0 ns */
        for (unsigned n = 0; n < fields; n++) {
            snprintf(name, sizeof name, "%s_%s", kv_time_names[i].name, of[n]);
            cw_request_int(r, name, (int64_t)get_be64(bytes + (size_t)8 * n));
        }
    }
}

/* ---- Hot keys: job:32 rate:64 error:64 root:8 holders:8 key length:8 | holders, 32 each | key -------------------- */

enum { HOT_HEAD = 23, HOLDERS_SHOWN = 16 };

size_t report_hot(struct kvcache *k, uint8_t out[static SURVEY_BYTES])
{
    struct hot_row row[HOT_KEYS];
    unsigned n = hot_top(&k->hot, cw_now(k->svc), row, HOT_KEYS);
    size_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct hot_key *key = row[i].key;
        struct item_name name = {key->id, key->job, key->key, key->length};
        bool root = cw_is_root(k->svc, &key->id);
        const struct held_key *held = root ? holders_find(&k->holders, &name) : NULL;
        unsigned holders = held == NULL ? 0 : held->count < HOLDERS_SHOWN ? held->count : HOLDERS_SHOWN;
        size_t size = HOT_HEAD + (size_t)4 * holders + key->length;
        if (at + size > SURVEY_BYTES || !rpc_fits(k, at + size)) {
            break;
        }
        put_be32(out + at, key->job);
        put_be64(out + at + 4, row[i].rate);
        put_be64(out + at + 12, row[i].error);
        out[at + 20] = root;
        out[at + 21] = (uint8_t)holders;
        out[at + 22] = key->length;
        for (unsigned h = 0; h < holders; h++) {
            put_be32(out + at + HOT_HEAD + (size_t)4 * h, held->holder[h].server);
        }
        memcpy(out + at + HOT_HEAD + (size_t)4 * holders, key->key, key->length);
        at += size;
    }
    return at;
}

size_t report_hot_next(const uint8_t *bytes, size_t length, struct report_hot_row *out)
{
    if (length < HOT_HEAD) {
        return 0;
    }
    size_t holders = bytes[21], key = bytes[22];
    size_t size = HOT_HEAD + 4 * holders + key;
    if (holders > HOLDERS_SHOWN || key < 1 || key > KV_KEY_MAX || size > length) {
        return 0;
    }
    *out = (struct report_hot_row){.job = get_be32(bytes),
                                   .rate = get_be64(bytes + 4),
                                   .error = get_be64(bytes + 12),
                                   .root = bytes[20] != 0,
                                   .holders = bytes + HOT_HEAD,
                                   .holder_count = (unsigned)holders,
                                   .key = bytes + HOT_HEAD + 4 * holders,
                                   .key_length = key};
    return size;
}
