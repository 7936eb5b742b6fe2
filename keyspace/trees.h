/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees.h - arc-disjoint spanning trees: one for each link of the root, for every torus and every root.
 *
 *  1. Tree L (a link of torus_links()) leaves the root by link L only, and reaches every server.
 *  2. No two trees of one root use the same cable in the same direction. Together they use every direction of every
 *     cable once, except those that enter the root. So at every server but the root each tree comes in by a link of its
 *     own: trees -> parent links is a bijection.
 *  3. The trees are a pure function of the dims, made of integers without chance: the same on every server.
 *
 * A torus looks the same from every server, so one table serves all roots: vertices are *offsets*, torus_offset(root,
 * server), and the root is offset 0. Read from child to parent, the same trees aggregate over the opposite directions.
 *
 * In a torus of up to TREES_TABLE_SERVERS servers the trees are flattened to a depth near the least possible
 * (docs/trees.md has the depths) and kept in a table. In a larger torus trees_open() makes no table, and all answers
 * are computed from the closed form. The limit is one of time: flattening takes some 26 us for each server, about a
 * second at the limit.
 *
 * Theory: CamCubeOS 6.1; Edmonds, disjoint arborescences; docs/trees.md.
 *
 * Unless said otherwise, tree is a link of trees_all() and offset is below torus.servers; breaking that is the caller's
 * mistake and stops a debug build (assert). After trees_open() nothing is written any more, so that any number of
 * threads and nodes may read one struct trees.
 */
#ifndef KEYSPACE_TREES_H
#define KEYSPACE_TREES_H

#include "keyspace/torus.h"

struct trees;

enum { TREES_TABLE_SERVERS = 1 << 15, TREES_NOT_BELOW = 7 };

/* The depths of all servers but the root in all trees: mean = total / (trees * (servers - 1)). */
struct trees_extent {
    unsigned max;
    uint64_t total;
};

/*
 * Builds the trees of *torus (borrowed for the call) and gives them in *out, for trees_close() to release. The table
 * takes 24 bytes for each server; building it takes another 45 until this returns. -ENOMEM: *out is untouched.
 */
CW_MUST_CHECK int trees_open(struct trees **out, const struct torus *torus);

/* Takes the trees, which may be NULL. */
void trees_close(struct trees *trees);

/* How many bytes the trees take, table included. */
size_t trees_bytes(const struct trees *trees);

/* Which trees there are, each named by its link at the root: torus_links(). */
cw_links trees_all(const struct trees *trees);

/* The link to the vertex's parent, by which it receives; CW_LINK_SELF at the root. O(1). */
cw_link trees_parent(const struct trees *trees, cw_link tree, cw_server offset);

/* The links to the vertex's children, by which it sends; exactly `tree` at the root. O(1). */
cw_links trees_children(const struct trees *trees, cw_link tree, cw_server offset);

/* How many hops the vertex is from the root; 0 at the root. O(1). */
unsigned trees_depth(const struct trees *trees, cw_link tree, cw_server offset);

struct trees_extent trees_extent(const struct trees *trees);

/*
 * The link from `above` to its child that has `below` in its subtree; CW_LINK_SELF when the two are the same vertex,
 * TREES_NOT_BELOW when `below` is not in the subtree of `above`. With it a server prunes its own children, member by
 * member. O(depth).
 */
cw_link trees_branch(const struct trees *trees, cw_link tree, cw_server above, cw_server below);

/* A set of offsets has bit o % 64 of word o / 64 for offset o. This is how many words it needs in a torus. */
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

static inline void trees_set_remove(uint64_t *set, cw_server offset)
{
    set[offset / 64] &= ~(UINT64_C(1) << offset % 64);
}

/*
 * Prunes a tree to the paths from the root to the members. Borrows two sets of trees_set_words() words that do not
 * overlap; bits of `members` that stand for no server must be 0. Writes `needed`: the members and every vertex above
 * one. Gives the number of vertices in `needed`, which is 0 only when there are no members. O(members + needed).
 */
uint32_t trees_prune(const struct trees *trees, cw_link tree, const uint64_t *members, uint64_t *needed);

/* The links to those children that are in a set that trees_prune() made for the same tree. */
cw_links trees_children_in(const struct trees *trees, cw_link tree, cw_server offset, const uint64_t *needed);

/*
 * Fills size[o], for all torus.servers offsets, with the number of vertices in the subtree of o, itself included. O(N).
 */
void trees_sizes(const struct trees *trees, cw_link tree, uint32_t *size);

/*
 * The index 0..47 of the sequence (facet.h: i = 6 * f + o) to use in the key of a vertex, so that the vertex moves well
 * when its server dies. The first heir in that sequence is then the vertex's parent in this tree (at the root, its
 * child), so that only the edges to the children grow longer; where there is a child on another axis, that child is the
 * next heir. By guarantee 2 a server's vertices in the different trees move over different links, hence on axes of 3
 * and more to different neighbours.
 */
unsigned trees_vertex_index(const struct trees *trees, cw_link tree, cw_server offset);

/*
 * The closed form: for any torus, in O(1), without memory, and with the contracts of the functions above. Its trees are
 * deeper than those of the table: 1 + the sum of (dim - 1) at most. Tree +i only goes in + directions, tree -i only in
 * - directions.
 */
cw_link trees_closed_parent(const struct torus *torus, cw_link tree, cw_server offset);
cw_links trees_closed_children(const struct torus *torus, cw_link tree, cw_server offset);
unsigned trees_closed_depth(const struct torus *torus, cw_link tree, cw_server offset);
struct trees_extent trees_closed_extent(const struct torus *torus);

#endif
