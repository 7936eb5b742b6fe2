/* SPDX-License-Identifier: Apache-2.0 */
#include "lab_place.h"
#include "testbed/cwlab/outcome/trail.h"

#include <errno.h>

static void write_file(const struct lab *lab, const char *stem, const char *end, const void *bytes, size_t length)
{
    char path[LAB_PATH];
    FILE *f = fopen(lab_path(lab, stem, end, path), "w");
    ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
    fclose(f);
}

/* Records of two servers and the keeper's notes become one list; places that are not in use yet are passed over. */
START_TEST(one_list)
{
    char *place = place_make(), why[LAB_WHY];
    struct lab lab = {.mtu = 9000};
    struct trail t;
    ck_assert(torus_init(&lab.torus, (cw_dims){2, 1, 1}) == 0 && lab_place(&lab, "t", why) == 0);
    ck_assert_int_eq(lab_make_folder(&lab), 0);
    ck_assert(trail_load(&t, &lab) == 0 && t.count == 0);
    const struct witness_record one[] = {{.turn_ns = 5, .written_ns = 6, .kind = WITNESS_LINK_UP},
                                         {.turn_ns = 0, .written_ns = 0},
                                         {.turn_ns = 20, .written_ns = 29, .kind = WITNESS_LINK_DOWN}};
    const struct witness_record two[] = {{.turn_ns = 21, .written_ns = 22, .kind = WITNESS_DELIVERED}};
    const char journal[] = "2 start 0,0,0\n24 leave 1,0,0\n25 kill 1,0,0\n26 ended 1,0,0\nnonsense\n";
    write_file(&lab, "0,0,0", ".trail", one, sizeof one);
    write_file(&lab, "1,0,0", ".trail", two, sizeof two);
    write_file(&lab, "journal", "", journal, sizeof journal - 1);
    ck_assert_int_eq(trail_load(&t, &lab), 0);
    ck_assert_uint_eq(t.count, 5);
    /* What ends counts from its earliest instant, what begins from its latest. */
    static const int64_t at[] = {6, 20, 22, 24, 25};
    static const cw_server who[] = {0, 0, 1, 1, 1};
    for (size_t i = 0; i < 5; i++) {
        ck_assert(t.event[i].at == at[i] && t.event[i].server == who[i]);
    }
    ck_assert_uint_eq(t.event[3].record.kind, TRAIL_LEAVES);
    ck_assert_uint_eq(t.event[4].record.kind, TRAIL_KILLED);
    trail_free(&t);
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_list)};
SUITE_MAIN("trail", tests)
