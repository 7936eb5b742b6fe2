/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/reach.h"

#include <assert.h>
#include <string.h>

void reach_init(struct reach *set, uint32_t servers, void *memory)
{
    *set = (struct reach){.word = memory, .servers = servers};
    reach_clear(set);
}

static uint64_t bit_of(cw_server s)
{
    return UINT64_C(1) << s % 64;
}

bool reach_add(struct reach *set, cw_server s)
{
    assert(s < set->servers);
    if (reach_has(set, s)) {
        return false;
    }
    set->word[s / 64] |= bit_of(s);
    set->members++;
    return true;
}

bool reach_remove(struct reach *set, cw_server s)
{
    assert(s < set->servers);
    if (!reach_has(set, s)) {
        return false;
    }
    set->word[s / 64] &= ~bit_of(s);
    set->members--;
    return true;
}

void reach_fill(struct reach *set)
{
    memset(set->word, 0xff, reach_bytes(set->servers));
    if (set->servers % 64 != 0) {
        set->word[set->servers / 64] = bit_of(set->servers) - 1;
    }
    set->members = set->servers;
}

void reach_clear(struct reach *set)
{
    memset(set->word, 0, reach_bytes(set->servers));
    set->members = 0;
}

void reach_put_word(struct reach *set, uint32_t index, uint64_t members)
{
    assert(index < reach_bytes(set->servers) / sizeof *set->word);
    assert(set->servers - index * 64 >= 64 || members < bit_of(set->servers));
    set->members += (uint32_t)__builtin_popcountll(members) - (uint32_t)__builtin_popcountll(set->word[index]);
    set->word[index] = members;
}

void reach_copy(struct reach *to, const struct reach *from)
{
    assert(to->servers == from->servers);
    memcpy(to->word, from->word, reach_bytes(to->servers));
    to->members = from->members;
}

bool reach_equal(const struct reach *a, const struct reach *b)
{
    assert(a->servers == b->servers);
    return a->members == b->members && memcmp(a->word, b->word, reach_bytes(a->servers)) == 0;
}

/* The lowest bit at or above from that is set in one of a and b only; b may be NULL, which stands for an empty set. */
static cw_server next_bit(const struct reach *a, const struct reach *b, cw_server from)
{
    if (from >= a->servers) {
        return CW_SERVER_NONE;
    }
    uint64_t mask = UINT64_MAX << from % 64;
    for (size_t i = from / 64; i < ((size_t)a->servers + 63) / 64; i++) {
        uint64_t bits = (a->word[i] ^ (b == NULL ? 0 : b->word[i])) & mask;
        if (bits != 0) {
            return (cw_server)(64 * i) + (cw_server)__builtin_ctzll(bits);
        }
        mask = UINT64_MAX;
    }
    return CW_SERVER_NONE;
}

cw_server reach_next(const struct reach *set, cw_server from)
{
    return next_bit(set, NULL, from);
}

cw_server reach_next_change(const struct reach *a, const struct reach *b, cw_server from)
{
    assert(a->servers == b->servers);
    return next_bit(a, b, from);
}
