/* SPDX-License-Identifier: Apache-2.0 */
#include "sanitized.h"
#include "services/aggregate/stream/lead.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 1500, ALL = 0x1ff, LOST = 8 };
#define RUN "run map=kv from=in to=0,0,0:out copies=copy-% of=0,0,0 of=1,0,0 of=2,0,0 of=0,1,0 of=1,1,0 of=2,2,0"
enum { SIX = 0x15b };

/* Server `at` has a copy of the input of LOST; damaged: of another one. */
static void copy_to(cw_server at, bool damaged)
{
    static char text[(LINES + 1) * 24];
    size_t used = (size_t)snprintf(text, sizeof text, "all\t1\n");
    for (unsigned i = damaged ? 1 : 0; i < LINES; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "s%dk%u\t%u\n", LOST, i, i);
    }
    stream_disk_put(&stream_disks[at], "copy-2,2,0", text, used);
}

/* The run, at whose instant `us` the server is lost, and then another one, if there is one. */
static const struct fake_result *lose_at(struct fake_net *net, const char *words, int us, cw_server then)
{
    static struct fake_result r;
    stream_town_begin(net, 1, words, &r);
    fake_net_run(net, CW_US(us));
    stream_town_lose(net, LOST);
    if (then != CW_SERVER_NONE) {
        fake_net_run(net, CW_US(37 * us % 600));
        stream_town_lose(net, then);
    }
    fake_net_finish(net, &r);
    return &r;
}

START_TEST(one_stands_in)
{
    unsigned stood = 0;
    for (int us = 20; us < 340; us += SANITIZED ? 80 : 20) {
        struct fake_net *net = stream_town_open(NULL);
        stream_town_fill(LINES);
        copy_to(4, false); /* the nearest ones have none */
        const struct fake_result *r = lose_at(net, RUN, us, CW_SERVER_NONE);
        ck_assert_int_eq(r->rc, 0);
        ck_assert_int_eq(fake_int(r, 0, "counted"), 6);
        ck_assert(stream_town_right(0, LINES, SIX));
        if (fake_has(r, 0, "stood_in")) {
            ck_assert_str_eq(fake_text(r, 0, "stood_in"), "2,2,0 by 1,1,0");
            stood++;
        }
        ck_assert_uint_eq(r->rows, 1);
        fake_net_run(net, CW_SEC(2));
        stream_town_close(net);
    }
    ck_assert_uint_gt(stood, SANITIZED ? 0 : 5);
}
END_TEST

START_TEST(heirs_of_heirs)
{
    unsigned again = 0;
    for (int us = 20; us < 340; us += SANITIZED ? 80 : 20) {
        struct fake_net *net = stream_town_open(NULL);
        stream_town_fill(LINES);
        copy_to(5, false); /* it contributes nothing of its own */
        copy_to(3, false); /* 1,0,0 */
        const struct fake_result *r = lose_at(net, RUN, us, 5);
        ck_assert_msg(r->rc == 0, "%d", r->rc);
        ck_assert(stream_town_right(0, LINES, SIX));
        again += fake_has(r, 0, "stood_in") && strcmp(fake_text(r, 0, "stood_in"), "2,2,0 by 1,0,0") == 0;
        fake_net_run(net, CW_SEC(2));
        stream_town_close(net);
    }
    ck_assert_uint_gt(again, SANITIZED ? 0 : 5);
}
END_TEST

START_TEST(nobody_has_a_copy)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    const struct fake_result *r = lose_at(net, RUN, 250, CW_SERVER_NONE);
    ck_assert_int_eq(r->rc, -ECONNRESET);
    ck_assert_msg(strstr(fake_text(r, 0, "error"),
                         "server 2,2,0 has died, restarted or left, and nobody in view can read its copy "
                         "(copy-%)") != NULL,
                  "%s", fake_text(r, 0, "error"));
    ck_assert_str_eq(stream_town_result(0), "-");
    ck_assert_int_lt(fake_int(r, 0, "took_ns"), CW_SEC(1).ns);
    fake_net_run(net, CW_SEC(2));
    stream_town_close(net);
    net = stream_town_open(NULL); /* or without it */
    stream_town_fill(LINES);
    r = lose_at(net, RUN " without=1", 250, CW_SERVER_NONE);
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(fake_text(r, 1, "state"), "not counted");
    ck_assert(stream_town_right(0, LINES, SIX & ~(1u << LOST)));
    fake_net_run(net, CW_SEC(2));
    stream_town_close(net);
}
END_TEST

/* What is there under the name of the copy must be what was read before. */
START_TEST(another_file)
{
    for (int i = 0; i < 2; i++) {
        struct fake_net *net = stream_town_open(NULL);
        stream_town_fill(LINES);
        copy_to(2, true);
        if (i == 1) {
            copy_to(4, false);
        }
        stream_town_put(3, "slow\t1\n");
        const struct fake_result *r = lose_at(net, RUN, 250, CW_SERVER_NONE);
        if (i == 0) {
            ck_assert_int_eq(r->rc, -ECONNRESET);
            ck_assert_msg(strstr(fake_text(r, 0, "error"), "its copy (copy-%); server 0,2,0: it has another file") !=
                              NULL,
                          "%s", fake_text(r, 0, "error"));
        } else {
            ck_assert_int_eq(r->rc, 0);
            ck_assert_str_eq(fake_text(r, 0, "stood_in"), "2,2,0 by 1,1,0");
        }
        fake_net_run(net, CW_SEC(2));
        stream_town_close(net);
    }
}
END_TEST

START_TEST(mistakes)
{
    struct fake_net *net = stream_town_open(NULL);
    const struct fake_result *r = stream_town_ask(net, 0, "run from=in to=0,0,0:out copies=copy");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert(strstr(fake_text(r, 0, "error"), "a name with % in place of the server") != NULL);
    r = stream_town_ask(net, 0, "run from=feed:lines to=0,0,0:out copies=copy-%");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert(strstr(fake_text(r, 0, "error"), "there are none") != NULL);
    stream_town_close(net);
}
END_TEST

/* Where not all have room, it says how many others there are. */
START_TEST(a_long_list)
{
    struct fake_net *net = stream_town_open(NULL);
    struct lead *l = lead_make(stream_town_at(net, 0));
    char text[100];
    ck_assert_ptr_nonnull(l);
    for (cw_server s = 1; s < STREAM_TOWN; s++) {
        trees_set_add(l->counted, s);
        l->by[s] = 0;
    }
    heir_text(l, text, sizeof text);
    ck_assert_msg(strncmp(text, "0,1,0 by 0,0,0; 0,2,0 by 0,0,0", 30) == 0 && strstr(text, "; and ") != NULL &&
                      strstr(text, " others") != NULL,
                  "%s", text);
    lead_free(l);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_long_list),    SUITE_TEST(one_stands_in),
                                          SUITE_TEST(heirs_of_heirs), SUITE_TEST(nobody_has_a_copy),
                                          SUITE_TEST(another_file),   SUITE_TEST(mistakes)};
SUITE_MAIN("heir", tests)
