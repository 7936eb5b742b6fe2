/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/command.h"

#include "store_town.h"
#include "suite.h"

#include <string.h>

static struct fake_net *net;

static void refused(const char *line, const char *why)
{
    const struct fake_result *r = store_town_ask(net, 0, line);
    ck_assert_msg(r->rc < 0, "%s", line);
    ck_assert_msg(strstr(fake_text(r, 0, "error"), why) != NULL, "%s: %s", line, fake_text(r, 0, "error"));
}

START_TEST(refusals_say_what_is_wrong)
{
    net = store_town_open(3);
    refused("fetch a", "there are: create, get");
    refused("get", "get takes a name behind it");
    refused("put a", "put takes a name and a value behind it");
    refused("cas a 1", "cas takes a name, a version and a value behind it");
    refused("create disk", "there is a store already");
    refused("create tape", "a store is on 'disk' or in 'memory': 'tape'");
    refused("create", "a store is on 'disk'");
    refused("create memory copies=5", "copies is a whole number from 3 to 4");
    refused("create memory", "there is a store already");
    store_town_close(net);
}
END_TEST

START_TEST(what_is_told)
{
    net = store_town_open(3);
    store_town_must(net, 0, "put a one flags=7", CW_STORE_OK);
    const struct fake_result *r = store_town_ask(net, 1, "get a form=base64");
    ck_assert_str_eq(fake_text(r, 0, "base64"), "b25l");
    ck_assert_int_eq(fake_int(r, 0, "flags"), 7);
    r = store_town_ask(net, 1, "head a");
    ck_assert_int_eq(fake_int(r, 0, "bytes"), 3);
    ck_assert(!fake_has(r, 0, "value"));
    store_town_must(net, 1, "get a job=5001", CW_STORE_NOT_FOUND); /* another job's */
    cw_server member[STORE_COPIES_MOST];
    store_town_members(net, "a", member);
    r = store_town_ask(net, member[0], "explain a");
    ck_assert_uint_eq(r->rows, 3);
    ck_assert_str_eq(fake_text(r, 0, "role"), "leads");
    ck_assert_str_eq(fake_text(r, 0, "holds"), "a value");
    r = store_town_ask(net, member[0], "status");
    ck_assert_int_eq(fake_int(r, 0, "registers"), 1);
    ck_assert_int_eq(fake_int(r, 0, "leading"), 1);
    ck_assert_int_eq(fake_int(r, 0, "member_of"), 3 * STORE_SHARDS_PER_SERVER);
    store_town_must(net, 1, "put b two", CW_STORE_OK);
    r = store_town_ask(net, 1, "list");
    ck_assert_uint_eq(r->rows, 3);
    ck_assert_str_eq(fake_text(r, 0, "name"), "a");
    ck_assert_int_eq(fake_int(r, 0, "flags"), 7);
    ck_assert_int_eq(fake_int(r, 2, "names"), 2);
    ck_assert_int_eq(fake_int(r, 2, "more"), 0);
    r = store_town_ask(net, 1, "list a limit=1 form=base64");
    ck_assert_str_eq(fake_text(r, 0, "base64"), "YQ==");
    ck_assert_uint_eq(store_town_ask(net, 2, "list b after=b")->rows, 1);
    r = store_town_ask(net, 1, "watch b");
    ck_assert_uint_eq(r->rows, 2);
    ck_assert_str_eq(fake_text(r, 0, "name"), "b");
    ck_assert_uint_eq(strlen(fake_text(r, 1, "cursor")), 48);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(refusals_say_what_is_wrong),
    SUITE_TEST(what_is_told),
};
SUITE_MAIN("store command", tests)
