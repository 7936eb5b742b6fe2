/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/txn.h"

#include "services/store/common.h"
#include "store_cellar.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static cw_server member[STORE_COPIES_MOST];

static const char *value(struct fake_net *net, cw_server s, const char *name)
{
    char line[60];
    snprintf(line, sizeof line, "get %s", name);
    const struct fake_result *r = store_town_ask(net, s, line);
    return fake_int(r, 0, "code") == CW_STORE_OK ? fake_text(r, 0, "value") : "";
}

static int64_t code(const struct fake_result *r)
{
    return fake_int(r, r->rows - 1, "code");
}

/* The last row says how it ended. */
static void must(struct fake_net *net, cw_server s, const char *line, cw_store_status status)
{
    const struct fake_result *r = store_town_ask(net, s, line);
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(code(r), status);
}

START_TEST(all_or_nothing)
{
    struct fake_net *net = store_town_open(3);
    int64_t x = store_town_must(net, 0, "put {a}x one", CW_STORE_OK);
    char line[200];
    snprintf(line, sizeof line, "txn if {a}x = %lld if {a}y absent put {a}x two put {a}y three delete {a}z get {a}x",
             (long long)x);
    const struct fake_result *r = store_town_ask(net, 4, line);
    ck_assert_int_eq(r->rc, 0);
    ck_assert_int_eq(code(r), CW_STORE_OK);
    ck_assert_uint_eq(r->rows, 5);
    ck_assert_str_eq(fake_text(r, 3, "value"), "one"); /* what was there before */
    ck_assert_int_eq(fake_int(r, 3, "version"), x);
    ck_assert_int_gt(fake_int(r, 0, "version"), x);
    ck_assert_str_eq(value(net, 8, "{a}x"), "two");
    ck_assert_str_eq(value(net, 7, "{a}y"), "three");
    r = store_town_ask(net, 5, line);
    ck_assert_int_eq(code(r), CW_STORE_CONFLICT);
    ck_assert_int_eq(fake_int(r, 0, "guard"), 1);
    ck_assert_str_eq(fake_text(r, 0, "name"), "{a}x");
    x = fake_int(r, 0, "version");
    ck_assert_int_eq(store_town_must(net, 0, "head {a}x", CW_STORE_OK), x);
    must(net, 2, "txn if {a}y exists if {a}q exists put {a}x none", CW_STORE_CONFLICT);
    ck_assert_str_eq(value(net, 1, "{a}x"), "two");
    must(net, 2, "txn if {a}q absent get {a}x get {a}y", CW_STORE_OK);
    store_town_members(net, "{a}x", member);
    for (unsigned m = 1; m < 3; m++) { /* all members hold the same */
        const struct store_shard *one = store_town_shard(net, member[0], "{a}x"),
                                 *other = store_town_shard(net, member[m], "{a}x");
        ck_assert(store_sum_equal(store_table_root(&one->acceptor.table), store_table_root(&other->acceptor.table)));
    }
    store_town_close(net);
}
END_TEST

/* Store rule 40: what an earlier leader wrote is written again first. */
START_TEST(names_are_of_its_own_ballot)
{
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put {a}g one", CW_STORE_OK);
    store_town_must(net, 0, "put {a}x one", CW_STORE_OK);
    store_town_members(net, "{a}g", member);
    store_town_hush(member[0], true);
    struct store_shard *second = store_town_shard(net, member[1], "{a}g");
    ck_assert_int_eq(store_lead_begin(store_town_of(net, member[1]), second), 0);
    must(net, member[1], "txn if {a}g exists if {a}h absent put {a}x two", CW_STORE_OK);
    ck_assert_ptr_nonnull(second->lead);
    static const char *const names[] = {"{a}g", "{a}h", "{a}x"};
    for (unsigned i = 0; i < 3; i++) {
        const struct store_register *r = store_town_register(net, member[2], names[i]);
        ck_assert_ptr_nonnull(r);
        ck_assert_int_eq(store_ballot_compare(r->tag.ballot, second->lead->ballot), 0);
    }
    store_town_hush(member[0], false);
    store_town_close(net);
}
END_TEST

static bool has_value(struct fake_net *net, unsigned m, const char *name, const char *wanted)
{
    const struct store_register *r = store_town_register(net, member[m], name);
    return r->value_length == strlen(wanted) && memcmp(store_register_value(r), wanted, r->value_length) == 0;
}

/* Members that hear nothing leave the transaction begun; who comes then waits until it is over (store rule 39). */
START_TEST(nobody_comes_in_between)
{
    static struct fake_result one, two;
    struct fake_net *net = store_town_open(3);
    store_town_must(net, 0, "put {a}x one", CW_STORE_OK);
    must(net, 0, "txn put {a}x two delete {a}y", CW_STORE_OK); /* its names are of this ballot now */
    fake_net_run(net, CW_MS(100));
    store_town_members(net, "{a}x", member);
    struct store_lead *lead = store_town_shard(net, member[0], "{a}x")->lead;
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], "txn if {a}y absent put {a}x three", &one);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(lead->write_count, 1);
    fake_command(net->server[member[0]], "put {a}y four", &two);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(lead->write_count, 1);
    ck_assert(has_value(net, 0, "{a}x", "two"));
    store_town_hush(member[1], false);
    store_town_hush(member[2], false);
    fake_net_run(net, CW_MS(300));
    ck_assert(one.done && two.done);
    ck_assert_int_eq(code(&one), CW_STORE_OK);
    ck_assert_int_eq(code(&two), CW_STORE_OK);
    ck_assert_str_eq(value(net, 3, "{a}x"), "three");
    ck_assert_str_eq(value(net, 3, "{a}y"), "four");
    store_town_close(net);
}
END_TEST

/* What somebody was told is in every list from then on, also while its changes cannot be begun for want of memory. */
START_TEST(a_list_waits_for_what_is_owed)
{
    static struct fake_result t, list;
    struct fake_net *net = store_town_open(3);
    must(net, 0, "txn put {a}x one", CW_STORE_OK);
    fake_net_run(net, CW_MS(100));
    store_town_members(net, "{a}x", member);
    struct store_lead *lead = store_town_shard(net, member[0], "{a}x")->lead;
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], "txn put {a}x second", &t);
    fake_net_run(net, CW_MS(20));
    ck_assert(!list_is_empty(&lead->groups));
    store_town_lose("second", "nothing else"); /* the intent, and no confirmation of the leader */
    store_town_hush(member[1], false);
    store_town_hush(member[2], false);
    struct store_group *g = container_of(list_first(&lead->groups), struct store_group, node);
    g->chosen = true;
    fake_command(net->server[member[0]], "list {a}", &list);
    fake_net_run(net, CW_MS(100));
    ck_assert(!list.done);
    g->chosen = false;
    store_town_lose(NULL, NULL);
    fake_net_run(net, CW_MS(300));
    ck_assert(t.done && list.done);
    ck_assert_int_eq(code(&t), CW_STORE_OK);
    ck_assert_int_ge(list.rc, 0);
    ck_assert_str_eq(value(net, 3, "{a}x"), "second");
    store_town_close(net);
}
END_TEST

/* An intent to put {a}x and {a}y, under the ballot of the leader and for what its registers are, at one member. */
static void intend(struct fake_net *net, cw_server at)
{
    struct store_shard *first = store_town_shard(net, member[0], "{a}x"), *there = store_town_shard(net, at, "{a}x");
    const struct store_name tag = {STORE_JOB, (const uint8_t *)"{a}", 3}, x = {STORE_JOB, (const uint8_t *)"{a}x", 4},
                            y = {STORE_JOB, (const uint8_t *)"{a}y", 4}, g = {STORE_JOB, (const uint8_t *)"{a}g", 4};
    const struct store_bundle b = {
        .guards = 1,
        .steps = 2,
        .guard = {{CW_STORE_IF_EXISTS, 0, g}},
        .step = {{.op = CW_STORE_PUT, .name = x, .value = (const uint8_t *)"new", .value_length = 3},
                 {.op = CW_STORE_PUT, .name = y, .value = (const uint8_t *)"new", .value_length = 3}},
    };
    const struct store_order o = {.op = STORE_OP_TXN, .name = tag, .asker = 5, .number = 5};
    const struct store_tag tagged = {first->lead->ballot, first->lead->n + 2};
    struct store_register *r = store_intent_new(&first->acceptor.table, &o, &b, tagged);
    ck_assert_int_eq(store_acceptor_accept(&there->acceptor, tagged.ballot, r), 1);
}

static void prepare(struct fake_net *net)
{
    must(net, 0, "txn put {a}g one put {a}x one put {a}y one", CW_STORE_OK);
    fake_net_run(net, CW_MS(100)); /* all its changes are over */
    store_town_members(net, "{a}x", member);
}

static void take_over(struct fake_net *net, unsigned m)
{
    struct store_shard *shard = store_town_shard(net, member[m], "{a}x");
    for (unsigned i = 0; i < 5 && (shard->lead == NULL || shard->lead->phase != STORE_PHASE_OPEN); i++) {
        ck_assert_int_eq(store_lead_begin(store_town_of(net, member[m]), shard), 0);
        fake_net_run(net, CW_MS(200)); /* the first time it may only hear of a higher ballot */
    }
    ck_assert_ptr_nonnull(shard->lead);
    ck_assert_int_eq(shard->lead->phase, STORE_PHASE_OPEN);
}

/* Store rule 6: it was chosen, and its leader died. */
START_TEST(who_comes_to_lead_finishes_it)
{
    struct fake_net *net = store_town_open(3);
    prepare(net);
    intend(net, member[1]);
    intend(net, member[2]);
    store_town_hush(member[0], true);
    take_over(net, 1);
    ck_assert_str_eq(value(net, member[2], "{a}y"), "new");
    ck_assert_str_eq(value(net, member[2], "{a}x"), "new");
    ck_assert_uint_eq(store_town_of(net, member[1])->count[STORE_COUNT_RESUMED], 1);
    /* Rule 40: what it guards cannot be overtaken any more by what a leader in between wrote at one member. */
    const struct store_ballot ballot = store_town_shard(net, member[1], "{a}x")->lead->ballot;
    ck_assert_int_eq(store_ballot_compare(store_town_register(net, member[2], "{a}g")->tag.ballot, ballot), 0);
    store_town_must(net, member[2], "put {a}x other", CW_STORE_OK);
    store_town_hush(member[1], true); /* the next one finds it again, and that it is over */
    store_town_hush(member[0], false);
    take_over(net, 2);
    ck_assert_str_eq(value(net, member[2], "{a}x"), "other");
    store_town_hush(member[1], false);
    store_town_close(net);
}
END_TEST

/* Store rule 38: it was never chosen, and what it was for has changed since. */
START_TEST(what_was_missed_and_is_out_of_date_is_void)
{
    struct fake_net *net = store_town_open(3);
    prepare(net);
    intend(net, member[2]);
    store_town_hush(member[2], true);
    store_lead_end(store_town_shard(net, member[0], "{a}x")->lead, STORE_END_DEPOSED);
    take_over(net, 1);
    store_town_must(net, member[1], "put {a}g two", CW_STORE_OK);
    store_town_hush(member[2], false);
    store_lead_end(store_town_shard(net, member[1], "{a}x")->lead, STORE_END_DEPOSED);
    store_town_hush(member[1], true);
    take_over(net, 2);
    ck_assert_str_eq(value(net, member[2], "{a}x"), "one");
    ck_assert_str_eq(value(net, member[2], "{a}y"), "one");
    ck_assert_str_eq(value(net, member[2], "{a}g"), "two");
    store_town_hush(member[1], false);
    must(net, 3, "txn if {a}x exists put {a}y two", CW_STORE_OK);
    store_town_close(net);
}
END_TEST

/* The same where nothing has changed: it may be done late, and then is as a whole. */
START_TEST(what_was_missed_and_holds_is_done_late)
{
    struct fake_net *net = store_town_open(3);
    prepare(net);
    intend(net, member[2]);
    store_lead_end(store_town_shard(net, member[0], "{a}x")->lead, STORE_END_DEPOSED);
    store_town_hush(member[1], true);
    take_over(net, 2);
    ck_assert_str_eq(value(net, member[2], "{a}x"), "new");
    ck_assert_str_eq(value(net, member[2], "{a}y"), "new");
    store_town_hush(member[1], false);
    store_town_close(net);
}
END_TEST

/* All servers lose their power a little later each time: both values are of the last one, or both of the one before. */
START_TEST(a_loss_of_power_leaves_all_or_nothing)
{
    static struct fake_result r;
    struct fake_net *net = store_cellar_open(3);
    char line[60], before[20] = "0", x[20];
    must(net, 0, "txn put {a}x 0 put {a}y 0", CW_STORE_OK);
    for (int round = 1; round <= 10; round++) {
        store_cellar_run(net, CW_MS(50));
        snprintf(line, sizeof line, "txn put {a}x %d put {a}y %d", round, round);
        fake_command(net->server[0], line, &r);
        store_cellar_run(net, CW_MS(round));
        const bool done = r.done && code(&r) == CW_STORE_OK;
        for (cw_server s = 0; s < STORE_TOWN; s++) {
            fake_net_down(net, s);
            store_cellar_crash(s);
        }
        for (cw_server s = 0; s < STORE_TOWN; s++) {
            fake_net_up(net, s);
        }
        store_cellar_run(net, CW_SEC(3));
        snprintf(x, sizeof x, "%s", value(net, 4, "{a}x"));
        ck_assert_str_eq(value(net, 5, "{a}y"), x);
        snprintf(line, sizeof line, "%d", round);
        ck_assert_msg(strcmp(x, line) == 0 || (!done && strcmp(x, before) == 0), "%s after %d", x, round);
        snprintf(before, sizeof before, "%s", x);
    }
    store_cellar_close(net);
}
END_TEST

/* Lets member m lead until the name has that value at the other one. */
static void lead_until(struct fake_net *net, unsigned m, unsigned other, const char *name, const char *wanted)
{
    struct store_shard *shard = store_town_shard(net, member[m], "{a}x");
    for (int i = 0; i < 400 && !has_value(net, other, name, wanted); i++) {
        if (shard->lead == NULL) {
            ck_assert_int_eq(store_lead_begin(store_town_of(net, member[m]), shard), 0);
        }
        fake_net_run(net, CW_MS(1));
    }
    ck_assert(has_value(net, other, name, wanted));
}

static void end_lead(struct fake_net *net, unsigned m)
{
    struct store_shard *shard = store_town_shard(net, member[m], "{a}x");
    if (shard->lead != NULL) {
        store_lead_end(shard->lead, STORE_END_DEPOSED);
    }
}

/*
 * Store rule 40, and what it is for. An intent is at its leader alone; the next leader, which has not met it, writes
 * what it guards at one member; a third one carries the intent on, and goes when one of two changes is at a majority.
 * Whoever leads then makes the other one, and nobody takes the intent for void by the write in between.
 */
START_TEST(a_write_from_between_makes_no_half)
{
    static struct fake_result t, between;
    struct fake_net *net = store_town_open(3);
    prepare(net);
    store_town_hush(member[1], true);
    store_town_hush(member[2], true);
    fake_command(net->server[member[0]], "txn if {a}g exists put {a}x new put {a}y new wait_ms=30", &t);
    fake_net_run(net, CW_MS(60));
    end_lead(net, 0);
    store_town_hush(member[0], true);
    store_town_hush(member[1], false);
    store_town_hush(member[2], false);
    take_over(net, 1);
    ck_assert_str_eq(value(net, member[1], "{a}g"), "one");
    store_town_hush(member[2], true);
    fake_command(net->server[member[1]], "put {a}g other wait_ms=400", &between);
    lead_until(net, 1, 1, "{a}g", "other");
    store_town_hush(member[1], true);
    end_lead(net, 1);
    fake_net_run(net, CW_MS(500));
    end_lead(net, 1);
    store_town_hush(member[0], false);
    store_town_hush(member[2], false);
    store_town_lose("{a}ynew", "{a}x"); /* the change of {a}y, and not the intent */
    lead_until(net, 0, 2, "{a}x", "new");
    end_lead(net, 0);
    store_town_lose(NULL, NULL);
    store_town_hush(member[0], true);
    store_town_hush(member[1], false);
    take_over(net, 2);
    fake_net_run(net, CW_MS(500));
    ck_assert_str_eq(value(net, member[2], "{a}x"), "new");
    ck_assert_str_eq(value(net, member[2], "{a}y"), "new");
    store_town_hush(member[0], false);
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_list_waits_for_what_is_owed),
    SUITE_TEST(a_loss_of_power_leaves_all_or_nothing),
    SUITE_TEST(a_write_from_between_makes_no_half),
    SUITE_TEST(all_or_nothing),
    SUITE_TEST(names_are_of_its_own_ballot),
    SUITE_TEST(nobody_comes_in_between),
    SUITE_TEST(who_comes_to_lead_finishes_it),
    SUITE_TEST(what_was_missed_and_is_out_of_date_is_void),
    SUITE_TEST(what_was_missed_and_holds_is_done_late),
};
SUITE_MAIN("store txn", tests)
