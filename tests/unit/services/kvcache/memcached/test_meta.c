/* SPDX-License-Identifier: Apache-2.0 */
/* Meta command lines, read. */
#include "services/kvcache/memcached/meta.h"

#include "suite.h"

#include <string.h>

static struct mc_meta m;
static char line[512];

static const char *read_meta(const char *text)
{
    static const struct mc_clock clock_now = {1000000000};
    snprintf(line, sizeof line, "%s", text);
    struct mc_word rest = {(const uint8_t *)line, strlen(line)};
    struct mc_word name = mc_word(&rest);
    mc_meta_read(&m, name, rest, &clock_now);
    return m.error != NULL ? m.error : "";
}

START_TEST(flags_become_operations)
{
    ck_assert_str_eq(read_meta("mg key v f Oabc s k q"), "");
    ck_assert(m.request.op == KV_GET && m.wants.value && m.wants.quiet && m.wants.flags == 4);
    ck_assert(memcmp(m.wants.flag, "fOsk", 4) == 0 && m.wants.opaque_length == 3);
    ck_assert_str_eq(read_meta("mg key T30"), "");
    ck_assert(m.request.op == KV_GAT && m.request.expiry.ns == CW_SEC(30).ns);
    ck_assert_str_eq(read_meta("ms key 10 C5 F7 T-1"), "");
    ck_assert(m.request.op == KV_CAS && m.request.cas == 5 && m.request.flags == 7 && m.bytes == 10);
    ck_assert_int_eq(m.request.expiry.ns, KV_AT_ONCE.ns);
    ck_assert_str_eq(read_meta("ms key 10 MA C5"), "");
    ck_assert(m.request.op == KV_APPEND && m.request.cas == 5);
    ck_assert_str_eq(read_meta("ma key N60 J13 D2 MD"), "");
    ck_assert(m.request.op == KV_DECR && m.request.initial == 13 && m.request.delta == 2);
    ck_assert(m.request.steps == KV_STEP_VIVIFY && m.request.vivify.ns == CW_SEC(60).ns);
    ck_assert_str_eq(read_meta("mg key t N30 T-1 R5 h u"), "");
    ck_assert(m.request.op == KV_GAT && m.request.meta == (KV_META | KV_META_TIMES | KV_META_UNUSED));
    ck_assert_uint_eq(m.request.steps, KV_STEP_LEFT | KV_STEP_VIVIFY << 4 | KV_STEP_RENEW << 8 | KV_STEP_RECACHE << 12);
    ck_assert_int_eq(m.request.recache.ns, CW_SEC(5).ns);
    ck_assert_str_eq(read_meta("mg key R5"), "");
    ck_assert(m.request.op == KV_LOOK);
    ck_assert_str_eq(read_meta("md key I T7"), "");
    ck_assert(m.request.meta == KV_META_STALE && m.request.steps == KV_STEP_RENEW);
    ck_assert_str_eq(read_meta("ms key 1 I C4 T7 t h"), ""); /* those that say nothing of a store are passed over */
    ck_assert(m.request.op == KV_CAS && m.request.meta == KV_META_STALE && m.request.steps == 0 && m.wants.flags == 0);
    ck_assert_str_eq(read_meta("ma key"), "");
    ck_assert(m.request.op == KV_INCR && m.request.delta == 1 && !m.request.create);
    ck_assert_str_eq(read_meta("md key C9 q"), "");
    ck_assert(m.request.op == KV_DELETE && m.request.cas == 9);
    ck_assert_str_eq(read_meta("mn"), "");
    ck_assert_str_eq(read_meta("me key"), "");
}
END_TEST

START_TEST(keys_may_be_in_base64)
{
    ck_assert_str_eq(read_meta("mg AAEC b v"), "");
    ck_assert_uint_eq(m.request.key_length, 3);
    ck_assert(memcmp(m.request.key, "\0\1\2", 3) == 0);
    ck_assert_str_eq(read_meta("mg AAE b"), "CLIENT_ERROR error decoding key");
    ck_assert_str_eq(read_meta("me AAE b"), mc_error_format);
}
END_TEST

START_TEST(each_error_has_its_words)
{
    static const struct {
        const char *line, *error;
        bool swallow;
    } rows[] = {
        {"mg", "ERROR", false},
        {"ms", "ERROR", false},
        {"ms k", "CLIENT_ERROR bad command line format", false},
        {"ms k x", "CLIENT_ERROR bad command line format", false},
        {"ms k 2 !", "CLIENT_ERROR invalid flag", true},
        {"ms k 2 F1 F1", "CLIENT_ERROR duplicate flag", true},
        {"ms k 2 Fx", "CLIENT_ERROR bad command line format", true},
        {"ms k 2 Tx", "CLIENT_ERROR bad token in command line format", true},
        {"ms k 2 MX", "CLIENT_ERROR invalid mode for ms M token", true},
        {"ms k 2 M", "CLIENT_ERROR incorrect length for M token", true},
        {"ms k 1048577", "SERVER_ERROR object too large for cache", true},
        {"mg k Dx", "CLIENT_ERROR invalid numeric delta value", false},
        {"mg k J", "CLIENT_ERROR invalid numeric initial value", false},
        {"mg k Rx", "CLIENT_ERROR bad token in command line format", false},
        {"ma k M", "CLIENT_ERROR invalid or duplicate flag", false},
        {"md ! b", "CLIENT_ERROR invalid or duplicate flag", false},
        {"ma k Dx", "CLIENT_ERROR invalid or duplicate flag", false},
        {"ma k v v", "CLIENT_ERROR invalid or duplicate flag", false},
        {"mg k O12345678901234567890123456789012", "CLIENT_ERROR opaque token too long", false},
        {"mg k \xff", "CLIENT_ERROR invalid flag", false},
        {"me", "CLIENT_ERROR bad command line format", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_str_eq(read_meta(rows[i].line), rows[i].error);
        ck_assert_int_eq(m.swallow, rows[i].swallow);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(flags_become_operations), SUITE_TEST(keys_may_be_in_base64),
                                          SUITE_TEST(each_error_has_its_words)};
SUITE_MAIN("mc_meta", tests)
