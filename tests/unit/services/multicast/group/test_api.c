/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cubeway/multicast.h, as services call them: names, acknowledgements, closing. */
#include "services/multicast/group/api.h"

#include "group_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(two_jobs_of_one_name)
{
    town_open();
    town_join(&town_user[1], "g");
    town_join(&town_user[4], "g");
    town_join(&town_other[4], "g");
    ck_assert_int_eq(town_publish(&town_user[0], "g", "hello", 0), 0);
    ck_assert(town_result.times == 1 && town_result.status == 0 && town_result.complete == 2);
    ck_assert(town_user[1].got == 1 && town_user[4].got == 1 && town_other[4].got == 0 && town_user[2].got == 0);
    ck_assert(strcmp(town_user[1].last, "hello") == 0 && town_user[1].to_group && !town_user[1].best_effort);
    ck_assert(town_user[4].from.x == 0 && town_user[4].from.y == 0);
    ck_assert_int_eq(town_publish(&town_other[0], "g", "other", 0), 0);
    ck_assert(town_other[4].got == 1 && town_user[4].got == 1);
    town_close();
}
END_TEST

START_TEST(create_join_leave)
{
    const cw_multicast_api *api = town_api();
    town_open();
    cw_multicast *m = town_user[3].m;
    ck_assert_int_eq(town_publish(&town_user[0], "g", "x", 0), 0);
    ck_assert_int_eq(town_result.status, -ENOENT);
    ck_assert_int_eq(api->create(m, "g", 1, town_ack, NULL), 0);
    fake_net_run(town, CW_MS(5));
    ck_assert(town_acks == 1 && town_acked == 0);
    ck_assert_int_eq(town_publish(&town_user[0], "g", "x", 0), 0);
    ck_assert(town_result.status == 0 && town_result.members == 0 && town_user[3].got == 0);
    town_join(&town_user[3], "g");
    ck_assert_int_eq(town_publish(&town_user[3], "g", "to myself", 0), 0);
    ck_assert(town_result.complete == 1 && town_result.rows == 1 && town_user[3].got == 1);
    ck_assert_int_eq(api->leave(m, "g", 1, town_ack, NULL), 0);
    const cw_multicast_content content = {"late", 4, 0};
    ck_assert_int_eq(api->publish(town_user[3].m, "g", 1, &content, town_done, NULL), 0);
    fake_net_run(town, CW_MS(50));
    ck_assert_uint_eq(town_user[3].got, 1);
    ck_assert_int_eq(api->leave(m, "g", 1, NULL, NULL), -ENOENT);
    ck_assert_int_eq(api->leave(m, "", 0, NULL, NULL), -EINVAL);
    ck_assert_int_eq(api->join(m, NULL, 3, NULL, NULL), -EINVAL);
    town_close();
}
END_TEST

START_TEST(topics)
{
    const cw_multicast_api *api = town_api();
    town_open();
    const cw_coord to[] = {{2, 0, 0}, {1, 1, 0}, {2, 0, 0}, {0, 0, 0}};
    const cw_multicast_content content = {"psst", 4, 0};
    ck_assert_int_eq(api->listen(town_user[3].m, "t", 1), 0); /* 1,0,0: not in the set */
    ck_assert_int_eq(api->listen(town_user[6].m, "t", 1), 0); /* 2,0,0 */
    ck_assert_int_eq(api->listen(town_user[0].m, "t", 1), 0);
    ck_assert_int_eq(api->send(town_user[0].m, to, 4, "t", 1, &content, town_done, NULL), 0);
    fake_net_run(town, CW_MS(50));
    ck_assert(town_result.times == 1 && town_result.status == 0 && town_result.members == 3);
    ck_assert(town_result.complete == 2 && town_result.rows == 3);
    ck_assert(town_result.row[1].server.x == 1 && town_result.row[1].status == -ENOENT); /* nobody listens */
    ck_assert(town_user[6].got == 1 && town_user[0].got == 1 && town_user[3].got == 0 && !town_user[6].to_group);
    ck_assert_int_eq(api->ignore(town_user[6].m, "t", 1), 0);
    ck_assert_int_eq(api->ignore(town_user[6].m, "t", 1), -ENOENT);
    ck_assert_int_eq(api->send(town_user[0].m, to, 4, "t", 1, &content, NULL, NULL), 0);
    fake_net_run(town, CW_MS(50));
    ck_assert(town_user[6].got == 1 && town_user[0].got == 2);
    const cw_coord nowhere = {9, 0, 0};
    ck_assert_int_eq(api->send(town_user[0].m, &nowhere, 1, "t", 1, &content, NULL, NULL), -EINVAL);
    ck_assert_int_eq(api->send(town_user[0].m, to, 0, "t", 1, &content, NULL, NULL), -EINVAL);
    town_join(&town_user[6], "t"); /* a group is no topic */
    ck_assert_int_eq(api->send(town_user[0].m, to, 1, "t", 1, &content, NULL, NULL), 0);
    fake_net_run(town, CW_MS(50));
    ck_assert_uint_eq(town_user[6].got, 1);
    town_close();
}
END_TEST

static unsigned answers, count;
static int status;
static cw_coord first;

static void members(void *arg, int rc, const cw_coord *member, unsigned n)
{
    (void)arg;
    answers++;
    status = rc;
    count = n;
    first = n > 0 ? member[0] : (cw_coord){9, 9, 9};
}

START_TEST(who_is_in_it)
{
    const cw_multicast_api *api = town_api();
    answers = 0;
    town_open();
    town_join(&town_user[5], "g");
    town_join(&town_user[2], "g");
    ck_assert_int_eq(api->members(town_user[0].m, "g", 1, members, NULL), 0);
    ck_assert_uint_eq(answers, 0);
    fake_net_run(town, CW_MS(5));
    ck_assert(answers == 1 && status == 0 && count == 2 && first.x == 0 && first.y == 2);
    ck_assert_int_eq(api->members(town_user[0].m, "h", 1, members, NULL), 0);
    fake_net_run(town, CW_MS(5));
    ck_assert(answers == 2 && status == -ENOENT && count == 0);
    ck_assert_int_eq(api->members(town_user[0].m, "g", 1, NULL, NULL), -EINVAL);
    ck_assert_uint_gt(api->packet_max(town_user[0].m, 1), 8000);
    town_close();
}
END_TEST

/* Whoever closes hears the end of everything, at once, and nothing after. */
START_TEST(closing)
{
    const cw_multicast_api *api = town_api();
    answers = 0;
    town_open();
    const cw_multicast_content content = {"x", 1, 0};
    town_join(&town_user[1], "g");
    struct town_user *u = &town_user[0];
    ck_assert_int_eq(api->join(u->m, "h", 1, town_ack, NULL), 0);
    ck_assert_int_eq(api->members(u->m, "g", 1, members, NULL), 0);
    ck_assert_int_eq(api->publish(u->m, "g", 1, &content, town_done, NULL), 0);
    api->close(u->m);
    u->m = NULL;
    ck_assert(town_acks == 2 && town_acked == -ECANCELED && answers == 1 && status == -ECANCELED);
    ck_assert(town_result.times == 1 && town_result.status == -ECANCELED);
    fake_net_run(town, CW_SEC(1));
    ck_assert(town_acks == 2 && answers == 1 && town_result.times == 1);
    ck_assert_int_eq(api->members(town_user[1].m, "h", 1, members, NULL), 0);
    fake_net_run(town, CW_SEC(1));
    ck_assert(answers == 2 && status == -ENOENT); /* it has left */
    town_close();
}
END_TEST

START_TEST(wrong_openings)
{
    const cw_multicast_api *api = town_api();
    town_open();
    cw_multicast *m;
    cw_multicast_config config = {CW_MULTICAST_INIT};
    ck_assert_int_eq(api->open(town->server[0], town_user[0].svc, &config, &m), -EINVAL); /* no deliver() */
    ck_assert_int_eq(api->open(town->server[0], town_user[0].svc, NULL, &m), -EINVAL);
    const cw_multicast_content flags = {"x", 1, 8}, none = {NULL, 0, 0};
    ck_assert_int_eq(api->publish(town_user[0].m, "g", 1, &flags, NULL, NULL), -EINVAL);
    ck_assert_int_eq(api->publish(town_user[0].m, "g", 1, &none, NULL, NULL), -EINVAL);
    ck_assert_int_eq(api->publish(town_user[0].m, "g", 1, NULL, NULL, NULL), -EINVAL);
    for (unsigned i = 0; i < CLIENT_SUBJECTS_MOST; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%u", i);
        ck_assert_int_eq(api->listen(town_user[0].m, name, strlen(name)), 0);
    }
    ck_assert_int_eq(api->listen(town_user[0].m, "more", 4), -ENOSPC);
    api->close(NULL);
    town_close();
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(two_jobs_of_one_name), SUITE_TEST(create_join_leave), SUITE_TEST(topics),
    SUITE_TEST(who_is_in_it),         SUITE_TEST(closing),           SUITE_TEST(wrong_openings)};
SUITE_MAIN("api", tests)
