/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/plans.h"

#include "services/multicast/cast/head.h"

#include <stdlib.h>
#include <string.h>

const struct cast_plan *plans_get(struct plans *p, cw_server source, const uint8_t *set)
{
    uint64_t epoch = cw_epoch(p->s);
    size_t bytes = cast_set_bytes(p->torus->servers);
    for (unsigned i = 0; i < PLANS_KEPT; i++) {
        const struct kept_plan *k = &p->kept[i];
        if (k->good && k->source == source && k->epoch == epoch && memcmp(k->set, set, bytes) == 0) {
            return &k->plan;
        }
    }
    struct kept_plan *k = &p->kept[p->evict++ % PLANS_KEPT];
    k->good = false;
    if (k->set == NULL && (k->set = malloc(bytes)) == NULL) {
        return NULL;
    }
    if (p->trees == NULL && trees_open(&p->trees, p->torus) < 0) {
        return NULL;
    }
    if (cast_plan_make(&k->plan, p->s, p->torus, p->trees, source, set) < 0) {
        return NULL;
    }
    memcpy(k->set, set, bytes);
    k->source = source;
    k->epoch = epoch;
    k->good = true;
    return &k->plan;
}

void plans_close(struct plans *p)
{
    for (unsigned i = 0; i < PLANS_KEPT; i++) {
        cast_plan_free(&p->kept[i].plan);
        free(p->kept[i].set);
    }
    trees_close(p->trees);
}
