/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command lines, read: what each asks for, and memcached's words for what is none. tests/net/test_memcached.py compares
 * many more with memcached.
 */
#include "services/kvcache/memcached/text.h"

#include "suite.h"

#include <string.h>

static const struct mc_clock clock_now = {1000000000};

static struct mc_command read_line(const char *line)
{
    return mc_read((const uint8_t *)line, strlen(line), &clock_now);
}

START_TEST(writes_name_all_of_it)
{
    struct mc_command c = read_line("cas  key 7 100 12 99 noreply\r");
    ck_assert_int_eq(c.kind, MC_WRITE);
    ck_assert_int_eq(c.request.op, KV_CAS);
    ck_assert_uint_eq(c.request.key_length, 3);
    ck_assert(memcmp(c.request.key, "key", 3) == 0);
    ck_assert_uint_eq(c.request.flags, 7);
    ck_assert_int_eq(c.request.expiry.ns, CW_SEC(100).ns);
    ck_assert_uint_eq(c.request.cas, 99);
    ck_assert_uint_eq(c.bytes, 12);
    ck_assert(c.no_reply);
    static const char *const names[] = {"set", "add", "replace", "append", "prepend"};
    static const enum kv_op ops[] = {KV_SET, KV_ADD, KV_REPLACE, KV_APPEND, KV_PREPEND};
    for (unsigned i = 0; i < 5; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s k 0 0 1", names[i]);
        c = read_line(line);
        ck_assert_int_eq(c.kind, MC_WRITE);
        ck_assert_int_eq(c.request.op, ops[i]);
        ck_assert(!c.no_reply);
    }
}
END_TEST

START_TEST(too_large_is_swallowed_and_nothing_else)
{
    struct mc_command c = read_line("set k 0 0 1048577");
    ck_assert_int_eq(c.kind, MC_ERROR);
    ck_assert_str_eq(c.error, mc_error_too_large);
    ck_assert(c.swallow);
    ck_assert_uint_eq(c.bytes, 1048577);
    ck_assert_int_eq(read_line("set k 0 0 1048576").kind, MC_WRITE);
    c = read_line("set k x 0 10");
    ck_assert_str_eq(c.error, mc_error_format);
    ck_assert(!c.swallow);
}
END_TEST

START_TEST(expiries_are_spans_or_dates)
{
    static const struct {
        const char *text;
        bool good;
        int64_t ns;
    } rows[] = {
        {"0", true, 0},
        {"1", true, 1000000000},
        {"-1", true, -1},
        {"2592000", true, 2592000000000000},
        {"2592001", true, -1},
        {"1000000000", true, -1},
        {"1000000007", true, 7000000000},
        {"4294967295", true, 3294967295000000000},
        {"4294967296", false, 0},
        {"x", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"1x", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cw_span span;
        struct mc_word w = {(const uint8_t *)rows[i].text, strlen(rows[i].text)};
        ck_assert_int_eq(mc_expiry(w, &clock_now, &span), rows[i].good);
        if (rows[i].good) {
            ck_assert_int_eq(span.ns, rows[i].ns);
        }
    }
}
END_TEST

START_TEST(gets_leave_their_keys)
{
    struct mc_command c = read_line("gats 10 a  bb");
    ck_assert_int_eq(c.kind, MC_GET);
    ck_assert_int_eq(c.request.op, KV_GAT);
    ck_assert(c.with_cas);
    ck_assert(mc_is(mc_word(&c.keys), "a"));
    ck_assert(mc_is(mc_word(&c.keys), "bb"));
    ck_assert_uint_eq(mc_word(&c.keys).length, 0);
    char line[300] = "get a ";
    memset(line + 6, 'k', 251);
    c = read_line(line);
    ck_assert(!mc_keys_fit(c.keys));
    line[6 + 250] = '\0';
    ck_assert(mc_keys_fit(read_line(line).keys));
}
END_TEST

START_TEST(each_error_has_its_words)
{
    static const struct {
        const char *line, *error;
        bool no_reply;
    } rows[] = {
        {"", "ERROR", false},
        {"nonsense", "ERROR", false},
        {"SET a 0 0 1", "ERROR", false},
        {"set a 0 0 1 noreply x", "ERROR", false},
        {"set a 0 0 -1 noreply", "CLIENT_ERROR bad command line format", true},
        {"cas a 0 0 1", "ERROR", false},
        {"get", "ERROR", false},
        {"gat x k", "CLIENT_ERROR invalid exptime argument", false},
        {"delete", "ERROR", false},
        {"delete a 1", "CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]", false},
        {"delete a b c d", "ERROR", false},
        {"incr a", "ERROR", false},
        {"incr a x", "CLIENT_ERROR invalid numeric delta argument", false},
        {"touch a x", "CLIENT_ERROR invalid exptime argument", false},
        {"flush_all x", "CLIENT_ERROR invalid exptime argument", false},
        {"flush_all 1 2 3", "ERROR", false},
        {"verbosity", "ERROR", false},
        {"verbosity x", "CLIENT_ERROR bad command line format", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mc_command c = read_line(rows[i].line);
        ck_assert_int_eq(c.kind, MC_ERROR);
        ck_assert_str_eq(c.error, rows[i].error);
        ck_assert_int_eq(c.no_reply, rows[i].no_reply);
    }
}
END_TEST

START_TEST(the_others_are_known)
{
    ck_assert_int_eq(read_line("version").kind, MC_VERSION);
    ck_assert_int_eq(read_line("quit now").kind, MC_QUIT);
    ck_assert_int_eq(read_line("stats items").kind, MC_STATS);
    ck_assert_int_eq(read_line("mg a v").kind, MC_META);
    struct mc_command c = read_line("flush_all 10 noreply");
    ck_assert_int_eq(c.kind, MC_FLUSH);
    ck_assert(c.no_reply && c.delay.ns == CW_SEC(10).ns);
    ck_assert(read_line("verbosity 1 noreply").no_reply);
    c = read_line("decr a 5 noreply");
    ck_assert(c.kind == MC_SIMPLE && c.request.op == KV_DECR && c.request.delta == 5 && c.no_reply);
    c = read_line("touch a 5");
    ck_assert(c.kind == MC_SIMPLE && c.request.op == KV_TOUCH && c.request.expiry.ns == CW_SEC(5).ns);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(writes_name_all_of_it),       SUITE_TEST(too_large_is_swallowed_and_nothing_else),
    SUITE_TEST(expiries_are_spans_or_dates), SUITE_TEST(gets_leave_their_keys),
    SUITE_TEST(each_error_has_its_words),    SUITE_TEST(the_others_are_known)};
SUITE_MAIN("mc_text", tests)
