/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_plan.h"

#include <errno.h>
#include <stdlib.h>

/* One making of a plan. */
struct draft {
    struct cast_plan *plan;
    cw_svc *s;
    const struct torus *torus;
    const struct trees *trees;
    cw_server source, self;
    cw_link tree;
    const uint64_t *needed;
    cw_server *entry; /* by server: an offset */
};

cw_key cast_plan_vertex(const cw_svc *s, const struct torus *torus, const struct trees *trees, cw_link tree,
                        cw_server source, cw_server offset)
{
    cw_coord home = torus_coord(torus, torus_shift(torus, source, offset));
    return cw_key_at(s, home, trees_vertex_index(trees, tree, offset));
}

/* Who has a vertex; CW_SERVER_NONE: nobody. */
static cw_server host_of(const struct draft *d, cw_server offset, cw_key *key)
{
    cw_server home = torus_shift(d->torus, d->source, offset);
    *key = cast_plan_vertex(d->s, d->torus, d->trees, d->tree, d->source, offset);
    if (cw_reachable(d->s, torus_coord(d->torus, home))) {
        return home;
    }
    cw_coord heir;
    return cw_servers_for_key(d->s, key, 1, &heir) == 1 ? torus_id(d->torus, heir) : CW_SERVER_NONE;
}

static int add(struct draft *d, cw_server to, const cw_key *vertex)
{
    struct cast_plan *plan = d->plan;
    if (plan->count == plan->room) {
        unsigned room = plan->room == 0 ? 16 : 2 * plan->room;
        struct cast_plan_edge *grown = realloc(plan->edge, room * sizeof *grown);
        if (grown == NULL) {
            return -ENOMEM;
        }
        plan->edge = grown;
        plan->room = room;
    }
    plan->edge[plan->count++] = (struct cast_plan_edge){.tree = (uint8_t)d->tree, .to = to, .vertex = *vertex};
    return 0;
}

/* What is nearest to the root of what a server has of the tree: there it hears by it, and nowhere else. */
static void find_entries(struct draft *d)
{
    cw_server servers = d->torus->servers;
    for (cw_server i = 0; i < servers; i++) {
        d->entry[i] = CW_SERVER_NONE;
    }
    for (cw_server offset = 0; offset < servers; offset++) {
        cw_key key;
        cw_server host = trees_set_has(d->needed, offset) ? host_of(d, offset, &key) : CW_SERVER_NONE;
        if (host != CW_SERVER_NONE &&
            (d->entry[host] == CW_SERVER_NONE ||
             trees_depth(d->trees, d->tree, offset) < trees_depth(d->trees, d->tree, d->entry[host]))) {
            d->entry[host] = offset;
        }
    }
}

static int add_tree(struct draft *d)
{
    int rc = 0;
    find_entries(d);
    for (cw_server to = 0; to < d->torus->servers && rc == 0; to++) {
        cw_server offset = d->entry[to];
        if (to == d->self || offset == CW_SERVER_NONE || offset == 0) {
            continue;
        }
        cw_key above, vertex;
        if (host_of(d, torus_neighbour(d->torus, offset, trees_parent(d->trees, d->tree, offset)), &above) == d->self) {
            vertex = cast_plan_vertex(d->s, d->torus, d->trees, d->tree, d->source, offset);
            rc = add(d, to, &vertex);
        }
    }
    return rc;
}

int cast_plan_make(struct cast_plan *plan, cw_svc *s, const struct torus *torus, const struct trees *trees,
                   cw_server source, const uint8_t *members)
{
    if (source >= torus->servers) {
        return -EINVAL;
    }
    size_t words = trees_set_words(torus);
    uint64_t *sets = calloc(2 * words, sizeof *sets);
    cw_server *entry = malloc(torus->servers * sizeof *entry);
    if (sets == NULL || entry == NULL) {
        free(sets);
        free(entry);
        return -ENOMEM;
    }
    for (cw_server i = 0; i < torus->servers; i++) {
        if ((members[i / 8] >> i % 8 & 1) && i != source && cw_reachable(s, torus_coord(torus, i))) {
            trees_set_add(sets, torus_offset(torus, source, i));
        }
    }
    struct draft d = {.plan = plan, .s = s, .torus = torus, .trees = trees, .source = source, .needed = sets + words};
    d.entry = entry;
    d.self = cw_server_id(s, cw_self(s));
    plan->count = 0;
    int rc = 0;
    for (cw_links left = trees_all(trees); left != 0 && rc == 0; left &= (cw_links)(left - 1)) {
        d.tree = (cw_link)__builtin_ctz(left);
        if (trees_prune(trees, d.tree, sets, sets + words) > 0) {
            rc = add_tree(&d);
        }
    }
    free(entry);
    free(sets);
    return rc;
}

void cast_plan_free(struct cast_plan *plan)
{
    free(plan->edge);
    *plan = (struct cast_plan){.edge = NULL};
}
