/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/places.h"

#include "base/bytes.h"
#include "keyspace/facet.h"
#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "services/store/held/ports.h"

#include <string.h>

enum { BY_NAME = 0, BY_TAG = 1, JOB_BYTES = 4 };

/* The bytes between the braces that the name begins with; NULL: it does not. */
static const uint8_t *tag_of(const struct store_name *name, size_t *length)
{
    const uint8_t *end = name->length > 2 && name->bytes[0] == '{' ? memchr(name->bytes, '}', name->length) : NULL;
    *length = end != NULL ? (size_t)(end - name->bytes) - 1 : 0;
    return *length > 0 ? name->bytes + 1 : NULL;
}

cw_key store_places_key(const struct store_name *name)
{
    uint8_t bytes[5 + CW_STORE_NAME_MAX];
    size_t length;
    const uint8_t *tag = tag_of(name, &length);
    if (name->job == STORE_INTENT_JOB && name->length > JOB_BYTES) { /* where the names of its tag are */
        memcpy(bytes, name->bytes, JOB_BYTES);
        bytes[4] = BY_TAG;
        memcpy(bytes + 5, name->bytes + JOB_BYTES, name->length - JOB_BYTES);
        return key_of_name(STORE_JOB, bytes, 5 + name->length - JOB_BYTES);
    }
    put_be32(bytes, name->job);
    bytes[4] = tag != NULL ? BY_TAG : BY_NAME;
    length = tag != NULL ? length : name->length;
    memcpy(bytes + 5, tag != NULL ? tag : name->bytes, length);
    return key_of_name(STORE_JOB, bytes, 5 + length);
}

cw_key store_places_record(const struct store_name *name)
{
    uint8_t bytes[5 + CW_STORE_NAME_MAX];
    put_be32(bytes, name->job);
    bytes[4] = BY_NAME;
    memcpy(bytes + 5, name->bytes, name->length);
    return key_of_name(STORE_JOB, bytes, 5 + name->length);
}

uint32_t store_places_shard(const struct torus *t, const cw_key *key)
{
    uint64_t route = key_route64(key);
    return key_home(t, route) * STORE_SHARDS_PER_SERVER + owner_index(t, route);
}

bool store_places_prefix(const struct torus *t, const struct store_name *prefix, uint32_t *shard)
{
    size_t length;
    if (tag_of(prefix, &length) == NULL) {
        return false;
    }
    cw_key key = store_places_key(prefix);
    *shard = store_places_shard(t, &key);
    return true;
}

uint32_t store_order_shard(const struct torus *t, const struct store_order *o)
{
    cw_key key = o->op != STORE_OP_LIST ? store_places_key(&o->name) : (cw_key){.b = {0}};
    return o->op == STORE_OP_LIST ? o->shard : store_places_shard(t, &key);
}

cw_server store_places_home(uint32_t shard)
{
    return shard / STORE_SHARDS_PER_SERVER;
}

unsigned store_places_members(const struct torus *t, uint32_t shard, unsigned r, cw_server *out)
{
    struct facet_walk w;
    unsigned n = 0;
    facet_walk_init(&w, t, store_places_home(shard), shard % STORE_SHARDS_PER_SERVER);
    do {
        out[n++] = facet_walk_server(&w);
    } while (n < r && facet_walk_next(&w));
    return n;
}

unsigned store_places_reach(const struct torus *t, unsigned r)
{
    /* With three axes, three servers stand one step from the home; with fewer, each copy may be a step further. */
    cw_dims d = torus_dims(t);
    bool solid = d.x > 1 && d.y > 1 && d.z > 1;
    return solid ? 2 : 2 * (r - 1);
}
