/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/config.h"

#include "base/bytes.h"
#include "services/store/held/mutant.h"

/*
 * A config: epoch:32 | count:8 0:24 | members (server:32 store id:64)
 * A seal:   ballot:128 | config
 */

size_t store_config_size(const struct store_config *c)
{
    return STORE_CONFIG_HEAD + (size_t)c->count * STORE_CONFIG_MEMBER;
}

size_t store_config_encode(const struct store_config *c, uint8_t *out)
{
    put_be32(out, c->epoch);
    put_be32(out + 4, (uint32_t)c->count << 24);
    for (unsigned m = 0; m < c->count; m++) {
        uint8_t *at = out + STORE_CONFIG_HEAD + (size_t)m * STORE_CONFIG_MEMBER;
        put_be32(at, c->member[m]);
        put_be64(at + 4, c->store_id[m]);
    }
    return store_config_size(c);
}

bool store_config_decode(const uint8_t *bytes, size_t size, struct store_config *out)
{
    struct reader r = reader_of(bytes, size);
    *out = (struct store_config){.epoch = reader_be32(&r)};
    uint32_t count = reader_be32(&r);
    if (!reader_ok(&r) || out->epoch < STORE_EPOCH_FIRST || (count & 0xffffff) != 0 ||
        count >> 24 < STORE_COPIES_LEAST || count >> 24 > STORE_COPIES_MOST) {
        return false;
    }
    out->count = (uint8_t)(count >> 24);
    for (unsigned m = 0; m < out->count; m++) {
        out->member[m] = reader_be32(&r);
        out->store_id[m] = reader_be64(&r);
        for (unsigned other = 0; other < m; other++) {
            if (out->member[other] == out->member[m]) {
                return false;
            }
        }
    }
    return reader_done(&r);
}

size_t store_seal_encode(const struct store_seal *seal, uint8_t out[static STORE_SEAL_MOST])
{
    if (store_ballot_is_none(seal->ballot)) {
        return 0;
    }
    put_be64(out, seal->ballot.high);
    put_be64(out + 8, seal->ballot.low);
    return 16 + store_config_encode(&seal->next, out + 16);
}

bool store_seal_decode(const uint8_t *bytes, size_t size, struct store_seal *out)
{
    *out = (struct store_seal){.ballot = {0, 0}};
    if (size == 0) {
        return true;
    }
    if (size < 16) {
        return false;
    }
    out->ballot = (struct store_ballot){get_be64(bytes), get_be64(bytes + 8)};
    return !store_ballot_is_none(out->ballot) && store_config_decode(bytes + 16, size - 16, &out->next);
}

bool store_config_equal(const struct store_config *a, const struct store_config *b)
{
    bool equal = a->epoch == b->epoch && a->count == b->count;
    for (unsigned m = 0; equal && m < a->count; m++) {
        equal = a->member[m] == b->member[m] && a->store_id[m] == b->store_id[m];
    }
    return equal;
}

unsigned store_config_place(const struct store_config *c, cw_server server)
{
    unsigned m = 0;
    while (m < c->count && c->member[m] != server) {
        m++;
    }
    return m;
}

unsigned store_config_changed(const struct store_config *c, const struct store_config *next)
{
    unsigned place = c->count;
    if (next->epoch != c->epoch + 1 || next->count != c->count) {
        return c->count;
    }
    for (unsigned m = 0; m < c->count; m++) {
        if (next->member[m] == c->member[m] && next->store_id[m] == c->store_id[m]) {
            continue;
        }
        if (place < c->count) {
            return c->count;
        }
        place = m;
    }
    return place;
}

enum store_seal_verdict store_seal_judge(const struct store_config *c, unsigned promised,
                                         const struct store_seal seal[static STORE_COPIES_MOST], unsigned *which)
{
    unsigned highest = c->count, missing = 0;
    for (unsigned m = 0; m < c->count; m++) {
        bool sealed = (promised >> m & 1) != 0 && !store_ballot_is_none(seal[m].ballot) &&
                      store_config_changed(c, &seal[m].next) < c->count;
        if (sealed && (highest == c->count || store_ballot_compare(seal[m].ballot, seal[highest].ballot) > 0)) {
            highest = m;
        }
    }
    if (highest == c->count || STORE_MUTANT(SEAL_IGNORED)) {
        return STORE_SEAL_NONE;
    }
    unsigned leaves = store_config_changed(c, &seal[highest].next);
    for (unsigned m = 0; m < c->count; m++) {
        if (m == leaves) {
            continue;
        }
        if ((promised >> m & 1) == 0) {
            missing++;
        } else if (store_ballot_compare(seal[m].ballot, seal[highest].ballot) != 0) {
            return STORE_SEAL_NONE;
        }
    }
    *which = highest;
    return missing == 0 ? STORE_SEAL_DECIDED : STORE_SEAL_DOUBT;
}
