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

START_TEST(bytes_go_out_as_they_are)
{
    char out[20] = "";
    struct call call = {.out = tmpfile()};
    struct message *row = message_open();
    message_text(row, "base64", "aGVsbG8=");
    ck_assert_int_eq(value_write_row(&call, row), EXIT_FINE);
    rewind(call.out);
    ck_assert_uint_eq(fread(out, 1, sizeof out, call.out), 5);
    ck_assert_str_eq(out, "hello");
    fclose(call.out);
    message_close(row);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_file_is_read_up_to_a_length),
    SUITE_TEST(what_is_longer_is_refused),
    SUITE_TEST(a_file_that_is_not_there),
    SUITE_TEST(bytes_go_out_as_they_are),
};
SUITE_MAIN("value", tests)
