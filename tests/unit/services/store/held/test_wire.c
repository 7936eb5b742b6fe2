/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/wire.h"

#include "services/store/entry/store.h"
#include "services/store/held/places.h"
#include "suite.h"

#include <string.h>

static uint8_t bytes[8192], again[8192];

static const struct store_name name = {STORE_JOB, (const uint8_t *)"name", 4};

START_TEST(asks)
{
    struct store_ask out, ask = {.class_id = 9, .lead = true};
    ask.order = (struct store_order){.op = CW_STORE_PUT,
                                     .name = name,
                                     .value = (const uint8_t *)"value",
                                     .value_length = 5,
                                     .flags = 3,
                                     .conditional = true,
                                     .again = true,
                                     .version = 17,
                                     .asker = 1,
                                     .number = 2,
                                     .since = 4};
    store_ask_encode(&ask, bytes);
    size_t size = store_ask_size(&ask);
    ck_assert(store_ask_decode(bytes, size, &out));
    store_ask_encode(&out, again);
    ck_assert_int_eq(memcmp(bytes, again, size), 0);
    ck_assert_uint_eq(out.order.version, 17);
    ck_assert(!store_ask_decode(bytes, size - 1, &out));
    ck_assert(!store_ask_decode(bytes, size + 1, &out));
    bytes[1] = CW_STORE_GET; /* a read with a value */
    ck_assert(!store_ask_decode(bytes, size, &out));
    bytes[0] = 2;
    ck_assert(!store_ask_decode(bytes, size, &out));
}
END_TEST

START_TEST(lists)
{
    struct store_ask out, ask = {.class_id = 9};
    struct store_named named;
    size_t at = 0;
    ask.order = (struct store_order){.op = STORE_OP_LIST, .name = {.job = STORE_JOB}, .shard = 70000, .most = 1000};
    store_ask_encode(&ask, bytes);
    ck_assert(store_ask_decode(bytes, store_ask_size(&ask), &out)); /* with no prefix, and behind no name */
    ck_assert_uint_eq(out.order.shard, 70000);
    ck_assert_uint_eq(out.order.most, 1000);
    bytes[47] = 0; /* 768 names */
    ck_assert(store_ask_decode(bytes, store_ask_size(&ask), &out));
    bytes[46] = 4; /* 1,024 */
    ck_assert(!store_ask_decode(bytes, store_ask_size(&ask), &out));
    ask.order.conditional = true;
    store_ask_encode(&ask, bytes);
    ck_assert(!store_ask_decode(bytes, store_ask_size(&ask), &out)); /* behind a name of no bytes */
    ask.order = (struct store_order){.op = STORE_OP_WATCH, .name = name, .conditional = true, .ttl_ms = 1800};
    ask.order.value = again;
    ask.order.value_length = 24;
    store_ask_encode(&ask, bytes);
    ck_assert(store_ask_decode(bytes, store_ask_size(&ask), &out));
    ck_assert_uint_eq(out.order.ttl_ms, 1800);
    ask.order.value_length = 23; /* no cursor */
    store_ask_encode(&ask, bytes);
    ck_assert(!store_ask_decode(bytes, store_ask_size(&ask), &out));
    struct store_register *r = store_register_new(&name, 5);
    r->version = 8;
    r->flags = 9;
    size_t size = store_named_encode(r, bytes);
    ck_assert(store_named_next(bytes, size, &at, &named));
    ck_assert_uint_eq(at, size);
    ck_assert_uint_eq(named.version, 8);
    ck_assert_uint_eq(named.flags, 9);
    ck_assert_uint_eq(named.length, 5);
    ck_assert_uint_eq(named.name.length, 4);
    at = 0;
    ck_assert(!store_named_next(bytes, size - 1, &at, &named));
    free(r);
}
END_TEST

START_TEST(answers)
{
    struct store_answer out,
        a = {.state = STORE_ANSWER_DONE, .server = 4, .n = 5, .version = 6, .flags = 7, .length = 5};
    a.carries = true;
    a.value = (const uint8_t *)"value";
    store_answer_encode(&a, bytes);
    ck_assert(store_answer_decode(bytes, store_answer_size(&a), &out));
    ck_assert_int_eq(memcmp(out.value, "value", 5), 0);
    ck_assert(!store_answer_decode(bytes, store_answer_size(&a) - 1, &out));
    bytes[1] = 0;
    ck_assert(!store_answer_decode(bytes, store_answer_size(&a), &out));
}
END_TEST

START_TEST(registers)
{
    struct store_register *r = store_register_new(&name, 5);
    memcpy(r->bytes + 4, "value", 5);
    r->tag = (struct store_tag){{1, 2}, 3};
    r->ops = 2;
    r->noted[1] = (struct store_noted){1, 2, 3, 4, CW_STORE_CONFLICT, 15};
    size_t size = store_register_size(r);
    store_register_encode(r, bytes);
    struct store_register *out = store_register_decode(bytes, size);
    ck_assert_ptr_nonnull(out);
    store_register_encode(out, again);
    ck_assert_int_eq(memcmp(bytes, again, size), 0);
    ck_assert_ptr_null(store_register_decode(bytes, size - 1));
    r->ttl_ms = 70000;
    store_register_encode(r, bytes);
    ck_assert_uint_eq(store_register_size(r), size + STORE_TTL_BYTES);
    struct store_register *with = store_register_decode(bytes, size + STORE_TTL_BYTES);
    ck_assert_ptr_nonnull(with);
    ck_assert_uint_eq(with->ttl_ms, 70000);
    ck_assert_uint_eq(with->noted[1].status, CW_STORE_CONFLICT);
    ck_assert_uint_eq(with->noted[1].which, 15);
    free(with);
    bytes[40] = 3; /* deleted, and has a ttl */
    ck_assert_ptr_null(store_register_decode(bytes, size + STORE_TTL_BYTES));
    r->ttl_ms = 0;
    store_register_encode(r, bytes);
    bytes[41] = STORE_OPS + 1;
    ck_assert_ptr_null(store_register_decode(bytes, size));
    bytes[41] = 2;
    bytes[40] = 1; /* deleted, with a value */
    ck_assert_ptr_null(store_register_decode(bytes, size));
    free(out);
    free(r);
}
END_TEST

START_TEST(items_and_replies)
{
    struct store_item out, item = {.kind = STORE_ITEM_FETCH, .class_id = 1, .store_id = 2, .shard = 3, .name = name};
    store_item_encode(&item, bytes);
    ck_assert(store_item_decode(bytes, store_item_size(&item), &out));
    ck_assert(store_name_equal(&out.name, &name));
    item = (struct store_item){.kind = STORE_ITEM_BUCKETS, .from = 1};
    store_item_encode(&item, bytes);
    ck_assert(!store_item_decode(bytes, store_item_size(&item), &out));
    struct store_reply told, reply = {.kind = STORE_ITEM_PREPARE, .full = true, .shard = 3, .n = 4};
    store_reply_encode(&reply, bytes);
    ck_assert(store_reply_decode(bytes, store_reply_size(&reply), &told));
    ck_assert(told.full && told.n == 4);
    ck_assert(!store_reply_decode(bytes, store_reply_size(&reply) + 1, &told)); /* a promise brings no bytes */
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(asks), SUITE_TEST(lists), SUITE_TEST(answers), SUITE_TEST(registers), SUITE_TEST(items_and_replies),
};
SUITE_MAIN("store wire", tests)
