/* SPDX-License-Identifier: Apache-2.0 */
#include "control_codecs.h"
#include "suite.h"

START_TEST(texts_are_cut_to_what_may_be_in_them)
{
    struct about about;
    about_fill(&about, "0.1.0", "0123456789abcdef and more");
    ck_assert_str_eq(about.version, "0.1.0");
    ck_assert_mem_eq(about.build, "0123456789abcdef", ABOUT_TEXT_BYTES);
    about_fill(&about, "two words", NULL);
    ck_assert_str_eq(about.version, "two");
    ck_assert_str_eq(about.build, "");
    about_fill(&about, "\x7f", "caf\xc3\xa9");
    ck_assert_str_eq(about.version, "");
    ck_assert_str_eq(about.build, "caf");
}
END_TEST

START_TEST(random_values_come_back)
{
    struct dice d = {11};
    for (unsigned i = 0; i < 2000; i++) {
        struct about about = dice_about(&d), again;
        uint8_t bytes[ABOUT_BYTES];
        about_encode(&about, bytes);
        ck_assert_int_eq(about_decode(bytes, &again), WIRE_OK);
        ck_assert_mem_eq(&about, &again, sizeof about);
    }
}
END_TEST

/* Every byte at every place: printable and followed by zeros only, or refused, and then nothing is touched. */
START_TEST(only_texts_are_accepted)
{
    for (unsigned at = 0; at < ABOUT_BYTES; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            uint8_t bytes[ABOUT_BYTES] = {'1', '.', '2'};
            struct about about, before;
            bytes[ABOUT_TEXT_BYTES] = 'b';
            bytes[at] = (uint8_t)byte;
            memset(&about, 0xa5, sizeof about);
            before = about;
            bool letter = byte > ' ' && byte <= '~';
            unsigned place = at % ABOUT_TEXT_BYTES, used = at < ABOUT_TEXT_BYTES ? 3 : 1;
            bool good = byte == 0 ? place + 1 >= used : letter && place <= used;
            ck_assert_int_eq(about_decode(bytes, &about), good ? WIRE_OK : WIRE_BAD_VALUE);
            if (!good) {
                ck_assert_mem_eq(&about, &before, sizeof about);
            }
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(texts_are_cut_to_what_may_be_in_them),
    SUITE_TEST(random_values_come_back),
    SUITE_TEST(only_texts_are_accepted),
};
SUITE_MAIN("about", tests)
