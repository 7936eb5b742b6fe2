/* SPDX-License-Identifier: Apache-2.0 */
/* test_progress.c - how far a file is, with and without a bar; and how it ended, with the reasons. */
#include "ctl/ask/progress.h"
#include "message/answer_line.h"

#include "suite.h"

#include <string.h>

static char line[PROGRESS_LINE], said[4000];

static struct message *row_of(const char *fields)
{
    char text[2000];
    struct answer_line answer;
    int length = snprintf(text, sizeof text, "{\"id\":1,\"row\":{%s}}", fields);
    answer_line_read(text, (size_t)length, &answer);
    ck_assert_int_eq(answer.kind, ANSWER_ROW);
    return answer.row;
}

static const char *plain(const char *fields)
{
    struct message *row = row_of(fields);
    progress_line(row, line);
    message_close(row);
    return line;
}

static const char *bar(const char *fields, unsigned columns, bool colour)
{
    struct message *row = row_of(fields);
    progress_bar(row, columns, (struct table_style){colour}, line);
    message_close(row);
    return line;
}

#define SENDING                                                                                               \
    "\"name\":\"image\",\"state\":\"sending\",\"bytes\":20000000,\"members\":26,\"complete\":3,\"failed\":1," \
    "\"there_bytes\":10000000,\"had_already\":2,\"slowest\":\"2,0,2\",\"slowest_bytes\":2000000,"             \
    "\"bits_per_s\":8000000,\"left_ns\":2100000000"
#define SLOW                                                                                                  \
    "\"what\":\"slow\",\"server\":\"2,0,2\",\"state\":\"taking\",\"bytes\":20000000,\"there_bytes\":2000000," \
    "\"bits_per_s\":1000000,\"left_ns\":40000000000"
#define DIGEST "\"name\":\"image\",\"state\":\"digesting\",\"bytes\":1000,\"digested_bytes\":500"

START_TEST(lines)
{
    ck_assert_str_eq(plain(SENDING), "image: 50 % of 20.0 MB, 3 of 26 have it, 2 had it already, 1 failed, slowest "
                                     "2,0,2 10 %, 8.00 Mbit/s, 2.10 s left");
    ck_assert_str_eq(plain(SLOW), "  slow: 2,0,2: 10 %, taking, 1.00 Mbit/s, 40.0 s left");
    ck_assert_str_eq(plain(DIGEST), "image: 50 % of 1.00 kB digested");
    /* Nothing has to be sent: there is no rate, and nothing that is left. */
    ck_assert_str_eq(
        plain("\"name\":\"a\",\"bytes\":0,\"members\":1,\"complete\":0,\"there_bytes\":0,\"bits_per_s\":0"),
        "a: 100 % of 0 B, 0 of 1 has it");
}
END_TEST

START_TEST(bars)
{
    ck_assert_str_eq(bar(DIGEST, 60, false), "image [=================>                   ]  50 % digested");
    ck_assert_str_eq(bar(DIGEST, 40, false), "image [=======>         ]  50 % digested");
    ck_assert_str_eq(bar(DIGEST, 40, true), "image [\033[32m=======>         \033[0m]  50 % digested");
    ck_assert_str_eq(bar(SLOW, 70, false), "  2,0,2 [=>                  ]  10 %, taking, 1.00 Mbit/s, 40.0 s left");
    /* Where there is no room for a bar the words stand alone, and never take a second line. */
    ck_assert_str_eq(bar(SLOW, 30, false), "  2,0,2  10 %, taking, 1.00 Mb");
    ck_assert_str_eq(bar("\"name\":\"\xc3\xa9\xc3\xa9\xc3\xa9\",\"bytes\":1,\"there_bytes\":1", 2, false),
                     "\xc3\xa9\xc3\xa9");
    for (unsigned columns = 1; columns < 300; columns++) {
        ck_assert_uint_le(table_width(bar(SENDING, columns, false)), columns);
    }
}
END_TEST

/* The row of the sum, then the members'. */
static const char *end(const char *sum, const char *const members[])
{
    struct message *row[8] = {row_of(sum)};
    size_t count = 1;
    for (; members != NULL && members[count - 1] != NULL; count++) {
        row[count] = row_of(members[count - 1]);
    }
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said, "w");
    progress_end(row, count, out);
    fclose(out);
    while (count > 0) {
        message_close(row[--count]);
    }
    return said;
}

#define SUM "\"what\":\"sum\",\"name\":\"image\",\"bytes\":20000000,\"took_ns\":3100000000,"

START_TEST(ends)
{
    ck_assert_str_eq(
        end(SUM "\"members\":2,\"complete\":2,\"least_bits_per_s\":51000000,\"sent_bytes\":20000000", NULL),
        "image, 20.0 MB: 2 of 2 servers have it after 3.10 s, the slowest at 51.0 Mbit/s; 20.0 MB sent\n");
    ck_assert_str_eq(
        end(SUM "\"members\":2,\"complete\":2,\"had_already\":2,\"before_bytes\":20000000,\"sent_bytes\":0", NULL),
        "image, 20.0 MB: 2 of 2 servers have it after 3.10 s, and all of them had it already; 0 B sent\n");
    ck_assert_str_eq(
        end("\"name\":\"\xe2\x80\xaex\",\"bytes\":0,\"took_ns\":1000000,\"members\":1,\"complete\":1", NULL),
        "\\xe2\\x80\\xaex, 0 B: 1 of 1 server has it after 1.00 ms; 0 B sent\n");
    ck_assert_str_eq(end(SUM "\"members\":1,\"complete\":1,\"had_already\":1,\"sent_bytes\":0", NULL),
                     "image, 20.0 MB: 1 of 1 server has it after 3.10 s, and had it already; 0 B sent\n");
    ck_assert_str_eq(end(SUM "\"members\":3,\"complete\":3,\"had_already\":2,\"before_bytes\":15000000,"
                             "\"least_bits_per_s\":51000000,\"sent_bytes\":15000000",
                         NULL),
                     "image, 20.0 MB: 3 of 3 servers have it after 3.10 s; 2 had it already, the other one got it at "
                     "51.0 Mbit/s; 15.0 MB sent\n");
    ck_assert_str_eq(end(SUM "\"members\":1,\"complete\":0,\"failed\":1,\"sent_bytes\":0", NULL),
                     "image, 20.0 MB: 0 of 1 server has it after 3.10 s; 0 B sent\n");
}
END_TEST

#define MEMBER "\"what\":\"member\",\"server\":"

/* Said of those that had a part, and of no others. */
START_TEST(what_was_there_before)
{
    static const char sum[] = SUM "\"members\":3,\"complete\":3,\"had_already\":1,\"before_bytes\":12000000,"
                                  "\"least_bits_per_s\":51000000,\"sent_bytes\":20000000";
    const char *one[] = {MEMBER "\"1,0,0\",\"state\":\"complete\",\"before_bytes\":20000000",
                         MEMBER "\"2,0,0\",\"state\":\"complete\",\"before_bytes\":16000000",
                         MEMBER "\"2,1,0\",\"state\":\"complete\",\"before_bytes\":0", NULL};
    ck_assert_str_eq(end(sum, one), "image, 20.0 MB: 3 of 3 servers have it after 3.10 s; 1 had it already, the "
                                    "slowest other one got it at 51.0 Mbit/s; 20.0 MB sent; 2,0,0 had 16.0 MB of it "
                                    "before\n");
    one[2] = MEMBER "\"2,1,0\",\"state\":\"complete\",\"before_bytes\":2000000";
    ck_assert_ptr_nonnull(strstr(end(sum, one), "; 20.0 MB sent; 2 had 9.00 MB of it before, on average\n"));
    one[2] = MEMBER "\"2,1,0\",\"state\":\"failed\",\"before_bytes\":2000000";
    ck_assert_ptr_nonnull(strstr(end(sum, one), "; 20.0 MB sent; 2,0,0 had 16.0 MB of it before\n"));
    one[0] = one[1];
    one[1] = NULL;
    ck_assert_str_eq(end(SUM "\"members\":1,\"complete\":1,\"least_bits_per_s\":51000000,\"sent_bytes\":4000000", one),
                     "image, 20.0 MB: 1 of 1 server has it after 3.10 s, at 51.0 Mbit/s; 4.00 MB sent; it had 16.0 MB "
                     "of it before\n");
}
END_TEST

START_TEST(reasons)
{
    static const char *const some[] = {
        "\"what\":\"member\",\"server\":\"1,0,0\",\"state\":\"complete\",\"missed_bytes\":1000000",
        "\"what\":\"member\",\"server\":\"1,1,0\",\"state\":\"failed\",\"reason\":\"its disk is full\"",
        "\"what\":\"member\",\"server\":\"2,0,2\",\"state\":\"complete\",\"missed_bytes\":9000000",
        NULL,
    };
    ck_assert_str_eq(
        end(SUM "\"members\":3,\"complete\":2,\"least_bits_per_s\":51000000,\"sent_bytes\":31000000,"
                "\"missed_bytes\":9500000,\"lost_bytes\":900000,\"mended_bytes\":600000,\"contested_by\":\"0,0,1\"",
            some),
        "image, 20.0 MB: 2 of 3 servers have it after 3.10 s, the slowest at 51.0 Mbit/s; 31.0 MB sent\n"
        "  sent again: 9.50 MB that 2,0,2 and 1,0,0 had missed; 900 kB that were lost on cables; 600 kB by a second "
        "way, while one was mended\n"
        "  0,0,1 sent another file of this name at the same time; on some servers now stands whichever was whole last "
        "there, which may be another one on each: send the right one again\n"
        "  1,1,0 has not: its disk is full\n");
    static const char *const both[] = {"\"server\":\"1,0,0\",\"state\":\"complete\",\"contested_by\":\"0,0,1\"",
                                       "\"server\":\"1,1,0\",\"state\":\"complete\"",
                                       "\"server\":\"2,0,2\",\"state\":\"complete\",\"contested_by\":\"0,0,1\"", NULL};
    const char *text = end(SUM "\"members\":3,\"complete\":3,\"contested\":2,\"contested_by\":\"0,0,1\"", both);
    ck_assert_msg(strstr(text, "image, 20.0 MB: 3 of 3 servers got it after") == text, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\n  0,0,1 sent another file of this name at the same time; on 1,0,0 and 2,0,2 "
                                       "now stands whichever was whole last there, "));
    text = end(SUM "\"members\":3,\"complete\":3,\"contested_by\":\"0,0,1\",\"contested_here\":1", both);
    ck_assert_ptr_nonnull(strstr(text, "\n  0,0,1 sent another file of this name at the same time, by another command "
                                       "than this one; on 1,0,0 and 2,0,2 now stands "));
    static const char *const many[] = {"\"server\":\"a\",\"missed_bytes\":1",
                                       "\"server\":\"b\",\"missed_bytes\":2",
                                       "\"server\":\"c\",\"missed_bytes\":3",
                                       "\"server\":\"d\",\"missed_bytes\":4",
                                       "\"server\":\"e\",\"missed_bytes\":5",
                                       "\"server\":\"f\",\"missed_bytes\":6",
                                       NULL};
    ck_assert_ptr_nonnull(strstr(end(SUM "\"members\":6,\"missed_bytes\":20", many),
                                 "\n  sent again: 20 B that f, e, d, c and 2 others had missed\n"));
    ck_assert_ptr_nonnull(
        strstr(end(SUM "\"members\":6,\"missed_bytes\":20", NULL), "\n  sent again: 20 B that members had missed\n"));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(lines), SUITE_TEST(bars), SUITE_TEST(ends),
                                          SUITE_TEST(what_was_there_before), SUITE_TEST(reasons)};
SUITE_MAIN("progress", tests)
