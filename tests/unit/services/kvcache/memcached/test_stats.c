/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted, and how stats shows it. */
#include "services/kvcache/memcached/stats.h"

#include "suite.h"

#include <string.h>

static struct mc_tally tally;
static char text[8192];

static const char *stats(const char *what)
{
    struct mc_config config = mc_config_default("127.0.0.1:11211");
    struct mc_facts facts = {.config = &config, .uptime = CW_SEC(5), .pid = 12, .user_us = 1500000};
    struct mc_buffer out = {0};
    ck_assert(mc_stats_write(what, strlen(what), &tally, &facts, &out));
    ck_assert_uint_lt(mc_buffer_length(&out), sizeof text);
    memcpy(text, mc_buffer_bytes(&out), mc_buffer_length(&out));
    text[mc_buffer_length(&out)] = '\0';
    mc_buffer_drop(&out);
    return text;
}

static void count(enum kv_op op, enum kv_status status)
{
    struct kv_result r = {.size = sizeof r, .status = status, .source = KV_FROM_COPY};
    mc_tally_count(&tally, op, &r);
}

START_TEST(what_happened_is_counted)
{
    tally = (struct mc_tally){0};
    for (enum kv_op op = KV_GET; op < KV_OPS; op++) {
        count(op, KV_OK);
        count(op, KV_MISS);
    }
    count(KV_CAS, KV_EXISTS);
    count(KV_SET, KV_NO_MAJORITY);
    const char *said = stats("");
    static const char *const rows[] = {"cmd_get 6",           "get_hits 3",    "get_misses 3",  "cmd_set 14",
                                       "cas_badval 1",        "cas_hits 1",    "cas_misses 1",  "touch_hits 2",
                                       "incr_hits 1",         "decr_misses 1", "delete_hits 1", "get_hits_copy 3",
                                       "failed_operations 1", "uptime 5",      "pid 12",        "rusage_user 1.500000"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char row[64];
        snprintf(row, sizeof row, "STAT %s\r\n", rows[i]);
        ck_assert_msg(strstr(said, row) != NULL, "%s is not in\n%s", row, said);
    }
    ck_assert_str_eq(said + strlen(said) - 5, "END\r\n");
}
END_TEST

START_TEST(each_argument_has_its_answer)
{
    tally.gets = 7;
    ck_assert_ptr_nonnull(strstr(stats("settings"), "STAT tcpport 11211\r\n"));
    ck_assert_str_eq(stats("items"), "END\r\n");
    ck_assert_str_eq(stats("nonsense"), "ERROR\r\n");
    ck_assert_str_eq(stats("reset"), "RESET\r\n");
    ck_assert_uint_eq(tally.gets, 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_happened_is_counted),
                                          SUITE_TEST(each_argument_has_its_answer)};
SUITE_MAIN("mc_stats", tests)
