/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/fault.h"
#include "suite.h"

#include <string.h>

START_TEST(every_kind_has_a_name_and_a_sentence)
{
    for (unsigned kind = 1; kind < BOOT_FAULT_KINDS; kind++) {
        char text[BOOT_FAULT_TEXT];
        struct boot_fault fault = {.kind = (uint8_t)kind, .direction = 6, .far_direction = 6};
        fault.who.id = fault.far.id = 1;
        ck_assert_str_ne(boot_fault_name((uint8_t)kind), "unknown");
        ck_assert_uint_gt(boot_fault_text(&fault, text), 15);
        ck_assert_uint_eq(strlen(text), boot_fault_text(&fault, text));
        for (unsigned other = 1; other < kind; other++) {
            ck_assert_str_ne(boot_fault_name((uint8_t)kind), boot_fault_name((uint8_t)other));
        }
    }
    ck_assert_str_eq(boot_fault_name(BOOT_FAULT_KINDS), "unknown");
}
END_TEST

START_TEST(says_where_and_what)
{
    char text[BOOT_FAULT_TEXT];
    struct boot_fault fault = {
        .kind = BOOT_FAULT_WRONG_END,
        .direction = CW_LINK_XP,
        .far_direction = CW_LINK_XM,
        .who = {.id = 1, .name = "a", .placed = true, .at = {0, 0, 0}},
        .far = {.id = 2, .name = "b", .placed = true, .at = {2, 0, 1}},
        .expected = {.id = 3, .name = "c", .placed = true, .at = {1, 0, 0}},
    };
    boot_fault_text(&fault, text);
    ck_assert_str_eq(text, "+x of a (0000000000000001) at 0,0,0 is cabled to the wrong server, to -x of b "
                           "(0000000000000002) at 2,0,1; expected -x of c (0000000000000003) at 1,0,0");
    fault.kind = BOOT_FAULT_WRONG_PLACE;
    fault.dims = (cw_dims){3, 3, 2};
    fault.expected = (struct boot_who){.id = 0};
    boot_fault_text(&fault, text);
    ck_assert_str_eq(text,
                     "+x of a (0000000000000001) at 0,0,0 leads to -x of b (0000000000000002) at 2,0,1, which is in "
                     "a torus of 3x3x2: give both servers the same dims");
    fault = (struct boot_fault){.kind = BOOT_FAULT_TWISTED, .dims = {4, 3, 2}, .shift = {0, 1, 0}, .count = 6};
    boot_fault_text(&fault, text);
    ck_assert_str_eq(text,
                     "the rows of +x of the 4x3x2 torus close shifted by 0,1,0: 6 cables, all those from one plane "
                     "to the next, are off by that");
}
END_TEST

/* The plugs +x and -y of c are exchanged, as seen over the one cable and over the other: one swap, at one server. */
START_TEST(both_cables_tell_of_one_swap)
{
    const struct boot_who a = {.id = 9, .name = "a", .placed = true}, b = {.id = 7, .name = "b"},
                          c = {.id = 8, .name = "c", .placed = true, .at = {1, 0, 0}};
    struct boot_fault fault = {
        .kind = BOOT_FAULT_CROSSED,
        .swapped = true,
        .who = a,
        .direction = CW_LINK_YP,
        .far = c,
        .far_direction = CW_LINK_XP,
        .expected = c,
        .other = b,
    };
    struct boot_swap first, second;
    char text[BOOT_FAULT_TEXT];
    ck_assert(boot_fault_swap(&fault, &first));
    fault = (struct boot_fault){
        .kind = BOOT_FAULT_CROSSED,
        .swapped = true,
        .who = c,
        .direction = CW_LINK_YM,
        .far = b,
        .far_direction = CW_LINK_XM,
        .expected = a,
        .other = c,
    };
    ck_assert(boot_fault_swap(&fault, &second));
    ck_assert(boot_swap_equal(&first, &second));
    ck_assert_uint_eq(boot_swap_text(&first, text), strlen(text));
    ck_assert_str_eq(text, "the cables in +x and -y of c are exchanged");
    ck_assert_uint_eq(boot_swap_remedy(&first, text), strlen(text));
    ck_assert_str_eq(text, "exchange the plugs in +x and -y of c");
    fault.expected = (struct boot_who){.id = 6};
    fault.other = (struct boot_who){.id = 5, .name = "e"};
    ck_assert(boot_fault_swap(&fault, &second));
    ck_assert(!boot_swap_equal(&first, &second));
    boot_swap_text(&second, text);
    ck_assert_str_eq(text, "the cables in +x of e and -y of c are exchanged");
    fault.swapped = false;
    ck_assert(!boot_fault_swap(&fault, &second));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_kind_has_a_name_and_a_sentence),
    SUITE_TEST(says_where_and_what),
    SUITE_TEST(both_cables_tell_of_one_swap),
};
SUITE_MAIN("fault", tests)
