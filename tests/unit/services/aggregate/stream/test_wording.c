/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(maps_and_combines)
{
    struct fake_net *net = stream_town_open(NULL);
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        stream_town_put(s, s == 3 ? "b\t-7\na\t40" : "a\t5\nb\t2\nb\t3\n");
    }
    ck_assert_int_eq(stream_town_ask(net, 1, "run map=kv combine=max from=in to=0,0,0:out partitions=1")->rc, 0);
    ck_assert_str_eq(stream_town_result(0), "a\t40\nb\t3\n");
    ck_assert_int_eq(stream_town_ask(net, 1, "run map=kv combine=avg from=in to=0,0,0:out of=0,0,0 of=0,1,0")->rc, 0);
    ck_assert_str_eq(stream_town_result(0), "a\t5\nb\t2.5\n");
    ck_assert_int_eq(stream_town_ask(net, 1, "run map=kv combine=none from=in to=0,0,0:out of=1,0,0 of=0,0,0")->rc, 0);
    ck_assert_str_eq(stream_town_result(0), "a\t40\na\t5\nb\t-7\nb\t2\nb\t3\n");
    stream_town_close(net);
}
END_TEST

static void refused(struct fake_net *net, const char *line, int rc, const char *says)
{
    const struct fake_result *r = stream_town_ask(net, 0, line);
    ck_assert_int_eq(r->rc, rc);
    ck_assert_msg(strstr(fake_text(r, 0, "error"), says) != NULL, "%s", fake_text(r, 0, "error"));
}

START_TEST(mistakes)
{
    struct fake_net *net = stream_town_open(NULL);
    refused(net, "run", -EINVAL, "expected: run from=FILE");
    refused(net, "run from=in", -EINVAL, "expected: run");
    refused(net, "run from=/in to=0,0,0:out", -EINVAL, "from: the name of a file");
    refused(net, "run from=in to=0,0,0", -EINVAL, "to: expected SERVER:FILE");
    refused(net, "run from=in to=0,0,5:out", -EINVAL, "'0,0,5' is not a server");
    refused(net, "run from=in to=0,0,0:out map=wrds", -EINVAL, "'wrds' is no mapper");
    refused(net, "run from=in to=0,0,0:out combine=topk", -EINVAL, "'topk' is no combination");
    refused(net, "run from=in to=0,0,0:out path=short", -EINVAL, "path: records go over trees");
    refused(net, "run from=in to=0,0,0:out top=x", -EINVAL, "top is a whole number");
    refused(net, "run from=in to=0,0,0:out partitions=0", -EINVAL, "partitions is a whole number");
    refused(net, "run from=in to=0,0,0:out limit_ms=0", -EINVAL, "limit_ms is a whole number");
    refused(net, "run from=in to=0,0,0:out of=9", -EINVAL, "'9' is not a server");
    refused(net, "run from=in to=0,0,0:out what", -EINVAL, "not 'what'");
    refused(net, "run from=in to=0,0,0:out", -ENOENT, "server 0,0,0, in: there is no such file");
    stream_town_close(net);
    net = stream_town_open((const char *const[]){"spool=/s", NULL});
    refused(net, "run from=in to=0,0,0:out", -EOPNOTSUPP, "no data folder is set there");
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(maps_and_combines), SUITE_TEST(mistakes)};
SUITE_MAIN("wording", tests)
