/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/serve.h"

#include "services/store/common.h"
#include "store_town.h"
#include "suite.h"

START_TEST(operations_of_any_server)
{
    struct fake_net *net = store_town_open(3);
    int64_t first = store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_must(net, 5, "get a", CW_STORE_OK);
    ck_assert_str_eq(fake_text(store_town_ask(net, 8, "get a"), 0, "value"), "one");
    int64_t second = store_town_must(net, 7, "put a two", CW_STORE_OK);
    ck_assert_int_gt(second, first);
    store_town_must(net, 3, "insert a three", CW_STORE_CONFLICT);
    store_town_must(net, 3, "delete a", CW_STORE_OK);
    store_town_must(net, 2, "get a", CW_STORE_NOT_FOUND);
    store_town_must(net, 2, "delete a", CW_STORE_NOT_FOUND);
    ck_assert_int_gt(store_town_must(net, 4, "insert a three", CW_STORE_OK), second);
    store_town_close(net);
}
END_TEST

/* Store rule 7: who led without knowing that another does by now is found out before it answers. */
START_TEST(a_deposed_leader_serves_nothing_old)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a old", CW_STORE_OK);
    store_town_members(net, "a", member);
    ck_assert_ptr_nonnull(store_town_shard(net, member[0], "a")->lead);
    /* The others go on without it, and it hears nothing of that. */
    store_town_hush(member[0], true);
    struct store_shard *second = store_town_shard(net, member[1], "a");
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), second), 0);
    fake_net_run(net, CW_MS(100));
    ck_assert_int_eq(second->lead->phase, STORE_PHASE_OPEN);
    store_town_must(net, member[1], "put a new", CW_STORE_OK);
    store_town_hush(member[0], false);
    ck_assert_str_eq(fake_text(store_town_ask(net, member[0], "get a"), 0, "value"), "new");
    ck_assert_ptr_null(store_town_shard(net, member[0], "a")->lead);
    store_town_close(net);
}
END_TEST

/* Store rule 8: a value is not shown before it is chosen. */
START_TEST(a_get_waits_for_the_write_under_way)
{
    static struct fake_result put, get;
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], "put a two", &put);
    fake_net_run(net, CW_MS(1));
    store_town_hush(member[1], false); /* it has not heard of the write, and would confirm the leader */
    fake_command(net->server[member[0]], "get a", &get);
    fake_net_finish(net, &get);
    ck_assert_str_eq(fake_text(&get, 0, "value"), "two");
    ck_assert_uint_eq(store_town_register(net, member[1], "a")->version,
                      store_town_register(net, member[0], "a")->version);
    fake_net_finish(net, &put);
    store_town_close(net);
}
END_TEST

START_TEST(what_grows_is_refused_when_a_member_is_full)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_town_of(net, member[2])->limits.bytes_max = 1;
    store_town_must(net, 0, "put a two", CW_STORE_OK); /* by which it is heard of */
    store_town_must(net, 0, "put a three", CW_STORE_NO_SPACE);
    store_town_must(net, 0, "delete a", CW_STORE_OK);
    store_town_of(net, member[2])->limits.bytes_max = 1000000;
    store_town_must(net, 0, "get a", CW_STORE_NOT_FOUND);
    store_town_must(net, 0, "put a four", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* Nobody asks the members anything but those who are refused. */
START_TEST(a_member_that_has_room_again_is_found_out)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put {a} one", CW_STORE_OK);
    store_town_members(net, "{a}", member);
    store_town_of(net, member[2])->limits.bytes_max = 1;
    store_town_must(net, 0, "put {a} two", CW_STORE_OK);
    store_town_must(net, 0, "put {a} three", CW_STORE_NO_SPACE);
    store_town_must(net, 0, "txn put {a}b 1", CW_STORE_NO_SPACE);
    store_town_of(net, member[2])->limits.bytes_max = 1000000;
    store_town_ask(net, 0, "put {a} four"); /* another's answer may be there first */
    store_town_must(net, 0, "put {a} five", CW_STORE_OK);
    store_town_must(net, 0, "txn put {a}b 1", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

START_TEST(a_full_member_that_is_gone_refuses_nothing)
{
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put {a} one", CW_STORE_OK);
    store_town_members(net, "{a}", member);
    store_town_of(net, member[2])->limits.bytes_max = 1;
    store_town_must(net, 0, "put {a} two", CW_STORE_OK);
    cw_server asker = member[1];
    store_town_must(net, asker, "put {a} three", CW_STORE_NO_SPACE);
    ck_assert_str_eq(fake_text(store_town_ask(net, asker, "get {a}"), 0, "value"), "two"); /* store rule 31 */
    fake_net_down(net, member[2]);
    store_town_must(net, asker, "put {a} three", CW_STORE_OK);
    store_town_must(net, asker, "txn put {a} four", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* Another name of the shard of "a". */
static void sibling(const struct fake_net *net, char *out, size_t size)
{
    struct store_name name = {STORE_JOB, (const uint8_t *)"a", 1};
    cw_key key = store_places_key(&name);
    const uint32_t shard = store_places_shard(&net->torus, &key);
    for (unsigned i = 0; i < 10000; i++) {
        name.length = (size_t)snprintf(out, size, "other%u", i);
        name.bytes = (const uint8_t *)out;
        key = store_places_key(&name);
        if (store_places_shard(&net->torus, &key) == shard) {
            return;
        }
    }
    ck_abort_msg("no other name is in the shard");
}

/* Store rule 23: the n of a write that the leader alone has is told to nobody: a leader after it may begin below. */
START_TEST(an_n_that_the_leader_alone_has_is_not_told)
{
    static struct fake_result put, get;
    struct fake_net *net = store_town_open(3);
    cw_server member[STORE_COPIES_MOST], asker = 0;
    char other[24], line[40];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    while (asker == member[0] || asker == member[1] || asker == member[2]) {
        asker++;
    }
    sibling(net, other, sizeof other);
    store_town_must(net, asker, "get a", CW_STORE_OK); /* it knows who leads */
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], "put a two", &put);
    fake_net_run(net, CW_MS(1));
    store_town_hush(member[1], false); /* it confirms the leader, and has not heard of the write */
    snprintf(line, sizeof line, "get %s", other);
    fake_command(net->server[asker], line, &get);
    fake_net_finish(net, &get);
    ck_assert_int_eq(fake_int(&get, 0, "code"), CW_STORE_NOT_FOUND);
    const struct store_shard *shard = store_town_shard(net, member[0], "a");
    const struct store_hint *hint = &store_town_of(net, asker)->hint[shard->number];
    ck_assert_uint_eq(hint->shard, shard->number);
    ck_assert_ptr_nonnull(store_town_register(net, member[0], "a")->under_way);
    ck_assert_uint_gt(hint->n, 0);
    ck_assert_uint_lt(hint->n, store_town_register(net, member[0], "a")->tag.n);
    fake_net_finish(net, &put);
    ck_assert_int_eq(fake_int(&put, 0, "code"), CW_STORE_OK);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(operations_of_any_server),
    SUITE_TEST(a_deposed_leader_serves_nothing_old),
    SUITE_TEST(a_get_waits_for_the_write_under_way),
    SUITE_TEST(what_grows_is_refused_when_a_member_is_full),
    SUITE_TEST(a_member_that_has_room_again_is_found_out),
    SUITE_TEST(a_full_member_that_is_gone_refuses_nothing),
    SUITE_TEST(an_n_that_the_leader_alone_has_is_not_told),
};
SUITE_MAIN("store serve", tests)
