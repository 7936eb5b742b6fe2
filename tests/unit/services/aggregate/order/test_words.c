/* SPDX-License-Identifier: Apache-2.0 */
/* test_words.c - what operators may write, and what they are told when they may not. */
#include "order_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

static void refused(const char *line, const char *why)
{
    const struct fake_result *r = order_town_ask(net, 0, line);
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert_msg(strstr(fake_text(r, 0, "error"), why) != NULL, "%s: %s", line, fake_text(r, 0, "error"));
}

START_TEST(refusals)
{
    net = order_town_open(NULL);
    refused("reduce", "expected: reduce OP TYPE");
    refused("reduce sum uint64 from=v", "expected: reduce OP TYPE");
    refused("reduce sum uint64 from=v to=0,0,0", "expected: reduce OP TYPE");
    refused("reduce summ uint64 from=v to=0,0,0:o", "'summ' is no operation: there are sum");
    refused("reduce sum float from=v to=0,0,0:o", "'float' is no type: there are float32");
    refused("reduce and float32 from=v to=0,0,0:o", "and is not for float32");
    refused("reduce sum uint64 from=/v to=0,0,0:o", "from: the name of a file");
    refused("reduce sum uint64 from=v to=0,0,0:", "to: the name of a file");
    refused("reduce sum uint64 from=v to=0,0,9:o", "'0,0,9' is not a server of this torus");
    refused("reduce sum uint64 from=v to=0,0,0:o of=5", "'5' is not a server of this torus");
    refused("reduce sum uint64 from=v to=0,0,0:o limit_ms=0", "limit_ms is a whole number");
    refused("reduce sum uint64 from=v to=0,0,0:o speed=9", "not 'speed=9'");
    refused("check bytes=7", "bytes is a whole number from 8");
    refused("check to=0,0,0:file", "expected: check");
    refused("check without=2", "not 'without=2'");
    refused("check order=random", "not 'order=random'");
    refused("cancel", "expected: cancel ID");
    refused("cancel x", "expected: cancel ID");
    order_town_close(net);
}
END_TEST

START_TEST(read_them)
{
    struct wanted w;
    struct fake_result r;
    struct orders o = {.memory_most = ORDERS_MEMORY, .self = 3};
    const char *const words[] = {"reduce",   "max",      "int16",     "from=a/b",      "to=1,2,0:c",
                                 "of=0,0,0", "of=2,2,0", "without=1", "limit_ms=1500", "order=fixed"};
    fake_result_init(&r);
    ck_assert_int_eq(torus_init(&o.torus, (cw_dims){3, 3, 1}), 0);
    ck_assert_int_eq(words_reduce(&o, (cw_request *)(void *)&r, 10, words, &w), 0);
    ck_assert_uint_eq(w.look.spec.combine, CW_COMBINE_MAX);
    ck_assert_uint_eq(w.look.spec.type, CW_NUMBER_INT16);
    ck_assert_uint_eq(w.look.spec.flags, CW_REDUCE_WITHOUT | CW_REDUCE_FIXED);
    ck_assert_uint_eq(w.look.root, 5);
    ck_assert_uint_eq(w.look.limit_ms, 1500);
    ck_assert_uint_eq(w.members[0], 1 | 1 << 8);
    ck_assert_str_eq(w.look.from, "a/b");
    ck_assert_str_eq(w.look.to, "c");
    const char *const check[] = {"check"};
    ck_assert_int_eq(words_check(&o, (cw_request *)(void *)&r, 1, check, &w), 0);
    ck_assert_uint_eq(w.look.root, 3);
    ck_assert_uint_eq(w.members[0], 0x1ff);
}
END_TEST

START_TEST(reasons)
{
    ck_assert_ptr_nonnull(strstr(words_reason(-ENOENT), "no such file"));
    ck_assert_ptr_nonnull(strstr(words_end(-ETIMEDOUT), "limit"));
    ck_assert_ptr_nonnull(strstr(words_end(-EFBIG), "memory"));
    ck_assert_ptr_nonnull(strstr(words_store(-ENOENT), "no such folder"));
    ck_assert_ptr_nonnull(strstr(words_store(-EISDIR), "a folder has that name"));
    ck_assert_str_eq(words_store(-EIO), strerror(EIO));
    ck_assert_str_eq(words_reason(-EDOM), strerror(EDOM));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(refusals), SUITE_TEST(read_them), SUITE_TEST(reasons)};
SUITE_MAIN("words", tests)
