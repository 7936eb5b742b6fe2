/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/changes.h"

#include "base/check.h"
#include "keyspace/facet.h"
#include "keyspace/key.h"
#include "keyspace/owner.h"

void changes_init(struct changes *c, uint64_t epoch)
{
    c->forgotten = epoch;
    c->count = 0;
}

void changes_note(struct changes *c, uint64_t epoch, cw_server server)
{
    uint32_t at = (uint32_t)(c->count % CHANGES_MAX);
    if (c->count >= CHANGES_MAX) {
        c->forgotten = c->ring[at].epoch;
    }
    CHECK(c->count == 0 || c->ring[(c->count - 1) % CHANGES_MAX].epoch <= epoch);
    c->ring[at].epoch = epoch;
    c->ring[at].server = server;
    c->count++;
}

bool changes_moved(const struct changes *c, const struct torus *t, uint64_t route, cw_server root, uint64_t since)
{
    if (since < c->forgotten) {
        return true;
    }
    uint32_t known = c->count < CHANGES_MAX ? (uint32_t)c->count : CHANGES_MAX;
    if (known == 0 || c->ring[(c->count - 1) % CHANGES_MAX].epoch <= since) {
        return false;
    }
    if (root == CW_SERVER_NONE) {
        return true; /* somebody has gone since, and the first who was there was root */
    }
    struct facet_walk walk;
    facet_walk_init(&walk, t, key_home(t, route), owner_index(t, route));
    uint32_t order = facet_order(&walk, t, root);
    for (uint32_t i = 1; i <= known; i++) {
        uint32_t at = (uint32_t)((c->count - i) % CHANGES_MAX);
        if (c->ring[at].epoch <= since) {
            return false;
        }
        if (facet_order(&walk, t, c->ring[at].server) <= order) {
            return true;
        }
    }
    return false;
}
