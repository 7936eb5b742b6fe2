/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/letter.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[LETTER_BYTES_MOST + 1];
static struct letter out;

static int again(const struct letter *l)
{
    ck_assert_uint_le(letter_size(l), LETTER_BYTES_MOST);
    letter_encode(l, bytes);
    return letter_decode(bytes, letter_size(l), &out);
}

static struct letter order(void)
{
    struct letter l = {.kind = LETTER_ORDER, .servers = 70, .members = {5, 1}, .others = {6, 2}};
    l.first = 90;
    l.count = 6;
    l.bytes = 12345;
    l.wish = (struct wish){.job = 2001, .limit_ms = 30000, .top = 9, .partitions = 96};
    l.wish.flags = LETTER_WITHOUT;
    strcpy(l.wish.from, "in");
    strcpy(l.wish.to, "out.txt");
    strcpy(l.wish.mapper, "words");
    strcpy(l.wish.combine, "sum");
    return l;
}

START_TEST(orders)
{
    struct letter l = order();
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.members[0] == 5 && out.members[1] == 1 && out.servers == 70);
    ck_assert(out.others[0] == 6 && out.others[1] == 2 && out.wish.top == 9);
    ck_assert(out.first == 90 && out.count == 6 && out.bytes == 12345);
    ck_assert(out.wish.limit_ms == 30000 && out.wish.partitions == 96 && out.wish.flags == LETTER_WITHOUT);
    ck_assert_uint_eq(out.wish.job, 2001);
    ck_assert_str_eq(out.wish.from, "in");
    ck_assert_str_eq(out.wish.to, "out.txt");
    ck_assert_str_eq(out.wish.mapper, "words");
    ck_assert_str_eq(out.wish.combine, "sum");
    memset(l.wish.from, 'a', LETTER_NAME_MOST);
    memset(l.wish.combine, 'b', LETTER_WORD_MOST);
    l.servers = MESSAGE_SERVERS_MOST;
    ck_assert_int_eq(again(&l), 0);
    ck_assert_str_eq(out.wish.combine, l.wish.combine);
}
END_TEST

START_TEST(answers)
{
    struct letter l = {.kind = LETTER_ORDERED, .who = 3, .attempts = 2, .keys = 7, .bytes = 8, .limit = 9};
    ck_assert_int_eq(again(&l), 0);
    ck_assert_uint_eq(out.limit, 9);
    ck_assert(out.who == 3 && out.attempts == 2 && out.keys == 7 && out.bytes == 8);
    l = (struct letter){.kind = LETTER_PREPARED, .records = 1, .bytes = 2, .line = 3, .digest = 4};
    l.limit = UINT64_C(1) << 33;
    ck_assert_int_eq(again(&l), 0);
    ck_assert_uint_eq(out.limit, l.limit);
    ck_assert(out.records == 1 && out.bytes == 2 && out.line == 3 && out.summary_bytes == 0);
    l.summary = (const uint8_t *)"keys";
    l.summary_bytes = 4;
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.digest == 4 && out.summary_bytes == 4 && memcmp(out.summary, "keys", 4) == 0 && out.line == 3);
}
END_TEST

START_TEST(others)
{
    struct letter l = {.kind = LETTER_ANNOUNCE, .run = {4, 5, 6}, .attempt = 7, .partitions = 8, .each = 4096};
    l.servers = 27;
    l.members[0] = 3;
    l.others[0] = 4;
    l.lead = (struct run_name){9, 10, 11};
    l.open = 3;
    l.wish.job = 8;
    strcpy(l.wish.combine, "topk:3");
    ck_assert_int_eq(again(&l), 0);
    ck_assert_uint_eq(out.wish.job, 8);
    ck_assert(out.run.root == 4 && out.run.life == 5 && out.run.number == 6 && out.attempt == 7);
    ck_assert(out.partitions == 8 && out.each == 4096 && out.members[0] == 3 && out.others[0] == 4);
    ck_assert(out.lead.root == 9 && out.lead.life == 10 && out.lead.number == 11 && out.open == 3);
    ck_assert_str_eq(out.wish.combine, "topk:3");
    ck_assert_int_eq(out.way, LETTER_TREES);
    l.way = LETTER_SHORT;
    ck_assert(again(&l) == 0 && out.way == LETTER_SHORT && out.open == 3);
    l = (struct letter){.kind = LETTER_BLOCK, .tree = 5, .last = true, .partition = 9, .sequence = 10};
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.tree == 5 && out.last && out.partition == 9 && out.sequence == 10);
    ck_assert_uint_eq(letter_size(&l), LETTER_BLOCK_BYTES);
    l.kind = LETTER_GRANT;
    ck_assert_int_eq(again(&l), 0);
    ck_assert(!out.last && out.after.length == 0);
    l.after = (cw_bytes){(const uint8_t *)"a key", 5};
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.sequence == 10 && out.after.length == 5 && memcmp(out.after.bytes, "a key", 5) == 0);
    l = (struct letter){.kind = LETTER_VOID, .status = ENOSR, .who = 3, .limit = 70000};
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.status == ENOSR && out.who == 3 && out.limit == 70000);
    l = (struct letter){.kind = LETTER_END, .status = ECANCELED};
    ck_assert_int_eq(again(&l), 0);
    ck_assert_uint_eq(out.status, ECANCELED);
    l = (struct letter){.kind = LETTER_PROBE, .attempt = 2};
    ck_assert_int_eq(again(&l), 0);
    l.kind = LETTER_COMMIT;
    l.servers = 70;
    l.members[1] = 5;
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.kind == LETTER_COMMIT && out.attempt == 2 && out.members[1] == 5 && out.servers == 70);
    l = order();
    l.kind = LETTER_COPY;
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.others[1] == 2);
    l.kind = LETTER_PREPARE;
    l.of = 69;
    l.digest = UINT64_C(1) << 40 | 7;
    ck_assert_int_eq(again(&l), 0);
    ck_assert(out.of == 69 && out.digest == l.digest && out.wish.top == 9);
    l.of = 70;
    ck_assert_int_eq(again(&l), -EPROTO);
}
END_TEST

/* With one byte changed it is refused. */
static void refused(const struct letter *l, size_t at, uint8_t byte)
{
    letter_encode(l, bytes);
    bytes[at] = byte;
    ck_assert_int_eq(letter_decode(bytes, letter_size(l), &out), -EPROTO);
}

START_TEST(impossible)
{
    const struct letter l = order();
    struct letter block = {.kind = LETTER_BLOCK, .tree = 1}, announce = {.kind = LETTER_ANNOUNCE, .partitions = 1};
    struct letter prepared = {.kind = LETTER_PREPARED, .summary = (const uint8_t *)"keys", .summary_bytes = 4};
    announce.each = LETTER_EACH_LEAST;
    announce.open = 1;
    announce.servers = 27;
    strcpy(announce.wish.combine, "sum");
    refused(&l, 0, 0x11);        /* another version */
    refused(&l, 0, 0x2d);        /* no kind */
    refused(&l, 1, 1);           /* what must be 0 */
    refused(&l, 27, 91);         /* partitions beyond the last one */
    refused(&l, 31, 0);          /* none */
    refused(&l, 40, 0xff);       /* too long a limit */
    refused(&l, 49, 0xff);       /* too many partitions */
    refused(&l, 56, 32);         /* no flag */
    refused(&l, 56, 20);         /* two ways */
    refused(&l, 57, 1);          /* what must be 0 */
    refused(&l, 60, 0);          /* no input */
    refused(&l, 61, 255);        /* lengths that are not those of the names */
    refused(&l, 66, 0xff);       /* too many servers */
    refused(&l, 76, 0x80);       /* a bit of no server */
    refused(&l, 92, 0x80);       /* the same of the other set */
    refused(&l, 100, 0);         /* a NUL in a name */
    refused(&block, 24, 6);      /* no tree */
    refused(&block, 25, 2);      /* no bool */
    refused(&block, 28, 1);      /* too high a partition */
    refused(&announce, 27, 0);   /* no partitions */
    refused(&announce, 30, 0);   /* too short blocks */
    refused(&announce, 33, 0);   /* nothing may be under way */
    refused(&announce, 34, 3);   /* no way */
    refused(&announce, 35, 1);   /* what must be 0 */
    refused(&prepared, 65, 3);   /* a length that is not that of the summary */
    refused(&prepared, 67, 1);   /* what must be 0 */
    refused(&announce, 32, 200); /* a length that is not that of the name */
    for (size_t size = 0; size < letter_size(&l); size++) {
        letter_encode(&l, bytes);
        ck_assert_int_eq(letter_decode(bytes, size, &out), -EPROTO);
    }
    ck_assert_int_eq(letter_decode(bytes, letter_size(&l) + 1, &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(orders), SUITE_TEST(answers), SUITE_TEST(others),
                                          SUITE_TEST(impossible)};
SUITE_MAIN("letter", tests)
