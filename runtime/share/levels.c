/* SPDX-License-Identifier: Apache-2.0 */
#include "share/levels.h"

#include <errno.h>

void share_levels_open(struct share_levels *l, const struct share_out *com, const struct share_geometry *g)
{
    CHECK(share_geometry_sound(g) && com->size >= share_com_bytes(g));
    memset(l, 0, sizeof *l);
    l->com = *com;
    l->words = g->words;
}

int share_words_allow(struct share_levels *l, uint16_t endpoint, uint32_t first, uint32_t count)
{
    CHECK(endpoint < SHARE_ENDPOINTS_MOST);
    if (first > l->words || count > l->words - first) {
        return -EINVAL;
    }
    for (uint32_t i = 0; i < count; i++) {
        l->opened_to[first + i] = (uint16_t)(endpoint + 1);
    }
    return 0;
}

void share_words_forget(struct share_levels *l, uint16_t endpoint)
{
    for (uint32_t i = 0; i < l->words; i++) {
        if (l->opened_to[i] == endpoint + 1) {
            l->opened_to[i] = 0;
        }
    }
}

static uint64_t changed(uint64_t was, unsigned change, uint64_t value)
{
    switch (change) {
    case SHARE_ADD:
        return was + value;
    case SHARE_OR:
        return was | value;
    case SHARE_MAX:
        return was > value ? was : value;
    default:
        return value;
    }
}

int share_word_change(struct share_levels *l, uint16_t endpoint, uint32_t word, unsigned change, uint64_t value)
{
    if (word >= l->words || change >= SHARE_CHANGES) {
        return -EINVAL;
    }
    if (l->opened_to[word] != endpoint + 1) {
        return -EACCES;
    }
    l->word[word] = changed(l->word[word], change, value);
    share_store_64_release(&l->com, SHARE_COM_WORDS + 8 * (size_t)word, l->word[word]);
    return 0;
}

void share_gone_set(struct share_levels *l, uint32_t peer, bool gone)
{
    CHECK(peer < SHARE_PEERS_MOST);
    uint64_t bit = UINT64_C(1) << peer % 64, *word = &l->gone[peer / 64];
    *word = gone ? *word | bit : *word & ~bit;
    share_store_64_release(&l->com, SHARE_COM_GONE + 8 * (size_t)(peer / 64), *word);
}

void share_lane_show(struct share_levels *l, uint32_t lane, uint64_t endpoints)
{
    CHECK(lane < SHARE_LANES_MOST);
    size_t at = SHARE_COM_LANES + SHARE_LANE_BYTES * (size_t)lane;
    l->lane_ports[lane] = endpoints;
    share_store_64_release(&l->com, at + 8, endpoints);
    share_store_32_release(&l->com, at, endpoints != 0 ? SHARE_LANE_OPEN : SHARE_LANE_CLOSED);
}

void share_state_show(const struct share_levels *l, uint32_t state)
{
    share_store_32_release(&l->com, SHARE_COM_STATE, state);
}

uint64_t share_word(const struct share_in *com, uint32_t word)
{
    CHECK(word < SHARE_WORDS_MOST);
    return share_load_64_acquire(com, SHARE_COM_WORDS + 8 * (size_t)word);
}

bool share_gone(const struct share_in *com, uint32_t peer)
{
    CHECK(peer < SHARE_PEERS_MOST);
    return (share_load_64_acquire(com, SHARE_COM_GONE + 8 * (size_t)(peer / 64)) >> peer % 64 & 1) != 0;
}

uint32_t share_state(const struct share_in *com)
{
    return share_load_32_acquire(com, SHARE_COM_STATE);
}

uint64_t share_lane_endpoints(const struct share_in *com, uint32_t lane)
{
    CHECK(lane < SHARE_LANES_MOST);
    return share_load_64_acquire(com, SHARE_COM_LANES + SHARE_LANE_BYTES * (size_t)lane + 8);
}
