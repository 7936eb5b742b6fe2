/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/control/request.h"

#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char said[1 << 16];
static struct request *held[REQUEST_UNDER_WAY + 1];
static unsigned held_count, cancelled;
static int context;

static void write_line(struct request_port *port, const char *bytes, size_t length)
{
    (void)port;
    ck_assert_uint_lt(strlen(said) + length, sizeof said);
    ck_assert_int_eq(bytes[length - 1], '\n');
    strncat(said, bytes, length);
}

static void run_answer(struct request *r)
{
    ck_assert_ptr_eq(request_context(r), &context);
    request_text(r, "first", request_line(r)->argc > 0 ? request_line(r)->argv[0] : "none");
    request_row(r);
    request_row(r); /* nothing is in it: no line */
    request_integer(r, "n", 2);
    request_server(r, "server", (cw_coord){1, 2, 3});
    request_links(r, "links", 0x21);
    request_done(r, 0);
}

static void run_refuse(struct request *r)
{
    request_refuse(r, -ENOENT, "no %s here", "such thing");
}

static void run_hold(struct request *r)
{
    held[held_count++] = r;
}

static void on_cancel(struct request *r, void *argument)
{
    ck_assert_ptr_eq(argument, &cancelled);
    cancelled++;
    request_integer(r, "late", 1);
    request_done(r, 0);
}

static void run_stream(struct request *r)
{
    request_on_cancel(r, on_cancel, &cancelled);
    held[held_count++] = r;
}

static const struct request_command commands[] = {
    {"answer", "[WORD]", "count", "answers", 0, 1, run_answer},
    {"refuse", "", "", "refuses", 0, 0, run_refuse},
    {"hold", "", "", "holds", 0, 0, run_hold},
    {"stream", "", "", "streams", 0, 0, run_stream},
};
static const struct request_table commands_here = {commands, sizeof commands / sizeof *commands, &context};
static struct request_port port = {.write = write_line};

static void begin(void)
{
    said[0] = '\0';
    held_count = cancelled = 0;
    request_port_init(&port);
}

static void ask(const char *text)
{
    said[0] = '\0';
    request_take(&port, &commands_here, text, strlen(text));
}

START_TEST(rows_then_done)
{
    begin();
    ask("{\"id\":1,\"command\":\"answer\",\"args\":[\"word\"]}");
    ck_assert_str_eq(said, "{\"id\":1,\"row\":{\"first\":\"word\"}}\n"
                           "{\"id\":1,\"row\":{\"n\":2,\"server\":\"1,2,3\",\"links\":[\"+x\",\"-z\"]}}\n"
                           "{\"id\":1,\"done\":true,\"rc\":0}\n");
    ask("{\"id\":2,\"command\":\"refuse\"}");
    ck_assert_str_eq(said, "{\"id\":2,\"done\":true,\"rc\":-2,\"error\":\"no such thing here\"}\n");
    ck_assert_uint_eq(port.count, 0);
}
END_TEST

START_TEST(what_is_refused)
{
    static const struct {
        const char *text, *says;
    } table[] = {
        {"{\"id\":1,\"command\":\"anser\"}", "unknown command 'anser'"},
        {"{\"id\":1,\"command\":\"answer\",\"args\":[1,2]}", "takes other words: answer [WORD]"},
        {"{\"id\":1,\"command\":\"answer\",\"options\":{\"cuont\":1}}", "no option 'cuont'; it has count"},
        {"{\"id\":1,\"command\":\"cancel\",\"args\":[9]}", "no request 9"},
        {"{\"id\":1,\"command\":\"cancel\",\"args\":[\"x\"]}", "cancel takes the id"},
        {"{\"id\":1,\"command\":\"cancel\",\"args\":[1]}", "no request 1"},
        {"nonsense", "\"id\":null"},
    };
    begin();
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        ask(table[i].text);
        char text[300] = "", *at = strstr(said, table[i].says);
        (void)text;
        ck_assert_msg(at != NULL, "%s: %s", table[i].text, said);
        ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1); /* one line */
        ck_assert_uint_eq(port.count, 0);
    }
}
END_TEST

START_TEST(help_lists_all)
{
    begin();
    ask("{\"id\":1,\"command\":\"help\"}");
    unsigned lines = 0;
    for (const char *c = said; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    ck_assert_uint_eq(lines, 4 + 1 + 1);
    ck_assert_ptr_nonnull(strstr(said, "\"command\":\"cancel\""));
}
END_TEST

START_TEST(many_at_once)
{
    begin();
    for (unsigned i = 0; i < REQUEST_UNDER_WAY; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"id\":%u,\"command\":\"hold\"}", i);
        ask(text);
        ck_assert_str_eq(said, "");
    }
    ask("{\"id\":5,\"command\":\"hold\"}");
    ck_assert_ptr_nonnull(strstr(said, "under way"));
    ask("{\"id\":99,\"command\":\"hold\"}");
    ck_assert_ptr_nonnull(strstr(said, "\"id\":99,\"done\":true,\"rc\":-16"));
    request_done(held[7], 1);
    said[0] = '\0';
    ask("{\"id\":6,\"command\":\"answer\"}");
    ck_assert_ptr_nonnull(strstr(said, "\"id\":null,\"done\":true,\"rc\":-17")); /* 6 is another's */
    while (port.count > 0) {
        request_integer(held[held_count - 1], "n", 1);
        request_done(held[--held_count], 0);
        held_count -= held_count == 8;
    }
}
END_TEST

START_TEST(cancelling)
{
    begin();
    ask("{\"id\":1,\"command\":\"stream\"}");
    ask("{\"id\":2,\"command\":\"hold\"}");
    ask("{\"id\":3,\"command\":\"cancel\",\"args\":[1]}");
    ck_assert_str_eq(
        said, "{\"id\":1,\"done\":true,\"rc\":-125,\"error\":\"cancelled\"}\n{\"id\":3,\"done\":true,\"rc\":0}\n");
    ck_assert_uint_eq(cancelled, 1);
    ask("{\"id\":3,\"command\":\"cancel\",\"args\":[2]}");
    ck_assert_uint_eq(port.count, 0);
    said[0] = '\0';
    request_text(held[1], "late", "word"); /* goes nowhere */
    request_row(held[1]);
    ck_assert_uint_eq(request_backlog(held[1]), 0);
    request_done(held[1], 0);
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(a_client_that_goes_away)
{
    begin();
    ask("{\"id\":1,\"command\":\"stream\"}");
    ask("{\"id\":2,\"command\":\"hold\"}");
    ask("{\"id\":3,\"command\":\"stream\"}");
    request_integer(held[1], "begun", 1);
    said[0] = '\0';
    request_port_leave(&port);
    ck_assert_uint_eq(cancelled, 2);
    ck_assert_uint_eq(port.count, 0);
    request_refuse(held[1], -EIO, "never %s", "heard");
    ck_assert_str_eq(said, "");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(rows_then_done), SUITE_TEST(what_is_refused), SUITE_TEST(help_lists_all),
    SUITE_TEST(many_at_once),   SUITE_TEST(cancelling),      SUITE_TEST(a_client_that_goes_away),
};
SUITE_MAIN("request", tests)
