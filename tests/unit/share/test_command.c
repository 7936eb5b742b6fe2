/* SPDX-License-Identifier: Apache-2.0 */
#include "share/command.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;

static enum share_verdict judge(const struct share_command *c)
{
    struct share_shape shape;
    return share_command_judge(c, &k.tables, &shape);
}

/* The reserved bits, and those alone, are not written back. */
START_TEST(every_bit_has_one_place)
{
    struct dice d = {5};
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t word[SHARE_COMMAND_WORDS], back[SHARE_COMMAND_WORDS];
        for (unsigned w = 0; w < SHARE_COMMAND_WORDS; w++) {
            word[w] = i < 64 * SHARE_COMMAND_WORDS ? (w == i / 64 ? UINT64_C(1) << i % 64 : 0) : dice_word(&d);
        }
        struct share_command c = share_command_decode(word);
        share_command_encode(&c, back);
        bool reserved = word[6] >> 40 != 0 || word[7] >> 32 != 0;
        word[6] &= (UINT64_C(1) << 40) - 1;
        word[7] &= UINT32_MAX;
        SUITE_HOLDS(memcmp(word, back, sizeof word) == 0 && c.reserved == reserved, "round %u", i);
    }
}
END_TEST

/*
 * Beside a model, all fields at their edges: the judge finds something wrong when the model does, and then one of the
 * things that the model finds.
 */
START_TEST(as_the_model_says)
{
    static const uint64_t edges[] = {0,   1,    2,     3,     4,    5,    6,       7,       15,      16,        17,
                                     63,  64,   65,    127,   128,  168,  191,     192,     193,     511,       512,
                                     513, 1024, 65535, 65536, 4096, 4095, 1 << 16, 1 << 17, 1 << 31, UINT32_MAX};
    unsigned fine = 0, seen[SHARE_VERDICTS] = {0};
    struct dice d = {1};
    for (unsigned i = 0; i < 60000; i++) {
        struct share_said said;
        share_kit_draw(&k, &d, &said);
        struct share_command *c = &said.c;
        uint64_t edge = edges[dice_below(&d, sizeof edges / sizeof *edges)];
        switch (dice_below(&d, 24)) {
        case 0:
            c->length = (uint32_t)edge;
            break;
        case 1:
            c->offset = dice_below(&d, 2) ? edge : UINT64_MAX - edge;
            break;
        case 2:
            c->parts = (uint8_t)edge;
            break;
        case 3:
            c->channel = (uint8_t)edge;
            break;
        case 4:
            c->word = (uint32_t)edge;
            break;
        case 5:
            c->peer = (uint32_t)edge;
            break;
        case 6:
            c->region = (uint16_t)edge;
            break;
        case 7:
            c->flags = (uint8_t)dice_word(&d);
            break;
        case 8:
            c->endpoint = (uint16_t)edge;
            break;
        case 9:
            c->change = (uint8_t)edge;
            break;
        case 10:
            c->reserved = true;
            break;
        default:
            break;
        }
        enum share_verdict v = judge(c);
        uint32_t faults = share_model_faults(c, &k.tables);
        seen[v]++;
        SUITE_HOLDS(v == SHARE_FINE ? faults == 0 : faults >> v & 1, "round %u: op %u, %s, model %x", i, c->op,
                    share_verdict_name(v), faults);
        fine += v == SHARE_FINE;
    }
    ck_assert_uint_gt(fine, 15000);
    for (unsigned v = 0; v < SHARE_VERDICTS; v++) {
        SUITE_HOLDS(seen[v] > 0, "nothing was refused for %s", share_verdict_name((enum share_verdict)v));
    }
}
END_TEST

START_TEST(ranges)
{
    struct share_tables *t = &k.tables;
    ck_assert_int_eq(share_range_judge(t, 2, 9, 0, 4096), SHARE_FINE);
    ck_assert_int_eq(share_range_judge(t, 2, 9, 4096, 0), SHARE_FINE);
    ck_assert_int_eq(share_range_judge(t, 2, 9, 1, 4096), SHARE_BAD_RANGE);
    ck_assert_int_eq(share_range_judge(t, 2, 9, UINT64_MAX, 2), SHARE_BAD_RANGE);
    ck_assert_int_eq(share_range_judge(t, 2, 9, 2, UINT64_MAX), SHARE_BAD_RANGE);
    ck_assert_int_eq(share_range_judge(t, 2, 8, 0, 1), SHARE_NO_REGION);
    ck_assert_int_eq(share_range_judge(t, 1, 8, 0, 0), SHARE_NO_REGION);
    ck_assert_int_eq(share_range_judge(t, KIT_REGIONS, 7, 0, 0), SHARE_NO_REGION);
}
END_TEST

START_TEST(parts)
{
    struct share_part p[2] = {{0, 4096, 2, 9}, {100, 10, 0, 7}}, back;
    uint64_t word[2];
    ck_assert_int_eq(share_parts_judge(&k.tables, p, 2, 4106), SHARE_FINE);
    ck_assert_int_eq(share_parts_judge(&k.tables, p, 2, 4107), SHARE_BAD_PARTS);
    p[1].offset = 65530;
    ck_assert_int_eq(share_parts_judge(&k.tables, p, 2, 4106), SHARE_BAD_RANGE);
    share_part_encode(&p[1], word);
    back = share_part_decode(word);
    ck_assert(back.offset == 65530 && back.length == 10 && back.region == 0 && back.generation == 7);
}
END_TEST

START_TEST(names_and_errors)
{
    ck_assert_int_eq(share_verdict_error(SHARE_FINE), 0);
    ck_assert_int_eq(share_verdict_error(SHARE_BAD_OP), -EINVAL);
    ck_assert_int_eq(share_verdict_error(SHARE_BAD_WORD), -EINVAL);
    ck_assert_int_eq(share_verdict_error(SHARE_NO_ENDPOINT), -ENOENT);
    ck_assert_int_eq(share_verdict_error(SHARE_NO_REGION), -ENOENT);
    for (unsigned v = 0; v < SHARE_VERDICTS; v++) {
        ck_assert_ptr_nonnull(share_verdict_name((enum share_verdict)v));
    }
    ck_assert_str_eq(share_verdict_name(SHARE_VERDICTS), "?");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_bit_has_one_place), SUITE_TEST(as_the_model_says), SUITE_TEST(ranges), SUITE_TEST(parts),
    SUITE_TEST(names_and_errors),
};

int main(void)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    return suite_run("command", tests, sizeof tests / sizeof *tests);
}
