/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/table.h"
#include "message/answer_line.h"

#include "suite.h"

#include <string.h>

static const struct table_column columns[] = {
    {"name", "NAME", TABLE_TEXT}, {"state", "STATE", TABLE_STATE}, {"empty", "EMPTY", TABLE_TEXT},
    {"n", "COUNT", TABLE_COUNT},  {"t_ns", "AGE", TABLE_SPAN},     {"size", "SIZE", TABLE_BYTES},
    {"rate", "RATE", TABLE_RATE}, {"mark", "MARK", TABLE_MARK},    {NULL, NULL, TABLE_TEXT},
};
static char said[4000];

static struct message *row_of(const char *text)
{
    struct answer_line answer;
    answer_line_read(text, strlen(text), &answer);
    ck_assert_int_eq(answer.kind, ANSWER_ROW);
    return answer.row;
}

static void print(struct message *const *rows, size_t count, bool colour, bool record)
{
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said, "w");
    if (record) {
        table_print_record(rows[0], columns, (struct table_style){colour}, out);
    } else {
        table_print(rows, count, columns, (struct table_style){colour}, out);
    }
    fclose(out);
}

START_TEST(aligned)
{
    struct message *rows[] = {
        row_of(
            "{\"id\":1,\"row\":{\"name\":\"a\",\"state\":\"up\",\"n\":1234,\"t_ns\":1500000,\"size\":10,\"rate\":0}}"),
        row_of("{\"id\":1,\"row\":{\"name\":\"longer\xc3\xa9\",\"state\":\"damped\",\"n\":5,\"mark\":true,\"rate\":"
               "1000}}"),
    };
    print(rows, 2, false, false);
    ck_assert_str_eq(said, "NAME     STATE   COUNT      AGE  SIZE         RATE  MARK\n"
                           "a        up      1,234  1.50 ms  10 B\n"
                           "longer\xc3\xa9  damped      5        -        1.00 kbit/s  yes\n");
    print(rows, 2, true, false);
    ck_assert_ptr_nonnull(strstr(said, "\033[32mup\033[0m"));
    ck_assert_ptr_nonnull(strstr(said, "\033[33mdamped\033[0m"));
    print(rows, 0, false, false);
    ck_assert_str_eq(said, "");
    print(rows, 1, false, true);
    ck_assert_str_eq(said, "NAME   a\nSTATE  up\nCOUNT  1,234\nAGE    1.50 ms\nSIZE   10 B\n");
    message_close(rows[0]);
    message_close(rows[1]);
}
END_TEST

START_TEST(nobody_moves_the_cursor)
{
    struct message *row = row_of("{\"id\":1,\"row\":{\"name\":\"a\\u001b[31mb\\nc\\u007f\"}}");
    print(&row, 1, false, false);
    ck_assert_str_eq(said, "NAME\na?[31mb?c?\n");
    message_close(row);
    row = row_of("{\"id\":1,\"row\":{\"name\":\"a\\u202etxt.exe\"}}"); /* nor turns the line around */
    print(&row, 1, false, false);
    ck_assert_str_eq(said, "NAME\na\\xe2\\x80\\xaetxt.exe\n");
    message_close(row);
}
END_TEST

START_TEST(style)
{
    FILE *file = fmemopen(said, sizeof said, "w");
    ck_assert(!table_style_for(file).colour); /* no terminal */
    fclose(file);
    ck_assert_str_eq(table_bold((struct table_style){false}), "");
    ck_assert_str_ne(table_bold((struct table_style){true}), "");
    ck_assert_str_ne(table_faint((struct table_style){true}), table_plain((struct table_style){true}));
    ck_assert_uint_eq(table_width("a\xe2\x82\xac"
                                  "b"),
                      3);
    memset(said, 0, sizeof said);
    file = fmemopen(said, sizeof said, "w");
    table_state("down", (struct table_style){true}, file);
    table_state("whatever", (struct table_style){true}, file);
    fclose(file);
    ck_assert_str_eq(said, "\033[31mdown\033[0mwhatever");
}
END_TEST

START_TEST(shares_are_percent)
{
    static const struct table_column column = {"lost", "LOST", TABLE_SHARE};
    static const char *const rows[][2] = {{"{\"id\":1,\"row\":{\"lost\":20900}}", "2.1 %"},
                                          {"{\"id\":1,\"row\":{\"lost\":0}}", ""},
                                          {"{\"id\":1,\"row\":{\"got\":1}}", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct message *row = row_of(rows[i][0]);
        char cell[TABLE_CELL] = "";
        table_cell(row, &column, cell);
        ck_assert_str_eq(cell, rows[i][1]);
        message_close(row);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(shares_are_percent), SUITE_TEST(aligned),
                                          SUITE_TEST(nobody_moves_the_cursor), SUITE_TEST(style)};
SUITE_MAIN("table", tests)
