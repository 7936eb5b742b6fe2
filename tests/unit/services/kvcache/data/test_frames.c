/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/frames.h"
#include "suite.h"

#include <stdint.h>
#include <string.h>

static struct kv_ask sample(void)
{
    return (struct kv_ask){.kind = KV_ASK_OP,
                           .bits = KV_BIT_COPY | KV_BIT_EXTRA,
                           .to = 1,
                           .from = UINT64_MAX,
                           .number = 3,
                           .floor = 2,
                           .r = {KV_REQUEST_INIT, .op = KV_CAS, .job = 77, .key = (const uint8_t *)"a key",
                                 .key_length = 5, .value = (const uint8_t *)"value", .value_length = 5, .flags = 9,
                                 .expiry = {-1}, .cas = 10, .delta = 11, .initial = 12, .create = true}};
}

START_TEST(an_ask_comes_as_it_went)
{
    uint8_t bytes[200];
    struct kv_ask ask = sample(), out;
    kv_ask_encode(&ask, bytes);
    ck_assert(kv_ask_decode(bytes, kv_ask_size(&ask), &out));
    ck_assert_int_eq(out.kind, ask.kind);
    ck_assert_uint_eq(out.bits, ask.bits);
    ck_assert_uint_eq(out.to, 1);
    ck_assert_uint_eq(out.from, UINT64_MAX);
    ck_assert_uint_eq(out.number, 3);
    ck_assert_uint_eq(out.floor, 2);
    ck_assert_int_eq(out.r.op, KV_CAS);
    ck_assert_uint_eq(out.r.job, 77);
    ck_assert_mem_eq(out.r.key, "a key", 5);
    ck_assert_mem_eq(out.r.value, "value", 5);
    ck_assert_uint_eq(out.r.flags, 9);
    ck_assert_int_eq(out.r.expiry.ns, -1);
    ck_assert_uint_eq(out.r.cas + out.r.delta + out.r.initial, 33);
    ck_assert(out.r.create);
}
END_TEST

START_TEST(steps_come_as_they_went)
{
    uint8_t bytes[200];
    struct kv_ask ask = sample(), out;
    ask.r.meta = KV_META | KV_META_STALE;
    ask.r.steps = KV_STEP_LEFT << 4 | KV_STEP_RECACHE;
    ask.r.vivify = CW_NS(-1);
    ask.r.recache = CW_NS(99);
    kv_ask_encode(&ask, bytes);
    ck_assert_uint_eq(kv_ask_size(&ask), KV_ASK_BYTES + KV_ASK_STEPS_BYTES + 10);
    ck_assert(kv_ask_decode(bytes, kv_ask_size(&ask), &out));
    ck_assert(out.r.meta == ask.r.meta && out.r.steps == ask.r.steps);
    ck_assert(out.r.vivify.ns == -1 && out.r.recache.ns == 99);
    ck_assert_mem_eq(out.r.key, "a key", 5);
    ck_assert_mem_eq(out.r.value, "value", 5);
    ck_assert(!kv_ask_decode(bytes, KV_ASK_BYTES, &out));
    bytes[82] = 1; /* a step behind none */
    bytes[83] = 0x05;
    ck_assert(!kv_ask_decode(bytes, kv_ask_size(&ask), &out));
    bytes[81] = KV_METAS + 1;
    bytes[82] = bytes[83] = 0;
    ck_assert(!kv_ask_decode(bytes, kv_ask_size(&ask) - KV_ASK_STEPS_BYTES, &out));
}
END_TEST

/* One that asks for a name has no key; every other has one. */
START_TEST(an_ask_has_the_key_that_its_kind_needs)
{
    static const struct {
        unsigned kind;
        size_t length;
        bool good;
    } rows[] = {{KV_ASK_OP, 5, true},    {KV_ASK_OP, 0, false},   {KV_ASK_DROP, 5, true}, {KV_ASK_DROP, 0, false},
                {KV_ASK_NAME, 0, true},  {KV_ASK_NAME, 5, false}, {KV_ASK_CUT, 0, true},  {KV_ASK_CUT, 5, false},
                {KV_ASK_RENEW, 0, true}, {KV_ASK_STATS, 0, true}, {KV_ASK_HOT, 5, false}, {8, 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t bytes[200];
        struct kv_ask ask = sample(), out;
        ask.kind = (enum kv_kind)rows[i].kind;
        ask.r.key_length = rows[i].length;
        kv_ask_encode(&ask, bytes);
        ck_assert_int_eq(kv_ask_decode(bytes, kv_ask_size(&ask), &out), rows[i].good);
    }
}
END_TEST

START_TEST(an_answer_comes_as_it_went)
{
    uint8_t bytes[200];
    struct kv_answer a = {.state = KV_DONE,
                          .status = KV_EXISTS,
                          .source = KV_FROM_COPY,
                          .copyable = true,
                          .instance = 5,
                          .flags = 6,
                          .cas = 7,
                          .left = {8},
                          .marks = KV_MARK_WON | KV_MARK_STALE,
                          .win_due = true,
                          .idle_s = 9,
                          .value = (const uint8_t *)"xyz",
                          .length = 3},
                     out;
    kv_answer_encode(&a, bytes);
    ck_assert(kv_answer_decode(bytes, kv_answer_size(&a), &out));
    ck_assert_int_eq(out.status, KV_EXISTS);
    ck_assert_int_eq(out.source, KV_FROM_COPY);
    ck_assert(out.copyable);
    ck_assert_uint_eq(out.instance + out.flags + out.cas, 18);
    ck_assert_int_eq(out.left.ns, 8);
    ck_assert(out.marks == a.marks && out.win_due && out.idle_s == 9);
    ck_assert_mem_eq(out.value, "xyz", 3);
}
END_TEST

START_TEST(nothing_else_is_one)
{
    uint8_t bytes[200];
    struct kv_ask ask = sample(), out;
    struct kv_answer answer = {.state = KV_DONE, .length = 0}, got;
    kv_ask_encode(&ask, bytes);
    size_t size = kv_ask_size(&ask);
    ck_assert(!kv_ask_decode(bytes, size + 1, &out));
    for (size_t i = 0; i < size; i++) {
        ck_assert(!kv_ask_decode(bytes, i, &out));
    }
    for (unsigned at = 0; at < 4; at++) {
        uint8_t was = bytes[at];
        bytes[at] = 0xff;
        ck_assert(!kv_ask_decode(bytes, size, &out));
        bytes[at] = was;
    }
    bytes[2] = KV_GET; /* a read with a value */
    ck_assert(!kv_ask_decode(bytes, size, &out));
    kv_answer_encode(&answer, bytes);
    ck_assert(!kv_answer_decode(bytes, KV_ANSWER_BYTES - 1, &got));
    ck_assert(!kv_answer_decode(bytes, KV_ANSWER_BYTES + 1, &got));
    bytes[24] = 0x80; /* a time that is over */
    ck_assert(!kv_answer_decode(bytes, KV_ANSWER_BYTES, &got));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(an_ask_comes_as_it_went), SUITE_TEST(steps_come_as_they_went),
                                          SUITE_TEST(an_ask_has_the_key_that_its_kind_needs),
                                          SUITE_TEST(an_answer_comes_as_it_went), SUITE_TEST(nothing_else_is_one)};
SUITE_MAIN("frames", tests)
