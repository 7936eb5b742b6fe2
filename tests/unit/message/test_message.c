/* SPDX-License-Identifier: Apache-2.0 */
#include "message/message.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

START_TEST(what_is_written_is_read)
{
    struct message *m = message_open(), *inner = message_open();
    size_t length;
    message_text(inner, "state", "up\n");
    message_integer(inner, "frames", INT64_MAX);
    message_integer(m, "id", 7);
    message_flag(m, "done", true);
    message_element(m, "args", "+x");
    message_element(m, "args", "down");
    message_inner(m, "row", inner);
    char *line = message_line(m, &length);
    message_close(m);
    ck_assert_uint_eq(length, strlen(line));
    ck_assert_ptr_eq(strchr(line, '\n'), line + length - 1);
    m = message_parse(line, length - 1, NULL, 0);
    free(line);
    ck_assert_ptr_nonnull(m);
    const struct message *row = message_get_inner(m, "row");
    ck_assert_str_eq(message_get_text(row, "state", NULL), "up\n");
    ck_assert_int_eq(message_get_integer(row, "frames", 0), INT64_MAX);
    ck_assert_int_eq(message_get_integer(m, "id", 0), 7);
    ck_assert(message_get_flag(m, "done"));
    ck_assert(!message_get_flag(m, "id"));
    ck_assert_str_eq(message_get_element(m, "args", 1), "down");
    ck_assert_uint_eq(message_elements(m, "args"), 2);
    ck_assert_ptr_null(message_get_element(m, "args", 2));
    ck_assert_ptr_null(message_get_text(m, "id", NULL));
    ck_assert_int_eq(message_get_integer(m, "none", -3), -3);
    message_close(m);
}
END_TEST

START_TEST(what_is_no_object_is_refused)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"", "not JSON: "},          {"{", "not JSON: "},
               {"[]", "not a JSON object"}, {"7", "not JSON: "},
               {"{} {}", "not JSON: "},     {"{\"a\": 1, \"a\": 2}", "not JSON: duplicate object key"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[200] = "";
        ck_assert_ptr_null(message_parse(bad[i].text, strlen(bad[i].text), why, sizeof why));
        ck_assert_msg(strncmp(why, bad[i].says, strlen(bad[i].says)) == 0, "%s: %s", bad[i].text, why);
        ck_assert_ptr_null(message_parse(bad[i].text, strlen(bad[i].text), NULL, 0));
    }
}
END_TEST

/* As where there was no memory for it. */
START_TEST(null_takes_nothing_and_holds_nothing)
{
    size_t length;
    char text[8];
    message_text(NULL, "a", "b");
    message_integer(NULL, "a", 1);
    message_real(NULL, "a", 1);
    message_flag(NULL, "a", true);
    message_null(NULL, "a");
    message_element(NULL, "a", "b");
    message_inner(NULL, "a", message_open());
    ck_assert_int_eq(message_kind(NULL, "a"), MESSAGE_MISSING);
    ck_assert_ptr_null(message_name(NULL, 0));
    ck_assert_ptr_null(message_get_inner(NULL, "a"));
    ck_assert_ptr_null(message_get_element(NULL, "a", 0));
    ck_assert(!message_show(NULL, "a", text, sizeof text));
    ck_assert_ptr_null(message_line(NULL, &length));
    message_close(message_share(NULL));
}
END_TEST

START_TEST(fields_have_names_and_kinds_in_order)
{
    static const char *const names[] = {"a", "r", "i", "f", "l", "o", "n"};
    static const enum message_kind kinds[] = {MESSAGE_TEXT, MESSAGE_REAL,  MESSAGE_INTEGER, MESSAGE_FLAG,
                                              MESSAGE_LIST, MESSAGE_INNER, MESSAGE_NULL};
    struct message *m = message_open();
    message_text(m, "a", "b");
    message_real(m, "r", 1.5);
    message_integer(m, "i", 1);
    message_flag(m, "f", false);
    message_element(m, "l", NULL);
    message_inner(m, "o", message_open());
    message_null(m, "n");
    message_text(m, "a", "again"); /* stays the first */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_str_eq(message_name(m, i), names[i]);
        ck_assert_int_eq(message_kind(m, names[i]), kinds[i]);
        ck_assert(message_has(m, names[i]));
    }
    ck_assert_ptr_null(message_name(m, 7));
    ck_assert_int_eq(message_kind(m, "none"), MESSAGE_MISSING);
    ck_assert(!message_has(m, "none"));
    ck_assert(message_get_real(m, "i", 0) == 1 && message_get_real(m, "r", 0) == 1.5);
    message_close(m);
}
END_TEST

START_TEST(fields_are_shown_to_people)
{
    static const char line[] = "{\"n\":5,\"up\":true,\"name\":\"a longer name than fits\",\"by\":[\"+x\",\"-y\",7],"
                               "\"f\":1.5,\"words\":[\"a\",-2,false,[]]}";
    static const struct {
        const char *field, *shown;
    } table[] = {{"n", "5"}, {"up", "yes"}, {"name", "a longer name than "}, {"by", "+x -y ?"}, {"f", "?"}};
    char text[20];
    struct message *m = message_parse(line, strlen(line), NULL, 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ck_assert(message_show(m, table[i].field, text, sizeof text));
        ck_assert_str_eq(text, table[i].shown);
    }
    ck_assert(!message_show(m, "none", text, sizeof text));
    ck_assert_str_eq(text, "");
    static const char *const words[] = {"a", "-2", "false"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert(message_show_element(m, "words", i, text, sizeof text));
        ck_assert_str_eq(text, words[i]);
    }
    ck_assert(!message_show_element(m, "words", 3, text, sizeof text));
    ck_assert(!message_show_element(m, "words", 4, text, sizeof text));
    ck_assert_str_eq(message_get_element(m, "name", 0), "a longer name than fits");
    ck_assert_ptr_null(message_get_element(m, "name", 1));
    message_close(m);
}
END_TEST

START_TEST(a_line_is_printed)
{
    char out[64] = "";
    FILE *file = fmemopen(out, sizeof out, "w");
    struct message *m = message_open();
    message_integer(m, "a", 1);
    message_text(m, "b", "c\xff"); /* no UTF-8 */
    ck_assert(message_holds("c\xc3\xa4"));
    ck_assert(!message_holds("c\xff"));
    message_print(m, file);
    fclose(file);
    ck_assert_str_eq(out, "{\"a\":1,\"b\":\"c?\"}\n");
    message_close(m);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_written_is_read),
    SUITE_TEST(what_is_no_object_is_refused),
    SUITE_TEST(null_takes_nothing_and_holds_nothing),
    SUITE_TEST(fields_have_names_and_kinds_in_order),
    SUITE_TEST(fields_are_shown_to_people),
    SUITE_TEST(a_line_is_printed),
};
SUITE_MAIN("message", tests)
