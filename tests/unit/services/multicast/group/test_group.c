/* SPDX-License-Identifier: Apache-2.0 */
/* All of it together, through the service's own upcalls. */
#include "services/multicast/group/group.h"

#include "group_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(through_loss)
{
    town_open();
    for (cw_server s = 0; s < TOWN; s += 2) {
        town_join(&town_user[s], "g");
    }
    town->lose = 4;
    for (unsigned i = 1; i <= 40; i++) {
        ck_assert_int_eq(town_publish(&town_user[i % TOWN], "g", "text", 0), 0);
        fake_net_run(town, CW_MS(500));
        ck_assert_uint_eq(town_result.times, i);
        ck_assert(town_result.status == 0 && town_result.complete == 5);
        for (cw_server s = 0; s < TOWN; s++) {
            ck_assert_uint_eq(town_user[s].got, s % 2 == 0 ? i : 0);
        }
    }
    town_close();
}
END_TEST

START_TEST(the_way_may_be_closed)
{
    town_open();
    for (cw_server s = 1; s < TOWN; s++) {
        town_join(&town_user[s], "g");
    }
    ck_assert_int_eq(town_publish(&town_user[0], "g", "one", CW_MULTICAST_BEST_EFFORT), 0);
    unsigned forwards = 0;
    for (cw_server s = 1; s < TOWN; s++) {
        ck_assert_uint_eq(town_user[s].got, 1);
        forwards += town_user[s].forwards;
        town_user[s].stops = true;
        ck_assert_uint_eq(town_other[s].forwards, 0);
    }
    ck_assert_uint_eq(forwards, TOWN - 1); /* every server on the way: all but the source */
    ck_assert_int_eq(town_publish(&town_user[0], "g", "two", CW_MULTICAST_BEST_EFFORT), 0);
    unsigned got = 0;
    for (cw_server s = 1; s < TOWN; s++) {
        got += town_user[s].got - 1;
    }
    ck_assert_uint_eq(got, 1); /* whoever is the first of the tree */
    ck_assert_int_eq(town_publish(&town_user[0], "g", "three", 0), 0);
    ck_assert(town_result.complete == TOWN - 1); /* nobody stops what is reliable */
    town_close();
}
END_TEST

START_TEST(packets_that_are_none)
{
    town_open();
    uint8_t bytes[64] = {0};
    cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .job = MULTICAST_JOB, .port = MULTICAST_PORT_GROUPS};
    rx.src_job = MULTICAST_JOB;
    rx.src_process = 1;
    for (size_t n = 0; n < sizeof bytes; n++) {
        cw_verdict verdict;
        bytes[0] = (uint8_t)(n % 5);
        fake_arrive(town->server[0], fake_packet(town->server[0], bytes, n, 0), &rx, &verdict);
        ck_assert(verdict == CW_DROP || bytes[0] == GROUP_RECEIPT);
    }
    rx.src_job = 4096; /* the right packet of another job */
    struct group_head h = {.kind = GROUP_MEMBERS, .job = 7, .name = "g", .name_bytes = 1};
    group_head_encode(&h, bytes);
    cw_verdict verdict;
    fake_arrive(town->server[0], fake_packet(town->server[0], bytes, group_head_bytes(&h), 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    town_close();
}
END_TEST

START_TEST(options)
{
    static const char *const good[] = {"groups=web,db-1", NULL}, *const bad[] = {"groups=web,,db", NULL},
                             *const all[] = {"groups=all", NULL};
    int rc;
    const cw_coord self = {0, 0, 0};
    ck_assert(fake_open_with(&multicast_service, (cw_dims){3, 1, 1}, self, bad, &rc) == NULL);
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert(fake_open_with(&multicast_service, (cw_dims){3, 1, 1}, self, all, &rc) == NULL);
    cw_svc *s = fake_open_with(&multicast_service, (cw_dims){3, 1, 1}, self, good, &rc);
    ck_assert_ptr_nonnull(s);
    static struct fake_result r;
    fake_run(s, CW_NS(0));
    fake_command(s, "group list", &r);
    ck_assert_uint_eq(r.rows, 2);
    ck_assert_str_eq(fake_text(&r, 0, "group"), "web");
    ck_assert_str_eq(fake_text(&r, 1, "group"), "db-1");
    for (struct fake_send send; fake_take(s, &send);) {
        fake_free(send.packet);
    }
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(through_loss), SUITE_TEST(the_way_may_be_closed),
                                          SUITE_TEST(packets_that_are_none), SUITE_TEST(options)};
SUITE_MAIN("post", tests)
