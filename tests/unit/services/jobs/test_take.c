/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

static const cw_dims line = {3, 1, 1};

static void open_town(void)
{
    town_prepare();
    town_open(line);
    town_run(1);
}

START_TEST(news_goes_everywhere)
{
    open_town();
    town_record(0, 1, kit_version(TOWN_RESIDENT, 5, town_room), CW_SERVER_NONE, 0);
    ck_assert_ptr_null(town_item(0, TOWN_RESIDENT)); /* not before it is checked */
    town_run(5);
    for (cw_server s = 0; s < 3; s++) {
        ck_assert_uint_eq(town_item(s, TOWN_RESIDENT)->mark.version, 5);
        ck_assert(town_item(s, TOWN_RESIDENT)->kept);
        ck_assert_uint_eq(town_decides(s, TOWN_RESIDENT), 5);
        ck_assert_uint_eq(town.at[s].verified, 1);
        ck_assert_uint_eq(town.at[s].stored, 1);
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(what_is_refused_is_counted_and_leaves_nothing)
{
    open_town();
    size_t size = kit_version(9, 5, town_room);
    town_room[size - 1] ^= 1;
    town_record(0, 1, size, 1, 7);
    town_run(5);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_UNSIGNED), 1);
    struct kit_job other = {.job = 9, .version = 5, .generation = 1};
    town_record(0, 1, kit_record(&other, KIT_KEY, KIT_CLUSTER + 1, town_room, KIT_RECORD_MAX), 1, 7);
    town_run(5);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_UNSIGNED), 2);
    town_record(0, 1, kit_version(9, 5, town_room) - 4, 1, 7);
    town_record(0, 1, kit_version(JOBS_JOB, 5, town_room), 1, 7);
    town_record(0, 1, JOBS_SIGNATURE_BYTES, 1, 7);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_MALFORMED), 3);
    town.at[0].verify_is = -EIO;
    town_record(0, 1, kit_version(9, 5, town_room), 1, 7);
    town_run(5);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_BUSY), 1);
    ck_assert_uint_eq(town_jobs(0)->records.count, 0);
    ck_assert_uint_eq(town_count(1, JOBS_COUNT_ACCEPTED), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(old_ones_and_repetitions_are_not_checked_again)
{
    open_town();
    town_record(0, 1, kit_version(9, 5, town_room), CW_SERVER_NONE, 0);
    town_run(5);
    town_record(0, 1, kit_version(9, 4, town_room), CW_SERVER_NONE, 0);
    town_record(0, 1, kit_version(9, 5, town_room), CW_SERVER_NONE, 0);
    town_run(5);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_OLD), 1);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_REPEATED), 2); /* and what server 1 gave back */
    ck_assert_uint_eq(town.at[0].verified, 1);
    /* While one is under way. */
    size_t size = kit_version(9, 6, town_room);
    town_record(0, 1, size, CW_SERVER_NONE, 0);
    town_record(0, 2, size, CW_SERVER_NONE, 0);
    town_run(5);
    ck_assert_uint_eq(town.at[0].verified, 2);
    ck_assert_uint_eq(town_item(0, 9)->mark.version, 6);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(so_many_at_a_time)
{
    open_town();
    for (cw_job job = 100; job < 100 + JOBS_TAKING + 3; job++) {
        town_record(0, 1, kit_version(job, 1, town_room), CW_SERVER_NONE, 0);
    }
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_BUSY), 3);
    town_run(50);
    ck_assert_uint_eq(town_jobs(0)->records.count, JOBS_TAKING);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* The ack is the answer to who asks, and says what is held: this one, or one that wins. */
START_TEST(who_asks_is_told)
{
    open_town();
    cw_svc *s = town.net->server[0];
    size_t size = kit_version(9, 5, town_room);
    town_record(0, 1, size, 2, 77);
    fake_run(s, CW_US(200)); /* checked, and not yet stored */
    struct fake_send send;
    struct jobs_frame frame;
    unsigned acks = 0;
    for (int i = 0; i < 3; i++) {
        while (fake_take(s, &send)) {
            size_t length;
            const uint8_t *bytes = cw_packet_data(send.packet, &length);
            ck_assert_int_eq(jobs_decode(bytes, length, KIT_CLUSTER, &frame), JOBS_GOOD);
            if (frame.kind == JOBS_ACK) {
                acks++;
                ck_assert_int_eq(i, acks == 1 ? 1 : 2);
                ck_assert_uint_eq(send.to.process, 2);
                ck_assert_uint_eq(frame.ticket, acks == 1 ? 77 : 78);
                ck_assert_uint_eq(frame.mark.version, 5);
                ck_assert(frame.flag);
            }
            fake_free(send.packet);
        }
        fake_run(s, CW_MS(2));
        if (i == 1) {
            town_record(0, 2, kit_version(9, 3, town_room), 2, 78);
        }
    }
    ck_assert_uint_eq(acks, 2);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(what_cannot_be_stored_counts_nevertheless)
{
    town_prepare();
    town.at[0].store_is = -EIO;
    town_open(line);
    town_record(0, 1, kit_version(TOWN_RESIDENT, 5, town_room), CW_SERVER_NONE, 0);
    town_run(5);
    ck_assert(!town_item(0, TOWN_RESIDENT)->kept);
    ck_assert(town_item(0, TOWN_RESIDENT)->tried);
    ck_assert_uint_eq(town_decides(0, TOWN_RESIDENT), 5);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_UNKEPT), 1);
    ck_assert(strlen(town.net->server[0]->logged) > 10);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* The same version twice: one wins, on every server, and the NMU follows it though it had the other. */
START_TEST(a_fork_is_told_and_has_one_winner)
{
    open_town();
    struct kit_job a = {.job = TOWN_RESIDENT, .version = 5, .generation = 1, .processes = 3}, b = a;
    b.remote = TOWN_RESIDENT;
    for (unsigned turn = 0; turn < 2; turn++) {
        struct kit_job *first = turn == 0 ? &a : &b, *second = turn == 0 ? &b : &a;
        a.version = b.version = 5 + turn;
        town_record(0, 1, kit_record(first, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), CW_SERVER_NONE, 0);
        town_run(5);
        town_record(0, 1, kit_record(second, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), CW_SERVER_NONE, 0);
        town_run(5);
        struct job_record held;
        const struct records_item *item = town_item(2, TOWN_RESIDENT);
        ck_assert_int_eq(job_record_decode(item->blob->bytes, item->blob->size - 64, &held), WIRE_OK);
        const struct nmu_to to = {.job = TOWN_RESIDENT, .port = 3, .process = 1};
        struct nmu_pass pass;
        enum nmu_cause cause = nmu_check(&town.at[2].nmu.tables, 0, &to, &pass);
        ck_assert_int_eq(cause == NMU_ALLOWED, held.grants == 1);
    }
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_FORKS) + town_count(0, JOBS_COUNT_OLD), 2);
    ck_assert_uint_eq(town_count(2, JOBS_COUNT_FORKS), town_count(0, JOBS_COUNT_FORKS));
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* More grants than the tables have room for: then nothing is granted, rather than what was before. */
START_TEST(what_the_nmu_cannot_hold_closes_the_job)
{
    open_town();
    const struct nmu_to to = {.job = TOWN_RESIDENT, .port = 3, .process = 1};
    struct nmu_pass pass;
    town_record(0, 1, kit_version(TOWN_RESIDENT, 1, town_room), CW_SERVER_NONE, 0);
    town_run(5);
    ck_assert_int_eq(nmu_check(&town.at[0].nmu.tables, 0, &to, &pass), NMU_ALLOWED);
    struct kit_job many = {.job = TOWN_RESIDENT, .version = 2, .generation = 1, .processes = 3, .grants = 200};
    many.remote = TOWN_RESIDENT;
    town_record(0, 1, kit_record(&many, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), CW_SERVER_NONE, 0);
    town_run(5);
    ck_assert_int_ne(nmu_check(&town.at[0].nmu.tables, 0, &to, &pass), NMU_ALLOWED);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_NMU), 1);
    town_record(0, 1, kit_version(TOWN_RESIDENT, 3, town_room), CW_SERVER_NONE, 0);
    town_run(5);
    ck_assert_int_eq(nmu_check(&town.at[0].nmu.tables, 0, &to, &pass), NMU_ALLOWED);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(over_a_restart)
{
    static uint8_t kept[4096];
    town_prepare();
    town.at[0].kept = kept;
    town.at[0].kept_size = kit_version(TOWN_RESIDENT, 8, kept);
    town.at[1].kept = kept;
    town.at[1].kept_size = 70; /* not a whole one */
    static uint8_t changed[4096];
    town.at[2].kept = changed;
    town.at[2].kept_size = kit_version(9, 8, changed);
    changed[70] ^= 1;
    town.at[2].load_is = -EIO;
    town_open(line);
    ck_assert(town_item(0, TOWN_RESIDENT)->kept);
    ck_assert_uint_eq(town_decides(0, TOWN_RESIDENT), 8);
    ck_assert_uint_eq(town_count(1, JOBS_COUNT_MALFORMED), 1);
    ck_assert_uint_eq(town_count(2, JOBS_COUNT_UNSIGNED) + town_count(2, JOBS_COUNT_MALFORMED), 1);
    ck_assert_ptr_nonnull(strstr(town.net->server[2]->logged, "could be read"));
    town_run(5);
    ck_assert_uint_eq(town.at[0].stored, 0); /* it is there */
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(news_goes_everywhere),
    SUITE_TEST(what_is_refused_is_counted_and_leaves_nothing),
    SUITE_TEST(old_ones_and_repetitions_are_not_checked_again),
    SUITE_TEST(so_many_at_a_time),
    SUITE_TEST(who_asks_is_told),
    SUITE_TEST(what_cannot_be_stored_counts_nevertheless),
    SUITE_TEST(a_fork_is_told_and_has_one_winner),
    SUITE_TEST(what_the_nmu_cannot_hold_closes_the_job),
    SUITE_TEST(over_a_restart),
};
SUITE_MAIN("take", tests)
