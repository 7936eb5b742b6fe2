/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees.h - arc-disjoint spanning trees: one for each link of the root, for every torus and every root.
 *
 *  1. Tree L (a cw_link of torus_links()) leaves the root over link L only and reaches every server.
 *  2. No two trees of one root use the same cable in the same direction; together they use every direction
 *     of every cable once, except those that enter the root. So at every other server the trees enter by links
 *     that all differ: trees -> parent links is a bijection.
 *  3. The table is a pure function of the dims: integers only, no chance, the same on every server.
 *
 * A torus looks the same from everywhere, so one table serves all roots: vertices are *offsets*, torus_offset(root,
 * server), and the root is offset 0. Read from child to parent the same trees aggregate over the opposite
 * directions. Up to TREES_TABLE_SERVERS the trees are flattened to near-minimal depth and kept in a table
 * (docs/trees.md has the depths); above, and only there, trees_open() makes no table and every answer is computed
 * from the closed form. The limit is one of time: flattening takes some 26 us a server, about a second at the limit.
 *
 * Theory: CamCubeOS 6.1; Edmonds, disjoint arborescences; docs/trees.md.
 *
 * Unless said otherwise tree is a link of trees_all() and offset is below torus.servers; breaking that is the caller's
 * mistake and stops a debug build (assert). After trees_open() nothing is written any more: any number of threads
 * and nodes may read one struct trees.
 */
#ifndef KEYSPACE_TREES_H
#define KEYSPACE_TREES_H

#include "keyspace/torus.h"

struct trees;

enum { TREES_TABLE_SERVERS = 1 << 15, TREES_NOT_BELOW = 7 };

/* Depths over all trees and all servers but the root: mean = total / (trees * (servers - 1)). */
struct trees_extent {
    unsigned max;
    uint64_t total;
};

/*
 * Builds the trees of *torus (borrowed for the call) and gives them in *out; release with trees_close(). A table
 * holds 24 bytes a server; building needs 45 more a server until it returns. -ENOMEM: *out is untouched.
 */
CW_MUST_CHECK int trees_open(struct trees **out, const struct torus *torus);

/* Takes what trees_open() gave; NULL is allowed. */
void trees_close(struct trees *trees);

/* Bytes held by trees, table included. */
size_t trees_bytes(const struct trees *trees);

/* The trees there are, named by their root link: torus_links(). */
cw_links trees_all(const struct trees *trees);

/* The link by which a vertex hears from its parent, and sends to it; CW_LINK_SELF at the root. O(1). */
cw_link trees_parent(const struct trees *trees, cw_link tree, cw_server offset);

/* The links by which a vertex sends to its children; exactly `tree` at the root. O(1). */
cw_links trees_children(const struct trees *trees, cw_link tree, cw_server offset);

/* Hops from the root, 0 at the root. O(1). */
unsigned trees_depth(const struct trees *trees, cw_link tree, cw_server offset);

struct trees_extent trees_extent(const struct trees *trees);

/*
 * The child link of `above` behind which `below` hangs; CW_LINK_SELF when they are the same vertex, TREES_NOT_BELOW
 * when `below` does not hang under `above`. Lets a server prune its own children, member by member. O(depth).
 */
cw_link trees_branch(const struct trees *trees, cw_link tree, cw_server above, cw_server below);

/* Sets of offsets: bit o % 64 of word o / 64; the words needed for a torus. */
static inline size_t trees_set_words(const struct torus *torus)
{
    return ((size_t)torus->servers + 63) / 64;
}

static inline bool trees_set_has(const uint64_t *set, cw_server offset)
{
    return set[offset / 64] >> offset % 64 & 1;
}

static inline void trees_set_add(uint64_t *set, cw_server offset)
{
    set[offset / 64] |= (uint64_t)1 << offset % 64;
}

/*
 * Prunes a tree to the paths from the root to the members. Borrows both sets, of trees_set_words() words, not
 * overlapping; bits of `members` at or above torus.servers are zero. Writes all of `needed`: the members and
 * everything above them. Returns how many are needed (0 only without members). O(members + needed).
 */
uint32_t trees_prune(const struct trees *trees, cw_link tree, const uint64_t *members, uint64_t *needed);

/* trees_children() restricted to those in a set made by trees_prune() for the same tree. */
cw_links trees_children_in(const struct trees *trees, cw_link tree, cw_server offset, const uint64_t *needed);

/* size[o] = vertices in the subtree of o, itself included, for all torus.servers offsets. O(servers). */
void trees_sizes(const struct trees *trees, cw_link tree, uint32_t *size);

/*
 * The facet index 0..47 (semantics 3.2: f = i / 6 the signs, o = i mod 6 the axis order) for the key of a vertex:
 * when the vertex's server is dead, the first server of Sigma(., i) is its parent in that tree (at the root, its
 * child), so that only the vertex's other tree edges grow longer. Where a child sits on another axis it is next. By
 * guarantee 2 the vertices of one server in all trees move to different links, hence to different neighbours on
 * axes of 3 and more.
 */
unsigned trees_vertex_index(const struct trees *trees, cw_link tree, cw_server offset);

/*
 * The closed form, for any torus, O(1), no memory; deeper than the table (1 + sum of (dim - 1) at most). The same
 * contracts as the functions above. Tree +i only travels in + directions, tree -i only in - directions.
 */
cw_link trees_closed_parent(const struct torus *torus, cw_link tree, cw_server offset);
cw_links trees_closed_children(const struct torus *torus, cw_link tree, cw_server offset);
unsigned trees_closed_depth(const struct torus *torus, cw_link tree, cw_server offset);
struct trees_extent trees_closed_extent(const struct torus *torus);

#endif
