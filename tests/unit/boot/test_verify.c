/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/verify.h"
#include "suite.h"
#include "yard.h"

/* The truth of a plain yard: server i in cell i, port d is direction d. */
static struct solution truth(const struct yard *y)
{
    struct solution s;
    ck_assert_int_eq(solution_make(&s, y->g.count), 0);
    s.dims = y->dims;
    for (uint32_t i = 0; i < y->g.count; i++) {
        s.spot[i].placed = true;
        s.spot[i].at = (cw_coord){(uint8_t)(i / y->dims.z / y->dims.y), (uint8_t)(i / y->dims.z % y->dims.y),
                                  (uint8_t)(i % y->dims.z)};
        for (uint8_t d = 0; d < CW_LINK_COUNT; d++) {
            s.spot[i].direction[d] = d;
        }
    }
    return s;
}

static int verdict(struct yard *y, struct solution *s)
{
    int rc = boot_verify(&y->g, s);
    solution_free(s);
    yard_free(y);
    return rc;
}

START_TEST(the_truth_and_one_lie_at_a_time)
{
    for (unsigned lie = 0; lie < 14; lie++) {
        struct yard y = yard_make_plain((cw_dims){3, 3, 3}, true);
        struct solution s = truth(&y);
        uint8_t keep;
        switch (lie) {
        case 1:
            s.spot[4].placed = false;
            break;
        case 2:
            s.spot[4].at = s.spot[5].at;
            break;
        case 3:
            s.spot[4].at.x = 3;
            break;
        case 4: /* two servers exchanged */
            keep = s.spot[4].at.z;
            s.spot[4].at.z = s.spot[5].at.z;
            s.spot[5].at.z = keep;
            break;
        case 5:
            keep = s.spot[9].direction[0];
            s.spot[9].direction[0] = s.spot[9].direction[2];
            s.spot[9].direction[2] = keep;
            break;
        case 6:
            yard_swap(&y, (struct graph_end){0, 0}, (struct graph_end){1, 0});
            break;
        case 7:
            graph_cut(&y.g, (struct graph_end){7, 3});
            break;
        case 8:
            s.dims = (cw_dims){9, 3, 1};
            break;
        case 9:
            y.g.server[3].expected = (cw_dims){3, 3, 4};
            break;
        case 10:
            y.g.server[3].label[0] = 1; /* labelled otherwise than it was placed */
            break;
        case 11:
            s.spot[26].torus = 1;
            break;
        case 12:
            s.dims = (cw_dims){0, 0, 0};
            break;
        case 13: /* it had another place before */
            y.g.server[3].placed = true;
            y.g.server[3].dims = y.dims;
            y.g.server[3].at = (cw_coord){2, 2, 2};
            break;
        default:
            break;
        }
        int rc = verdict(&y, &s);
        if ((rc == 0) != (lie == 0)) {
            ck_abort_msg("lie %u: %d", lie, rc);
        }
    }
}
END_TEST

START_TEST(a_plane_whose_neighbours_are_off_is_no_torus)
{
    struct yard y = yard_make_plain((cw_dims){4, 4, 1}, true);
    struct solution s = truth(&y);
    ck_assert_int_eq(boot_verify(&y.g, &s), 0);
    y.g.server[6].label[4] = 4; /* a port that nobody called absent */
    ck_assert_int_eq(boot_verify(&y.g, &s), 1);
    y.g.server[6].expected = y.dims;
    ck_assert_int_eq(verdict(&y, &s), 0);
}
END_TEST

START_TEST(newcomers_must_hear_most_of_their_neighbours)
{
    for (unsigned cut = 0; cut <= 6; cut++) {
        struct yard y = yard_make_plain((cw_dims){3, 3, 3}, true);
        struct solution s = truth(&y);
        for (uint32_t i = 0; i < 27; i++) {
            y.g.server[i].placed = i != 13;
            y.g.server[i].dims = y.dims;
            y.g.server[i].at = s.spot[i].at;
        }
        for (uint8_t port = 0; port < cut; port++) {
            graph_cut(&y.g, (struct graph_end){13, port});
        }
        ck_assert_int_eq(verdict(&y, &s), cut < 3 ? 0 : 1);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_truth_and_one_lie_at_a_time),
    SUITE_TEST(a_plane_whose_neighbours_are_off_is_no_torus),
    SUITE_TEST(newcomers_must_hear_most_of_their_neighbours),
};
SUITE_MAIN("verify", tests)
