/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(counts_words)
{
    struct fake_net *net = stream_town_open(NULL);
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        stream_town_put(s, s % 2 == 0 ? "to be or not to be" : "Be! not;");
    }
    const struct fake_result *r = stream_town_ask(net, 4, "run from=in to=1,1,0:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(stream_town_result(4), "be\t14\nnot\t9\nor\t5\nto\t10\n");
    ck_assert(fake_int(r, 0, "counted") == 9 && fake_int(r, 0, "members") == 9 && fake_int(r, 0, "keys") == 4);
    ck_assert(fake_int(r, 0, "attempts") == 1 && fake_int(r, 0, "records") == 38);
    ck_assert_str_eq(fake_text(r, 0, "root"), "1,1,0");
    r = stream_town_ask(net, 0, "run from=in to=0,0,0:out top=2 of=0,0,0 of=0,1,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(stream_town_result(0), "be\t3\nnot\t2\n");
    stream_town_close(net);
}
END_TEST

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

/* Keys that no two servers have go straight to those who write them, equal ones over trees, unless told otherwise. */
START_TEST(finds_its_way)
{
    static const char *const ways[] = {"auto", "trees", "direct"};
    struct fake_net *net = stream_town_open(NULL);
    for (unsigned i = 0; i < 6; i++) {
        char line[100], text[1500] = "";
        for (cw_server s = 0; s < STREAM_TOWN; s++) {
            for (unsigned k = 0, at = 0; k < 100; k++) {
                at += (unsigned)sprintf(text + at, "w%u%c ", k, i < 3 ? 'x' : (char)('a' + s));
            }
            stream_town_put(s, text);
        }
        snprintf(line, sizeof line, "run from=in to=each:out path=%s", ways[i % 3]);
        const struct fake_result *r = stream_town_ask(net, 4, line);
        ck_assert_int_eq(r->rc, 0);
        ck_assert_str_eq(fake_text(r, 0, "path"), i % 3 == 2 || i == 3 ? "direct" : "trees");
        ck_assert(fake_int(r, 0, "keys") == (i < 3 ? 100 : 900) && fake_int(r, 0, "attempts") == 1);
    }
    stream_town_close(net);
}
END_TEST

START_TEST(seen_and_cancelled)
{
    static struct fake_result r;
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(3000);
    stream_town_begin(net, 2, "run map=kv from=in to=0,0,0:out", &r);
    fake_net_run(net, CW_US(100));
    const struct fake_result *look = stream_town_ask(net, 2, "status");
    ck_assert_str_eq(fake_text(look, 0, "role"), "desk");
    ck_assert_str_eq(fake_text(look, 0, "state"), "inputs are read");
    ck_assert(strstr(fake_text(look, 0, "waits_for"), "1,1,0") != NULL);
    ck_assert_int_eq(stream_town_ask(net, 2, "cancel 7")->rc, -ENOENT);
    ck_assert_int_eq(stream_town_ask(net, 2, "cancel 1")->rc, 0);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, -ECANCELED);
    ck_assert_str_eq(stream_town_result(0), "-");
    fake_net_run(net, CW_SEC(2));
    ck_assert_uint_eq(stream_town_at(net, 5)->task_count, 0);
    stream_town_close(net);
}
END_TEST

START_TEST(reasons_are_sentences)
{
    for (int e = 1; e < 133; e++) {
        ck_assert_uint_gt(strlen(muster_reason(-e)), 3);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(counts_words),       SUITE_TEST(maps_and_combines),
                                          SUITE_TEST(mistakes),           SUITE_TEST(finds_its_way),
                                          SUITE_TEST(seen_and_cancelled), SUITE_TEST(reasons_are_sentences)};
SUITE_MAIN("asker", tests)
