/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/facet.h"
#include "naive.h"
#include "sanitized.h"
#include "suite.h"

#include <string.h>

static struct torus torus_of(cw_dims d)
{
    struct torus t;
    ck_assert_int_eq(torus_init(&t, d), 0);
    return t;
}

/*
 * The walk gives the breadth-first sequence, server by server, which is a permutation; levels never fall,
 * facet_order() rises, and the end is the end.
 */
static void check_sequence(const struct torus *t, cw_dims d, cw_server home, unsigned index, cw_server *want)
{
    uint32_t n = naive_sequence(d, home, index, want);
    if (n != t->servers) {
        ck_abort_msg("%ux%ux%u: sequence %u of %u is no permutation", d.x, d.y, d.z, index, home);
    }
    struct facet_walk w, first;
    facet_walk_init(&w, t, home, index);
    first = w;
    uint32_t order = 0;
    unsigned level = 0;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t this_order = facet_order(&first, t, want[p]);
        unsigned this_level = facet_walk_level(&w);
        if (facet_walk_server(&w) != want[p] || this_level < level ||
            this_order >> FACET_ORDER_LEVEL_SHIFT != this_level || (p > 0 && this_order <= order)) {
            ck_abort_msg("%ux%ux%u: sequence %u of %u at %u", d.x, d.y, d.z, index, home, p);
        }
        order = this_order;
        level = this_level;
        struct facet_walk kept = w;
        bool more = facet_walk_next(&w);
        if (more != (p + 1 < n) || (!more && memcmp(&kept, &w, sizeof w) != 0)) {
            ck_abort_msg("%ux%ux%u: end of sequence %u of %u at %u", d.x, d.y, d.z, index, home, p);
        }
    }
}

static void check_shape(cw_dims d, uint32_t stride)
{
    struct torus t = torus_of(d);
    cw_server *want = malloc(t.servers * sizeof *want);
    for (cw_server home = 0; home < t.servers; home += stride) {
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            check_sequence(&t, d, home, index, want);
        }
    }
    free(want);
}

START_TEST(every_sequence_of_small_shapes)
{
    for (unsigned i = 0; i < SMALL_SHAPES; i++) {
        check_shape(small_shape(i), SANITIZED ? 5 : 1);
    }
}
END_TEST

START_TEST(sequences_of_large_shapes)
{
    for (unsigned i = 0; i < LARGE_SHAPES; i++) {
        cw_dims d = large_shape(i);
        check_shape(d, (uint32_t)d.x * d.y * d.z / 3 + 1);
    }
}
END_TEST

/* CamCubeOS 3.2, figure 3(b): home (2,2), facet 0, order xy. */
START_TEST(the_papers_example)
{
    struct torus t = torus_of((cw_dims){5, 5, 1});
    static const cw_coord want[] = {{2, 2, 0}, {3, 2, 0}, {2, 3, 0}, {4, 2, 0}, {3, 3, 0}};
    struct facet_walk w;
    facet_walk_init(&w, &t, torus_id(&t, want[0]), 0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ck_assert_uint_eq(facet_walk_server(&w), torus_id(&t, want[i]));
        ck_assert(facet_walk_next(&w));
    }
}
END_TEST

/* How often each neighbour is first heir, of 48: {+x, -x, +y, -y, +z, -z}, two that coincide counted together. */
START_TEST(first_heirs)
{
    static const struct {
        cw_dims dims;
        unsigned of48[CW_AXES]; /* of each neighbour on that axis */
    } want[] = {
        {{3, 3, 3}, {8, 8, 8}},    {{16, 16, 16}, {8, 8, 8}}, {{7, 11, 13}, {8, 8, 8}}, {{2, 3, 4}, {16, 8, 8}},
        {{2, 2, 2}, {16, 16, 16}}, {{1, 4, 4}, {0, 12, 12}},  {{1, 1, 8}, {0, 0, 24}},  {{1, 1, 2}, {0, 0, 48}},
        {{1, 2, 2}, {0, 24, 24}},  {{3, 1, 2}, {12, 0, 24}},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct torus t = torus_of(want[i].dims);
        cw_server home = t.servers / 2;
        unsigned count[4096] = {0};
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            struct facet_walk w;
            facet_walk_init(&w, &t, home, index);
            ck_assert(facet_walk_next(&w));
            count[facet_walk_server(&w)]++;
        }
        unsigned total = 0;
        for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
            cw_server heir = torus_neighbour(&t, home, (cw_link)link);
            if (t.dim[link / 2] > 1) {
                ck_assert_uint_eq(count[heir], want[i].of48[link / 2]);
            }
            total += heir == home || (t.dim[link / 2] == 2 && link % 2 == 1) ? 0 : count[heir];
        }
        ck_assert_uint_eq(total, FACET_SEQUENCES);
    }
}
END_TEST

/* Three replicas (r = 3): S1 and S2 are one hop from S0 and two from each other; the limits that placement has. */
START_TEST(replica_geometry)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {4, 4, 4}, {3, 5, 7}, {16, 16, 16}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct torus t = torus_of(shapes[i]);
        unsigned in_plane[CW_AXES] = {0};
        for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
            struct facet_walk w;
            facet_walk_init(&w, &t, t.servers / 2, index);
            cw_server s[4];
            for (unsigned r = 0; r < 4; r++) {
                s[r] = facet_walk_server(&w);
                facet_walk_next(&w);
            }
            ck_assert_uint_eq(torus_distance(&t, s[0], s[1]), 1);
            ck_assert_uint_eq(torus_distance(&t, s[0], s[2]), 1);
            ck_assert_uint_eq(torus_distance(&t, s[0], s[3]), 1);
            ck_assert_uint_eq(torus_distance(&t, s[1], s[2]), 2);
            unsigned axes3 = 0, axes4 = 0; /* on how many axes three, four replicas do not all agree */
            for (unsigned axis = 0; axis < CW_AXES; axis++) {
                unsigned part[4];
                for (unsigned r = 0; r < 4; r++) {
                    cw_coord c = torus_coord(&t, s[r]);
                    part[r] = axis == 0 ? c.x : axis == 1 ? c.y : c.z;
                }
                bool three = part[0] == part[1] && part[0] == part[2];
                in_plane[axis] += three;
                axes3 += !three;
                axes4 += !(three && part[0] == part[3]);
            }
            ck_assert_uint_eq(axes3, 2); /* in one plane always, in one row never */
            ck_assert_uint_eq(axes4, 3); /* four are never in one plane */
        }
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            ck_assert_uint_eq(in_plane[axis], FACET_SEQUENCES / 3);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_sequence_of_small_shapes),
    SUITE_TEST(sequences_of_large_shapes),
    SUITE_TEST(the_papers_example),
    SUITE_TEST(first_heirs),
    SUITE_TEST(replica_geometry),
};
SUITE_MAIN("facet", tests)
