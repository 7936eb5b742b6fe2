/* SPDX-License-Identifier: Apache-2.0 */
/* test_post.c - parts that come: which are taken, and which are not (query rules 9 to 12). */
#include "query_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;
static struct query *q;
static struct fake_result r;
static struct post *p;

/* Server 0 asks, and nobody else is heard: parts are those of the test. */
static void open_post(void)
{
    net = query_town_open();
    for (cw_server s = 1; s < QUERY_TOWN; s++) {
        query_town_hush(net, s);
    }
    q = query_town_of(net, 0);
    fake_command(net->server[0], "query sum t.a", &r);
    p = container_of(list_first(&q->posts), struct post, link);
    ck_assert_uint_eq(p->children, 4);
}

static struct query_letter part_of(uint64_t set, uint64_t v, uint8_t *bytes)
{
    struct query_letter l = {.kind = LETTER_PART, .summary = SUMMARY_NUMBER, .name = p->ask.name, .round = LETTER_TREE};
    struct summary_number n = {.of = SUMMARY_OF_COUNTER};
    uint8_t one[SUMMARY_NUMBER_BYTES];
    summary_number_add(&n, v, 1, 3);
    summary_number_encode(&n, one);
    l.servers = QUERY_TOWN;
    l.answered[0] = set;
    l.part = bytes;
    l.part_length = part_put(0, one, sizeof one, bytes, 200);
    return l;
}

static uint64_t sum(void)
{
    struct part_entry e;
    union part_summary s;
    size_t at = 0;
    ck_assert_int_eq(part_next(p->part, p->part_length, &at, &e), 1);
    ck_assert_int_eq(part_decode(SUMMARY_NUMBER, e.bytes, e.length, &s), 0);
    return (uint64_t)s.number.sum;
}

START_TEST(sets_that_meet_are_not_added)
{
    uint8_t bytes[200];
    open_post();
    cw_server a = p->child[0], b = p->child[1];
    struct query_letter l = part_of(0x12, 7, bytes);
    ck_assert_int_eq(post_part(q, &l, a), 0);
    ck_assert_uint_eq(sum(), 1007);
    ck_assert_uint_eq(p->answered[0], 0x13);
    ck_assert_int_eq(post_part(q, &l, a), 0); /* again */
    l = part_of(0x30, 50, bytes);
    ck_assert_int_eq(post_part(q, &l, b), 0); /* server 4 is in already */
    ck_assert_uint_eq(sum(), 1007);
    ck_assert_uint_eq(p->answered[0], 0x13);
    l = part_of(0x20, 50, bytes);
    ck_assert_int_eq(post_part(q, &l, b), 0);
    ck_assert_uint_eq(sum(), 1057);
    ck_assert_uint_eq(p->answered[0], 0x33);
    query_town_close(net);
}
END_TEST

static uint64_t strange(void)
{
    for (unsigned i = 0; i < q->s->counters; i++) {
        if (strcmp(q->s->counter[i].name, "query_strange") == 0) {
            return q->s->counter[i].value;
        }
    }
    return UINT64_MAX;
}

START_TEST(of_another_question)
{
    uint8_t bytes[200];
    open_post();
    struct query_letter l = part_of(0x10, 7, bytes);
    l.name.number++;
    ck_assert_int_eq(post_part(q, &l, p->child[0]), -ESTALE);
    ck_assert_uint_eq(strange(), 1);
    l = part_of(0x10, 7, bytes);
    l.name.life++;
    ck_assert_int_eq(post_part(q, &l, p->child[0]), -ESTALE);
    l = part_of(0x10, 7, bytes);
    l.by = LETTER_BY_X;
    ck_assert_int_eq(post_part(q, &l, p->child[0]), -EPROTO);
    l = part_of(0x10, 7, bytes);
    ck_assert_int_eq(post_part(q, &l, 4), -EPROTO); /* no child of it */
    l.round = LETTER_DIRECT;
    ck_assert_int_eq(post_part(q, &l, p->child[0]), -ESTALE); /* nobody was asked directly yet */
    ck_assert_uint_eq(strange(), 5);
    l = part_of(0x10, 7, bytes);
    bytes[PART_HEAD] = SUMMARY_OF_TIMES; /* another kind of source */
    ck_assert_int_eq(post_part(q, &l, p->child[0]), 0);
    ck_assert_uint_eq(p->flags, LETTER_MIXED);
    bytes[PART_HEAD] = 99;
    ck_assert_int_eq(post_part(q, &l, p->child[1]), 0);
    ck_assert_uint_eq(sum(), 1000);
    ck_assert_uint_eq(p->answered[0], 1);
    query_town_close(net);
}
END_TEST

/* What comes to a server on the way. */
START_TEST(questions_that_make_no_sense)
{
    net = query_town_open();
    q = query_town_of(net, 3); /* 4 and 5 are below it */
    struct query_letter l = {
        .kind = LETTER_ASK, .summary = SUMMARY_NUMBER, .round = LETTER_TREE, .servers = QUERY_TOWN};
    l.name = (struct letter_name){0, 1, 1};
    l.within_us = 1000;
    l.source = "t.a";
    l.source_length = 3;
    l.members[0] = 0x1ff;
    ck_assert_int_eq(post_begin(q, &l, 5, NULL, NULL), -EPROTO); /* 5 is not its parent */
    l.dead[0] = 8;
    ck_assert_int_eq(post_begin(q, &l, 0, NULL, NULL), -EPROTO); /* it is dead, they say */
    l.dead[0] = 1;
    ck_assert_int_eq(post_begin(q, &l, 0, NULL, NULL), -EPROTO); /* the asker is */
    l.dead[0] = 0;
    l.servers = 8;
    ck_assert_int_eq(post_begin(q, &l, 0, NULL, NULL), -EPROTO);
    l.servers = QUERY_TOWN;
    l.round = LETTER_DIRECT;
    ck_assert_int_eq(post_begin(q, &l, 5, NULL, NULL), -EPROTO); /* 5 does not ask */
    ck_assert_uint_eq(query_under_way(q), 0);
    l.round = LETTER_TREE;
    for (cw_server s = 4; s < QUERY_TOWN; s++) {
        query_town_hush(net, s);
    }
    ck_assert_int_eq(post_begin(q, &l, 0, NULL, NULL), 0);
    ck_assert_uint_eq(query_under_way(q), 1);                    /* it waits for its children */
    ck_assert_int_eq(post_begin(q, &l, 0, NULL, NULL), -EPROTO); /* once */
    fake_net_run(net, CW_MS(1));
    ck_assert_uint_eq(query_under_way(q), 0); /* and no longer than it may */
    ck_assert_int_eq(post_begin(q, &l, 0, NULL, NULL), 0);
    query_town_lose(net, 0);
    ck_assert_uint_eq(query_under_way(q), 0); /* who asked is gone */
    query_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sets_that_meet_are_not_added), SUITE_TEST(of_another_question),
                                          SUITE_TEST(questions_that_make_no_sense)};
SUITE_MAIN("post", tests)
