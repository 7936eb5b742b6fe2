/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/letter.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[5000];
static struct query_letter out;

static int again(const struct query_letter *l)
{
    memset(&out, 0xaa, sizeof out);
    query_letter_encode(l, bytes);
    return query_letter_decode(bytes, query_letter_size(l), &out);
}

static struct query_letter ask(void)
{
    struct query_letter l = {.kind = LETTER_ASK, .summary = SUMMARY_TOP, .by = LETTER_BY_Y, .round = LETTER_TREE};
    l.name = (struct letter_name){4, UINT64_C(0x1122334455667788), 9};
    l.servers = 70;
    l.within_us = 500000;
    l.members[0] = 5;
    l.members[1] = 63;
    l.dead[0] = 2;
    l.source = "a.bc";
    l.source_length = 4;
    return l;
}

START_TEST(questions)
{
    struct query_letter l = ask();
    ck_assert_int_eq(again(&l), 0);
    ck_assert(letter_name_equal(&l.name, &out.name));
    ck_assert_int_eq(out.summary, SUMMARY_TOP);
    ck_assert_int_eq(out.by, LETTER_BY_Y);
    ck_assert_int_eq(out.round, LETTER_TREE);
    ck_assert_uint_eq(out.within_us, 500000);
    ck_assert(out.members[0] == 5 && out.members[1] == 63 && out.dead[0] == 2 && out.dead[1] == 0);
    ck_assert_uint_eq(out.source_length, 4);
    ck_assert_mem_eq(out.source, "a.bc", 4);
    ck_assert_int_eq(query_letter_decode(bytes, query_letter_size(&l) - 1, &out), -EPROTO);
    l.members[1] = 64; /* there is no server 70 */
    ck_assert_int_eq(again(&l), -EPROTO);
    l = ask();
    l.within_us = 0;
    ck_assert_int_eq(again(&l), -EPROTO);
    l = ask();
    l.name.asker = 70;
    ck_assert_int_eq(again(&l), -EPROTO);
    l = ask();
    l.source = "a bc";
    ck_assert_int_eq(again(&l), -EPROTO);
    l.summary = SUMMARY_NAMES; /* they are of no source */
    ck_assert_int_eq(again(&l), -EPROTO);
    l.source_length = 0;
    ck_assert_int_eq(again(&l), 0);
    l.servers = LETTER_SERVERS_MOST + 1;
    bytes[28] = 0xff;
    ck_assert_int_eq(query_letter_decode(bytes, query_letter_size(&l), &out), -EPROTO);
}
END_TEST

START_TEST(parts)
{
    struct query_letter l = {.kind = LETTER_PART, .summary = SUMMARY_NUMBER, .round = LETTER_DIRECT, .servers = 27};
    l.name.asker = 3;
    l.flags = LETTER_LARGE | LETTER_UNFIT;
    l.answered[0] = 0x7000;
    l.without[0] = 0x2000;
    l.part = (const uint8_t *)"abc";
    l.part_length = 3;
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.answered[0] == 0x7000 && out.without[0] == 0x2000);
    ck_assert_uint_eq(out.flags, l.flags);
    ck_assert_uint_eq(out.part_length, 3);
    ck_assert_mem_eq(out.part, "abc", 3);
    l.without[0] = 1; /* it has not answered */
    ck_assert_int_eq(again(&l), -EPROTO);
    l.without[0] = 0;
    l.flags = 8;
    ck_assert_int_eq(again(&l), -EPROTO);
    l.flags = 0;
    l.part_length = 0;
    ck_assert_int_eq(again(&l), 0);
    bytes[0] = 0x22;
    ck_assert_int_eq(query_letter_decode(bytes, query_letter_size(&l), &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(questions), SUITE_TEST(parts)};
SUITE_MAIN("letter", tests)
