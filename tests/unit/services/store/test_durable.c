/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/durable.h"

#include "services/store/disk/journal.h"
#include "store_cellar.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static void whole(struct fake_net *net, cw_server s)
{
    ck_assert_int_eq(store_town_of(net, s)->health, STORE_WELL);
    ck_assert_uint_gt(store_town_of(net, s)->shards, 0);
}

START_TEST(who_restarts_in_time_resumes)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    uint64_t id = store_town_of(net, member[0])->store_id;
    fake_net_down(net, member[0]);
    store_cellar_crash(member[0]);
    fake_net_up(net, member[0]);
    store_cellar_run(net, CW_SEC(3));
    whole(net, member[0]);
    ck_assert_uint_eq(store_town_of(net, member[0])->store_id, id);
    ck_assert_uint_eq(store_town_of(net, member[0])->boot, 2); /* store rule 29 */
    ck_assert_ptr_nonnull(store_town_register(net, member[0], "a"));
    fake_net_down(net, member[1]); /* it counts for a majority again */
    cw_server asker = member[0];
    ck_assert_str_eq(fake_text(store_town_ask(net, asker, "get a"), 0, "value"), "one");
    store_town_must(net, asker, "put a two", CW_STORE_OK);
    store_cellar_close(net);
}
END_TEST

/* Store rule 1. */
START_TEST(nothing_is_answered_before_the_disk_has_it)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    static struct fake_result r;
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    store_cellar_hold(true);
    fake_command(net->server[0], "put a two wait_ms=200", &r);
    store_cellar_run(net, CW_MS(100));
    ck_assert(!r.done);
    ck_assert(!journal_is_settled(store_town_of(net, member[0])->journal));
    ck_assert(!journal_is_settled(store_town_of(net, member[1])->journal));
    store_cellar_hold(false);
    store_cellar_run(net, CW_MS(100));
    ck_assert(r.done);
    ck_assert_int_eq(fake_int(&r, 0, "code"), CW_STORE_OK);
    store_cellar_close(net);
}
END_TEST

/* A value with a place of its own on the disk, which it has been lent to. */
START_TEST(a_long_value_outlives_a_loss_of_power)
{
    static uint8_t value[1 << 20];
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    for (size_t i = 0; i < sizeof value; i++) {
        value[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    struct store *s = store_town_of(net, 0);
    ck_assert_int_eq(upload_add(&s->uploads, 7, 0, value, sizeof value, sizeof value, net->now), 0);
    store_town_must(net, 0, "put a - stage=7", CW_STORE_OK);
    store_town_must(net, 0, "put b two", CW_STORE_OK);
    store_town_members(net, "a", member);
    for (unsigned m = 0; m < 3; m++) {
        ck_assert_uint_eq(store_town_of(net, member[m])->hand[STORE_HAND_ITEMS], 0);
        fake_net_down(net, member[m]);
        store_cellar_crash(member[m]);
        fake_net_up(net, member[m]);
    }
    store_cellar_run(net, CW_SEC(5));
    for (unsigned m = 0; m < 3; m++) {
        const struct store_register *r = store_town_register(net, member[m], "a");
        ck_assert_ptr_nonnull(r);
        ck_assert_uint_eq(r->value_length, sizeof value);
        ck_assert(memcmp(store_register_value(r), value, sizeof value) == 0);
    }
    store_town_must(net, 0, "head a", CW_STORE_OK);
    store_cellar_close(net);
}
END_TEST

/* Store rule 21. */
START_TEST(an_empty_disk_is_no_member)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    fake_net_down(net, member[1]);
    store_cellar_empty(member[1]);
    fake_net_up(net, member[1]);
    store_cellar_run(net, CW_SEC(3));
    ck_assert_uint_eq(store_town_of(net, member[1])->shards, 0);
    cw_server asker = member[1];
    ck_assert_str_eq(fake_text(store_town_ask(net, asker, "get a"), 0, "value"), "one");
    store_town_must(net, asker, "put a two", CW_STORE_OK);
    store_cellar_close(net);
}
END_TEST

START_TEST(a_disk_that_fails_is_the_end_of_a_member)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    sim_disk_fail_nth(store_cellar_disk(member[0]), 1, 1u << DISK_WRITE, EIO);
    store_town_must(net, 1, "put a two", CW_STORE_OK);
    ck_assert_int_eq(store_town_of(net, member[0])->health, STORE_DEAD);
    ck_assert_ptr_nonnull(strstr(net->server[member[0]]->logged, "disk failed"));
    ck_assert_str_eq(fake_text(store_town_ask(net, member[0], "get a"), 0, "value"), "two");
    ck_assert_ptr_nonnull(strstr(fake_text(store_town_ask(net, member[0], "status"), 0, "disk"), "failed"));
    store_cellar_close(net);
}
END_TEST

/* Right after a start: a store is made as soon as all have read their folders, whoever is asked to make it. */
START_TEST(who_reads_its_folder_is_waited_for)
{
    static struct fake_result r;
    for (cw_server at = 0; at <= 4; at += 4) {
        struct fake_net *net = store_cellar_open(0);
        fake_net_down(net, 4);
        store_cellar_hang(4, true);
        fake_net_up(net, 4);
        fake_command(net->server[at], "create disk", &r);
        store_cellar_run(net, CW_SEC(6));
        ck_assert(!r.done);
        ck_assert_int_eq(store_town_of(net, 4)->health, STORE_OPENING);
        store_cellar_hang(4, false);
        store_cellar_run(net, CW_SEC(1));
        ck_assert(r.done);
        ck_assert_int_eq(r.rc, 0);
        store_town_must(net, 4, "put a one", CW_STORE_OK);
        store_cellar_close(net);
    }
}
END_TEST

START_TEST(who_reads_its_folder_for_too_long_is_named)
{
    struct fake_net *net = store_cellar_open(0);
    fake_net_down(net, 4);
    store_cellar_hang(4, true);
    fake_net_up(net, 4);
    const struct fake_result *r = store_town_ask(net, 0, "create disk");
    ck_assert_int_lt(r->rc, 0);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "1 of 9 servers are still reading their store's folders"));
    store_cellar_hang(4, false);
    store_cellar_run(net, CW_SEC(1));
    ck_assert_int_eq(store_town_ask(net, 4, "create disk")->rc, 0);
    store_cellar_close(net);
}
END_TEST

/* The others answer: one of them leads for as long as the disk hangs, and nobody is told that there is no majority. */
START_TEST(a_leader_whose_disk_hangs_steps_aside)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_members(net, "a", member);
    struct store *s = store_town_of(net, member[0]);
    store_cellar_hang(member[0], true);
    cw_time begun = net->now;
    store_town_must(net, member[0], "put a two", CW_STORE_OK);
    ck_assert_int_lt(cw_time_since(net->now, begun).ns, CW_SEC(2).ns);
    ck_assert_ptr_null(store_town_shard(net, member[0], "a")->lead);
    ck_assert_ptr_nonnull(store_town_shard(net, member[1], "a")->lead);
    ck_assert_uint_eq(s->count[STORE_COUNT_ASIDE], 1);
    for (unsigned i = 0; i < 20; i++) {
        begun = net->now;
        store_town_must(net, i % STORE_TOWN, "put a three", CW_STORE_OK);
        ck_assert_int_lt(cw_time_since(net->now, begun).ns, CW_MS(700).ns);
        store_cellar_run(net, CW_MS(500));
    }
    ck_assert_str_eq(fake_text(store_town_ask(net, member[0], "get a"), 0, "value"), "three");
    ck_assert_uint_eq(s->count[STORE_COUNT_DISK_SLOW], 0);
    store_cellar_hang(member[0], false);
    store_cellar_run(net, CW_SEC(1));
    ck_assert_uint_eq(s->count[STORE_COUNT_DISK_SLOW], 1);
    ck_assert_uint_eq(store_town_shard(net, member[1], "a")->lead->lagging, 0);
    store_cellar_close(net);
}
END_TEST

/* Where the disks of all hung at once, all step aside: until the first of them answers. */
START_TEST(who_has_its_disk_again_leads)
{
    struct fake_net *net = store_cellar_open(3);
    cw_server member[STORE_COPIES_MOST];
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_town_members(net, "a", member);
    for (unsigned m = 0; m < 3; m++) {
        struct store_shard *shard = store_town_shard(net, member[m], "a");
        if (shard->lead != NULL) {
            store_lead_end(shard->lead, STORE_END_ASIDE);
        }
        shard->aside = cw_time_add(net->now, CW_SEC(5));
        shard->aside_of_disk = true;
    }
    cw_time begun = net->now;
    store_town_must(net, 0, "put a two", CW_STORE_OK);
    ck_assert_int_lt(cw_time_since(net->now, begun).ns, CW_SEC(1).ns);
    store_cellar_close(net);
}
END_TEST

/* An idle server has no timer, on disks neither, but the one of hours that reads its registers again. */
START_TEST(an_idle_server_sleeps)
{
    struct fake_net *net = store_cellar_open(3);
    store_town_must(net, 0, "put a one", CW_STORE_OK);
    store_cellar_run(net, CW_SEC(3));
    for (cw_server s = 0; s < STORE_TOWN; s++) {
        cw_time wake = fake_wake(net->server[s]);
        bool holds = store_town_of(net, s)->registers > 0;
        ck_assert(holds ? wake.ns > CW_SEC(3600).ns : wake.ns == CW_NEVER.ns);
    }
    store_cellar_close(net);
}
END_TEST

START_TEST(options_are_judged)
{
    static const char *const bad[][3] = {
        {"segment_mib=0", NULL}, {"segment_mib=65", NULL}, {"bytes_max=95", NULL}, {"bytes_max=64", NULL}};
    int rc;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_ptr_null(fake_open_with(&store_service, (cw_dims){3, 3, 1}, (cw_coord){0, 0, 0}, bad[i], &rc));
        ck_assert_int_lt(rc, 0);
    }
    struct fake_net *net = store_town_open(0); /* without folders */
    const struct fake_result *r = store_town_ask(net, 0, "create disk");
    ck_assert_int_lt(r->rc, 0);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "have no folder"));
    store_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_restarts_in_time_resumes),
    SUITE_TEST(nothing_is_answered_before_the_disk_has_it),
    SUITE_TEST(a_long_value_outlives_a_loss_of_power),
    SUITE_TEST(an_empty_disk_is_no_member),
    SUITE_TEST(a_disk_that_fails_is_the_end_of_a_member),
    SUITE_TEST(who_reads_its_folder_is_waited_for),
    SUITE_TEST(who_reads_its_folder_for_too_long_is_named),
    SUITE_TEST(a_leader_whose_disk_hangs_steps_aside),
    SUITE_TEST(who_has_its_disk_again_leads),
    SUITE_TEST(an_idle_server_sleeps),
    SUITE_TEST(options_are_judged),
};
SUITE_MAIN("store durable", tests)
