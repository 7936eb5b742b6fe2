/* SPDX-License-Identifier: Apache-2.0 */
#include "message/request_line.h"

#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct request_line request;
static char why[REQUEST_LINE_WHY];

static int open_line(const char *text)
{
    why[0] = '\0';
    return request_line_open(&request, text, strlen(text), why);
}

START_TEST(a_whole_request)
{
    ck_assert_int_eq(
        open_line("{\"id\": -7, \"command\": \"ping\", \"args\": [\"to\", \"1,2,0\", 5, true],"
                  "\"options\": {\"count\": 3, \"rows\": false, \"dead\": [\"a\", \"b\"]}, \"server\": \"0,0,0\"}"),
        0);
    ck_assert(request.has_id);
    ck_assert_int_eq(request.id, -7);
    ck_assert_str_eq(request.command, "ping");
    ck_assert_str_eq(request.server, "0,0,0");
    ck_assert_int_eq(request.argc, 4);
    ck_assert_str_eq(request.argv[1], "1,2,0");
    ck_assert_str_eq(request.argv[2], "5");
    ck_assert_str_eq(request.argv[3], "true");
    ck_assert_ptr_null(request.argv[4]);
    ck_assert_ptr_null(request_line_strange(&request, "dead count rows"));
    ck_assert_str_eq(request_line_strange(&request, "dead rows counts"), "count");
    int64_t count = 1;
    bool rows = true;
    const char *text = "x";
    ck_assert_int_eq(request_line_number(&request, "count", 1, 10, &count), 1);
    ck_assert_int_eq(count, 3);
    ck_assert_int_eq(request_line_number(&request, "count", 4, 10, &count), -ERANGE);
    ck_assert_int_eq(request_line_number(&request, "rows", 0, 10, &count), -EINVAL);
    ck_assert_int_eq(request_line_number(&request, "size", 0, 10, &count), 0);
    ck_assert_int_eq(request_line_flag(&request, "rows", &rows), 1);
    ck_assert(!rows);
    ck_assert_int_eq(request_line_flag(&request, "count", &rows), -EINVAL);
    ck_assert_int_eq(request_line_text(&request, "dead", &text), -EINVAL);
    ck_assert_int_eq(request_line_text(&request, "none", &text), 0);
    ck_assert_str_eq(text, "x");
    ck_assert_str_eq(request_line_element(&request, "dead", 1), "b");
    ck_assert_ptr_null(request_line_element(&request, "dead", 2));
    ck_assert_ptr_null(request_line_element(&request, "count", 0));
    request_line_close(&request);
}
END_TEST

START_TEST(the_least_request)
{
    ck_assert_int_eq(open_line("{\"command\":\"status\",\"id\":0}"), 0);
    ck_assert_int_eq(request.argc, 0);
    ck_assert_ptr_null(request.server);
    ck_assert_ptr_null(request_line_strange(&request, ""));
    ck_assert_ptr_null(request_line_element(&request, "dead", 0));
    request_line_close(&request);
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
        ck_assert_msg(request.has_id == table[i].has_id, "%s", table[i].text);
        request_line_close(&request);
    }
}
END_TEST

START_TEST(so_many_words)
{
    char text[1000] = "{\"id\":1,\"command\":\"a\",\"args\":[0";
    for (unsigned i = 1; i < REQUEST_LINE_WORDS; i++) {
        strcat(text, ",0");
    }
    size_t length = strlen(text);
    strcat(text, "]}");
    ck_assert_int_eq(open_line(text), 0);
    ck_assert_int_eq(request.argc, REQUEST_LINE_WORDS);
    request_line_close(&request);
    strcpy(text + length, ",0]}");
    ck_assert_int_eq(open_line(text), -EINVAL);
    request_line_close(&request);
}
END_TEST

START_TEST(drafts_become_lines)
{
    size_t length;
    char *line;
    struct request_draft *r = request_draft_open("ping", NULL);
    ck_assert_int_eq(request_draft_line(r, 1, &line, &length), 0);
    ck_assert_str_eq(line, "{\"id\":1,\"command\":\"ping\"}\n");
    ck_assert_uint_eq(length, strlen(line));
    free(line);
    request_draft_close(r);
    r = request_draft_open("key-explain", "1,2,0");
    request_draft_integer(r, "n", -3);
    request_draft_flag(r, "all");
    request_draft_word(r, "a \"b\"");
    request_draft_text(r, "t", "x");
    request_draft_element(r, "dead", "1,1,1");
    request_draft_element(r, "dead", "1,1,2");
    for (int64_t id = 7; id < 9; id++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted,
                 "{\"id\":%d,\"command\":\"key-explain\",\"server\":\"1,2,0\",\"args\":[\"a \\\"b\\\"\"],"
                 "\"options\":{\"n\":-3,\"all\":true,\"t\":\"x\",\"dead\":[\"1,1,1\",\"1,1,2\"]}}\n",
                 (int)id);
        ck_assert_int_eq(request_draft_line(r, id, &line, &length), 0);
        ck_assert_str_eq(line, wanted);
        free(line);
    }
    request_draft_close(r);
    request_draft_word(NULL, "x");
    request_draft_text(NULL, "x", "y");
    request_draft_flag(NULL, "x");
    request_draft_close(NULL);
    ck_assert_int_eq(request_draft_line(NULL, 1, &line, &length), -ENOMEM);
}
END_TEST

/* What JSON cannot say is not left out or changed on the way: a command without one of its words is another command. */
START_TEST(a_text_that_is_not_utf8_makes_no_line)
{
    size_t length;
    char *line;
    for (unsigned where = 0; where < 4; where++) {
        struct request_draft *r = request_draft_open("kv", where == 0 ? "\xff" : "0,0,0");
        request_draft_word(r, where == 1 ? "\xff" : "a");
        request_draft_text(r, "t", where == 2 ? "\xff" : "a");
        request_draft_element(r, "l", where == 3 ? "\xff" : "a");
        ck_assert_int_eq(request_draft_line(r, 1, &line, &length), -EILSEQ);
        request_draft_close(r);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_whole_request), SUITE_TEST(the_least_request),   SUITE_TEST(what_is_wrong_is_said),
    SUITE_TEST(so_many_words),   SUITE_TEST(drafts_become_lines), SUITE_TEST(a_text_that_is_not_utf8_makes_no_line),
};
SUITE_MAIN("request_line", tests)
