/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/member.h"

#include "services/reply/servers.h"
#include "services/store/common.h"
#include "services/store/held/bundle.h"
#include "store_town.h"
#include "suite.h"

static cw_server member[STORE_COPIES_MOST];

/* Has the server handle an item as if that server had sent it; nobody waits for the reply. */
static void item(struct fake_net *net, cw_server at, cw_server from, const struct store_item *i)
{
    uint8_t bytes[200];
    struct store_caller caller = {.job = STORE_JOB, .server = from, .port = STORE_PORT_MEMBERS};
    caller.right.call = fake_right(net->server[at], torus_coord(&net->torus, from), 77);
    store_item_encode(i, bytes);
    store_member_item(store_town_of(net, at), bytes, store_item_size(i), &caller);
    fake_net_run(net, CW_MS(20));
}

/* The highest of the first epoch. */
#define HIGH ((uint64_t)STORE_EPOCH_FIRST << 32 | UINT32_MAX)

static struct store_item prepare(struct fake_net *net, cw_server to, cw_server from, uint64_t high)
{
    const struct store *s = store_town_of(net, to);
    struct store_item i = {.kind = STORE_ITEM_PREPARE, .class_id = s->of.id, .store_id = s->store_id};
    i.shard = store_town_shard(net, to, "a")->number;
    i.ballot = (struct store_ballot){high, (uint64_t)from << STORE_BOOT_BITS};
    return i;
}

START_TEST(only_members_are_promised_anything)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store *s = store_town_of(net, member[1]);
    struct store_shard *shard = store_town_shard(net, member[1], "a");
    struct store_ballot before = shard->acceptor.promised;
    struct store_item i = prepare(net, member[1], member[0], HIGH);
    i.store_id++; /* of a former life: store rule 21 */
    item(net, member[1], member[0], &i);
    i = prepare(net, member[1], member[0], HIGH);
    i.class_id++;
    item(net, member[1], member[0], &i);
    i = prepare(net, member[1], member[2], HIGH);
    item(net, member[1], member[0], &i); /* another's ballot */
    ck_assert_uint_eq(s->count[STORE_COUNT_STRANGE], 3);
    ck_assert_int_eq(store_ballot_compare(before, shard->acceptor.promised), 0);
    i = prepare(net, member[1], member[0], HIGH);
    item(net, member[1], member[0], &i);
    ck_assert_uint_eq(shard->acceptor.promised.high, HIGH);
    store_town_close(net);
}
END_TEST

/* What is refused is counted by its cause. */
START_TEST(refusals_are_counted)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    struct store *s = store_town_of(net, member[1]);
    struct store_item good = prepare(net, member[1], member[0], HIGH), i = good;
    i.store_id++;
    item(net, member[1], member[0], &i);
    i = good;
    i.class_id++;
    item(net, member[1], member[0], &i);
    ck_assert_uint_eq(s->count[STORE_COUNT_WRONG_STORE], 2);
    i = good;
    while (store_shard_find(s, i.shard) != NULL) {
        i.shard++;
    }
    item(net, member[1], member[0], &i);
    ck_assert_uint_eq(s->count[STORE_COUNT_WRONG_SHARD], 1);
    ck_assert_uint_eq(s->count[STORE_COUNT_STRANGE], 3);
    i = good;
    i.ballot.high = (uint64_t)(STORE_EPOCH_FIRST + 1) << 32;
    item(net, member[1], member[0], &i);
    ck_assert_uint_eq(s->count[STORE_COUNT_WRONG_EPOCH], 1);
    i = good;
    i.ballot.high = (uint64_t)STORE_EPOCH_FIRST << 32; /* below what it has promised */
    item(net, member[1], member[0], &i);
    ck_assert_uint_eq(s->count[STORE_COUNT_WRONG_BALLOT], 1);
    const struct store_caller caller = {.job = STORE_JOB, .server = member[0], .port = STORE_PORT_MEMBERS};
    const uint8_t bytes[STORE_ITEM_HEAD] = {0};
    store_member_item(s, bytes, STORE_ITEM_HEAD - 1, &caller);
    store_member_item(s, bytes, STORE_ITEM_HEAD, &caller);
    store_member_ask(s, bytes, 1, &caller);
    ck_assert_uint_eq(s->count[STORE_COUNT_MALFORMED], 3);
    ck_assert_uint_eq(s->count[STORE_COUNT_WRONG_LENGTH], 2);
    store_town_close(net);
}
END_TEST

START_TEST(a_leader_steps_aside)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    ck_assert_ptr_nonnull(store_town_shard(net, member[0], "a")->lead);
    struct store_item i = prepare(net, member[0], member[1], (uint64_t)STORE_EPOCH_FIRST << 32 | 9);
    item(net, member[0], member[1], &i);
    ck_assert_ptr_null(store_town_shard(net, member[0], "a")->lead);
    store_town_close(net);
}
END_TEST

START_TEST(a_job_asks_about_its_own_names)
{
    struct fake_net *net = store_town_open(3);
    struct store *s = store_town_of(net, 4);
    uint8_t bytes[200];
    struct store_ask ask = {.class_id = s->of.id};
    ask.order = (struct store_order){.op = CW_STORE_GET, .name = {5001, (const uint8_t *)"a", 1}};
    store_ask_encode(&ask, bytes);
    struct store_caller rx = {.job = 5002, .server = 0, .port = STORE_PORT_READ};
    rx.right.call = fake_right(net->server[4], torus_coord(&net->torus, 0), 77);
    store_member_ask(s, bytes, store_ask_size(&ask), &rx);
    ck_assert_uint_eq(s->count[STORE_COUNT_DENIED], 1);
    rx.job = 5001;
    rx.port = STORE_PORT_WRITE; /* a read by the port of writes */
    rx.right.call = fake_right(net->server[4], torus_coord(&net->torus, 0), 78);
    store_member_ask(s, bytes, store_ask_size(&ask), &rx);
    ck_assert_uint_eq(s->count[STORE_COUNT_DENIED], 2);
    rx.port = STORE_PORT_READ;
    rx.right.call = fake_right(net->server[4], torus_coord(&net->torus, 0), 79);
    store_member_ask(s, bytes, store_ask_size(&ask), &rx);
    ck_assert_uint_eq(s->count[STORE_COUNT_DENIED], 2);
    store_member_ask(s, bytes, 3, &rx);
    ck_assert_uint_eq(s->count[STORE_COUNT_MALFORMED], 1);
    fake_net_run(net, CW_SEC(1));
    store_town_close(net);
}
END_TEST

/* A privilege for the port of writes is none to read. */
START_TEST(a_transaction_of_a_job_reads_or_writes)
{
    const struct store_name x = {5001, (const uint8_t *)"{a}x", 4}, y = {5001, (const uint8_t *)"{a}y", 4};
    struct fake_net *net = store_town_open(3);
    struct store *s = store_town_of(net, 4);
    uint8_t bytes[200], value[100];
    struct store_bundle b = {.steps = 2, .step = {{.op = CW_STORE_DELETE, .name = x}, {.op = CW_STORE_GET, .name = y}}};
    struct store_ask ask = {.class_id = s->of.id};
    struct store_caller rx = {.job = 5001, .server = 0, .port = STORE_PORT_WRITE};
    for (unsigned i = 0; i < 2; i++) {
        store_bundle_encode(&b, value);
        ask.order = (struct store_order){.op = STORE_OP_TXN,
                                         .name = {5001, (const uint8_t *)"{a}", 3},
                                         .flags = STORE_TXN_WRITES,
                                         .value = value,
                                         .value_length = store_bundle_size(&b)};
        store_ask_encode(&ask, bytes);
        rx.right.call = fake_right(net->server[4], torus_coord(&net->torus, 0), 77 + i);
        store_member_ask(s, bytes, store_ask_size(&ask), &rx);
        ck_assert_uint_eq(s->count[STORE_COUNT_DENIED], 1); /* the second one only writes */
        ck_assert_uint_eq(s->count[STORE_COUNT_MALFORMED], 0);
        b.step[1].op = CW_STORE_DELETE;
    }
    fake_net_run(net, CW_SEC(1));
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_transaction_of_a_job_reads_or_writes),
    SUITE_TEST(only_members_are_promised_anything),
    SUITE_TEST(refusals_are_counted),
    SUITE_TEST(a_leader_steps_aside),
    SUITE_TEST(a_job_asks_about_its_own_names),
};
SUITE_MAIN("store member", tests)
