/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/control/json.h"

#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct control_line line;
static char why[CONTROL_WHY];

static int open_line(const char *text)
{
    why[0] = '\0';
    return control_line_open(&line, text, strlen(text), why);
}

START_TEST(a_whole_request)
{
    ck_assert_int_eq(
        open_line("{\"id\": -7, \"command\": \"ping\", \"args\": [\"to\", \"1,2,0\", 5, true],"
                  "\"options\": {\"count\": 3, \"rows\": false, \"dead\": [\"a\", \"b\"]}, \"server\": \"0,0,0\"}"),
        0);
    ck_assert(line.has_id);
    ck_assert_int_eq(line.id, -7);
    ck_assert_str_eq(line.command, "ping");
    ck_assert_str_eq(line.server, "0,0,0");
    ck_assert_int_eq(line.argc, 4);
    ck_assert_str_eq(line.argv[1], "1,2,0");
    ck_assert_str_eq(line.argv[2], "5");
    ck_assert_str_eq(line.argv[3], "true");
    ck_assert_ptr_null(line.argv[4]);
    ck_assert_ptr_null(control_line_strange(&line, "dead count rows"));
    ck_assert_str_eq(control_line_strange(&line, "dead rows counts"), "count");
    int64_t count = 1;
    bool rows = true;
    const char *text = "x";
    ck_assert_int_eq(control_line_number(&line, "count", 1, 10, &count), 1);
    ck_assert_int_eq(count, 3);
    ck_assert_int_eq(control_line_number(&line, "count", 4, 10, &count), -ERANGE);
    ck_assert_int_eq(control_line_number(&line, "rows", 0, 10, &count), -EINVAL);
    ck_assert_int_eq(control_line_number(&line, "size", 0, 10, &count), 0);
    ck_assert_int_eq(control_line_flag(&line, "rows", &rows), 1);
    ck_assert(!rows);
    ck_assert_int_eq(control_line_flag(&line, "count", &rows), -EINVAL);
    ck_assert_int_eq(control_line_text(&line, "dead", &text), -EINVAL);
    ck_assert_int_eq(control_line_text(&line, "none", &text), 0);
    ck_assert_str_eq(text, "x");
    ck_assert_str_eq(control_line_element(&line, "dead", 1), "b");
    ck_assert_ptr_null(control_line_element(&line, "dead", 2));
    ck_assert_ptr_null(control_line_element(&line, "count", 0));
    control_line_close(&line);
}
END_TEST

START_TEST(the_least_request)
{
    ck_assert_int_eq(open_line("{\"command\":\"status\",\"id\":0}"), 0);
    ck_assert_int_eq(line.argc, 0);
    ck_assert_ptr_null(line.server);
    ck_assert_ptr_null(control_line_strange(&line, ""));
    ck_assert_ptr_null(control_line_element(&line, "dead", 0));
    control_line_close(&line);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
    static const struct {
        const char *text, *says;
        bool has_id;
    } table[] = {
        {"", "not JSON", false},
        {"status", "not JSON", false},
        {"{\"id\":1,\"command\":\"status\"", "not JSON", false},
        {"{\"id\":1,\"command\":\"status\"} {}", "not JSON", false},
        {"[1]", "not a JSON object", false},
        {"{\"command\":\"status\"}", "no id", false},
        {"{\"id\":\"1\",\"command\":\"status\"}", "id is no whole number", false},
        {"{\"id\":1.5,\"command\":\"status\"}", "id is no whole number", false},
        {"{\"id\":1}", "no command", true},
        {"{\"id\":1,\"command\":5}", "no text", true},
        {"{\"id\":1,\"command\":\"a\",\"id\":2}", "not JSON", false},
        {"{\"id\":1,\"command\":\"a\",\"args\":\"b\"}", "args is no list", true},
        {"{\"id\":1,\"command\":\"a\",\"args\":[[]]}", "args holds", true},
        {"{\"id\":1,\"command\":\"a\",\"args\":[1.5]}", "args holds", true},
        {"{\"id\":1,\"command\":\"a\",\"options\":[]}", "options is no object", true},
        {"{\"id\":1,\"command\":\"a\",\"option\":{}}", "unknown member 'option'", true},
        {"{\"id\":1,\"command\":\"a\",\"server\":{}}", "no text", true},
        {"{\"id\":99999999999999999999,\"command\":\"a\"}", "not JSON", false},
        {"{\"id\":1,\"command\":\"a\\u0000b\"}", "not JSON", false},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert_int_eq(open_line(table[i].text), -EINVAL);
        ck_assert_msg(strstr(why, table[i].says) != NULL, "%s: %s", table[i].text, why);
        ck_assert_msg(line.has_id == table[i].has_id, "%s", table[i].text);
        control_line_close(&line);
    }
}
END_TEST

START_TEST(so_many_words)
{
    char text[1000] = "{\"id\":1,\"command\":\"a\",\"args\":[0";
    for (unsigned i = 1; i < CONTROL_ARGS; i++) {
        strcat(text, ",0");
    }
    size_t length = strlen(text);
    strcat(text, "]}");
    ck_assert_int_eq(open_line(text), 0);
    ck_assert_int_eq(line.argc, CONTROL_ARGS);
    control_line_close(&line);
    strcpy(text + length, ",0]}");
    ck_assert_int_eq(open_line(text), -EINVAL);
    control_line_close(&line);
}
END_TEST

START_TEST(rows_and_ends)
{
    size_t length;
    struct control_row *row = control_row_open();
    control_row_integer(row, "n", INT64_MIN);
    control_row_flag(row, "up", true);
    control_row_text(row, "name", "a \"quoted\" \xff word");
    control_row_element(row, "next", NULL);
    control_row_element(row, "by", "+x");
    control_row_element(row, "by", "-y");
    char *text = control_row_line(row, 12, &length);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(text,
                     "{\"id\":12,\"row\":{\"n\":-9223372036854775808,\"up\":true,\"name\":\"a \\\"quoted\\\" ? word\","
                     "\"next\":[],\"by\":[\"+x\",\"-y\"]}}\n");
    free(text);
    text = control_done_line(true, 3, 0, NULL, &length);
    ck_assert_str_eq(text, "{\"id\":3,\"done\":true,\"rc\":0}\n");
    free(text);
    text = control_done_line(false, 3, -2, "no\nsuch", &length);
    ck_assert_str_eq(text, "{\"id\":null,\"done\":true,\"rc\":-2,\"error\":\"no\\nsuch\"}\n");
    free(text);
    control_row_drop(control_row_open());
    control_row_drop(NULL);
    control_row_text(NULL, "a", "b");
    control_row_element(NULL, "a", "b");
    ck_assert_ptr_null(control_row_line(NULL, 1, &length));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_whole_request), SUITE_TEST(the_least_request), SUITE_TEST(what_is_wrong_is_said),
    SUITE_TEST(so_many_words),   SUITE_TEST(rows_and_ends),
};
SUITE_MAIN("control_json", tests)
