/* SPDX-License-Identifier: Apache-2.0 */
#include "share/inbox_write.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;
static unsigned char bytes[20000];

static int put(uint16_t endpoint, uint32_t length)
{
    struct share_record r = {.kind = SHARE_RECORD_SHORT, .endpoint = endpoint, .length = length};
    return share_inbox_put(&k.writer, &r, bytes);
}

/* One endpoint gets half of what is free, the next half of what is left then. */
START_TEST(shares)
{
    unsigned count[3] = {0};
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    for (uint16_t e = 0; e < 3; e++) {
        while (put(e, 64) == 0) {
            count[e]++;
        }
        ck_assert_int_eq(put(e, 64), -EDQUOT);
    }
    ck_assert_uint_eq(count[0], 64);
    ck_assert_uint_eq(count[1], 32);
    ck_assert_uint_eq(count[2], 16);
    ck_assert_uint_eq(k.writer.dropped, 6);
    ck_assert_uint_eq(share_inbox_free(&k.writer), 16 * 128);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* What was promised is there, however full it is, and wherever the end lies. */
START_TEST(promises)
{
    for (uint32_t length = 0; length < 600; length += 61) {
        share_kit_open(&k, 16, SHARE_INBOX_LEAST, 3 + length);
        unsigned promised = 0;
        while (share_inbox_reserve(&k.writer, length) == 0) {
            promised++;
            while (put((uint16_t)(promised % 8), 70) == 0 && k.writer.tail % 3 != 0) {
            }
        }
        ck_assert_int_eq(share_inbox_reserve(&k.writer, 20000), -ENOBUFS);
        ck_assert_uint_gt(promised, 2);
        for (unsigned i = 0; i < promised; i++) {
            struct share_record r = {.kind = SHARE_RECORD_ANSWER, .length = length};
            share_inbox_put_reserved(&k.writer, &r, bytes, length);
            SUITE_HOLDS(k.writer.tail - k.writer.head + k.writer.reserved <= k.writer.bytes, "%u of %u", i, promised);
        }
        ck_assert_uint_eq(k.writer.reserved, 0);
        ck_assert(share_inbox_publish(&k.writer));
        ck_assert(!share_inbox_publish(&k.writer));
        ck_assert(share_kit_close(&k));
    }
}
END_TEST

START_TEST(given_back)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    uint64_t before = share_inbox_free(&k.writer);
    ck_assert_int_eq(share_inbox_reserve(&k.writer, 1000), 0);
    ck_assert_uint_lt(share_inbox_free(&k.writer), before);
    share_inbox_unreserve(&k.writer, 1000);
    ck_assert_uint_eq(share_inbox_free(&k.writer), before);
    ck_assert_int_eq(put(0, 20000), -ENOBUFS); /* longer than the inbox */
    ck_assert(share_kit_close(&k));
}
END_TEST

/* Released is what ends at a record's end, and was shown. */
START_TEST(a_head_out_of_bounds)
{
    static const uint64_t heads[] = {64, 129, 128 + 64, 3 * 128 + 64, UINT64_MAX - 63, 1, 3 * 128, 128, 2 * 128};
    for (unsigned i = 0; i < 9; i++) {
        share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
        for (unsigned n = 0; n < 3; n++) {
            ck_assert_int_eq(put(n == 1, 64), 0);
        }
        (void)share_inbox_publish(&k.writer);
        ck_assert_int_eq(put(2, 64), 0); /* not shown */
        memcpy(k.sub + SHARE_SUB_INBOX_HEAD, &heads[i], sizeof heads[i]);
        bool fine = i >= 6;
        uint64_t left = share_inbox_free(&k.writer);
        SUITE_HOLDS(k.writer.broken == !fine && (left > 0) == fine, "head %u", (unsigned)heads[i]);
        if (fine) {
            SUITE_HOLDS(left == k.writer.bytes - 4 * 128 + heads[i], "head %u", (unsigned)heads[i]);
            SUITE_HOLDS(k.held[0] == (i == 6 ? 0u : 128u), "head %u", (unsigned)heads[i]);
        } else {
            ck_assert_int_eq(put(0, 1), -EPROTO);
            ck_assert_int_eq(share_inbox_reserve(&k.writer, 1), -EPROTO);
        }
        ck_assert(share_kit_close(&k));
    }
}
END_TEST

START_TEST(more_than_was_promised)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    struct share_record r = {.kind = SHARE_RECORD_ANSWER, .length = 2};
    (void)!share_inbox_reserve(&k.writer, 1);
    share_inbox_put_reserved(&k.writer, &r, bytes, 1);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(shares),
    SUITE_TEST(promises),
    SUITE_TEST(given_back),
    SUITE_TEST(a_head_out_of_bounds),
    SUITE_ABORTS(more_than_was_promised),
};
SUITE_MAIN("inbox_write", tests)
