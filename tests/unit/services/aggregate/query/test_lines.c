/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/lines.h"

#include "fake_host.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct fake_result r;

static int read_of(const char *line, struct lines *out)
{
    struct fake_words words = fake_words_of(line);
    ck_assert_int_eq(words.argc, LINES_WORDS);
    fake_result_init(&r);
    return lines_read((cw_request *)(void *)&r, words.argv, out);
}

START_TEST(reads_a_piece)
{
    struct lines l;
    ck_assert_int_eq(read_of("clicks keep_ms=3000 data=YQpiCg==", &l), 0);
    ck_assert_str_eq(l.name, "clicks");
    ck_assert_int_eq(l.keep.ns, CW_SEC(3).ns);
    ck_assert_uint_eq(l.length, 4);
    ck_assert_mem_eq(l.bytes, "a\nb\n", 4);
    free(l.bytes);
    ck_assert_int_eq(read_of("c keep_ms=100 data=", &l), 0);
    ck_assert_uint_eq(l.length, 0);
    free(l.bytes);
}
END_TEST

static void refused(const char *line, const char *says)
{
    struct lines l;
    ck_assert_int_eq(read_of(line, &l), -EINVAL);
    ck_assert_msg(strstr(fake_text(&r, 0, "error"), says) != NULL, "%s: %s", line, fake_text(&r, 0, "error"));
}

START_TEST(refuses)
{
    refused("a.b keep_ms=3000 data=", "a feed is called by 1 to 31 of");
    refused("a keep_ms=99 data=", "keep_ms from 100");
    refused("a keep=3000 data=", "expected: feed NAME");
    refused("a keep_ms=3000 date=", "expected: feed NAME");
    refused("a keep_ms=3000 data=?", "expected lines in base64");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reads_a_piece), SUITE_TEST(refuses)};
SUITE_MAIN("lines", tests)
