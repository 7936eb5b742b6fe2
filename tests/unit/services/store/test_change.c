/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/change.h"

#include "services/store/members.h"
#include "store_town.h"
#include "suite.h"

enum { STEPS = 100000 };

/* The town after `put a one`, its leader, and a server that is no member. */
static struct store_lead *lead_of(struct fake_net *net, cw_server member[static STORE_COPIES_MOST], cw_server *other)
{
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store_shard *first = store_town_shard(net, member[0], "a");
    for (*other = 0; store_config_place(&first->config, *other) < first->config.count;) {
        ++*other;
    }
    ck_assert_ptr_nonnull(first->lead);
    first->lost[2] = true; /* else it would be found that the third member is back */
    return first->lead;
}

START_TEST(a_newcomer_takes_the_place_of_a_member)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard;
    store_change_begin(lead, 2, other);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(first->config.epoch, 2);
    ck_assert_uint_eq(first->config.member[2], other);
    ck_assert_ptr_nonnull(store_town_register(net, other, "a"));
    ck_assert_int_eq(store_town_shard(net, other, "a")->role, STORE_ROLE_MEMBER);
    ck_assert_uint_eq(store_town_of(net, member[0])->filling, 0);
    ck_assert_uint_eq(store_town_of(net, member[0])->count[STORE_COUNT_REPLACED], 1);
    store_town_must(net, 3, "put a two", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* Store rule 12: one that stays and is not heard keeps the members from changing; then a new leader finds out. */
START_TEST(all_that_stay_seal_it)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard;
    store_town_hush(member[1], true);
    store_change_begin(lead, 2, other);
    fake_net_run(net, CW_MS(300));
    ck_assert_uint_eq(first->config.epoch, 1);
    fake_net_run(net, CW_SEC(2)); /* it has given up: what it sealed itself may not be decided by others */
    ck_assert(!store_ballot_is_none(first->seal.ballot));
    store_town_must(net, member[0], "put a two wait_ms=900", CW_STORE_NO_QUORUM);
    store_town_hush(member[1], false);
    store_town_must(net, member[0], "put a two", CW_STORE_OK);
    ck_assert_uint_eq(first->config.epoch, 1);
    ck_assert(store_ballot_is_none(first->seal.ballot)); /* it is void: the other one did not seal it */
    store_town_close(net);
}
END_TEST

/* Store rule 10: what all that stay have sealed is decided, though nobody was told. */
START_TEST(a_new_leader_finishes_what_was_sealed)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard, *second = store_town_shard(net, member[1], "a");
    struct store_seal seal = {lead->ballot, first->config};
    seal.next.epoch++;
    seal.next.member[2] = other;
    seal.next.store_id[2] = store_town_of(net, other)->store_id;
    store_lead_end(lead, STORE_END_DEPOSED);
    first->seal = seal;
    second->seal = seal;
    struct store_shard *newcomer = store_members_shard(store_town_of(net, other), first->number);
    store_members_learn(store_town_of(net, other), newcomer, &first->config);
    store_town_must(net, member[1], "put a two", CW_STORE_OK);
    ck_assert_uint_eq(second->config.epoch, 2);
    ck_assert_uint_eq(first->config.epoch, 2);
    ck_assert_int_eq(newcomer->role, STORE_ROLE_MEMBER);
    ck_assert_ptr_nonnull(store_town_register(net, other, "a"));
    store_town_close(net);
}
END_TEST

/* Store rule 9: while the members change nothing is written, and afterwards what waited is. */
START_TEST(writes_wait_for_a_moment)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    static struct fake_result r;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard;
    store_town_hush(other, true);
    store_change_begin(lead, 2, other);
    lead->change.step = STORE_CHANGE_STOPPED;
    fake_command(net->server[0], "put a two", &r);
    fake_net_run(net, CW_MS(50));
    ck_assert(!r.done);
    ck_assert_uint_eq(lead->write_count, 0);
    store_town_hush(other, false);
    fake_net_run(net, CW_SEC(1));
    ck_assert(r.done);
    ck_assert_uint_eq(first->config.epoch, 2);
    ck_assert_uint_eq(store_town_register(net, other, "a")->tag.n, store_town_register(net, member[0], "a")->tag.n);
    store_town_close(net);
}
END_TEST

/* A leader of a former epoch is told who the members are, and counts for nothing. */
START_TEST(who_is_behind_is_told)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard, *third = store_town_shard(net, member[2], "a");
    store_change_begin(lead, 2, other);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(first->config.epoch, 2);
    ck_assert_int_eq(third->role, STORE_ROLE_MEMBER); /* it does not know yet */
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[2]), third), 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert_int_eq(third->role, STORE_ROLE_LEFT);
    ck_assert_uint_eq(third->config.epoch, 2);
    ck_assert_ptr_null(third->lead);
    store_town_must(net, member[2], "put a two", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* Store rule 13: a newcomer votes when it holds what the leader holds, since it may be the only one that does. */
START_TEST(a_newcomer_may_be_the_only_one_that_knows)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *shard = NULL;
    store_town_hush(member[1], true);
    lead->shard->lost[2] = false;
    store_town_must(net, 0, "put a two", CW_STORE_OK); /* the first and the third member have it */
    store_town_hush(member[1], false);
    lead->shard->lost[2] = true;
    store_town_hush(member[2], true);
    store_change_begin(lead, 2, other);
    for (unsigned i = 0; i < STEPS && (shard == NULL || shard->role != STORE_ROLE_MEMBER); i++) {
        fake_net_run(net, CW_US(1));
        shard = store_town_shard(net, other, "a");
    }
    ck_assert_ptr_nonnull(shard);
    ck_assert_int_eq(shard->role, STORE_ROLE_MEMBER);
    fake_net_down(net, member[0]);
    ck_assert_uint_lt(store_town_register(net, member[1], "a")->tag.n, 3);
    ck_assert_str_eq(fake_text(store_town_ask(net, other, "get a"), 0, "value"), "two");
    store_town_hush(member[2], false);
    store_town_close(net);
}
END_TEST

/* Store rule 14. */
START_TEST(a_newcomer_keeps_nothing_else)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store *s = store_town_of(net, other);
    struct store_shard *newcomer = store_members_shard(s, lead->shard->number);
    const struct store_name ghost = {STORE_JOB, (const uint8_t *)"ghost", 5};
    const struct store_tag tag = {lead->ballot, 99};
    store_members_learn(s, newcomer, &lead->shard->config); /* what another leader gave it once */
    ck_assert_int_eq(store_table_put(&newcomer->acceptor.table, store_town_make("ghost", "of old", tag)), 0);
    ck_assert_int_eq(store_table_put(&newcomer->acceptor.table, store_town_make("a", "of old", tag)), 0);
    s->registers = newcomer->acceptor.table.registers;
    s->bytes = newcomer->acceptor.table.bytes;
    store_change_begin(lead, 2, other);
    for (unsigned i = 0; i < STEPS && newcomer->role != STORE_ROLE_MEMBER; i++) {
        fake_net_run(net, CW_US(1));
    }
    ck_assert_int_eq(newcomer->role, STORE_ROLE_MEMBER);
    ck_assert_ptr_null(store_table_find(&newcomer->acceptor.table, &ghost));
    ck_assert_uint_lt(store_town_register(net, other, "a")->tag.n, 99);
    store_town_close(net);
}
END_TEST

/* Who has moved on promises nothing in the epoch before, or it would look as if it had not sealed (mutant 44). */
START_TEST(who_has_moved_on_does_not_vote_for_what_was)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard, *second = store_town_shard(net, member[1], "a");
    struct store_seal seal = {lead->ballot, first->config};
    seal.next.epoch++;
    seal.next.member[2] = other;
    seal.next.store_id[2] = store_town_of(net, other)->store_id;
    second->seal = seal;
    store_members_follow(store_town_of(net, member[0]), first, &seal.next);
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), second), 0);
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(second->config.epoch, 2);
    store_town_close(net);
}
END_TEST

/* Its disk may be new, and be written full of zeros first: nobody else takes its place for that. */
START_TEST(a_newcomer_may_be_silent_for_some_seconds)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard;
    struct store *newcomer = store_town_of(net, other);
    newcomer->health = STORE_OPENING;
    store_change_begin(lead, 2, other);
    fake_net_run(net, CW_SEC(5));
    ck_assert_ptr_eq(first->lead, lead);
    ck_assert_int_eq(lead->change.step, STORE_CHANGE_LEARN);
    ck_assert_uint_eq(first->skip, 0);
    newcomer->health = STORE_WELL;
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(first->config.member[2], other);
    store_town_close(net);
}
END_TEST

START_TEST(a_newcomer_that_stays_silent_is_passed_over)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], other;
    struct store_lead *lead = lead_of(net, member, &other);
    struct store_shard *first = lead->shard;
    store_town_of(net, other)->health = STORE_OPENING;
    store_change_begin(lead, 2, other);
    fake_net_run(net, CW_SEC(30));
    ck_assert_uint_eq(first->config.epoch, 2);
    ck_assert_uint_ne(first->config.member[2], other);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_newcomer_takes_the_place_of_a_member),
    SUITE_TEST(all_that_stay_seal_it),
    SUITE_TEST(a_new_leader_finishes_what_was_sealed),
    SUITE_TEST(writes_wait_for_a_moment),
    SUITE_TEST(who_is_behind_is_told),
    SUITE_TEST(a_newcomer_may_be_the_only_one_that_knows),
    SUITE_TEST(a_newcomer_keeps_nothing_else),
    SUITE_TEST(who_has_moved_on_does_not_vote_for_what_was),
    SUITE_TEST(a_newcomer_may_be_silent_for_some_seconds),
    SUITE_TEST(a_newcomer_that_stays_silent_is_passed_over),
};
SUITE_MAIN("store change", tests)
