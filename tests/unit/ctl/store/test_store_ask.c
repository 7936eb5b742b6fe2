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
    ck_assert_int_eq(store_try(&call, store_request(&call, "get", "a"), "a", CW_STORE_NOT_FOUND, &rows), EXIT_NONE);
    ck_assert(store_says(&rows, CW_STORE_NOT_FOUND) && !store_says(&rows, CW_STORE_CONFLICT));
    rows_clear(&rows);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(store_operate(&call, store_request(&call, "get", "a"), "a", &rows), EXIT_NONE);
    rows_clear(&rows);
    ck_assert_str_eq(said, "cwctl: 'a': not found\n");
    ck_assert_int_eq(store_try(&call, store_request(&call, "cas", "b"), "b", CW_STORE_NOT_FOUND, &rows), EXIT_OTHER);
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

/* ---- Values in pieces -------------------------------------------------------------------------------------------- */

static const struct store_key key = {"YQ==", "a", true};

#define PIECE(id, version, bytes, base64) \
    ANSWER(id, "\"code\":0,\"version\":" version ",\"bytes\":" bytes ",\"base64\":\"" base64 "\"")
#define ANOTHER(id) ANSWER(id, "\"code\":2,\"status\":\"another\",\"version\":6")

/* A version that changed between the pieces begins again. */
START_TEST(a_value_is_joined_of_one_version)
{
    static const char *const says[] = {PIECE("1", "5", "4", "YWI="), ANOTHER("2"), PIECE("3", "6", "5", "Y2Rl"),
                                       PIECE("4", "6", "5", "Zmc="), NULL};
    struct value v;
    begin(says);
    ck_assert_int_eq(store_fetch(&call, &key, CW_STORE_OK, &v, NULL), EXIT_FINE);
    ck_assert_uint_eq(v.length, 5);
    ck_assert_mem_eq(v.bytes, "cdefg", 5);
    ck_assert_int_eq(message_get_integer(v.row, "version", 0), 6);
    ck_assert_str_eq(said, "");
    value_close(&v);
    end();
}
END_TEST

START_TEST(a_value_that_is_not_got)
{
    static const char *const says[] = {ANSWER("1", "\"code\":1,\"status\":\"not found\""),
                                       "{\"id\":2,\"done\":true,\"rc\":-22,\"error\":\"no such name\"}\n",
                                       PIECE("3", "5", "4", "YWI="),
                                       PIECE("4", "5", "4000000", "YWJjZGVm"),
                                       PIECE("5", "5", "4", ""),
                                       NULL};
    struct value v;
    begin(says);
    ck_assert_int_eq(store_fetch(&call, &key, CW_STORE_NOT_FOUND, &v, NULL), EXIT_NONE);
    ck_assert_str_eq(said, "");
    ck_assert_int_eq(store_fetch(&call, &key, CW_STORE_NOT_FOUND, &v, NULL),
                     EXIT_USAGE); /* said once, and not asked again */
    ck_assert_str_eq(said, "cwctl: no such name\n");
    ck_assert_int_eq(store_fetch(&call, &key, CW_STORE_OK, &v, NULL), EXIT_NO); /* more than there was to be */
    ck_assert_str_eq(said, "cwctl: no such name\ncwctl: 'a': the daemon told a value that is none\n");
    ck_assert_int_eq(store_fetch(&call, &key, CW_STORE_OK, &v, NULL), EXIT_NO); /* nothing, where there is some */
    ck_assert_ptr_null(v.bytes);
    end();
}
END_TEST

START_TEST(a_value_that_never_stays)
{
    enum { TIMES = 20 };
    static char text[2 * TIMES][160];
    static const char *says[2 * TIMES + 1];
    struct value v;
    for (unsigned i = 0; i < TIMES; i++) {
        snprintf(text[2 * i], sizeof text[0],
                 "{\"id\":%u,\"row\":{\"code\":0,\"version\":5,\"bytes\":4,\"base64\":\"YWI=\"}}\n"
                 "{\"id\":%u,\"done\":true,\"rc\":0}\n",
                 2 * i + 1, 2 * i + 1);
        snprintf(text[2 * i + 1], sizeof text[0],
                 "{\"id\":%u,\"row\":{\"code\":2,\"version\":6}}\n{\"id\":%u,\"done\":true,\"rc\":0}\n", 2 * i + 2,
                 2 * i + 2);
        says[2 * i] = text[2 * i];
        says[2 * i + 1] = text[2 * i + 1];
    }
    begin(says);
    ck_assert_int_eq(store_fetch(&call, &key, CW_STORE_OK, &v, NULL), EXIT_NO);
    ck_assert_str_eq(said, "cwctl: 'a': it was put anew each time before all of it was read: try again in a while\n");
    ck_assert_ptr_null(v.bytes);
    end();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(outcomes),
                                          SUITE_TEST(pages),
                                          SUITE_TEST(long_values),
                                          SUITE_TEST(a_value_is_joined_of_one_version),
                                          SUITE_TEST(a_value_that_is_not_got),
                                          SUITE_TEST(a_value_that_never_stays)};
SUITE_MAIN("store_ask", tests)
