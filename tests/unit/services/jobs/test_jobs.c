/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/jobs.h"

#include "jobs_town.h"
#include "suite.h"

START_TEST(without_a_host_there_are_no_signed_jobs)
{
    town_prepare();
    town.no_host = true;
    town_open((cw_dims){3, 1, 1});
    town_put_room(0, kit_version(9, 1, town_room), NULL, true);
    ck_assert_int_eq(town_result.rc, -ENOTSUP);
    ck_assert_ptr_nonnull(strstr(fake_text(&town_result, 0, "error"), "operator's key"));
    town_line(0, "status");
    ck_assert_int_eq(fake_int(&town_result, 0, "signed"), 0);
    ck_assert(fake_has(&town_result, 0, "note"));
    struct jobs_frame frame = {.kind = JOBS_RECORD, .cluster = KIT_CLUSTER};
    town_say(0, 1, &frame, town_room, 100); /* its cluster is not known: foreign */
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_FOREIGN), 1);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(without_an_nmu_there_is_nothing_to_govern)
{
    town_prepare();
    town.no_desk = true;
    town_open((cw_dims){3, 1, 1});
    town_put_room(0, kit_version(9, 1, town_room), NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
    town_line(0, "audit");
    ck_assert_int_eq(town_result.rc, 0);
    town_line(0, "explain 9:1 9:1:1");
    ck_assert_int_eq(fake_int(&town_result, 0, "allowed"), 0);
    town_line(0, "status");
    ck_assert_int_eq(fake_int(&town_result, 0, "missing"), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(a_host_of_another_age)
{
    town_prepare();
    town.at[0].host.size = 8;
    town_open((cw_dims){3, 1, 1});
    ck_assert_ptr_null(town_jobs(0)->host);
    ck_assert_ptr_nonnull(strstr(town.net->server[0]->logged, "older"));
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* The node takes what its NMU lacks from here. */
START_TEST(it_is_a_source)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    jobs_take_kept(town_jobs(0), town_room, kit_version(9, 4, town_room));
    size_t size = 0;
    const struct nmu_source *source = &town.at[0].source;
    const uint8_t *record = source->record(source->context, 9, &size);
    struct jobs_mark mark;
    ck_assert(jobs_mark_of(record, size, &mark));
    ck_assert_uint_eq(mark.version, 4);
    ck_assert_ptr_null(source->record(source->context, 10, &size));
    ck_assert_uint_eq(town_close(), 0);
    ck_assert_ptr_null(town.at[0].source.record);
}
END_TEST

START_TEST(strange_packets)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    cw_svc *s = town.net->server[0];
    uint8_t bytes[64] = {JOBS_FORMAT, JOBS_HELLO};
    cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .src_job = 9, .src_process = 1};
    fake_arrive(s, fake_packet(s, bytes, 24, 0), &rx, NULL);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_STRANGERS), 1);
    rx.src_job = JOBS_JOB;
    rx.src_process = 99;
    fake_arrive(s, fake_packet(s, bytes, 24, 0), &rx, NULL);
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_STRANGERS), 2);
    rx.src_process = 1;
    fake_arrive(s, fake_packet(s, bytes, 24, 0), &rx, NULL); /* of cluster 0 */
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_FOREIGN), 1);
    for (size_t length = 0; length < 24; length++) {
        put_be32(bytes + 4, KIT_CLUSTER);
        fake_arrive(s, fake_packet(s, bytes, length, 0), &rx, NULL);
    }
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_MALFORMED), 24);
    /* Answers nobody asked for, questions that are no calls. */
    for (unsigned kind = JOBS_FETCH; kind < JOBS_KINDS; kind++) {
        struct jobs_frame frame = {.kind = (uint8_t)kind, .mark = {1, false, 1, 1, 1}, .total = 4};
        uint8_t rest[4] = {0};
        town_say(0, 1, &frame, rest, kind == JOBS_PART ? 4 : 0);
    }
    ck_assert_uint_eq(town_count(0, JOBS_COUNT_MALFORMED), 24 + JOBS_KINDS - JOBS_FETCH);
    struct jobs_frame ack = {.kind = JOBS_ACK, .ticket = 5, .mark = {1, false, 1, 1, 1}};
    town_say(0, 1, &ack, NULL, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(unknown_commands)
{
    static const char *const lines[] = {"", "x", "list x", "status x"};
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    for (unsigned i = 0; i < 4; i++) {
        town_line(0, lines[i]);
        ck_assert_int_eq(town_result.rc, -EINVAL);
        ck_assert_ptr_nonnull(strstr(fake_text(&town_result, 0, "error"), "commands are"));
    }
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

/* Whatever is under way when it closes: nothing is left. */
START_TEST(closed_at_any_time)
{
    for (int64_t us = 0; us < 3000; us += 37) {
        town_prepare();
        town_open((cw_dims){3, 1, 1});
        struct kit_job k = {.job = 9, .version = 1, .generation = 1, .grants = 3000};
        town_put_room(0, kit_record(&k, KIT_KEY, KIT_CLUSTER, town_room, KIT_RECORD_MAX), NULL, false);
        town_record(1, 2, kit_version(10, 1, town_room), 0, 1);
        fake_net_run(town.net, CW_US(us));
        size_t left = town_close();
        ck_assert_msg(left == 0, "%zu after %lld us", left, (long long)us);
        ck_assert(town_result.done);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(without_a_host_there_are_no_signed_jobs),
    SUITE_TEST(without_an_nmu_there_is_nothing_to_govern),
    SUITE_TEST(a_host_of_another_age),
    SUITE_TEST(it_is_a_source),
    SUITE_TEST(strange_packets),
    SUITE_TEST(unknown_commands),
    SUITE_TEST(closed_at_any_time),
};
SUITE_MAIN("jobs", tests)
