/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/torus.h"

#include <assert.h>
#include <errno.h>

int torus_init(struct torus *t, cw_dims dims)
{
    const uint16_t dim[CW_AXES] = {dims.x, dims.y, dims.z};
    for (int axis = 0; axis < CW_AXES; axis++) {
        if (dim[axis] < 1 || dim[axis] > CW_DIM_MAX) {
            return -EINVAL;
        }
    }
    uint32_t servers = (uint32_t)dims.x * dims.y * dims.z;
    *t = (struct torus){
        .dim = {dims.x, dims.y, dims.z},
        .servers = servers,
        .inverse_y = ((UINT64_C(1) << 32) + dims.y - 1) / dims.y,
        .inverse_z = ((UINT64_C(1) << 32) + dims.z - 1) / dims.z,
        .inverse_n = UINT64_MAX / servers,
    };
    return 0;
}

cw_dims torus_dims(const struct torus *t)
{
    return (cw_dims){(uint16_t)t->dim[0], (uint16_t)t->dim[1], (uint16_t)t->dim[2]};
}

bool torus_holds(const struct torus *t, cw_coord c)
{
    return c.x < t->dim[0] && c.y < t->dim[1] && c.z < t->dim[2];
}

cw_server torus_id(const struct torus *t, cw_coord c)
{
    assert(torus_holds(t, c));
    return (c.x * t->dim[1] + c.y) * t->dim[2] + c.z;
}

/*
 * value / dim, exactly, for value < 2^24 and dim <= 256. The inverse, ceil(2^32 / dim), exceeds 2^32 / dim by less than
 * 1, so the quotient comes out too large by less than value / 2^32 < 1 / 256 <= 1 / dim. The exact quotient lies at
 * least 1 / dim below the next whole number, which is therefore not reached.
 */
static uint32_t divide(uint32_t value, uint64_t inverse)
{
    return (uint32_t)(value * inverse >> 32);
}

cw_coord torus_coord(const struct torus *t, cw_server s)
{
    assert(s < t->servers);
    uint32_t xy = divide(s, t->inverse_z);
    uint32_t x = divide(xy, t->inverse_y);
    return (cw_coord){(uint8_t)x, (uint8_t)(xy - x * t->dim[1]), (uint8_t)(s - xy * t->dim[2])};
}

cw_links torus_links(const struct torus *t)
{
    cw_links links = CW_LINKS_NONE;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        if (t->dim[axis] > 1) {
            links |= (cw_links)(3u << (2 * axis));
        }
    }
    return links;
}

/* (a + b) mod dim, for a, b < dim: a compare, not a division. */
static uint32_t wrap_add(uint32_t a, uint32_t b, uint32_t dim)
{
    uint32_t sum = a + b;
    return sum >= dim ? sum - dim : sum;
}

static uint32_t wrap_sub(uint32_t a, uint32_t b, uint32_t dim)
{
    return a >= b ? a - b : a + dim - b;
}

/* A coordinate as an array, so that one loop serves all three axes. */
struct place {
    uint32_t on[CW_AXES];
};

static struct place place_of(const struct torus *t, cw_server s)
{
    cw_coord c = torus_coord(t, s);
    return (struct place){{c.x, c.y, c.z}};
}

static cw_server id_of(const struct torus *t, struct place p)
{
    return (p.on[0] * t->dim[1] + p.on[1]) * t->dim[2] + p.on[2];
}

cw_server torus_neighbour(const struct torus *t, cw_server s, cw_link link)
{
    assert(link < CW_LINK_COUNT);
    unsigned axis = link / 2u;
    struct place p = place_of(t, s);
    uint32_t dim = t->dim[axis];
    p.on[axis] = link & 1u ? wrap_sub(p.on[axis], 1 % dim, dim) : wrap_add(p.on[axis], 1 % dim, dim);
    return id_of(t, p);
}

void torus_neighbours_fill(const struct torus *t, cw_server out[])
{
    for (cw_server s = 0; s < t->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            *out++ = torus_neighbour(t, s, link);
        }
    }
}

cw_server torus_offset(const struct torus *t, cw_server from, cw_server to)
{
    struct place a = place_of(t, from), b = place_of(t, to);
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        b.on[axis] = wrap_sub(b.on[axis], a.on[axis], t->dim[axis]);
    }
    return id_of(t, b);
}

cw_server torus_shift(const struct torus *t, cw_server from, cw_server offset)
{
    struct place a = place_of(t, from), b = place_of(t, offset);
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        b.on[axis] = wrap_add(b.on[axis], a.on[axis], t->dim[axis]);
    }
    return id_of(t, b);
}

unsigned torus_distance(const struct torus *t, cw_server a, cw_server b)
{
    struct place p = place_of(t, a), q = place_of(t, b);
    unsigned hops = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        uint32_t plus = wrap_sub(q.on[axis], p.on[axis], t->dim[axis]);
        uint32_t minus = t->dim[axis] - plus;
        hops += plus < minus ? plus : minus;
    }
    return hops;
}

unsigned torus_diameter(const struct torus *t)
{
    return t->dim[0] / 2 + t->dim[1] / 2 + t->dim[2] / 2;
}

cw_links torus_minimal_links(const struct torus *t, cw_server from, cw_server to)
{
    struct place p = place_of(t, from), q = place_of(t, to);
    cw_links links = CW_LINKS_NONE;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        uint32_t plus = wrap_sub(q.on[axis], p.on[axis], t->dim[axis]);
        uint32_t minus = t->dim[axis] - plus;
        if (plus == 0) {
            continue;
        }
        if (plus <= minus) {
            links |= cw_links_of((cw_link)(2 * axis));
        }
        if (minus <= plus) {
            links |= cw_links_of((cw_link)(2 * axis + 1));
        }
    }
    return links;
}

int torus_parse(const struct torus *t, const char *text, size_t length, cw_coord *out)
{
    uint32_t part[CW_AXES];
    size_t at = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        if (axis > 0 && (at == length || text[at++] != ',')) {
            return -EINVAL;
        }
        uint32_t value = 0;
        size_t start = at;
        while (at < length && text[at] >= '0' && text[at] <= '9' && value < CW_DIM_MAX) {
            value = 10 * value + (uint32_t)(text[at++] - '0');
        }
        bool padded = at - start > 1 && text[start] == '0'; /* one text for one coordinate */
        if (at == start || padded || value >= CW_DIM_MAX) {
            return -EINVAL;
        }
        part[axis] = value;
    }
    cw_coord c = {(uint8_t)part[0], (uint8_t)part[1], (uint8_t)part[2]};
    if (at != length) {
        return -EINVAL;
    }
    if (!torus_holds(t, c)) {
        return -ERANGE;
    }
    *out = c;
    return 0;
}

static size_t put_number(char *out, unsigned value)
{
    size_t n = 0;
    if (value >= 100) {
        out[n++] = (char)('0' + value / 100);
    }
    if (value >= 10) {
        out[n++] = (char)('0' + value / 10 % 10);
    }
    out[n++] = (char)('0' + value % 10);
    return n;
}

size_t torus_format(cw_coord c, char out[static TORUS_TEXT])
{
    size_t n = put_number(out, c.x);
    out[n++] = ',';
    n += put_number(out + n, c.y);
    out[n++] = ',';
    n += put_number(out + n, c.z);
    out[n] = '\0';
    return n;
}
