/* SPDX-License-Identifier: Apache-2.0 */
/* test_picture.c - what a server tells of itself for a picture: in one packet, with its links, and their states. */
#include "daemon/host/picture.h"

#include "daemon/host/inquiry_host.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

static struct rows_said said;

START_TEST(rows_of_a_server)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    ck_assert_int_eq(host_cut(host_server(h, 4), CW_LINK_YM, true), 0);
    for (unsigned i = 0; i < 50; i++) {
        host_turn(h, CW_MS(1));
    }
    struct rows_reader reader = rows_said_reader(&said);
    picture_tell(host_server(h, 4), host_now(h), &reader);
    ck_assert_uint_eq(said.count, 5); /* the server, and four links: there is no cable in z */
    ck_assert_ptr_nonnull(strstr(said.row[0], "server=1,1,0 now_ns="));
    ck_assert_ptr_nonnull(strstr(said.row[0], "state=serving inside="));
    ck_assert_ptr_nonnull(strstr(said.row[1], "server=1,1,0 link=+x state=up sent_bytes="));
    ck_assert_ptr_null(strstr(said.row[1], "sent_bytes=0 ")); /* hellos */
    ck_assert_ptr_nonnull(strstr(said.row[4], "link=-y state="));
    ck_assert_ptr_null(strstr(said.row[4], "state=up"));
    ck_assert_str_eq(picture_link_state(host_server(h, 4), CW_LINK_ZP), "none");
    host_close(h);
}
END_TEST

/* All of a server with six links fits into one answer of the service inquiry. */
START_TEST(one_packet)
{
    struct host *h = town_open("torus { dims = 3x3x3; coordinate = all }");
    struct inquiry_host inquiry;
    uint8_t bytes[1300];
    town_settle(h, 27);
    inquiry_host_open(&inquiry, h);
    struct rows_writer w = rows_begin(bytes, sizeof bytes);
    ck_assert_uint_eq(inquiry.rows(inquiry.context, host_server(h, 26)->self, INQUIRY_PICTURE, 0, &w), 0);
    struct rows_reader reader = rows_said_reader(&said);
    ck_assert_int_eq(rows_read(bytes, w.used, &reader), 0);
    ck_assert_uint_eq(said.count, 7);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(rows_of_a_server), SUITE_TEST(one_packet)};
SUITE_MAIN("picture", tests)
