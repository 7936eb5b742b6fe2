/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "testbed/message.h"

#include <string.h>

START_TEST(what_is_written_is_read)
{
    struct message *m = message_open(), *inner = message_open();
    size_t length;
    message_text(inner, "state", "up\n");
    message_integer(inner, "frames", INT64_MAX);
    message_integer(m, "id", 7);
    message_flag(m, "done", true);
    message_item(m, "args", "+x");
    message_item(m, "args", "down");
    message_inner(m, "row", inner);
    char *line = message_line(m, &length);
    message_close(m);
    ck_assert(length == strlen(line) && strchr(line, '\n') == line + length - 1);
    m = message_parse(line, length - 1);
    free(line);
    ck_assert_ptr_nonnull(m);
    const struct message *row = message_get_inner(m, "row");
    ck_assert_str_eq(message_get_text(row, "state"), "up\n");
    ck_assert_int_eq(message_get_integer(row, "frames", 0), INT64_MAX);
    ck_assert_int_eq(message_get_integer(m, "id", 0), 7);
    ck_assert(message_get_flag(m, "done") && !message_get_flag(m, "id"));
    ck_assert_str_eq(message_get_item(m, "args", 1), "down");
    ck_assert(message_get_item(m, "args", 2) == NULL && message_get_text(m, "id") == NULL);
    ck_assert_int_eq(message_get_integer(m, "none", -3), -3);
    message_close(m);
}
END_TEST

START_TEST(what_is_no_object_is_refused)
{
    static const char *const bad[] = {"", "{", "[]", "7", "{\"a\": 1, \"a\": 2}", "{} {}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(message_parse(bad[i], strlen(bad[i])));
    }
    message_close(NULL);
}
END_TEST

static void text(void *context, const char *name, const char *value)
{
    strcat(strcat(strcat(context, name), value), ";");
}

static void integer(void *context, const char *name, int64_t value)
{
    (void)value;
    text(context, name, "int");
}

static void real(void *context, const char *name, double value)
{
    (void)value;
    text(context, name, "real");
}

static void flag(void *context, const char *name, bool value)
{
    text(context, name, value ? "yes" : "no");
}

START_TEST(fields_are_visited_in_order)
{
    char seen[200] = "";
    const struct message_visitor visitor = {seen, text, integer, real, flag};
    struct message *m = message_open();
    message_text(m, "a", "b");
    message_real(m, "r", 1.5);
    message_integer(m, "i", 1);
    message_flag(m, "f", false);
    message_inner(m, "o", message_open());
    message_visit(m, &visitor);
    ck_assert_str_eq(seen, "ab;rreal;iint;fno;");
    message_close(m);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_written_is_read), SUITE_TEST(what_is_no_object_is_refused),
                                          SUITE_TEST(fields_are_visited_in_order)};
SUITE_MAIN("message", tests)
