/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that ask all servers. */
#include "kv_town.h"
#include "suite.h"

#include <string.h>

static struct fake_result r;

static void say(struct fake_net *net, cw_server at, const char *line)
{
    fake_command(net->server[at], line, &r);
    fake_net_run(net, CW_SEC(3));
    ck_assert(r.done);
}

START_TEST(every_server_has_a_row)
{
    struct fake_net *net = kv_town_open(5, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, kv_town_key(net, 3, 0), "value"), KV_OK);
    say(net, 2, "stats all");
    unsigned found = 0;
    for (unsigned i = 0; i < 5; i++) {
        if (strcmp(fake_text(&r, i, "server"), "3,0,0") == 0) {
            ck_assert_int_eq(fake_int(&r, i, "values"), 1);
        }
        found |= 1u << (fake_text(&r, i, "server")[0] - '0');
    }
    ck_assert_uint_eq(found, 31); /* each once */
    ck_assert_uint_eq(r.rows, 5);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(rates_of_all_servers_are_one_row)
{
    struct fake_net *net = kv_town_open(9, 8);
    const char *hot = kv_town_key(net, 4, 0), *warm = kv_town_key(net, 2, 0);
    ck_assert_int_eq(kv_town_do(net, 4, KV_SET, hot, "value"), KV_OK);
    for (unsigned i = 0; i < 400; i++) {
        ck_assert_int_eq(kv_town_do(net, i % 9, KV_GET, hot, NULL), KV_OK);
        if (i % 4 == 0) {
            kv_town_do(net, i % 9, KV_GET, warm, NULL);
        }
    }
    say(net, 7, "hot 2");
    ck_assert_str_eq(fake_text(&r, 0, "key"), hot);
    ck_assert_str_eq(fake_text(&r, 0, "root"), "4,0,0");
    ck_assert_str_ne(fake_text(&r, 0, "copies"), "");
    ck_assert_int_gt(fake_int(&r, 0, "per_second"), fake_int(&r, 0, "at_root_per_second"));
    ck_assert_str_eq(fake_text(&r, 1, "key"), warm);
    ck_assert_str_eq(fake_text(&r, 1, "root"), "2,0,0");
    ck_assert_uint_eq(r.rows, 2);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_flush_says_who_is_missing)
{
    struct fake_net *net = kv_town_open(3, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, "key", "value"), KV_OK);
    say(net, 1, "flush");
    ck_assert_str_eq(fake_text(&r, 0, "status"), "done");
    ck_assert_int_eq(fake_int(&r, 0, "servers"), 3);
    ck_assert_int_eq(kv_town_do(net, 2, KV_GET, "key", NULL), KV_MISS);
    net->lose = 1;
    say(net, 1, "flush job=9");
    ck_assert_str_eq(fake_text(&r, 0, "status"), "not all servers have answered");
    ck_assert_int_eq(fake_int(&r, 0, "missing"), 2);
    ck_assert_str_eq(fake_text(&r, 0, "first_missing"), "0,0,0");
    net->lose = 0;
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(every_server_has_a_row),
                                          SUITE_TEST(rates_of_all_servers_are_one_row),
                                          SUITE_TEST(a_flush_says_who_is_missing)};
SUITE_MAIN("overview", tests)
