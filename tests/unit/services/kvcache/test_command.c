/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "suite.h"

#include <string.h>

static struct fake_result r;

static const char *says(struct fake_net *net, const char *line, const char *field)
{
    fake_command(net->server[0], line, &r);
    fake_net_run(net, CW_MS(50));
    return fake_text(&r, 0, field);
}

START_TEST(what_operators_ask)
{
    struct fake_net *net = kv_town_open(3, 0);
    for (cw_server root = 0; root < 3; root++) {
        char line[80];
        const char *key = kv_town_key(net, root, 0);
        snprintf(line, sizeof line, "set %s va\\lue", key);
        ck_assert_str_eq(says(net, line, "status"), "done");
        snprintf(line, sizeof line, "get %s", key);
        ck_assert_str_eq(says(net, line, "value"), "va\\x5clue");
        snprintf(line, sizeof line, "get %s job=9", key);
        ck_assert_str_eq(says(net, line, "status"), "not found");
        snprintf(line, sizeof line, "delete %s", key);
        ck_assert_str_eq(says(net, line, "status"), "done");
    }
    fake_command(net->server[0], "stats", &r);
    ck_assert_int_eq(fake_int(&r, 0, "gets"), 6);
    fake_command(net->server[0], "extras 4", &r);
    ck_assert_uint_eq(kv_town_cache(net, 0)->limits.extras, 4);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(values_of_any_bytes)
{
    struct fake_net *net = kv_town_open(3, 0);
    ck_assert_str_eq(says(net, "set key AAECAwD/ form=base64 flags=7 expire_us=5000000 job=9", "status"), "done");
    ck_assert_str_eq(says(net, "get key form=base64 job=9", "base64"), "AAECAwD/");
    ck_assert_int_eq(fake_int(&r, 0, "bytes"), 6);
    ck_assert_int_eq(fake_int(&r, 0, "flags"), 7);
    ck_assert_int_eq(fake_int(&r, 0, "code"), KV_OK);
    ck_assert_str_eq(says(net, "get key", "status"), "not found");
    ck_assert_int_eq(fake_int(&r, 0, "code"), KV_MISS);
    fake_net_run(net, CW_SEC(6));
    ck_assert_str_eq(says(net, "get key job=9", "status"), "not found");
    fake_command(net->server[0], "stage 77 YWJj", &r);
    ck_assert_int_eq(r.rc, 0);
    fake_command(net->server[0], "stage 77 ZGU= from=3", &r);
    ck_assert_str_eq(says(net, "set key - stage=77", "status"), "done");
    ck_assert_str_eq(says(net, "get key", "value"), "abcde");
    ck_assert_ptr_nonnull(says(net, "set key - stage=77", "error")); /* once */
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_they_ask_wrongly)
{
    struct fake_net *net = kv_town_open(3, 0);
    static const char *const lines[] = {"sing",
                                        "extras 9",
                                        "extras x",
                                        "get",
                                        "get key job=x",
                                        "set key",
                                        "set key va=lue x",
                                        "set key !!! form=base64",
                                        "stage 0 YQ==",
                                        "stage 1 !",
                                        "set key - stage=5",
                                        "get key flags=4294967296",
                                        "flush job=0",
                                        "hot x",
                                        "stats some",
                                        "get key flags=abc",
                                        "get key flags=",
                                        "set key v stage=0",
                                        "set key v expire_us=-1",
                                        "get key colour=1"};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        ck_assert_ptr_nonnull(says(net, lines[i], "error"));
    }
    ck_assert_ptr_nonnull(
        strstr(says(net, "set key v flags=abc", "error"), "flags is a whole number from 0 to 4294967295"));
    ck_assert_ptr_nonnull(strstr(says(net, "set key v colour=1", "error"), "no such option"));
    ck_assert_str_eq(says(net, "get key", "status"), "not found"); /* nothing was stored */
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(long_values_are_told_in_pieces)
{
    static uint8_t value[2 * DOWNLOAD_PIECE + 1];
    char line[120], cas[24];
    struct fake_net *net = kv_town_open(3, 0);
    struct kvcache *k = kv_town_cache(net, 0);
    ck_assert_int_eq(upload_add(&k->uploads, 7, 0, value, sizeof value, KV_VALUE_MAX, net->now), 0);
    ck_assert_str_eq(says(net, "set key - stage=7", "status"), "done");
    ck_assert_ptr_nonnull(strstr(says(net, "get key form=base64", "error"), "the value has 61441 bytes"));
    ck_assert_ptr_nonnull(strstr(says(net, "get key from=0", "error"), "form=base64 goes with from=N"));
    ck_assert_ptr_nonnull(says(net, "set key v from=0", "error"));
    ck_assert_ptr_nonnull(says(net, "set key v cas=5", "error"));
    snprintf(cas, sizeof cas, "%s", says(net, "get key form=base64 from=0", "cas"));
    ck_assert_str_ne(cas, "0");
    ck_assert_uint_eq(fake_find(&r, 0, "base64")->length, 4 * DOWNLOAD_PIECE / 3);
    ck_assert_ptr_nonnull(k->downloads.download[0].bytes);
    ck_assert_str_eq(says(net, "set key ab", "status"), "done");
    snprintf(line, sizeof line, "get key form=base64 from=%d cas=%s", DOWNLOAD_PIECE, cas);
    ck_assert_str_eq(says(net, line, "cas"), cas); /* what is kept goes on */
    ck_assert_uint_eq(fake_find(&r, 0, "base64")->length, 4 * DOWNLOAD_PIECE / 3);
    snprintf(line, sizeof line, "get key form=base64 from=%d cas=%s", 2 * DOWNLOAD_PIECE, cas);
    ck_assert_str_eq(says(net, line, "base64"), "AA==");
    ck_assert_int_eq(fake_int(&r, 0, "bytes"), sizeof value);
    ck_assert_ptr_null(k->downloads.download[0].bytes);
    ck_assert_str_ne(says(net, line, "cas"), cas); /* another value by now, which is shorter */
    ck_assert_str_eq(fake_text(&r, 0, "base64"), "");
    ck_assert_int_eq(upload_add(&k->uploads, 8, 0, value, 5, KV_VALUE_MAX, net->now), 0);
    fake_net_run(net, CW_SEC(UPLOAD_LIFE_S + 2));
    ck_assert_uint_eq(upload_length(&k->uploads, 8), 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_operators_ask), SUITE_TEST(values_of_any_bytes),
                                          SUITE_TEST(long_values_are_told_in_pieces),
                                          SUITE_TEST(what_they_ask_wrongly)};
SUITE_MAIN("command", tests)
