/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

START_TEST(a_packet_carries_a_frame_and_what_follows)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    struct jobs *j = town_jobs(0);
    struct jobs_frame frame = {.kind = JOBS_HELLO, .count = 5, .sum = 77}, read;
    uint8_t *rest = NULL;
    size_t size;
    cw_packet *p = jobs_packet(j, &frame, 8, &rest);
    ck_assert_ptr_nonnull(p);
    const uint8_t *bytes = cw_packet_data(p, &size);
    ck_assert_uint_eq(size, jobs_frame_size(JOBS_HELLO) + 8);
    ck_assert_ptr_eq(rest, bytes + jobs_frame_size(JOBS_HELLO));
    ck_assert_int_eq(jobs_decode(bytes, jobs_frame_size(JOBS_HELLO), KIT_CLUSTER, &read), JOBS_GOOD);
    ck_assert_uint_eq(read.count, 5);
    ck_assert_uint_eq(read.sum, 77);
    cw_packet_free(j->svc, p);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(a_frame_is_sent_to_the_instance_on_a_server)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    struct jobs *j = town_jobs(0);
    struct jobs_frame frame = {.kind = JOBS_HELLO};
    struct fake_send send;
    jobs_send(j, 2, &frame);
    ck_assert(fake_take(j->svc, &send));
    ck_assert_int_eq(send.to.kind, CW_TO_SERVER);
    ck_assert_uint_eq(send.to.job, JOBS_JOB);
    ck_assert_uint_eq(send.to.port, JOBS_PORT);
    ck_assert_uint_eq(send.to.process, 2);
    ck_assert_uint_eq(send.to.server.x, 2);
    fake_free(send.packet);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_packet_carries_a_frame_and_what_follows),
    SUITE_TEST(a_frame_is_sent_to_the_instance_on_a_server),
};
SUITE_MAIN("packets", tests)
