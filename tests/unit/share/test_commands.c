/* SPDX-License-Identifier: Apache-2.0 */
/* The ring, both sides, step by step; tests/sim/share has the random walks. */
#include "share/commands.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;

static int put(struct share_command c, const void *lead, size_t lead_bytes, const void *body, size_t body_bytes)
{
    int rc = share_putter_put(&k.putter, &c, lead, lead_bytes, body, body_bytes);
    share_putter_publish(&k.putter);
    return rc;
}

static struct share_command hello(void)
{
    return (struct share_command){.op = SHARE_OP_SHORT, .endpoint = 1, .peer = 2, .length = 5, .user = 77};
}

START_TEST(a_message)
{
    struct share_taken t;
    char to[8] = "";
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, UINT32_MAX);
    ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), 0);
    ck_assert_int_eq(share_taker_look(&k.taker), 1);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    ck_assert(t.c.op == SHARE_OP_SHORT && t.c.user == 77 && t.c.length == 5);
    share_taker_body(&k.taker, &k.tables, &t, to);
    ck_assert_str_eq(to, "hello");
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 0);
    share_teller_keep_silent(&k.teller);
    share_taker_publish(&k.taker);
    ck_assert_uint_eq(k.taker.taken, 1);
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(a_full_ring)
{
    struct share_taken t;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, UINT32_MAX - 7);
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 16; i++) {
            ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), 0);
        }
        ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), -EAGAIN);
        ck_assert_int_eq(share_taker_look(&k.taker), 16);
        for (unsigned i = 0; i < 16; i++) {
            ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
            share_teller_keep_silent(&k.teller);
        }
        ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), -EAGAIN); /* taken, and not published yet */
        share_taker_publish(&k.taker);
    }
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(nothing_longer_than_a_slot)
{
    unsigned char much[SHARE_INLINE_BYTES + 1] = {0};
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    ck_assert_int_eq(put(hello(), much, 193, NULL, 0), -EMSGSIZE);
    ck_assert_int_eq(put(hello(), much, 100, much, 93), -EMSGSIZE);
    ck_assert_int_eq(put(hello(), much, 100, much, 92), 0);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* Refused, told and counted, by cause; what is behind it is taken. */
START_TEST(refusals)
{
    struct share_taken t;
    struct share_completion end;
    struct share_command c = hello();
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    c.endpoint = 7;
    ck_assert_int_eq(put(c, NULL, 0, "hello", 5), 0);
    c = hello();
    c.length = 193;
    ck_assert_int_eq(put(c, NULL, 0, "hello", 5), 0);
    ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), 0);
    ck_assert_int_eq(share_taker_look(&k.taker), 3);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), -ENOENT);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), -EINVAL);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    ck_assert(k.taker.refused[SHARE_NO_ENDPOINT] == 1 && k.taker.refused[SHARE_BAD_LENGTH] == 1);
    ck_assert(share_teller_publish(&k.teller));
    ck_assert_int_eq(share_listener_next(&k.listener, &end), 1);
    ck_assert(end.kind == SHARE_END_REFUSED && end.status == -ENOENT && end.user == 77 && end.endpoint == 7);
    ck_assert_uint_eq(end.handle, SHARE_NO_ENDPOINT);
    ck_assert_int_eq(share_listener_next(&k.listener, &end), 1);
    ck_assert(end.status == -EINVAL && end.handle == SHARE_BAD_LENGTH);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* What stands inline before the body, and is judged as a copy. */
START_TEST(leads)
{
    struct share_taken t;
    uint64_t word[6];
    cw_key key = {{1, 2, 3}};
    struct share_place place = {.offset = 64, .length = 128, .region = 2, .generation = 9};
    struct share_command ask = {
        .op = SHARE_OP_REQUEST, .flags = SHARE_KEY | SHARE_WINDOW, .endpoint = 1, .peer = 2, .length = 3};
    char body[4] = "";
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    share_key_encode(&key, word);
    share_place_encode(&place, word + 3);
    ck_assert_int_eq(put(ask, word, sizeof word, "abc", 3), 0);
    word[2] |= UINT64_C(1) << 63; /* behind the key */
    ck_assert_int_eq(put(ask, word, sizeof word, "abc", 3), 0);
    share_key_encode(&key, word);
    word[3] |= UINT64_C(1) << 32; /* in the place */
    ck_assert_int_eq(put(ask, word, sizeof word, "abc", 3), 0);
    place.length = 4096;
    share_place_encode(&place, word + 3);
    ck_assert_int_eq(put(ask, word, sizeof word, "abc", 3), 0);
    ck_assert_int_eq(share_taker_look(&k.taker), 4);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    ck_assert_mem_eq(&t.key, &key, sizeof key);
    ck_assert(t.answer.region == 2 && t.answer.generation == 9 && t.answer.offset == 64 && t.answer.length == 128);
    share_taker_body(&k.taker, &k.tables, &t, body);
    ck_assert_str_eq(body, "abc");
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), -EINVAL);
    }
    ck_assert(k.taker.refused[SHARE_BAD_RESERVED] == 2 && k.taker.refused[SHARE_BAD_RANGE] == 1);

    struct share_command read = {
        .op = SHARE_OP_READ, .endpoint = 1, .peer = 2, .length = 8, .region = 2, .generation = 9};
    word[0] = UINT64_MAX - 8;
    ck_assert_int_eq(put(read, word, 8, NULL, 0), 0);
    word[0]++;
    ck_assert_int_eq(put(read, word, 8, NULL, 0), 0);
    ck_assert_int_eq(share_taker_look(&k.taker), 2);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    ck_assert_uint_eq(t.remote, UINT64_MAX - 8);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), -EINVAL);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* Parts and bodies that stand in a region; items are not memory and are not judged. */
START_TEST(away)
{
    struct share_taken t;
    struct share_part p[2] = {{0, 100, 2, 9}, {200, 50, 3, 10}};
    uint64_t word[4];
    char to[6] = "";
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    share_part_encode(&p[0], word);
    share_part_encode(&p[1], word + 2);
    memcpy(k.region[0] + 24, word, sizeof word);
    memcpy(k.region[0] + 101, "there", 5);
    struct share_command c = {.op = SHARE_OP_LONG, .endpoint = 1, .peer = 2, .length = 150, .parts = 2};
    ck_assert_int_eq(put(c, NULL, 0, word, sizeof word), 0);
    c.flags = SHARE_AWAY;
    c.generation = 7;
    c.offset = 24;
    ck_assert_int_eq(put(c, NULL, 0, NULL, 0), 0);
    c.length = 151;
    ck_assert_int_eq(put(c, NULL, 0, NULL, 0), 0);
    struct share_command list = {.op = SHARE_OP_POST_LIST, .endpoint = 1, .template_id = 3, .parts = 2};
    memset(word, 0xff, sizeof word);
    ck_assert_int_eq(put(list, NULL, 0, word, sizeof word), 0);
    struct share_command far = hello();
    far.flags = SHARE_AWAY;
    far.generation = 7;
    far.offset = 101;
    ck_assert_int_eq(put(far, NULL, 0, NULL, 0), 0);
    ck_assert_int_eq(share_taker_look(&k.taker), 5);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
        ck_assert(t.part[1].offset == 200 && t.part[1].length == 50 && t.part[1].region == 3);
    }
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), -EINVAL);
    ck_assert_uint_eq(k.taker.refused[SHARE_BAD_PARTS], 1);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    ck_assert_mem_eq(t.item, word, sizeof word);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    share_taker_body(&k.taker, &k.tables, &t, to);
    ck_assert_str_eq(to, "there");
    ck_assert(share_kit_close(&k));
}
END_TEST

/* Any tail that no honest process writes, from either side of the wrap. */
START_TEST(a_tail_out_of_bounds)
{
    const int64_t off[] = {-1, 17, 1 << 20, INT64_C(1) << 31};
    struct share_taken t;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t start = i % 2 ? UINT32_MAX - 5 : 0, tail = (uint32_t)(start + 2 + (uint64_t)off[i / 2]);
        share_kit_open(&k, 16, SHARE_INBOX_LEAST, start);
        for (unsigned n = 0; n < 2; n++) {
            ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), 0);
        }
        ck_assert_int_eq(share_taker_look(&k.taker), 2);
        ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
        tail -= off[i / 2] == 17 ? 2 : 0; /* a slot more than was told to be free */
        memcpy(k.sub + SHARE_SUB_COMMAND_TAIL, &tail, sizeof tail);
        SUITE_HOLDS(share_taker_look(&k.taker) == -EPROTO, "round %u", i);
        tail = start + 2;
        memcpy(k.sub + SHARE_SUB_COMMAND_TAIL, &tail, sizeof tail);
        SUITE_HOLDS(share_taker_look(&k.taker) == -EPROTO, "round %u: it does not stay broken", i);
        ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), -EPROTO);
        ck_assert(share_kit_close(&k));
    }
}
END_TEST

/* A process does not go on by a head that its daemon cannot have. */
START_TEST(a_head_out_of_bounds)
{
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    for (unsigned i = 0; i < 16; i++) {
        ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), 0);
    }
    uint32_t head = 17;
    memcpy(k.com + SHARE_COM_COMMAND_HEAD, &head, sizeof head);
    ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), -EPROTO);
    ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), -EPROTO);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* No command is taken whose end could not be told, and none is lost by that. */
START_TEST(no_room_for_an_end)
{
    struct share_taken t;
    struct share_completion end;
    unsigned taken = 0;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 16; i++) {
            ck_assert_int_eq(put(hello(), NULL, 0, "hello", 5), 0);
        }
        ck_assert_int_eq(share_taker_look(&k.taker), 16);
        while (share_taker_next(&k.taker, &k.tables, &t) == 1) {
            taken++;
        }
        share_taker_publish(&k.taker);
    }
    ck_assert_uint_eq(taken, 32); /* ends of all that are under way */
    ck_assert_int_eq(share_taker_look(&k.taker), 16);
    share_teller_tell(&k.teller, &(struct share_completion){.kind = SHARE_END_SENT});
    (void)share_teller_publish(&k.teller);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 0);
    ck_assert_int_eq(share_listener_next(&k.listener, &end), 1);
    share_listener_publish(&k.listener);
    ck_assert_int_eq(share_taker_next(&k.taker, &k.tables, &t), 1);
    ck_assert(share_kit_close(&k));
}
END_TEST

START_TEST(a_body_twice)
{
    struct share_taken t;
    char to[8];
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    (void)put(hello(), NULL, 0, "hello", 5);
    (void)!share_taker_look(&k.taker);
    (void)!share_taker_next(&k.taker, &k.tables, &t);
    share_taker_body(&k.taker, &k.tables, &t, to);
    share_taker_body(&k.taker, &k.tables, &t, to);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_message),
    SUITE_TEST(a_full_ring),
    SUITE_TEST(nothing_longer_than_a_slot),
    SUITE_TEST(refusals),
    SUITE_TEST(leads),
    SUITE_TEST(away),
    SUITE_TEST(a_tail_out_of_bounds),
    SUITE_TEST(a_head_out_of_bounds),
    SUITE_TEST(no_room_for_an_end),
    SUITE_ABORTS(a_body_twice),
};
SUITE_MAIN("commands", tests)
