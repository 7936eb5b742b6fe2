/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

static size_t large(cw_job job, uint64_t version, unsigned grants)
{
    struct kit_job k = {.job = job, .version = version, .generation = 1, .processes = 2, .grants = grants};
    return kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX);
}

static void offer(cw_server to, cw_server from, const struct jobs_mark *mark)
{
    struct jobs_frame frame = {.kind = JOBS_OFFER, .origin = CW_SERVER_NONE, .mark = *mark};
    town_say(to, from, &frame, NULL, 0);
}

/* An NMU with room for all that a record may say, where it is put. */
static void make_room(struct town_host *h)
{
    struct nmu_config config = nmu_config_default();
    config.jobs = config.privileges = 16384;
    nmu_close(&h->nmu);
    ck_assert_int_eq(nmu_open(&h->nmu, &config), 0);
    ck_assert_int_eq(nmu_reside(&h->nmu, 0, TOWN_RESIDENT, 0, 0), 0);
}

/* 240,000 bytes do not fit a packet: they are offered, and fetched part by part, along the line. */
START_TEST(large_records_go_everywhere)
{
    town_prepare();
    make_room(&town.at[0]);
    town_open((cw_dims){5, 1, 1});
    size_t size = large(9, 3, 15000);
    ck_assert_uint_gt(size, 240000);
    town_put_room(0, size, NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(fake_int(&town_result, town_result.rows - 1, "complete"), 1);
    for (cw_server s = 0; s < 5; s++) {
        const struct records_item *item = town_item(s, 9);
        ck_assert_uint_eq(item->blob->size, size);
        ck_assert_int_eq(memcmp(item->blob->bytes, town_room, size), 0);
        ck_assert_uint_eq(town_jobs(s)->fetch.wants, 0);
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(parts_that_are_lost_are_asked_again)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    size_t size = large(9, 3, 5000);
    jobs_take_kept(town_jobs(0), town_room, size);
    town.net->lose = 31;
    for (unsigned i = 0; i < 10 && town_item(1, 9) == NULL; i++) {
        offer(1, 0, &town_item(0, 9)->mark);
        town_run(20000);
    }
    ck_assert_ptr_nonnull(town_item(1, 9));
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* It goes on at the one that gives while it is fetched: then the new one is. */
START_TEST(it_changes_meanwhile)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    size_t size = large(9, 3, 5000);
    jobs_take_kept(town_jobs(0), town_room, size);
    struct jobs_mark mark = town_item(0, 9)->mark;
    offer(1, 0, &mark);
    fake_net_run(town.net, CW_US(5));
    ck_assert(town_jobs(1)->fetch.busy);
    size = large(9, 4, 6000);
    jobs_take_kept(town_jobs(0), town_room, size);
    town_run(20);
    ck_assert(!town_jobs(1)->fetch.busy);
    offer(1, 0, &town_item(0, 9)->mark);
    town_run(20);
    ck_assert_uint_eq(town_item(1, 9)->mark.version, 4);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* An offer of what the other does not have, or of one of other bytes: nothing comes of it, and the next is fetched. */
START_TEST(false_promises)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    jobs_take_kept(town_jobs(0), town_room, large(9, 3, 100));
    const struct jobs_mark none = {.job = 77, .generation = 1, .version = 4, .digest = 1};
    struct jobs_mark later = town_item(0, 9)->mark;
    later.version = 50;
    offer(1, 0, &none);
    offer(1, 0, &later);
    town_run(5);
    ck_assert_uint_eq(town_item(1, 9)->mark.version, 3); /* what it had */
    ck_assert_uint_eq(town_jobs(1)->fetch.wants, 0);
    /* One who gives what nobody signed. */
    struct records_item *item = town_item(0, 9);
    item->blob->bytes[item->blob->size - 1] ^= 1;
    offer(2, 0, &item->mark);
    town_run(5);
    ck_assert(town_item(2, 9) == NULL || town_item(2, 9)->mark.version == 3); /* of server 1's flood */
    ck_assert_uint_eq(town_jobs(2)->fetch.wants, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(wants_are_bounded)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    town.net->server[2]->swallow = true;
    for (cw_job job = 1; job <= 1000; job++) {
        const struct jobs_mark mark = {.job = 100 + job, .generation = 1, .version = 4, .digest = 1};
        offer(1, 2, &mark);
        offer(1, 2, &mark);
    }
    ck_assert_uint_eq(town_jobs(1)->fetch.wants, JOBS_WANTS);
    ck_assert_uint_eq(town_jobs(1)->fetch.overflow, 2);
    town_run(JOBS_WANTS * 700);
    ck_assert_uint_eq(town_jobs(1)->fetch.wants, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(large_records_go_everywhere), SUITE_TEST(parts_that_are_lost_are_asked_again),
    SUITE_TEST(it_changes_meanwhile),        SUITE_TEST(false_promises),
    SUITE_TEST(wants_are_bounded),
};
SUITE_MAIN("fetch", tests)
