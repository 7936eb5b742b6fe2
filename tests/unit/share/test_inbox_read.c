/* SPDX-License-Identifier: Apache-2.0 */
#include "share/inbox_read.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;

static void send(const char *text)
{
    struct share_record r = {.kind = SHARE_RECORD_SHORT, .length = (uint32_t)strlen(text), .tag = 5};
    ck_assert_int_eq(share_inbox_put(&k.writer, &r, text), 0);
    (void)share_inbox_publish(&k.writer);
}

START_TEST(released_in_any_order)
{
    struct share_message m[4];
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    for (unsigned i = 0; i < 4; i++) {
        send("a message");
        ck_assert_int_eq(share_inbox_next(&k.reader, &m[i]), 1);
        ck_assert(m[i].head.length == 9 && m[i].head.tag == 5 && memcmp(m[i].bytes, "a message", 9) == 0);
    }
    uint64_t before = share_inbox_free(&k.writer);
    ck_assert(share_inbox_release(&k.reader, m[1].release));
    ck_assert(share_inbox_release(&k.reader, m[2].release));
    ck_assert_uint_eq(share_inbox_free(&k.writer), before);
    ck_assert(share_inbox_release(&k.reader, m[0].release));
    ck_assert_uint_eq(share_inbox_free(&k.writer), before + 3 * 128);
    ck_assert(!share_inbox_release(&k.reader, m[0].release));
    ck_assert(!share_inbox_release(&k.reader, m[3].release + 64)); /* inside of a message */
    ck_assert(!share_inbox_release(&k.reader, m[3].release + 128));
    ck_assert(!share_inbox_release(&k.reader, m[3].release + 1));
    ck_assert(share_inbox_release(&k.reader, m[3].release));
    ck_assert_uint_eq(share_inbox_free(&k.writer), SHARE_INBOX_LEAST);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* A message never wraps: a filler closes the end, and nobody has to release it. */
START_TEST(over_the_end)
{
    char text[701];
    struct share_message m;
    memset(text, 'x', 700);
    text[700] = '\0';
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, UINT32_MAX);
    for (unsigned i = 0; i < 200; i++) {
        send(text);
        ck_assert_int_eq(share_inbox_next(&k.reader, &m), 1);
        const unsigned char *at = m.bytes;
        SUITE_HOLDS(at >= k.com && at + 700 <= k.com + share_inbox_at(&k.g) + k.g.inbox_bytes, "message %u", i);
        ck_assert_mem_eq(m.bytes, text, 700);
        ck_assert_int_eq(share_inbox_next(&k.reader, &m), 0);
        ck_assert(share_inbox_release(&k.reader, m.release));
    }
    ck_assert_uint_eq(share_inbox_free(&k.writer), SHARE_INBOX_LEAST);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* Heads alone have no bytes. */
START_TEST(long_ones)
{
    struct share_record r = {.kind = SHARE_RECORD_LONG, .length = 1 << 30};
    struct share_message m;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    ck_assert_int_eq(share_inbox_put(&k.writer, &r, NULL), 0);
    (void)share_inbox_publish(&k.writer);
    ck_assert_int_eq(share_inbox_next(&k.reader, &m), 1);
    ck_assert(m.head.length == 1 << 30 && m.bytes == NULL);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* What no daemon writes is found, and nothing of it is used. */
START_TEST(no_inbox)
{
    for (unsigned i = 0; i < 6; i++) {
        struct share_message m;
        share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
        send("fine");
        unsigned char *at = k.com + share_inbox_at(&k.g);
        uint64_t tail = 128;
        uint32_t length = i == 1 ? 65 : i == 2 ? UINT32_MAX : 4;
        memcpy(at + 4, &length, sizeof length);
        at[0] = i == 0 ? 9 : at[0];
        tail = i == 3 ? 127 : i == 4 ? SHARE_INBOX_LEAST + 64 : tail;
        memcpy(k.com + SHARE_COM_INBOX_TAIL, &tail, sizeof tail);
        SUITE_HOLDS(share_inbox_next(&k.reader, &m) == (i == 5 ? 1 : -EPROTO), "round %u", i);
        SUITE_HOLDS(share_inbox_next(&k.reader, &m) == (i == 5 ? 0 : -EPROTO), "round %u", i);
        ck_assert(share_kit_close(&k));
    }
}
END_TEST

/* Fillers one behind the other are nothing that a daemon writes: the reader does not run in circles. */
START_TEST(fillers_only)
{
    struct share_message m;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    uint64_t word[SHARE_RECORD_WORDS], tail = 8 * 64;
    share_record_encode(&(struct share_record){.kind = SHARE_RECORD_FILLER}, word);
    for (unsigned i = 0; i < 8; i++) {
        memcpy(k.com + share_inbox_at(&k.g) + 64 * (size_t)i, word, sizeof word);
    }
    memcpy(k.com + SHARE_COM_INBOX_TAIL, &tail, sizeof tail);
    ck_assert_int_eq(share_inbox_next(&k.reader, &m), -EPROTO);
    ck_assert(share_kit_close(&k));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(released_in_any_order), SUITE_TEST(over_the_end), SUITE_TEST(long_ones), SUITE_TEST(no_inbox),
    SUITE_TEST(fillers_only),
};
SUITE_MAIN("inbox_read", tests)
