/* SPDX-License-Identifier: Apache-2.0 */
/* Results, in memcached's words. */
#include "services/kvcache/memcached/answer.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static char text[1024];

static const char *take(struct mc_buffer *out)
{
    size_t length = mc_buffer_length(out);
    ck_assert_uint_lt(length, sizeof text);
    memcpy(text, length > 0 ? mc_buffer_bytes(out) : (const uint8_t *)"", length);
    text[length] = '\0';
    mc_buffer_drop(out);
    return text;
}

static const char *answer(const struct mc_answer *a, enum kv_status status, const char *value)
{
    struct mc_buffer out = {0};
    struct kv_result r = {.size = sizeof r,
                          .status = status,
                          .value = (const uint8_t *)value,
                          .value_length = value != NULL ? strlen(value) : 0,
                          .flags = 7,
                          .cas = 99};
    ck_assert(mc_answer_write(a, &r, &out));
    return take(&out);
}

START_TEST(classic_words)
{
    struct mc_answer a = {.shape = MC_ANSWER_VALUE, .key_length = 1, .key = "k"};
    ck_assert_str_eq(answer(&a, KV_OK, "hi"), "VALUE k 7 2\r\nhi\r\n");
    a.with_cas = true;
    ck_assert_str_eq(answer(&a, KV_OK, "hi"), "VALUE k 7 2 99\r\nhi\r\n");
    ck_assert_str_eq(answer(&a, KV_OK, NULL), "VALUE k 7 0 99\r\n\r\n");
    ck_assert_str_eq(answer(&a, KV_MISS, NULL), "");
    ck_assert_str_eq(answer(&a, KV_TIMED_OUT, NULL), ""); /* a miss may come at any time */
    a = (struct mc_answer){.shape = MC_ANSWER_STORED};
    ck_assert_str_eq(answer(&a, KV_OK, NULL), "STORED\r\n");
    ck_assert_str_eq(answer(&a, KV_NOT_STORED, NULL), "NOT_STORED\r\n");
    ck_assert_str_eq(answer(&a, KV_EXISTS, NULL), "EXISTS\r\n");
    ck_assert_str_eq(answer(&a, KV_MISS, NULL), "NOT_FOUND\r\n");
    a.shape = MC_ANSWER_NUMBER;
    ck_assert_str_eq(answer(&a, KV_OK, "42"), "42\r\n");
    ck_assert_str_eq(answer(&a, KV_NOT_NUMBER, NULL),
                     "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
    a.no_reply = true;
    ck_assert_str_eq(answer(&a, KV_OK, "42"), "");
}
END_TEST

START_TEST(all_that_can_go_wrong_has_words)
{
    struct mc_answer a = {.shape = MC_ANSWER_STORED};
    for (enum kv_status s = KV_TOO_LARGE; s < KV_STATUSES; s++) {
        const char *said = answer(&a, s, NULL);
        ck_assert_msg(strncmp(said, "SERVER_ERROR ", 13) == 0 && strstr(said, "unexpected") == NULL, "%s", said);
    }
    static const int refusals[] = {-EMSGSIZE, -ENOMEM, -ENOBUFS, -EOPNOTSUPP, -ESHUTDOWN};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct mc_buffer out = {0};
        ck_assert(mc_answer_refuse(&a, refusals[i], &out));
        ck_assert(strncmp(take(&out), "SERVER_ERROR ", 13) == 0);
    }
    struct mc_buffer out = {0};
    a.shape = MC_ANSWER_VALUE;
    ck_assert(mc_answer_refuse(&a, -ENOBUFS, &out));
    ck_assert_str_eq(take(&out), "");
}
END_TEST

START_TEST(meta_words)
{
    struct mc_answer a = {.shape = MC_ANSWER_META,
                          .meta = 'g',
                          .key_length = 1,
                          .key = "a",
                          .wants = {.flags = 5, .flag = {'f', 's', 'k', 'O', 'c'}, .opaque_length = 2, .opaque = "id"}};
    ck_assert_str_eq(answer(&a, KV_OK, "hi"), "HD f7 s2 ka Oid c99\r\n");
    ck_assert_str_eq(answer(&a, KV_MISS, NULL), "EN ka Oid\r\n");
    a.wants.value = a.wants.binary = a.wants.quiet = true;
    ck_assert_str_eq(answer(&a, KV_OK, "hi"), "VA 2 f7 s2 kYQ== Oid c99 b\r\nhi\r\n");
    ck_assert_str_eq(answer(&a, KV_MISS, NULL), "");
    a = (struct mc_answer){.shape = MC_ANSWER_META, .meta = 's', .wants = {.flags = 1, .flag = {'c'}}};
    ck_assert_str_eq(answer(&a, KV_OK, NULL), "HD c99\r\n");
    ck_assert_str_eq(answer(&a, KV_EXISTS, NULL), "EX c0\r\n");
    ck_assert_str_eq(answer(&a, KV_NOT_STORED, NULL), "NS c0\r\n");
    a.wants.quiet = true;
    ck_assert_str_eq(answer(&a, KV_OK, NULL), "");
    a = (struct mc_answer){.shape = MC_ANSWER_META, .meta = 'e', .key_length = 1, .key = "a"};
    ck_assert_str_eq(answer(&a, KV_OK, "hi"), "ME a exp=-1 la=0 cas=99 fetch=no size=2\r\n");
    ck_assert_str_eq(answer(&a, KV_MISS, NULL), "EN\r\n");
}
END_TEST

START_TEST(numbers_have_their_digits)
{
    uint8_t digits[MC_DIGITS];
    ck_assert_uint_eq(mc_digits(0, digits), 1);
    ck_assert_uint_eq(mc_digits(UINT64_MAX, digits), 20);
    ck_assert(memcmp(digits, "18446744073709551615", 20) == 0);
}
END_TEST

START_TEST(marks_and_times)
{
    struct mc_answer a = {.shape = MC_ANSWER_META, .meta = 'g', .key_length = 1, .key = "a"};
    struct kv_result r = {.size = sizeof r, .status = KV_OK, .idle_s = 7, .left = CW_MS(29900)};
    struct mc_buffer out = {0};
    memcpy(a.wants.flag, "hlt", 3);
    a.wants.flags = 3;
    r.marks = KV_MARK_STALE | KV_MARK_WON;
    ck_assert(mc_answer_write(&a, &r, &out));
    r.marks = KV_MARK_STALE | KV_MARK_SENT | KV_MARK_FETCHED;
    r.left = KV_NEVER;
    ck_assert(mc_answer_write(&a, &r, &out));
    r.status = KV_MISS; /* then there is nothing to tell */
    ck_assert(mc_answer_write(&a, &r, &out));
    static const char said[] = "HD h0 l7 t30 X W\r\nHD h1 l7 t-1 Z X\r\nEN\r\n";
    ck_assert_uint_eq(mc_buffer_length(&out), strlen(said));
    ck_assert(memcmp(mc_buffer_bytes(&out), said, strlen(said)) == 0);
    mc_buffer_drop(&out);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(classic_words), SUITE_TEST(all_that_can_go_wrong_has_words),
                                          SUITE_TEST(meta_words), SUITE_TEST(numbers_have_their_digits),
                                          SUITE_TEST(marks_and_times)};
SUITE_MAIN("mc_answer", tests)
