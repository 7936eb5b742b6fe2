/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/value.h"

#include "suite.h"

#include <string.h>
#include <unistd.h>

static char said[200], path[] = "/tmp/cubeway-value-XXXXXX";

static uint8_t *read_of(const char *bytes, size_t most, size_t *length)
{
    struct call call = {.errors = fmemopen(said, sizeof said, "w")};
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, bytes, strlen(bytes)), (ssize_t)strlen(bytes));
    close(file);
    uint8_t *read = value_read(&call, path, most, "5 bytes", length);
    fclose(call.errors);
    unlink(path);
    return read;
}

START_TEST(a_file_is_read_up_to_a_length)
{
    size_t length;
    uint8_t *bytes = read_of("hello", 5, &length);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_uint_eq(length, 5);
    ck_assert_int_eq(memcmp(bytes, "hello", 5), 0);
    free(bytes);
}
END_TEST

START_TEST(what_is_longer_is_refused)
{
    size_t length;
    ck_assert_ptr_null(read_of("hello!", 5, &length));
    ck_assert_ptr_nonnull(strstr(said, "a value has at most 5 bytes"));
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
    struct call call = {.errors = fmemopen(said, sizeof said, "w")};
    size_t length;
    ck_assert_ptr_null(value_read(&call, "/nowhere/at/all", 5, "5 bytes", &length));
    fclose(call.errors);
    ck_assert_ptr_nonnull(strstr(said, "/nowhere/at/all: No such file"));
}
END_TEST

static struct arguments arguments;

START_TEST(bytes_go_out_as_they_are)
{
    char out[20] = "";
    uint8_t bytes[] = "hello";
    struct call call = {.out = tmpfile(), .arguments = &arguments};
    const struct value v = {.bytes = bytes, .length = 5};
    ck_assert_int_eq(value_show(&call, &v), EXIT_FINE);
    rewind(call.out);
    ck_assert_uint_eq(fread(out, 1, sizeof out, call.out), 5);
    ck_assert_str_eq(out, "hello");
    fclose(call.out);
}
END_TEST

static int add(const struct call *call, struct value *v, int64_t bytes, const char *base64, bool *more)
{
    struct rows rows = {NULL, 0, 0};
    struct message *row = message_open();
    message_integer(row, "bytes", bytes);
    message_text(row, "base64", base64);
    rows_add(&rows, row);
    int code = value_add(call, "a", 8, v, &rows, more);
    rows_clear(&rows);
    return code;
}

/* What a daemon says is not trusted to fit. */
START_TEST(pieces_are_joined)
{
    struct call call = {.errors = fmemopen(said, sizeof said, "w"), .arguments = &arguments};
    struct value v = {.bytes = NULL};
    struct rows none = {NULL, 0, 0};
    bool more = false;
    ck_assert_int_eq(add(&call, &v, 5, "YWJj", &more), EXIT_FINE);
    ck_assert(more);
    ck_assert_int_eq(add(&call, &v, 500, "YWJjZGVm", &more), EXIT_NO); /* longer than the first piece has said */
    ck_assert_int_eq(add(&call, &v, 5, "", &more), EXIT_NO);
    ck_assert_int_eq(value_add(&call, "a", 8, &v, &none, &more), EXIT_NO);
    ck_assert_int_eq(add(&call, &v, 5, "ZGU=", &more), EXIT_FINE);
    ck_assert(!more);
    ck_assert_uint_eq(v.length, 5);
    ck_assert_mem_eq(v.bytes, "abcde", 5);
    value_close(&v);
    ck_assert_int_eq(add(&call, &v, 9, "YWJj", &more), EXIT_NO); /* above the most */
    ck_assert_int_eq(add(&call, &v, 0, "", &more), EXIT_FINE);
    ck_assert(!more);
    value_close(&v);
    fclose(call.errors);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_file_is_read_up_to_a_length),
    SUITE_TEST(what_is_longer_is_refused),
    SUITE_TEST(a_file_that_is_not_there),
    SUITE_TEST(bytes_go_out_as_they_are),
    SUITE_TEST(pieces_are_joined),
};
SUITE_MAIN("value", tests)
