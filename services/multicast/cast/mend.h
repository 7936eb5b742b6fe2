/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mend.h - the trees of one source on the servers that live. In offsets from the source (keyspace/trees.h).
 *
 *  1. Where nobody is dead a tree is as the table has it.
 *  2. Every offset that lives and is joined to the source by links between living servers has a parent that lives, in every tree, and no circle.
 *
 * Time: servers times the edges to be mended.
 */
#ifndef SERVICES_MULTICAST_CAST_MEND_H
#define SERVICES_MULTICAST_CAST_MEND_H

#include "keyspace/trees.h"

enum { CAST_NO_PARENT = 7 };

struct cast_mend {
    uint8_t *
        parent; /* [tree * servers + offset]: the link to the parent; CAST_NO_PARENT: the source, the dead, who is cut off */
    uint8_t rank[CW_LINK_COUNT];
    cw_server servers;
};

/* live: a byte for each offset, not 0: it lives; that of the source (0) does. Borrows all. Release with cast_mend_free(). -ENOMEM. */
CW_MUST_CHECK int cast_mend_make(struct cast_mend *m, const struct torus *torus, const struct trees *trees,
                                 const uint8_t *live);
void cast_mend_free(struct cast_mend *m);

static inline cw_link cast_mend_parent(const struct cast_mend *m, cw_link tree, cw_server offset)
{
    return m->parent[(size_t)tree * m->servers + offset];
}

#endif
