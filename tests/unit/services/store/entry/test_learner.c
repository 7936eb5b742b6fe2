/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/learner.h"

#include "base/bytes.h"
#include "store_town.h"
#include "suite.h"

#include <stdlib.h>

static struct store_item lesson(const struct store *s, const struct store_shard *of, struct store_ballot b,
                                uint8_t bytes[static STORE_LESSON_MOST])
{
    const struct store_lesson l = {s->of, 9, of->config};
    struct store_item item = {.kind = STORE_ITEM_LEARN, .class_id = s->of.id, .shard = of->number, .ballot = b};
    item.bytes = bytes;
    item.length = store_lesson_encode(&l, bytes);
    return item;
}

static enum store_reply_why give(struct store *s, struct store_shard *shard, struct store_ballot b, const char *value,
                                 struct store_tag tag)
{
    uint8_t bytes[400];
    struct store_register *r = store_town_make("a", value, tag);
    struct store_item item = {.kind = STORE_ITEM_GIVE, .shard = shard->number, .ballot = b, .bytes = bytes};
    struct store_reply reply = {.why = STORE_REPLY_YES};
    item.length = store_register_size(r);
    store_register_encode(r, bytes);
    free(r);
    store_learner_item(s, shard, &item, NULL, &reply);
    return reply.why;
}

/* Store rule 14: what the leader holds takes the place of what was there, whatever its tag; and what it lacks goes. */
START_TEST(a_learner_holds_what_the_leader_holds)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    uint8_t bytes[STORE_LESSON_MOST], told[STORE_CONFIG_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store_shard *first = store_town_shard(net, member[0], "a");
    const struct store_ballot b = first->lead->ballot, below = {b.high - 1, b.low};
    cw_server other = 0;
    while (store_config_place(&first->config, other) < first->config.count) {
        other++;
    }
    struct store *s = store_town_of(net, other);
    struct store_item item = lesson(s, first, b, bytes);
    struct store_reply reply = {.why = STORE_REPLY_YES};
    store_learner_begin(s, &item, &reply, told);
    ck_assert_int_eq(reply.why, STORE_REPLY_YES);
    ck_assert_uint_eq(get_be64(told), s->store_id);
    struct store_shard *shard = store_shard_find(s, first->number);
    ck_assert_int_eq(shard->role, STORE_ROLE_LEARNER);
    ck_assert_uint_eq(shard->acceptor.n_max, 9); /* store rule 22 */
    ck_assert_int_eq(give(s, shard, b, "new", (struct store_tag){b, 12}), STORE_REPLY_YES);
    ck_assert_uint_eq(shard->acceptor.n_max, 12);
    ck_assert_int_eq(give(s, shard, b, "old", (struct store_tag){b, 3}), STORE_REPLY_YES);
    ck_assert_uint_eq(store_town_register(net, other, "a")->tag.n, 3);
    ck_assert_int_eq(give(s, shard, below, "late", (struct store_tag){b, 13}), STORE_REPLY_PROMISED);
    item = (struct store_item){.kind = STORE_ITEM_DROP, .ballot = b};
    item.name = (struct store_name){STORE_JOB, (const uint8_t *)"a", 1};
    store_learner_item(s, shard, &item, NULL, &reply);
    ck_assert_uint_eq(s->registers, 0);
    store_town_close(net);
}
END_TEST

START_TEST(a_member_learns_nothing)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    uint8_t bytes[STORE_LESSON_MOST], told[STORE_CONFIG_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store_shard *first = store_town_shard(net, member[0], "a");
    struct store *s = store_town_of(net, member[1]);
    struct store_item item = lesson(s, first, first->lead->ballot, bytes);
    struct store_reply reply = {.why = STORE_REPLY_YES};
    store_learner_begin(s, &item, &reply, told);
    ck_assert_int_eq(reply.why, STORE_REPLY_STRANGE);
    item.ballot.high += (uint64_t)1 << 32; /* a ballot of another epoch than its members */
    store_learner_begin(store_town_of(net, 8), &item, &reply, told);
    ck_assert_int_eq(reply.why, STORE_REPLY_STRANGE);
    ck_assert_uint_eq(store_town_of(net, 8)->count[STORE_COUNT_MALFORMED], 1);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_learner_holds_what_the_leader_holds),
    SUITE_TEST(a_member_learns_nothing),
};
SUITE_MAIN("store learner", tests)
