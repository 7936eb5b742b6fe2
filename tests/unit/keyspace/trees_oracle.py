#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trees_oracle.py <trees_dump>: checks the tables in another language, from coordinates alone.

It also compares depths with those that another implementation of the descent reached (in Python, written apart from
this one, before it): ours must not be deeper.
"""
import itertools
import subprocess
import sys

STEP = [(0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1)]  # link -> axis, sign

# dims -> largest and mean depth of the other implementation's trees
OTHERS = {
    (3, 3, 3): (4, 3.0384615384615383),
    (4, 4, 4): (7, 4.031746031746032),
    (3, 3, 4): (5, 3.3714285714285714),
    (2, 3, 4): (5, 3.3333333333333335),
    (2, 2, 2): (4, 2.5714285714285716),
    (2, 4, 4): (6, 3.6774193548387095),
    (1, 4, 4): (5, 3.066666666666667),
    (1, 3, 4): (4, 2.727272727272727),
    (1, 2, 3): (4, 2.4),
}


def move(dims, at, link):
    axis, sign = STEP[link]
    to = list(at)
    to[axis] = (to[axis] + sign) % dims[axis]
    return tuple(to)


def load(dump, dims):
    """tree -> coordinate -> link to the parent"""
    text = subprocess.run([dump, *map(str, dims)], check=True, capture_output=True, text=True).stdout
    vertices = list(itertools.product(*map(range, dims)))
    trees = {}
    for line in text.splitlines():
        tree, *links = map(int, line.split())
        assert len(links) == len(vertices)
        trees[tree] = dict(zip(vertices, links))
    return trees


def verify(dims, trees):
    """Raises on any fault; returns the largest and the mean depth."""
    root = (0, 0, 0)
    ports = [link for link in range(6) if dims[STEP[link][0]] > 1]
    assert sorted(trees) == ports
    arcs = {}
    for tree, parent in trees.items():
        for vertex, link in parent.items():
            if vertex == root:
                assert link == 6
                continue
            sender = move(dims, vertex, link)
            arc = (sender, link ^ 1)
            assert link in ports and move(dims, *arc) == vertex
            assert arc not in arcs, f"{dims}: trees {tree} and {arcs[arc]} share {arc}"
            arcs[arc] = tree
    leaving = {tree: [link for link in ports if arcs.get((root, link)) == tree] for tree in trees}
    assert all(leaving[tree] == [tree] for tree in trees), leaving
    vertices = list(next(iter(trees.values())))
    assert set(arcs) == {(v, p) for v in vertices for p in ports if move(dims, v, p) != root}
    depths = []
    for tree in trees:  # breadth first over the arcs of the tree: spanning means that all are met, once
        front, met, depth = [root], {root}, 0
        while front:
            depth += 1
            front = [move(dims, v, p) for v in front for p in ports if arcs.get((v, p)) == tree]
            assert met.isdisjoint(front) and len(set(front)) == len(front)
            met.update(front)
            depths += [depth] * len(front)
        assert len(met) == len(vertices), f"{dims}: tree {tree} misses {len(vertices) - len(met)}"
    return max(depths), sum(depths) / len(depths)


def main():
    dump = sys.argv[1]
    found = {}
    for dims in [*itertools.product(range(1, 5), repeat=3), (5, 5, 5), (8, 8, 8), (7, 2, 5), (1, 1, 256), (2, 40, 2)]:
        if max(dims) > 1:
            found[dims] = verify(dims, load(dump, dims))
    print(f"{len(found)} shapes verified")
    for dims, theirs in OTHERS.items():
        ours = found[dims]
        print(dims, "ours %d %.4f, the other's %d %.4f" % (*ours, *theirs))
        assert ours[0] <= theirs[0] and ours[1] <= theirs[1] + 1e-9, "deeper than the other implementation"


if __name__ == "__main__":
    main()
