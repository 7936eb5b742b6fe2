/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/pieces.h"

#include "base/base64.h"
#include "store_town.h"
#include "suite.h"

#include <string.h>

static uint8_t value[CW_STORE_VALUE_MAX];
static struct fake_net *net;

static unsigned kept(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        n += store_town_of(net, 0)->downloads.download[i].bytes != NULL;
    }
    return n;
}

static int64_t put(const char *name, size_t length)
{
    char line[80];
    struct store *s = store_town_of(net, 0);
    ck_assert_int_eq(upload_add(&s->uploads, 7, 0, value, length, CW_STORE_VALUE_MAX, cw_now(s->svc)), 0);
    snprintf(line, sizeof line, "put %s - stage=7 flags=3", name);
    return store_town_must(net, 0, line, CW_STORE_OK);
}

static const struct fake_result *get(size_t from, int64_t version)
{
    char line[120];
    snprintf(line, sizeof line, "get a form=base64 from=%zu version=%lld", from, (long long)version);
    return store_town_ask(net, 0, line);
}

/* How many bytes the answer tells: all from there on, or a piece. */
static size_t told(const struct fake_result *r, size_t from)
{
    const struct fake_field *f = fake_find(r, 0, "base64");
    size_t left = (size_t)fake_int(r, 0, "bytes") - from, n = left < DOWNLOAD_PIECE ? left : DOWNLOAD_PIECE;
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(f->length, base64_length(n));
    return n;
}

static void refused(const char *line, const char *why)
{
    const struct fake_result *r = store_town_ask(net, 0, line);
    ck_assert_msg(r->rc < 0 && strstr(fake_text(r, 0, "error"), why) != NULL, "%s", line);
    ck_assert_uint_eq(r->fields, 1);
}

START_TEST(no_answer_has_more_than_a_piece)
{
    size_t sum = 0;
    unsigned pieces = 0;
    net = store_town_open(3);
    int64_t version = put("a", sizeof value);
    refused("get a", "the value has 4194304 bytes, and an answer at most 30720");
    refused("get a", "get KEY form=base64 from=0, then from=30720 version=");
    const struct fake_result *r = store_town_ask(net, 0, "get a form=base64 from=0");
    while (sum < sizeof value) {
        size_t n = told(r, sum);
        ck_assert_int_eq(fake_int(r, 0, "bytes"), (int64_t)sizeof value);
        ck_assert_int_eq(fake_int(r, 0, "version"), version);
        ck_assert_int_eq(fake_int(r, 0, "flags"), 3);
        sum += n;
        pieces++;
        ck_assert_uint_gt(n, 0);
        r = sum < sizeof value ? get(sum, version) : r;
    }
    ck_assert_uint_eq(pieces, sizeof value / DOWNLOAD_PIECE + 1);
    ck_assert_uint_eq(store_town_of(net, 0)->count[STORE_COUNT_GETS], 3); /* the store was asked once for them all */
    ck_assert_uint_eq(kept(), 0);
    store_town_close(net);
}
END_TEST

/* Without from=N nothing is cut: it is told, or refused. */
START_TEST(no_part_is_told_as_the_whole)
{
    net = store_town_open(3);
    put("a", DOWNLOAD_PIECE);
    ck_assert_uint_eq(fake_find(store_town_ask(net, 0, "get a"), 0, "value")->length, 4 * DOWNLOAD_PIECE);
    put("a", DOWNLOAD_PIECE + 1);
    refused("get a", "the value has 30721 bytes");
    refused("get a form=base64", "the value has 30721 bytes");
    store_town_close(net);
}
END_TEST

START_TEST(a_piece_is_of_one_version)
{
    net = store_town_open(3);
    int64_t version = put("a", 2 * DOWNLOAD_PIECE + 1);
    ck_assert_int_eq(fake_int(store_town_ask(net, 0, "get a form=base64 from=0"), 0, "version"), version);
    int64_t newer = put("a", 3 * DOWNLOAD_PIECE);
    ck_assert_uint_eq(told(get(DOWNLOAD_PIECE, version), DOWNLOAD_PIECE), DOWNLOAD_PIECE); /* what is kept goes on */
    ck_assert_uint_eq(told(get(2 * DOWNLOAD_PIECE, version), 2 * DOWNLOAD_PIECE), 1);
    ck_assert_uint_eq(kept(), 0);
    const struct fake_result *r = get(DOWNLOAD_PIECE, version);
    ck_assert_int_eq(fake_int(r, 0, "code"), CW_STORE_CONFLICT);
    ck_assert_int_eq(fake_int(r, 0, "version"), newer);
    ck_assert_uint_eq(told(get(DOWNLOAD_PIECE, newer), DOWNLOAD_PIECE),
                      DOWNLOAD_PIECE); /* nothing is kept: it is got again */
    ck_assert_uint_eq(kept(), 1);
    refused("get a form=base64 from=92161", "the value has 92160 bytes: from=92161 is behind them");
    ck_assert_uint_eq(told(get(3 * DOWNLOAD_PIECE, newer), 3 * DOWNLOAD_PIECE), 0);
    store_town_must(net, 0, "delete a", CW_STORE_OK);
    ck_assert_int_eq(fake_int(get(DOWNLOAD_PIECE, newer), 0, "code"), CW_STORE_CONFLICT);
    store_town_must(net, 0, "get a form=base64 from=0", CW_STORE_NOT_FOUND);
    store_town_close(net);
}
END_TEST

START_TEST(what_is_left_goes_by_itself)
{
    net = store_town_open(3);
    put("a", 2 * DOWNLOAD_PIECE);
    store_town_must(net, 0, "get a form=base64 from=0", CW_STORE_OK);
    ck_assert_int_eq(store_town_ask(net, 0, "stage 9 YWJj")->rc, 0);
    ck_assert_uint_eq(kept(), 1);
    fake_net_run(net, CW_SEC(DOWNLOAD_LIFE_S + 2));
    ck_assert_uint_eq(kept(), 0);
    ck_assert_uint_eq(upload_length(&store_town_of(net, 0)->uploads, 9), 3);
    fake_net_run(net, CW_SEC(UPLOAD_LIFE_S));
    ck_assert_uint_eq(upload_length(&store_town_of(net, 0)->uploads, 9), 0);
    ck_assert_ptr_null(store_town_of(net, 0)->pieces_timer);
    store_town_close(net);
}
END_TEST

START_TEST(few_are_read_at_one_time)
{
    char line[80];
    net = store_town_open(3);
    for (unsigned i = 0; i <= DOWNLOADS; i++) {
        snprintf(line, sizeof line, "v%u", i);
        put(line, 2 * DOWNLOAD_PIECE);
    }
    for (unsigned i = 0; i < DOWNLOADS; i++) {
        snprintf(line, sizeof line, "get v%u form=base64 from=0", i);
        store_town_must(net, 0, line, CW_STORE_OK);
    }
    refused("get v8 form=base64 from=0", "8 long values are being read at this server already");
    store_town_close(net);
}
END_TEST

START_TEST(bytes_that_are_no_letters_are_told_by_number)
{
    net = store_town_open(3);
    store_town_must(net, 0, "put b AAlhXP8= form=base64", CW_STORE_OK);
    ck_assert_str_eq(fake_text(store_town_ask(net, 0, "get b"), 0, "value"), "\\x00\\x09a\\x5c\\xff");
    ck_assert_str_eq(fake_text(store_town_ask(net, 0, "get b form=base64"), 0, "base64"), "AAlhXP8=");
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(no_answer_has_more_than_a_piece), SUITE_TEST(no_part_is_told_as_the_whole),
    SUITE_TEST(a_piece_is_of_one_version),       SUITE_TEST(what_is_left_goes_by_itself),
    SUITE_TEST(few_are_read_at_one_time),        SUITE_TEST(bytes_that_are_no_letters_are_told_by_number),
};
SUITE_MAIN("store pieces", tests)
