/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/json.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct json_answer answer;

static void take(const char *text)
{
    json_answer_read(text, strlen(text), &answer);
}

START_TEST(requests)
{
    size_t length;
    struct json_request *r = json_request_open("ping", NULL);
    char *line = json_request_line(r, 1, &length);
    ck_assert_str_eq(line, "{\"id\":1,\"command\":\"ping\"}\n");
    ck_assert_uint_eq(length, strlen(line));
    free(line);
    json_request_close(r);
    r = json_request_open("key-explain", "1,2,0");
    json_request_word(r, "a \"b\"");
    json_request_integer(r, "n", -3);
    json_request_flag(r, "all");
    json_request_text(r, "t", "x");
    json_request_element(r, "dead", "1,1,1");
    json_request_element(r, "dead", "1,1,2");
    line = json_request_line(r, 7, &length);
    ck_assert_str_eq(
        line, "{\"id\":7,\"command\":\"key-explain\",\"server\":\"1,2,0\",\"args\":[\"a \\\"b\\\"\"],\"options\":"
              "{\"n\":-3,\"all\":true,\"t\":\"x\",\"dead\":[\"1,1,1\",\"1,1,2\"]}}\n");
    free(line);
    json_request_close(r);
    json_request_word(NULL, "x");
    json_request_close(NULL);
    ck_assert_ptr_null(json_request_line(NULL, 1, &length));
}
END_TEST

START_TEST(rows)
{
    char text[20];
    take("{\"id\":3,\"row\":{\"n\":5,\"up\":true,\"name\":\"a longer name than "
         "fits\",\"by\":[\"+x\",\"-y\"],\"f\":1.5}}");
    ck_assert_int_eq(answer.kind, JSON_ROW);
    ck_assert_int_eq(answer.id, 3);
    const struct json_row *row = answer.row;
    ck_assert_int_eq(json_row_integer(row, "n", -1), 5);
    ck_assert_int_eq(json_row_integer(row, "name", -1), -1);
    ck_assert_str_eq(json_row_text(row, "n", "none"), "none");
    ck_assert(json_row_flag(row, "up") && !json_row_flag(row, "down"));
    ck_assert(json_row_show(row, "name", text, sizeof text));
    ck_assert_uint_eq(strlen(text), sizeof text - 1);
    ck_assert(json_row_show(row, "by", text, sizeof text));
    ck_assert_str_eq(text, "+x -y");
    ck_assert(json_row_show(row, "up", text, sizeof text));
    ck_assert_str_eq(text, "yes");
    ck_assert(json_row_show(row, "f", text, sizeof text));
    ck_assert(!json_row_show(row, "none", text, sizeof text));
    ck_assert_str_eq(text, "");
    ck_assert_str_eq(json_row_field(row, 0), "n");
    ck_assert_str_eq(json_row_field(row, 4), "f");
    ck_assert_ptr_null(json_row_field(row, 5));
    json_row_close(answer.row);
    struct json_row *own = json_row_open();
    json_row_set_integer(own, "a", 1);
    json_row_set_text(own, "b", "c");
    char out[64] = "";
    FILE *file = fmemopen(out, sizeof out, "w");
    json_row_print(own, file);
    fclose(file);
    ck_assert_str_eq(out, "{\"a\":1,\"b\":\"c\"}\n");
    json_row_close(own);
}
END_TEST

START_TEST(ends)
{
    take("{\"id\":3,\"done\":true,\"rc\":0}");
    ck_assert_int_eq(answer.kind, JSON_DONE);
    ck_assert(answer.has_id);
    ck_assert_str_eq(answer.error, "");
    take("{\"id\":null,\"done\":true,\"rc\":-16,\"error\":\"busy\"}");
    ck_assert_int_eq(answer.kind, JSON_DONE);
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
        ck_assert_msg(answer.kind == JSON_STRANGE, "%s", lines[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(requests), SUITE_TEST(rows), SUITE_TEST(ends),
                                          SUITE_TEST(strangers)};
SUITE_MAIN("json", tests)
