/* SPDX-License-Identifier: Apache-2.0 */
/* test_store_ask.c - asks a daemon that answers what the test wrote. */
#include "ctl/store/store_ask.h"

#include "../fake_daemon.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_daemon daemon_;
static struct arguments arguments;
static struct call call;
static struct command command;
static char said[4096];

static void begin(const char *const says[])
{
    char why[CLIENT_WHY];
    fake_daemon_start(&daemon_, says, 1);
    command = (struct command){.name = "store get", .options = ""};
    call = (struct call){.command = &command, .arguments = &arguments, .out = stdout};
    memset(said, 0, sizeof said);
    call.errors = fmemopen(said, sizeof said, "w");
    setbuf(call.errors, NULL);
    ck_assert_int_eq(client_open(&call.client, daemon_.path, why), 0);
}

static void end(void)
{
    client_close(call.client);
    fclose(call.errors);
    fake_daemon_end(&daemon_);
}

#define ANSWER(id, fields) "{\"id\":" id ",\"row\":{" fields "}}\n{\"id\":" id ",\"done\":true,\"rc\":0}\n"

/* How an operation ended: its exit code, and a sentence unless it was expected. */
START_TEST(outcomes)
{
    static const char *const says[] = {ANSWER("1", "\"code\":0,\"version\":5"),
                                       ANSWER("2", "\"code\":1,\"status\":\"not found\""),
                                       ANSWER("3", "\"code\":1,\"status\":\"not found\""),
                                       ANSWER("4", "\"code\":2,\"status\":\"another\",\"version\":12"), NULL};
    struct rows rows = {NULL, 0, 0};
    begin(says);
    ck_assert_int_eq(store_operate(&call, store_request(&call, "get", "a"), "a", &rows), EXIT_FINE);
    ck_assert_int_eq(message_get_integer(rows.row[0], "version", 0), 5);
    rows_clear(&rows);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(store_try(&call, store_request(&call, "get", "a"), "a", EXIT_NONE, &rows), EXIT_NONE);
    rows_clear(&rows);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(store_operate(&call, store_request(&call, "get", "a"), "a", &rows), EXIT_NONE);
    rows_clear(&rows);
    ck_assert_str_eq(said, "cwctl: 'a': not found\n");
    ck_assert_int_eq(store_try(&call, store_request(&call, "cas", "b"), "b", EXIT_NONE, &rows), EXIT_OTHER);
    rows_clear(&rows);
    ck_assert_str_eq(said, "cwctl: 'a': not found\ncwctl: 'b': another: 12\n");
    end();
}
END_TEST

/* Names of a page as they are shown; and a name that is no base64 is none. */
START_TEST(pages)
{
    static const char *const says[] = {"{\"id\":1,\"row\":{\"base64\":\"YQ==\"}}\n{\"id\":1,\"row\":{\"base64\":"
                                       "\"/wpc\"}}\n" ANSWER("1", "\"code\":0,\"more\":1"),
                                       ANSWER("2", "\"code\":0,\"more\":1"), NULL};
    struct rows rows = {NULL, 0, 0};
    char after[STORE_CURSOR] = "";
    bool more = false;
    begin(says);
    ck_assert_int_eq(store_page(&call, "", after, 2, &rows, &more), EXIT_FINE);
    ck_assert(more && rows.count == 2);
    ck_assert_str_eq(message_get_text(rows.row[0], "name", ""), "a");
    ck_assert_str_eq(message_get_text(rows.row[1], "name", ""), "\\xff\\x0a\\x5c");
    ck_assert_str_eq(after, "/wpc");
    ck_assert_int_eq(store_page(&call, "", after, 2, &rows, &more), EXIT_FINE);
    ck_assert(!more && rows.count == 2); /* a page without names is the last one, whatever it says */
    rows_clear(&rows);
    end();
}
END_TEST

/* A long value is brought in pieces, whose refusal ends it. */
START_TEST(long_values)
{
    static const char *const says[] = {ANSWER("1", ""), "{\"id\":2,\"done\":true,\"rc\":-16,\"error\":\"busy\"}\n",
                                       NULL};
    static uint8_t bytes[100 * 1024];
    begin(says);
    struct request_draft *r = store_request(&call, "put", "a");
    ck_assert_int_ne(store_value(&call, r, bytes, sizeof bytes), EXIT_FINE);
    ck_assert_ptr_nonnull(strstr(said, "busy"));
    request_draft_close(r);
    r = store_request(&call, "put", "a");
    ck_assert_int_eq(store_value(&call, r, bytes, 100), EXIT_FINE); /* nobody is asked */
    request_draft_close(r);
    end();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(outcomes), SUITE_TEST(pages), SUITE_TEST(long_values)};
SUITE_MAIN("store_ask", tests)
