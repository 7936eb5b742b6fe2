/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_names.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t a[500], b[500], out[500];

/* Of "name name ..", each a counter, but those that begin with T are times. */
static size_t list(const char *names, uint8_t *to)
{
    char text[200];
    size_t used = 0;
    snprintf(text, sizeof text, "%s", names);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        uint8_t of = word[0] == 'T' ? SUMMARY_OF_TIMES : SUMMARY_OF_COUNTER;
        struct summary_name n = {of, (uint8_t)strlen(word), 1, word};
        size_t put = summary_name_put(&n, to + used, 500 - used);
        ck_assert_uint_gt(put, 0);
        used += put;
    }
    return used;
}

static const char *said(const uint8_t *bytes, int64_t size)
{
    static char text[300];
    struct summary_name n;
    size_t used = 0, at = 0;
    text[0] = '\0';
    while (size > 0 && summary_name_next(bytes, (size_t)size, &at, &n) == 1) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s:%u ", n.length, n.name, n.servers);
    }
    return text;
}

START_TEST(lists_of_both)
{
    size_t x = list("T.x a.b a.c", a), y = list("T.x a.a a.b", b);
    ck_assert_str_eq(said(out, summary_names_merge(a, x, b, y, out, sizeof out)), "T.x:2 a.a:1 a.b:2 a.c:1 ");
    ck_assert_str_eq(said(out, summary_names_merge(a, x, b, 0, out, sizeof out)), "T.x:1 a.b:1 a.c:1 ");
    ck_assert_str_eq(said(out, summary_names_merge(a, 0, b, y, out, sizeof out)), "T.x:1 a.a:1 a.b:1 ");
    ck_assert_int_eq(summary_names_merge(a, 0, b, 0, out, sizeof out), 0);
    ck_assert_int_eq(summary_names_merge(a, x, b, y, out, 20), -EMSGSIZE);
}
END_TEST

START_TEST(what_is_none)
{
    size_t x = list("b.b a.a", a);
    ck_assert_int_eq(summary_names_check(a, x), -EPROTO);
    ck_assert_int_eq(summary_names_merge(a, x, b, 0, out, sizeof out), -EPROTO);
    x = list("a.a", a);
    ck_assert_int_eq(summary_names_check(a, x), 0);
    ck_assert_int_eq(summary_names_check(a, x - 1), -EPROTO);
    a[5] = 0; /* on no server */
    ck_assert_int_eq(summary_names_check(a, x), -EPROTO);
    ck_assert(summary_name_valid("a", 1));
    ck_assert(!summary_name_valid("a b", 3) && !summary_name_valid("", 0));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(lists_of_both), SUITE_TEST(what_is_none)};
SUITE_MAIN("summary_names", tests)
