/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/internal.h"

#include <string.h>

void small_take(struct reducer *r, cw_server from, const uint8_t *elements)
{
    size_t bytes = spec_join(&r->caller->spec);
    if (bytes > 0) {
        memcpy(r->part + from * bytes, elements, bytes);
    }
}

/* Puts the result where the caller of this server wants it. */
static void deliver(const struct member *m, const void *elements)
{
    size_t n = (size_t)m->spec.elements;
    if (m->out != NULL) {
        memcpy(m->out, elements, n * m->element);
    } else if (m->take != NULL) {
        m->take(m->context, 0, n, elements);
    }
}

/* Combines the vectors of the contributors; gives how many they are. */
static uint32_t combine_all(struct reducer *r, uint8_t *sum)
{
    const struct member *c = r->caller;
    size_t bytes = spec_small(&c->spec), n = (size_t)c->spec.elements;
    number_combine_fn combine = number_combine((cw_number)c->spec.type, (cw_combine)c->spec.combine);
    const uint64_t *in_it = AGG_MUTANT(SMALL_LEFT) ? r->members : r->counted;
    uint32_t count = 0;
    if (c->contributes) {
        _Alignas(16) uint8_t own[MESSAGE_SMALL_MOST];
        member_copy(c, 0, n, own);
        small_take(r, r->d->self, own);
    }
    for (cw_server s = 0; s < r->d->torus.servers; s++) {
        if (!trees_set_has(in_it, s)) {
            continue;
        }
        if (count++ == 0) {
            memcpy(sum, r->part + s * bytes, bytes);
        } else {
            combine(sum, r->part + s * bytes, n);
        }
    }
    return count;
}

void small_finish(struct reducer *r)
{
    const struct member *c = r->caller;
    _Alignas(16) uint8_t sum[MESSAGE_SMALL_MOST];
    size_t n = (size_t)c->spec.elements;
    if (n > 0 && (c->spec.flags & CW_REDUCE_FROM_ROOT) != 0) {
        member_copy(c, 0, n, sum);
    } else if (n > 0) {
        uint32_t count = combine_all(r, sum);
        if (c->spec.combine == CW_COMBINE_MEAN) {
            number_divide((cw_number)c->spec.type, sum, n, count);
        }
    }
    if (n > 0) {
        deliver(c, sum);
        memcpy(r->part, sum, spec_small(&c->spec)); /* from there it goes out with the END */
    }
    reducer_end(r, 0, CW_SERVER_NONE);
}

bool small_result(const struct member *m, const uint8_t *elements, size_t bytes)
{
    _Alignas(16) uint8_t result[MESSAGE_SMALL_MOST]; /* take() is given aligned memory */
    if (bytes != spec_small(&m->spec)) {
        return false;
    }
    if (bytes > 0) {
        memcpy(result, elements, bytes);
        deliver(m, result);
    }
    return true;
}
