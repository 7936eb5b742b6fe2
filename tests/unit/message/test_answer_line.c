/* SPDX-License-Identifier: Apache-2.0 */
#include "message/answer_line.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct answer_line answer;

static void take(const char *text)
{
    answer_line_read(text, strlen(text), &answer);
}

START_TEST(rows_and_ends_are_written)
{
    size_t length;
    struct message *row = message_open();
    message_integer(row, "n", INT64_MIN);
    message_flag(row, "up", true);
    message_text(row, "name", "a \"quoted\" \xff word");
    message_element(row, "next", NULL);
    message_element(row, "by", "+x");
    message_element(row, "by", "-y");
    char *text = answer_line_row(row, 12, &length);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(text,
                     "{\"id\":12,\"row\":{\"n\":-9223372036854775808,\"up\":true,\"name\":\"a \\\"quoted\\\" ? word\","
                     "\"next\":[],\"by\":[\"+x\",\"-y\"]}}\n");
    free(text);
    text = answer_line_done(true, 3, 0, NULL, &length);
    ck_assert_str_eq(text, "{\"id\":3,\"done\":true,\"rc\":0}\n");
    free(text);
    text = answer_line_done(false, 3, -2, "no\nsuch", &length);
    ck_assert_str_eq(text, "{\"id\":null,\"done\":true,\"rc\":-2,\"error\":\"no\\nsuch\"}\n");
    free(text);
    message_close(message_open());
    message_close(NULL);
    message_text(NULL, "a", "b");
    message_element(NULL, "a", "b");
    ck_assert_ptr_null(answer_line_row(NULL, 1, &length));
}
END_TEST

START_TEST(rows)
{
    take("{\"id\":3,\"row\":{\"n\":5,\"up\":true}}");
    ck_assert_int_eq(answer.kind, ANSWER_ROW);
    ck_assert(answer.has_id);
    ck_assert_int_eq(answer.id, 3);
    ck_assert_int_eq(message_get_integer(answer.row, "n", -1), 5);
    ck_assert(message_get_flag(answer.row, "up"));
    message_close(answer.row);
}
END_TEST

START_TEST(ends)
{
    take("{\"id\":3,\"done\":true,\"rc\":0}");
    ck_assert_int_eq(answer.kind, ANSWER_DONE);
    ck_assert(answer.has_id);
    ck_assert_str_eq(answer.error, "");
    take("{\"id\":null,\"done\":true,\"rc\":-16,\"error\":\"busy\"}");
    ck_assert_int_eq(answer.kind, ANSWER_DONE);
    ck_assert(!answer.has_id);
    ck_assert_int_eq(answer.rc, -16);
    ck_assert_str_eq(answer.error, "busy");
}
END_TEST

START_TEST(strangers)
{
    static const char *const lines[] = {"",
                                        "hello",
                                        "[]",
                                        "{}",
                                        "{\"id\":1}",
                                        "{\"row\":{}}",
                                        "{\"id\":1,\"row\":[]}",
                                        "{\"id\":1,\"done\":true}",
                                        "{\"id\":1,\"done\":false,\"rc\":0}",
                                        "HTTP/1.1 400"};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        take(lines[i]);
        ck_assert_msg(answer.kind == ANSWER_STRANGE, "%s", lines[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(rows_and_ends_are_written), SUITE_TEST(rows), SUITE_TEST(ends),
                                          SUITE_TEST(strangers)};
SUITE_MAIN("answer_line", tests)
