/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/lead.h"
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

/* Keys that no two servers have go over trees of shortest ways, equal ones over others, unless told otherwise. */
START_TEST(finds_its_way)
{
    static const char *const ways[] = {"auto", "trees", "direct", "shortest"};
    struct fake_net *net = stream_town_open(NULL);
    for (unsigned i = 0; i < 8; i++) {
        char line[100], text[1500] = "";
        for (cw_server s = 0; s < STREAM_TOWN; s++) {
            for (unsigned k = 0, at = 0; k < 100; k++) {
                at += (unsigned)sprintf(text + at, "w%u%c ", k, i < 4 ? 'x' : (char)('a' + s));
            }
            stream_town_put(s, text);
        }
        snprintf(line, sizeof line, "run from=in to=each:out path=%s", ways[i % 4]);
        const struct fake_result *r = stream_town_ask(net, 4, line);
        ck_assert_int_eq(r->rc, 0);
        ck_assert_str_eq(fake_text(r, 0, "path"), i % 4 != 0 ? ways[i % 4] : i == 4 ? "shortest" : "trees");
        ck_assert(fake_int(r, 0, "keys") == (i < 4 ? 100 : 900) && fake_int(r, 0, "attempts") == 1);
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

static const struct suite_test tests[] = {SUITE_TEST(counts_words), SUITE_TEST(finds_its_way),
                                          SUITE_TEST(seen_and_cancelled), SUITE_TEST(reasons_are_sentences)};
SUITE_MAIN("asker", tests)
