/* SPDX-License-Identifier: Apache-2.0 */
#include "naive.h"

#include <stdlib.h>
#include <string.h>

cw_dims small_shape(unsigned n)
{
    return (cw_dims){(uint16_t)(n / 36 + 1), (uint16_t)(n / 6 % 6 + 1), (uint16_t)(n % 6 + 1)};
}

cw_dims large_shape(unsigned n)
{
    static const cw_dims shapes[LARGE_SHAPES] = {{16, 16, 16}, {10, 10, 10}, {7, 11, 13}, {1, 1, 256}, {256, 1, 1},
                                                 {2, 2, 256},  {1, 64, 33},  {3, 5, 100}, {8, 8, 8}};
    return shapes[n];
}

cw_server naive_move(cw_dims d, cw_server s, unsigned axis, int steps)
{
    int at[3] = {(int)s / (d.y * d.z), (int)s / d.z % d.y, (int)s % d.z};
    int dim[3] = {d.x, d.y, d.z};
    at[axis] = ((at[axis] + steps) % dim[axis] + dim[axis]) % dim[axis];
    return (cw_server)((at[0] * dim[1] + at[1]) * dim[2] + at[2]);
}

void naive_distances(cw_dims d, cw_server source, unsigned hops[])
{
    uint32_t n = (uint32_t)d.x * d.y * d.z;
    cw_server *queue = malloc(n * sizeof *queue);
    memset(hops, 0xff, n * sizeof *hops);
    uint32_t head = 0, tail = 0;
    queue[tail++] = source;
    hops[source] = 0;
    while (head < tail) {
        cw_server u = queue[head++];
        for (unsigned link = 0; link < 6; link++) {
            cw_server v = naive_move(d, u, link / 2, link % 2 == 0 ? 1 : -1);
            if (hops[v] == UINT32_MAX) {
                hops[v] = hops[u] + 1;
                queue[tail++] = v;
            }
        }
    }
    free(queue);
}

uint32_t naive_sequence(cw_dims d, cw_server home, unsigned index, cw_server out[])
{
    static const char order[6][4] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};
    unsigned f = index / 6, o = index % 6;
    bool *seen = calloc((size_t)d.x * d.y * d.z, sizeof *seen);
    uint32_t head = 0, tail = 0;
    out[tail++] = home;
    seen[home] = true;
    while (head < tail) {
        cw_server u = out[head++];
        for (unsigned turn = 0; turn < 3; turn++) {
            unsigned axis = (unsigned)(order[o][turn] - 'x');
            cw_server m = naive_move(d, u, axis, f >> axis & 1 ? -1 : 1);
            if (!seen[m]) {
                seen[m] = true;
                out[tail++] = m;
            }
        }
    }
    free(seen);
    return tail;
}

cw_server *naive_table(cw_dims d)
{
    size_t n = (size_t)d.x * d.y * d.z;
    cw_server *table = malloc(n * NAIVE_SEQUENCES * n * sizeof *table);
    for (size_t row = 0; row < n * NAIVE_SEQUENCES; row++) {
        naive_sequence(d, (cw_server)(row / NAIVE_SEQUENCES), (unsigned)(row % NAIVE_SEQUENCES), table + row * n);
    }
    return table;
}

cw_server naive_first(const cw_server sequence[], uint32_t n, const bool up[])
{
    for (uint32_t i = 0; i < n; i++) {
        if (up[sequence[i]]) {
            return sequence[i];
        }
    }
    return CW_SERVER_NONE;
}
