/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

START_TEST(one_result_of_a_name)
{
    static struct fake_result first;
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(500);
    stream_town_begin(net, 1, "run map=kv from=in to=0,0,0:out", &first);
    const struct fake_result *r = stream_town_ask(net, 2, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, -EBUSY);
    ck_assert(strstr(fake_text(r, 0, "error"), "another run is about to write") != NULL);
    fake_net_finish(net, &first);
    ck_assert_int_eq(first.rc, 0);
    stream_town_close(net);
}
END_TEST

START_TEST(who_is_not_there)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(5);
    stream_town_lose(net, 8);
    const struct fake_result *r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, -ENETUNREACH);
    ck_assert(strstr(fake_text(r, 0, "error"), "server 2,2,0, in: it is not in view") != NULL);
    r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out without=1");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, 0, "counted"), 8);
    ck_assert_str_eq(fake_text(r, 1, "server"), "2,2,0");
    ck_assert(stream_town_right(0, 5, 0xff));
    r = stream_town_ask(net, 1, "run map=kv from=in to=2,2,0:out without=1");
    ck_assert_int_eq(r->rc, -ENETUNREACH);
    ck_assert(strstr(fake_text(r, 0, "error"), "server 2,2,0, which is to write the result") != NULL);
    stream_town_close(net);
}
END_TEST

START_TEST(one_dies_while_others_prepare)
{
    for (unsigned i = 0; i < 2; i++) {
        static struct fake_result r;
        struct fake_net *net = stream_town_open(NULL);
        stream_town_fill(5);
        stream_town_put(3, "");
        char *large = malloc(3000001);
        memset(large, 'x', 3000000);
        for (int k = 100; k < 3000000; k += 100) {
            large[k] = '\n';
        }
        large[3000000] = '\0';
        stream_town_put(5, large); /* it takes long */
        free(large);
        stream_town_begin(
            net, 1, i == 0 ? "run map=lines from=in to=0,0,0:out" : "run map=lines from=in to=0,0,0:out without=1", &r);
        fake_net_run(net, CW_MS(5));
        stream_town_lose(net, 3); /* it has prepared */
        fake_net_finish(net, &r);
        ck_assert_int_eq(r.rc, i == 0 ? -ECONNRESET : 0);
        ck_assert_str_eq(fake_text(&r, 1, "server"), "1,0,0");
        stream_town_close(net);
    }
}
END_TEST

START_TEST(no_room)
{
    static const char *const options[][5] = {{"data=/d", "spool=/s", "memory=2M", "job_memory=9M", NULL},
                                             {"data=/d", "spool=/s", "memory=2M", NULL}};
    for (unsigned job = 0; job < 2; job++) {
        struct fake_net *net = stream_town_open(options[job]);
        stream_town_fill(5);
        const struct fake_result *r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out");
        ck_assert_int_eq(r->rc, job ? -ENOSR : -ENOBUFS);
        ck_assert(strstr(fake_text(r, 0, "error"), job ? "job 8 may have 1000000 bytes" : "option memory") != NULL);
        stream_town_close(net);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_result_of_a_name), SUITE_TEST(who_is_not_there),
                                          SUITE_TEST(one_dies_while_others_prepare), SUITE_TEST(no_room)};
SUITE_MAIN("muster", tests)
