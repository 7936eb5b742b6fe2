/* SPDX-License-Identifier: Apache-2.0 */
#include "query_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

START_TEST(scalars)
{
    net = query_town_open();
    const struct fake_result *r = query_town_ask(net, 0, "query max t.a");
    ck_assert_str_eq(fake_text(r, 0, "what"), "sum");
    ck_assert_str_eq(fake_text(r, 0, "at"), "2,2,0");
    ck_assert_int_eq(fake_int(r, 0, "with_source"), 9);
    r = query_town_ask(net, 0, "query mean t.odd");
    ck_assert_int_eq(fake_int(r, 0, "value"), 4);
    r = query_town_ask(net, 0, "query mean t.a on=0,0,0 on=0,1,0 on=0,2,0 on=2,2,0");
    ck_assert_str_eq((fake_int(r, 0, "answered") == 4 ? "4" : ""), "4");
    ck_assert_int_eq(fake_int(r, 0, "value"), 3750);
    r = query_town_ask(net, 0, "query mean t.odd on=0,1,0 on=1,0,0 on=1,2,0 on=2,1,0 on=0,0,0");
    ck_assert_int_eq(fake_int(r, 0, "with_source"), 4);
    r = query_town_ask(net, 0, "query sum t.took");
    ck_assert_int_eq(fake_int(r, 0, "value_ns"), (9 * 45 + 10 * 36) * CW_MS(1).ns);
    query_town_feed(net, 3, "x", "0.25\nno\n");
    r = query_town_ask(net, 0, "query sum x");
    ck_assert_str_eq(fake_text(r, 0, "value"), "0.25");
    ck_assert_int_eq(fake_int(r, 0, "no_numbers"), 1);
    query_town_feed(net, 3, "y", "no\n");
    r = query_town_ask(net, 0, "query mean y");
    ck_assert(!fake_has(r, 0, "value"));
    query_town_close(net);
}
END_TEST

START_TEST(rows)
{
    net = query_town_open();
    const struct fake_result *r = query_town_ask(net, 0, "query sum t.a by=x");
    ck_assert_uint_eq(query_town_rows(r, "row"), 3);
    ck_assert_str_eq(fake_text(r, 3, "group"), "x=2");
    ck_assert_int_eq(fake_int(r, 3, "value"), 24000);
    r = query_town_ask(net, 5, "query count t.took by=server on=1,1,0 on=0,0,0");
    ck_assert_uint_eq(query_town_rows(r, "row"), 2);
    ck_assert_str_eq(fake_text(r, 2, "group"), "1,1,0");
    ck_assert_int_eq(fake_int(r, 2, "value"), 10);
    r = query_town_ask(net, 0, "query top t.a k=2");
    ck_assert_uint_eq(query_town_rows(r, "row"), 2);
    ck_assert_str_eq(fake_text(r, 1, "item"), "2,2,0");
    ck_assert_int_eq(fake_int(r, 1, "error_most"), 0);
    r = query_town_ask(net, 0, "query quantile t.took p=0 p=0.5 p=1");
    ck_assert_uint_eq(query_town_rows(r, "row"), 3);
    ck_assert_str_eq(fake_text(r, 2, "quantile"), "0.5");
    ck_assert_int_gt(fake_int(r, 2, "value_ns"), CW_MS(7).ns);
    ck_assert_int_lt(fake_int(r, 2, "value_ns"), CW_MS(10).ns);
    r = query_town_ask(net, 0, "query histogram t.a");
    int64_t count = 0;
    for (unsigned row = 1; row < r->rows; row++) {
        count += fake_int(r, row, "count");
        ck_assert_int_gt(fake_int(r, row, "up_to"), fake_int(r, row, "above"));
    }
    ck_assert_int_eq(count, 9);
    query_town_feed(net, 3, "x", "a\001b\n");
    r = query_town_ask(net, 0, "query top x");
    ck_assert_str_eq(fake_text(r, 1, "item"), "a\\x01b");
    query_town_close(net);
}
END_TEST

START_TEST(names_and_those_who_are_missing)
{
    net = query_town_open();
    const struct fake_result *r = query_town_ask(net, 0, "query list on=0,0,0 on=0,1,0");
    ck_assert_uint_eq(query_town_rows(r, "row"), 3);
    bool odd = false;
    for (unsigned row = 1; row < r->rows; row++) {
        odd = odd || (strcmp(fake_text(r, row, "source"), "t.odd") == 0 && fake_int(r, row, "servers") == 1 &&
                      strcmp(fake_text(r, row, "kind"), "counter") == 0);
    }
    ck_assert(odd);
    query_town_lose(net, 8);
    r = query_town_ask(net, 0, "query sum t.a");
    ck_assert_uint_eq(query_town_rows(r, "missing"), 1);
    ck_assert_str_eq(fake_text(r, 1, "server"), "2,2,0");
    ck_assert_str_eq(fake_text(r, 1, "reason"), "it is not in view");
    r = query_town_ask(net, 0, "query sum nothing.like.it");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "query list"));
    r = query_town_ask(net, 0, "query sum took");
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "did you mean t.took?"));
    r = query_town_ask(net, 0, "query sum t.o"); /* the nearest first */
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "did you mean t.odd or t.a?"));
    query_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(scalars), SUITE_TEST(rows),
                                          SUITE_TEST(names_and_those_who_are_missing)};
SUITE_MAIN("telling", tests)
