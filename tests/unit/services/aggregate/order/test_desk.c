/* SPDX-License-Identifier: Apache-2.0 */
/* test_desk.c - one server is asked, all take part, and what they say becomes rows. */
#include "order_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

static void setup(void)
{
    net = order_town_open(NULL);
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_town_fill(s, 900);
    }
}

/* Is the file that was stored at the server the sum of the vectors of this set? */
static bool right(cw_server at, unsigned set)
{
    const uint64_t *v = (const uint64_t *)(const void *)order_files[at].stored_bytes;
    for (unsigned i = 0; i < 900; i++) {
        uint64_t sum = 0;
        for (cw_server s = 0; s < ORDER_TOWN; s++) {
            sum += set >> s & 1 ? (s + 1) * UINT64_C(1000) + i : 0;
        }
        if (v[i] != sum) {
            return false;
        }
    }
    return order_files[at].stored_length == 900 * sizeof *v;
}

START_TEST(everybody)
{
    setup();
    const struct fake_result *r = order_town_ask(net, 2, "reduce sum uint64 from=v to=1,1,0:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, 0, "counted"), ORDER_TOWN);
    ck_assert_int_eq(fake_int(r, 0, "members"), ORDER_TOWN);
    ck_assert_int_eq(fake_int(r, 0, "elements"), 900);
    ck_assert_str_eq(fake_text(r, 0, "root"), "1,1,0");
    ck_assert_str_eq(order_files[4].stored, "out");
    ck_assert(right(4, 0x1ff));
    order_town_close(net);
}
END_TEST

/* Some of them; the root is none. */
START_TEST(some)
{
    setup();
    const struct fake_result *r = order_town_ask(net, 0, "reduce sum uint64 from=v to=0,0,0:o of=0,1,0 of=2,2,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, 0, "counted"), 2);
    order_files[3].length = 1; /* a root that is no member needs no file */
    r = order_town_ask(net, 0, "reduce sum uint64 from=v to=1,0,0:o of=0,1,0 of=2,2,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert(right(3, 1 << 1 | 1 << 8));
    ck_assert(right(0, 1 << 1 | 1 << 8));
    order_town_close(net);
}
END_TEST

/* The same everywhere; a server that cannot write it is named. */
START_TEST(to_all)
{
    setup();
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_town_fill(s, 100); /* what goes without the multicast, which is not here */
    }
    const struct fake_result *r = order_town_ask(net, 2, "reduce sum uint64 from=v to=all:out of=0,1,0 of=2,2,0");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(fake_text(r, 0, "root"), "0,1,0");
    ck_assert_str_eq(fake_text(r, 0, "to"), "all");
    ck_assert_uint_eq(order_files[1].stored_length, 800);
    ck_assert(memcmp(order_files[1].stored_bytes, order_files[8].stored_bytes, 800) == 0);
    ck_assert_uint_eq(order_files[2].stored_length, 0);
    r = order_town_ask(net, 2, "check bytes=1000 to=all");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, 0, "wrong_elements"), 0);
    order_town_close(net);
}
END_TEST

static unsigned rows_in(const struct fake_result *r, const char *state)
{
    unsigned n = 0;
    for (unsigned i = 1; i <= ORDER_TOWN; i++) {
        const char *its = fake_text(r, i, "state");
        n += its != NULL && strcmp(its, state) == 0;
    }
    return n;
}

/* The root cannot write the result, or some other server cannot: the others have it, and all are told by name. */
START_TEST(some_cannot_store)
{
    setup();
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_town_fill(s, 100);
    }
    order_files[2].store_error = -EISDIR; /* at the root */
    const struct fake_result *r = order_town_ask(net, 2, "reduce sum uint64 from=v to=all:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(fake_text(r, 0, "root"), "0,2,0");
    ck_assert_int_eq(fake_int(r, 0, "counted"), ORDER_TOWN);
    ck_assert_int_eq(fake_int(r, 0, "with_result"), ORDER_TOWN - 1);
    ck_assert_str_eq(fake_text(r, 1, "server"), "0,2,0");
    ck_assert_str_eq(fake_text(r, 1, "state"), "no result");
    ck_assert_str_eq(fake_text(r, 1, "reason"), "a folder has that name");
    ck_assert_uint_eq(rows_in(r, "has result"), ORDER_TOWN - 1);
    order_files[2].store_error = 0;
    order_files[7].store_error = -ENOSPC;
    r = order_town_ask(net, 2, "reduce sum uint64 from=v to=all:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_str_eq(fake_text(r, 1, "server"), "2,1,0");
    ck_assert_str_eq(fake_text(r, 1, "reason"), "there is no space left on its disk");
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_files[s].store_error = -ENOENT; /* nobody has it: there is no result */
    }
    r = order_town_ask(net, 2, "reduce sum uint64 from=v to=all:new/out");
    ck_assert_int_eq(r->rc, -ENOENT);
    ck_assert_str_eq(fake_text(r, 0, "error"),
                     "the result cannot be written to new/out on 0,2,0: there is no such folder below its data folder");
    ck_assert_uint_eq(rows_in(r, "no result"), ORDER_TOWN);
    order_town_close(net);
}
END_TEST

/* Nobody can be asked, and there is no timer to say so later: the request is answered all the same. */
START_TEST(no_timer)
{
    struct fake_result r;
    setup();
    order_town_lose(net, 7);
    size_t most = net->server[0]->timers_max;
    net->server[0]->timers_max = 0;
    fake_command(net->server[0], "check bytes=800 to=2,1,0 of=2,1,0", &r);
    ck_assert(r.done);
    ck_assert_int_eq(r.rc, -ENOBUFS);
    net->server[0]->timers_max = most;
    ck_assert_int_eq(order_town_ask(net, 0, "check bytes=800 to=2,1,0 of=2,1,0")->rc, -ENETUNREACH);
    order_town_close(net);
}
END_TEST

START_TEST(mistakes)
{
    setup();
    order_files[3].error = -EACCES;
    order_files[5].error = -EACCES;
    const struct fake_result *r = order_town_ask(net, 0, "reduce sum uint64 from=v to=0,0,0:o");
    ck_assert_int_eq(r->rc, -EACCES);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "server 1,0,0: the daemon there may not open"));
    ck_assert_str_eq(fake_text(r, 1, "server"), "1,0,0");
    ck_assert_str_eq(fake_text(r, 2, "server"), "1,2,0");
    order_files[3].error = order_files[5].error = 0;
    order_town_fill(5, 901);
    r = order_town_ask(net, 0, "reduce sum uint64 from=v to=0,0,0:o");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "differ in length"));
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "7208"));
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_files[s].length = 901;
    }
    r = order_town_ask(net, 0, "reduce sum uint64 from=v to=0,0,0:o");
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "no whole number of elements"));
    order_town_close(net);
}
END_TEST

START_TEST(dead)
{
    setup();
    order_town_lose(net, 7);
    const struct fake_result *r = order_town_ask(net, 0, "check bytes=8000");
    ck_assert_int_eq(r->rc, -ENETUNREACH);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "server 2,1,0: it is not in view"));
    r = order_town_ask(net, 0, "check bytes=8000 without=1");
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, 0, "counted"), ORDER_TOWN - 1);
    ck_assert_int_eq(fake_int(r, 0, "members"), ORDER_TOWN);
    ck_assert_int_eq(fake_int(r, 0, "wrong_elements"), 0);
    ck_assert_str_eq(fake_text(r, 1, "server"), "2,1,0");
    ck_assert_str_eq(fake_text(r, 1, "state"), "not counted");
    order_town_close(net);
}
END_TEST

/* Who has died is named, not the root that says so. */
START_TEST(dies)
{
    struct fake_result r;
    setup();
    fake_command(net->server[0], "check bytes=80000000", &r);
    fake_net_run(net, CW_MS(1));
    ck_assert(!r.done);
    order_town_lose(net, 7);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, -ECONNRESET);
    ck_assert_str_eq(fake_text(&r, 0, "error"),
                     "the reduction failed: a server that was part of it died, restarted or left (server 2,1,0)");
    order_town_close(net);
}
END_TEST

START_TEST(cancelled)
{
    struct fake_result r, stop;
    setup();
    fake_command(net->server[0], "check bytes=800000", &r);
    fake_command(net->server[0], "cancel 1", &stop); /* while it looks */
    ck_assert_int_eq(stop.rc, 0);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, -ECANCELED);
    fake_command(net->server[0], "check bytes=80000000", &r);
    fake_net_run(net, CW_MS(1)); /* while it runs */
    ck_assert(!r.done);
    fake_command(net->server[0], "status", &stop);
    ck_assert_str_eq(fake_text(&stop, 0, "role"), "desk");
    fake_command(net->server[0], "cancel 2", &stop);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, -ECANCELED);
    ck_assert_int_eq(order_town_ask(net, 0, "cancel 2")->rc, -ENOENT);
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(fake_int(order_town_ask(net, 3, "totals"), 0, "members"), 0);
    order_town_close(net);
}
END_TEST

/* Runs until a piece of the result has been written at the server. */
static void until_it_writes(cw_server s)
{
    for (unsigned i = 0; order_files[s].pieces == 0; i++) {
        ck_assert_uint_lt(i, 10000);
        fake_net_run(net, CW_US(20));
    }
}

/* Between two pieces of the result it is not too late: there is no file. After the last one it is. */
START_TEST(cancelled_while_it_writes)
{
    struct fake_result r, stop;
    setup();
    fake_command(net->server[4], "reduce sum uint64 from=v to=1,1,0:out", &r);
    until_it_writes(4);
    ck_assert(!r.done);
    fake_command(net->server[4], "cancel 1", &stop);
    ck_assert_int_eq(stop.rc, 0);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, -ECANCELED);
    ck_assert_uint_lt(order_files[4].pieces, 8);
    ck_assert_str_eq(order_files[4].stored, "");
    ck_assert_int_eq(order_town_ask(net, 4, "reduce sum uint64 from=v to=1,1,0:out")->rc, 0);
    ck_assert(right(4, 0x1ff));
    order_town_close(net);
}
END_TEST

START_TEST(cancelled_too_late)
{
    struct fake_result r, stop;
    setup();
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_town_fill(s, 10); /* one piece */
    }
    fake_command(net->server[4], "reduce sum uint64 from=v to=1,1,0:out", &r);
    until_it_writes(4);
    ck_assert(!r.done);
    fake_command(net->server[4], "cancel 1", &stop);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_int_eq(fake_int(&r, 0, "cancelled_late"), 1);
    ck_assert_str_eq(order_files[4].stored, "out");
    order_town_close(net);
}
END_TEST

/* The service closes while a result is being written. */
START_TEST(closed_while_it_writes)
{
    struct fake_result r;
    setup();
    fake_command(net->server[4], "reduce sum uint64 from=v to=1,1,0:out", &r);
    until_it_writes(4);
    order_town_close(net);
    ck_assert_str_eq(order_files[4].stored, "");
}
END_TEST

/* The service closes in the middle of it. */
START_TEST(closed)
{
    struct fake_result r;
    setup();
    fake_command(net->server[0], "check bytes=80000000", &r);
    fake_net_run(net, CW_MS(1));
    order_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(everybody),
                                          SUITE_TEST(some),
                                          SUITE_TEST(to_all),
                                          SUITE_TEST(mistakes),
                                          SUITE_TEST(dead),
                                          SUITE_TEST(dies),
                                          SUITE_TEST(cancelled),
                                          SUITE_TEST(cancelled_while_it_writes),
                                          SUITE_TEST(cancelled_too_late),
                                          SUITE_TEST(closed_while_it_writes),
                                          SUITE_TEST(some_cannot_store),
                                          SUITE_TEST(no_timer),
                                          SUITE_TEST(closed)};
SUITE_MAIN("desk", tests)
