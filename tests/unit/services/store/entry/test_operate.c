/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/operate.h"

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
    refused("cas a one b", "a version is a whole number");
    refused("put a b colour=red", "no such option");
    refused("get a version=1", "from=N goes with it");
    refused("get a from=0", "form=base64 goes with from=N");
    refused("head a version=1", "no such option");
    refused("get a job=0", "job is a whole number from 1");
    refused("put a !!! form=base64", "no base64");
    refused("put a b ttl_ms=0", "ttl_ms is a whole number from 1 to 2592000000");
    refused("list a after=b", "it begins with the prefix");
    refused("list a after=! form=base64", "a name of 1 to 1024 bytes in base64");
    refused("list a limit=1001", "limit is a whole number from 1 to 1000");
    refused("list a colour=red", "no such option");
    refused("watch a cursor=12", "one that watch has told");
    refused("watch a prefix=1", "only a prefix that begins with a whole {tag}");
    refused("stage 0 YQ==", "a number from 1 on");
    refused("stage 7 !", "no base64");
    refused("put a x stage=7", "nothing was brought under 7");
    store_town_close(net);
}
END_TEST

static uint8_t piece[CW_STORE_VALUE_MAX];

static void bring(size_t length)
{
    struct store *s = store_town_of(net, 0);
    ck_assert_int_eq(upload_add(&s->uploads, 7, 0, piece, length, CW_STORE_VALUE_MAX, cw_now(s->svc)), 0);
}

START_TEST(a_value_is_brought_in_pieces)
{
    net = store_town_open(3);
    bring(30000);
    ck_assert_int_eq(store_town_ask(net, 0, "stage 7 YWJj from=30000")->rc, 0);
    store_town_must(net, 0, "insert a - stage=7 flags=3", CW_STORE_OK);
    const struct fake_result *r = store_town_ask(net, 5, "head a");
    ck_assert_int_eq(fake_int(r, 0, "bytes"), 30003);
    ck_assert_int_eq(fake_int(r, 0, "flags"), 3);
    refused("put a - stage=7", "nothing was brought under 7");
    bring(3);
    refused("put a - stage=7 colour=red", "no such option");
    ck_assert_uint_eq(upload_length(&store_town_of(net, 0)->uploads, 7), 0); /* it holds nobody's place */
    store_town_close(net);
}
END_TEST

START_TEST(what_is_too_long_is_gone)
{
    net = store_town_open(3);
    bring(sizeof piece);
    refused("stage 7 YQ== from=4194304", "a value has at most 4194304 bytes: what was brought under 7 is gone");
    refused("put a - stage=7", "nothing was brought under 7");
    store_town_must(net, 0, "get a", CW_STORE_NOT_FOUND);
    store_town_close(net);
}
END_TEST

/* What one answer tells of long names is bounded; the next page goes on behind it. */
START_TEST(a_page_of_long_names_is_cut)
{
    enum { NAMES = 64, LENGTH = 1000 }; /* 64,000 bytes: two more than 60 KiB hold */
    char line[LENGTH + 40], after[LENGTH + 1];
    net = store_town_open(3);
    for (unsigned i = 0; i < NAMES; i++) {
        snprintf(line, sizeof line, "put {t}%02u%0*d x", i, LENGTH - 5, 0);
        store_town_must(net, 0, line, CW_STORE_OK);
    }
    const struct fake_result *r = store_town_ask(net, 0, "list {t}");
    ck_assert_uint_eq(r->rows, 61 + 1);
    ck_assert_int_eq(fake_int(r, 61, "names"), 61);
    ck_assert_int_eq(fake_int(r, 61, "more"), 1);
    snprintf(after, sizeof after, "{t}60%0*d", LENGTH - 5, 0);
    snprintf(line, sizeof line, "list {t} after=%s", after);
    r = store_town_ask(net, 0, line);
    ck_assert_uint_eq(r->rows, 3 + 1);
    ck_assert_int_eq(fake_int(r, 3, "more"), 0);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(refusals_say_what_is_wrong),
    SUITE_TEST(a_value_is_brought_in_pieces),
    SUITE_TEST(what_is_too_long_is_gone),
    SUITE_TEST(a_page_of_long_names_is_cut),
};
SUITE_MAIN("store operate", tests)
