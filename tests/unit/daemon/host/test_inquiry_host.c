/* SPDX-License-Identifier: Apache-2.0 */
/* test_inquiry_host.c - what is told fits into packets, page by page, and nothing twice. */
#include "daemon/host/inquiry_host.h"

#include "daemon/doctor/doctor.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

static struct rows_said said;

START_TEST(pages_hold_every_row_once)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    for (cw_link link = 0; link < 4; link++) {
        ck_assert_int_eq(host_cut(host_server(h, 4), link, true), 0);
    }
    for (unsigned i = 0; i < 50; i++) {
        host_turn(h, CW_MS(1));
    }
    struct inquiry_host inquiry;
    host_set_doctor(h, doctor_look);
    inquiry_host_open(&inquiry, h);
    uint8_t bytes[600]; /* less than all of it */
    uint64_t from = 0;
    unsigned pages = 0;
    struct rows_reader reader = rows_said_reader(&said);
    do {
        struct rows_writer w = rows_begin(bytes, sizeof bytes);
        from = inquiry.rows(inquiry.context, host_server(h, 4)->self, INQUIRY_DOCTOR, from, &w);
        ck_assert_int_eq(rows_read(bytes, w.used, &reader), 0);
        pages++;
    } while (from != 0 && pages < 20);
    ck_assert_uint_gt(pages, 1);
    ck_assert_uint_ge(said.count, 5); /* about, and four cables */
    ck_assert_ptr_nonnull(strstr(said.row[0], "part=about"));
    for (unsigned i = 1; i < said.count; i++) {
        for (unsigned k = 0; k < i; k++) {
            ck_assert_str_ne(said.row[i], said.row[k]);
        }
    }
    struct rows_writer none = rows_begin(bytes, sizeof bytes);
    ck_assert_uint_eq(inquiry.rows(inquiry.context, (cw_coord){7, 7, 7}, INQUIRY_DOCTOR, 0, &none), 0);
    ck_assert_uint_eq(none.used, 0);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(pages_hold_every_row_once)};
SUITE_MAIN("inquiry_host", tests)
