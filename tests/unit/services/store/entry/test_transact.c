/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/transact.h"

#include "store_town.h"
#include "suite.h"

#include <string.h>

static const struct fake_result *must(struct fake_net *net, const char *line, int64_t code)
{
    const struct fake_result *r = store_town_ask(net, 1, line);
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(fake_int(r, r->rows - 1, "code"), code);
    return r;
}

static void refused(struct fake_net *net, const char *line, const char *why)
{
    const struct fake_result *r = store_town_ask(net, 1, line);
    ck_assert_int_lt(r->rc, 0);
    ck_assert_msg(strstr(r->field[0].text, why) != NULL, "%s: %s", line, r->field[0].text);
}

START_TEST(words)
{
    struct fake_net *net = store_town_open(3);
    const struct fake_result *r = must(net, "txn put {a}if if flags=7 ttl_ms=60000 delete {a}x job=5001", CW_STORE_OK);
    ck_assert_str_eq(fake_text(r, 0, "step"), "put");
    ck_assert_str_eq(fake_text(r, 1, "name"), "{a}x");
    r = must(net, "txn get {a}if job=5001 form=base64", CW_STORE_OK);
    ck_assert_int_eq(fake_int(r, 0, "flags"), 7);
    ck_assert_str_eq(fake_text(r, 0, "base64"), "aWY=");
    r = must(net, "txn get {a}if", CW_STORE_OK);
    ck_assert_int_eq(fake_int(r, 0, "code"), CW_STORE_NOT_FOUND);
    r = must(net, "txn key=base64 form=base64 put e2F9eQ== dmFsdWU=", CW_STORE_OK);
    ck_assert_str_eq(fake_text(r, 0, "name_base64"), "e2F9eQ==");
    r = must(net, "txn if {a}y absent get {a}y", CW_STORE_CONFLICT);
    ck_assert_uint_eq(r->rows, 1);
    ck_assert_int_eq(fake_int(r, 0, "guard"), 1);
    ck_assert_str_eq(fake_text(must(net, "txn get {a}y", CW_STORE_OK), 0, "value"), "value");
    store_town_close(net);
}
END_TEST

static struct fake_result whole;

static int ask_whole(struct fake_net *net, int argc, const char *const *argv)
{
    fake_result_init(&whole);
    int rc = store_transact(store_town_of(net, 1), (cw_request *)&whole, argc, argv);
    fake_net_run(net, CW_SEC(1));
    ck_assert(whole.done || rc < 0);
    return rc;
}

/* Clauses of one word each, as a shell gives them. */
START_TEST(whole_clauses)
{
    const char *const put[] = {"txn", "put {a}x some words", "flags=3", "if {a}x absent", "delete {a}y"};
    const char *const get[] = {"txn", "if {a}x exists", "get {a}x"}, *const more[] = {"txn", "get {a}x now"};
    struct fake_net *net = store_town_open(3);
    ck_assert_int_eq(ask_whole(net, 5, put), 1);
    ck_assert_int_eq(fake_int(&whole, 2, "code"), CW_STORE_OK);
    ck_assert_int_eq(ask_whole(net, 3, get), 1);
    ck_assert_str_eq(fake_text(&whole, 0, "value"), "some words");
    ck_assert_int_eq(fake_int(&whole, 0, "flags"), 3);
    ck_assert_int_lt(ask_whole(net, 2, more), 0);
    store_town_close(net);
}
END_TEST

START_TEST(mistakes)
{
    struct fake_net *net = store_town_open(3);
    refused(net, "txn", "has a step");
    refused(net, "txn if {a}x absent", "has a step");
    refused(net, "txn put {a}x", "a name and a value");
    refused(net, "txn if {a}x = 0 get {a}x", "a guard is");
    refused(net, "txn if {a}x", "a guard is");
    refused(net, "txn remove {a}x", "begins with if");
    refused(net, "txn get {a}x ttl_ms=5", "begins with if");
    refused(net, "txn get {a}x job=0", "job");
    refused(net, "txn put {a}x 1 put {b}x 2", "the same whole {tag}");
    refused(net, "txn put {a}x 1 delete {a}x", "once at most");
    refused(net, "txn form=base64 put {a}x ???", "4096 bytes");
    refused(net, "txn key=base64 if e2F9eA== = abc", "; not with {a}x");
    refused(net, "txn key=base64 form=base64 put e2F9eA== ???", "not that of '{a}x'");
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(words),
    SUITE_TEST(whole_clauses),
    SUITE_TEST(mistakes),
};
SUITE_MAIN("store transact", tests)
