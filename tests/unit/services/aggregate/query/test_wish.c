/* SPDX-License-Identifier: Apache-2.0 */
#include "query_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

static void refused(const char *line, const char *says)
{
    const struct fake_result *r = query_town_ask(net, 0, line);
    ck_assert_msg(r->rc == -EINVAL, "%s: %d", line, r->rc);
    ck_assert_msg(strstr(fake_text(r, 0, "error"), says) != NULL, "%s: %s", line, fake_text(r, 0, "error"));
}

START_TEST(words_that_make_no_sense)
{
    net = query_town_open();
    refused("query", "expected count, sum");
    refused("query median x", "not 'median'");
    refused("query sum", "sum of what?");
    refused("query sum t.a by=w", "expected x, y, z or server");
    refused("query sum t.a on=9,0,0", "'9,0,0' is not a server");
    refused("query sum t.a within_ms=1", "within is from 20 ms");
    refused("query sum t.a k=3", "not 'k=3'");
    refused("query top t.a k=0", "from 1 to 1000");
    refused("query quantile t.a", "which quantile?");
    refused("query quantile t.a p=1.1", "from 0 to 1");
    refused("query list by=x", "not 'by=x'");
    refused("query quantile t.a p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0 p=0", "at most 16");
    query_town_close(net);
}
END_TEST

START_TEST(what_is_read)
{
    static const char *const words[] = {"query", "quantile", "a.b", "p=0.5", "p=99%", "by=server", "within_ms=50"};
    struct wish w;
    net = query_town_open();
    const struct query *q = query_town_of(net, 0);
    ck_assert_int_eq(wish_read(q, NULL, 7, words, &w), 0);
    ck_assert_int_eq(w.op, WISH_QUANTILE);
    ck_assert_str_eq(w.source, "a.b");
    ck_assert(w.quantiles == 2 && w.ppm[0] == 500000 && w.ppm[1] == 990000);
    ck_assert_int_eq(w.by, LETTER_BY_SERVER);
    ck_assert_int_eq(w.within.ns, CW_MS(50).ns);
    ck_assert_uint_eq(w.on[0], 0x1ff);
    ck_assert_int_eq(wish_summary(w.op), SUMMARY_HISTOGRAM);
    ck_assert_str_eq(wish_name(w.op), "quantile");
    query_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(words_that_make_no_sense), SUITE_TEST(what_is_read)};
SUITE_MAIN("wish", tests)
