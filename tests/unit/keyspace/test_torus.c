/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/torus.h"
#include "naive.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct torus torus_of(cw_dims d)
{
    struct torus t;
    ck_assert_int_eq(torus_init(&t, d), 0);
    return t;
}

START_TEST(refuses_bad_dims)
{
    struct torus t = {.servers = 7};
    ck_assert_int_eq(torus_init(&t, (cw_dims){0, 3, 3}), -EINVAL);
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 0, 3}), -EINVAL);
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 3, 0}), -EINVAL);
    ck_assert_int_eq(torus_init(&t, (cw_dims){257, 3, 3}), -EINVAL);
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 257, 3}), -EINVAL);
    ck_assert_int_eq(torus_init(&t, (cw_dims){3, 3, UINT16_MAX}), -EINVAL);
    ck_assert_uint_eq(t.servers, 7);
    ck_assert_int_eq(torus_init(&t, (cw_dims){256, 256, 256}), 0);
    ck_assert_uint_eq(t.servers, 1u << 24);
    cw_dims d = torus_dims(&t);
    ck_assert_int_eq(d.x, 256);
    ck_assert_int_eq(d.y, 256);
    ck_assert_int_eq(d.z, 256);
}
END_TEST

/* Ids are dense, x most significant; coordinates and ids convert back and forth. */
static void check_ids(cw_dims d)
{
    struct torus t = torus_of(d);
    cw_server next = 0;
    for (unsigned x = 0; x < d.x; x++) {
        for (unsigned y = 0; y < d.y; y++) {
            for (unsigned z = 0; z < d.z; z++, next++) {
                cw_coord c = {(uint8_t)x, (uint8_t)y, (uint8_t)z};
                cw_coord back = torus_coord(&t, next);
                if (!torus_holds(&t, c) || torus_id(&t, c) != next || back.x != x || back.y != y || back.z != z) {
                    ck_abort_msg("%ux%ux%u: id of %u,%u,%u", d.x, d.y, d.z, x, y, z);
                }
            }
        }
    }
    ck_assert_uint_eq(next, t.servers);
    for (unsigned over = 0; over < 3; over++) {
        unsigned part[3] = {0};
        part[over] = over == 0 ? d.x : over == 1 ? d.y : d.z;
        if (part[over] <= 255) {
            ck_assert(!torus_holds(&t, (cw_coord){(uint8_t)part[0], (uint8_t)part[1], (uint8_t)part[2]}));
        }
    }
}

START_TEST(ids_are_dense)
{
    for (unsigned i = 0; i < SMALL_SHAPES; i++) {
        check_ids(small_shape(i));
    }
    for (unsigned i = 0; i < LARGE_SHAPES; i++) {
        check_ids(large_shape(i));
    }
}
END_TEST

/*
 * The division by an inverse, at both ends of every row of the largest torus for each length of a row, and of every
 * plane.
 */
START_TEST(coordinates_at_every_edge)
{
    for (unsigned dim = 1; dim <= CW_DIM_MAX; dim++) {
        struct torus rows = torus_of((cw_dims){256, 256, (uint16_t)dim});
        struct torus planes = torus_of((cw_dims){256, (uint16_t)dim, 256});
        for (unsigned xy = 0; xy < 256 * 256; xy++) {
            cw_coord a = torus_coord(&rows, xy * dim), b = torus_coord(&rows, xy * dim + dim - 1);
            if (a.x != xy / 256 || a.y != xy % 256 || a.z != 0 || b.x != a.x || b.y != a.y || b.z != dim - 1) {
                ck_abort_msg("256x256x%u, row %u", dim, xy);
            }
        }
        for (unsigned x = 0; x < 256; x++) {
            cw_coord a = torus_coord(&planes, x * dim * 256), b = torus_coord(&planes, (x + 1) * dim * 256 - 1);
            if (a.x != x || a.y != 0 || a.z != 0 || b.x != x || b.y != dim - 1 || b.z != 255) {
                ck_abort_msg("256x%ux256, plane %u", dim, x);
            }
        }
    }
}
END_TEST

/* All that can be asked about a pair of servers, against distances found by search. */
static void check_pairs_from(const struct torus *t, cw_dims d, cw_server from, unsigned *hops, unsigned *near)
{
    naive_distances(d, from, hops);
    /* near[link * N + v]: the distance from the neighbour over that link. */
    for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
        cw_server m = naive_move(d, from, link / 2, link % 2 == 0 ? 1 : -1);
        if (torus_neighbour(t, from, (cw_link)link) != m) {
            ck_abort_msg("%ux%ux%u: neighbour %u of %u", d.x, d.y, d.z, link, from);
        }
        if (torus_neighbour(t, m, cw_link_opposite((cw_link)link)) != from) {
            ck_abort_msg("%ux%ux%u: link %u of %u does not lead back", d.x, d.y, d.z, link, from);
        }
        naive_distances(d, m, near + link * t->servers);
    }
    unsigned furthest = 0;
    for (cw_server to = 0; to < t->servers; to++) {
        cw_links minimal = CW_LINKS_NONE;
        for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
            if (near[link * t->servers + to] + 1 == hops[to]) {
                minimal |= cw_links_of((cw_link)link);
            }
        }
        furthest = hops[to] > furthest ? hops[to] : furthest;
        if (torus_distance(t, from, to) != hops[to] || torus_minimal_links(t, from, to) != minimal) {
            ck_abort_msg("%ux%ux%u: distance or links %u -> %u", d.x, d.y, d.z, from, to);
        }
        cw_server offset = torus_offset(t, from, to);
        if (torus_shift(t, from, offset) != to || torus_distance(t, 0, offset) != hops[to]) {
            ck_abort_msg("%ux%ux%u: offset %u -> %u", d.x, d.y, d.z, from, to);
        }
    }
    ck_assert_uint_eq(torus_diameter(t), furthest);
}

static void check_pairs(cw_dims d, uint32_t stride)
{
    struct torus t = torus_of(d);
    unsigned *hops = malloc(t.servers * sizeof *hops);
    unsigned *near = malloc(CW_LINK_COUNT * t.servers * sizeof *near);
    for (cw_server from = 0; from < t.servers; from += stride) {
        check_pairs_from(&t, d, from, hops, near);
    }
    free(near);
    free(hops);
}

START_TEST(distances_and_links_of_small_shapes)
{
    for (unsigned i = 0; i < SMALL_SHAPES; i++) {
        check_pairs(small_shape(i), 1);
    }
}
END_TEST

START_TEST(distances_and_links_of_large_shapes)
{
    for (unsigned i = 0; i < LARGE_SHAPES; i++) {
        cw_dims d = large_shape(i);
        check_pairs(d, (uint32_t)d.x * d.y * d.z / 5 + 1);
    }
}
END_TEST

/* An axis of 1 has no cable and the step along it stays; an axis of 2 has two cables to one neighbour. */
START_TEST(neighbours_in_one_table)
{
    for (unsigned i = 0; i < SMALL_SHAPES; i++) {
        struct torus t;
        ck_assert_int_eq(torus_init(&t, small_shape(i)), 0);
        cw_server *table = malloc(t.servers * CW_LINK_COUNT * sizeof *table);
        torus_neighbours_fill(&t, table);
        for (cw_server s = 0; s < t.servers; s++) {
            for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
                if (table[s * CW_LINK_COUNT + link] != torus_neighbour(&t, s, link)) {
                    ck_abort_msg("shape %u: link %u of %u", i, link, s);
                }
            }
        }
        free(table);
    }
}
END_TEST

START_TEST(thin_axes)
{
    struct torus t = torus_of((cw_dims){1, 2, 3});
    ck_assert_uint_eq(torus_links(&t), 0x3c);
    ck_assert_uint_eq(torus_neighbour(&t, 4, CW_LINK_XP), 4);
    ck_assert_uint_eq(torus_neighbour(&t, 4, CW_LINK_XM), 4);
    ck_assert_uint_eq(torus_neighbour(&t, 4, CW_LINK_YP), 1);
    ck_assert_uint_eq(torus_neighbour(&t, 4, CW_LINK_YM), 1);
    ck_assert_uint_eq(torus_minimal_links(&t, 4, 1), cw_links_of(CW_LINK_YP) | cw_links_of(CW_LINK_YM));
    struct torus one = torus_of((cw_dims){1, 1, 1});
    ck_assert_uint_eq(torus_links(&one), CW_LINKS_NONE);
    ck_assert_uint_eq(torus_minimal_links(&one, 0, 0), CW_LINKS_NONE);
    ck_assert_uint_eq(torus_diameter(&one), 0);
    struct torus cube = torus_of((cw_dims){3, 3, 3});
    ck_assert_uint_eq(torus_links(&cube), CW_LINKS_ALL);
}
END_TEST

/* At exactly half way round, both directions of each axis; one step less, one. */
START_TEST(half_way_keeps_both_directions)
{
    struct torus t = torus_of((cw_dims){16, 16, 16});
    cw_server here = torus_id(&t, (cw_coord){3, 12, 15});
    ck_assert_uint_eq(torus_minimal_links(&t, here, torus_id(&t, (cw_coord){11, 4, 7})), CW_LINKS_ALL);
    ck_assert_uint_eq(torus_minimal_links(&t, here, torus_id(&t, (cw_coord){10, 3, 8})),
                      cw_links_of(CW_LINK_XP) | cw_links_of(CW_LINK_YP) | cw_links_of(CW_LINK_ZM));
}
END_TEST

/* Published figures: 12 hops and mean 6.012 for 8x8x8, 15 and about 7.5 for 10x10x10 (CamCubeOS 4.2, corrected). */
START_TEST(published_distances)
{
    static const struct {
        uint16_t side;
        unsigned diameter;
        unsigned sum; /* over all others, from any server */
    } want[] = {{4, 6, 192}, {8, 12, 3072}, {10, 15, 7500}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct torus t = torus_of((cw_dims){want[i].side, want[i].side, want[i].side});
        unsigned sum = 0;
        for (cw_server s = 0; s < t.servers; s++) {
            sum += torus_distance(&t, 0, s);
        }
        ck_assert_uint_eq(torus_diameter(&t), want[i].diameter);
        ck_assert_uint_eq(sum, want[i].sum);
    }
    struct torus largest = torus_of((cw_dims){256, 256, 256});
    ck_assert_uint_eq(torus_diameter(&largest), 384);
}
END_TEST

START_TEST(text_goes_both_ways)
{
    struct torus t = torus_of((cw_dims){256, 256, 256});
    static const unsigned parts[] = {0, 1, 9, 10, 42, 99, 100, 101, 199, 255};
    enum { PARTS = sizeof parts / sizeof *parts };
    for (unsigned i = 0; i < PARTS * PARTS * PARTS; i++) {
        unsigned x = parts[i / PARTS / PARTS], y = parts[i / PARTS % PARTS], z = parts[i % PARTS];
        char want[TORUS_TEXT], got[TORUS_TEXT];
        snprintf(want, sizeof want, "%u,%u,%u", x, y, z);
        size_t length = torus_format((cw_coord){(uint8_t)x, (uint8_t)y, (uint8_t)z}, got);
        cw_coord back;
        if (length != strlen(want) || strcmp(got, want) != 0 || torus_parse(&t, want, length, &back) != 0 ||
            back.x != x || back.y != y || back.z != z) {
            ck_abort_msg("%s became %s", want, got);
        }
    }
}
END_TEST

START_TEST(text_that_is_refused)
{
    struct torus t = torus_of((cw_dims){3, 300 - 44, 3});
    static const char *const malformed[] = {
        "",
        ",",
        ",,",
        "1",
        "1,",
        "1,0",
        "1,0,",
        ",0,2",
        "1,,2",
        "1,0,2,",
        "1,0,2,0",
        "1,0,2 ",
        " 1,0,2",
        "1, 0,2",
        "1 ,0,2",
        "+1,0,2",
        "-1,0,2",
        "1,-0,2",
        "1.0,0,2",
        "1;0;2",
        "1,0x1,2",
        "a,0,2",
        "1,b,2",
        "1,0,c",
        "(1,0,2)",
        "1,0,2\n",
        "0,256,0",
        "0,999,0",
        "0,0,256",
        "1000,0,0",
        "01,0,0",
        "1,00,0",
        "000001,0,0",
        "0,0,0256",
        "0,0,4294967296",
        "18446744073709551617,0,0",
        "0,0,2e0",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        cw_coord c = {9, 9, 9};
        if (torus_parse(&t, malformed[i], strlen(malformed[i]), &c) != -EINVAL || c.x != 9 || c.y != 9 || c.z != 9) {
            ck_abort_msg("took \"%s\"", malformed[i]);
        }
    }
    static const char *const outside[] = {"3,0,0", "0,0,3", "255,255,255", "2,255,3"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        cw_coord c = {9, 9, 9};
        if (torus_parse(&t, outside[i], strlen(outside[i]), &c) != -ERANGE || c.x != 9) {
            ck_abort_msg("took \"%s\"", outside[i]);
        }
    }
    cw_coord c;
    ck_assert_int_eq(torus_parse(&t, "1,0,2", 4, &c), -EINVAL); /* the length rules, not what follows it */
    ck_assert_int_eq(torus_parse(&t, "1,0,2\0", 6, &c), -EINVAL);
    ck_assert_int_eq(torus_parse(&t, "1,0,29", 5, &c), 0);
    ck_assert_int_eq(c.x, 1);
    ck_assert_int_eq(c.y, 0);
    ck_assert_int_eq(c.z, 2);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(refuses_bad_dims),
    SUITE_TEST(ids_are_dense),
    SUITE_TEST(coordinates_at_every_edge),
    SUITE_TEST(distances_and_links_of_small_shapes),
    SUITE_TEST(distances_and_links_of_large_shapes),
    SUITE_TEST(neighbours_in_one_table),
    SUITE_TEST(thin_axes),
    SUITE_TEST(half_way_keeps_both_directions),
    SUITE_TEST(published_distances),
    SUITE_TEST(text_goes_both_ways),
    SUITE_TEST(text_that_is_refused),
};
SUITE_MAIN("torus", tests)
