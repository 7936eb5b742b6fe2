/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_dump X Y Z: the parent links of every tree, for trees_oracle.py. One line a tree: its link, then the parent
 * link of every offset, 6 at the root.
 */
#include "keyspace/trees.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct torus torus;
    struct trees *trees;
    cw_dims dims = {0};
    if (argc == 4) {
        dims = (cw_dims){(uint16_t)atoi(argv[1]), (uint16_t)atoi(argv[2]), (uint16_t)atoi(argv[3])};
    }
    if (torus_init(&torus, dims) < 0 || trees_open(&trees, &torus) < 0) {
        fprintf(stderr, "usage: trees_dump X Y Z\n");
        return 2;
    }
    for (unsigned set = trees_all(trees); set != 0; set &= set - 1) {
        cw_link tree = (cw_link)__builtin_ctz(set);
        printf("%u", tree);
        for (cw_server v = 0; v < torus.servers; v++) {
            printf(" %u", trees_parent(trees, tree, v));
        }
        printf("\n");
    }
    trees_close(trees);
    return 0;
}
