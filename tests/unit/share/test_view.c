/* SPDX-License-Identifier: Apache-2.0 */
#include "share/view.h"
#include "share_kit.h"
#include "suite.h"

#include <errno.h>

static struct share_kit k;

START_TEST(as_published)
{
    struct share_view_writer w;
    struct share_view v = {.flags = SHARE_VIEW_FENCED, .epoch = 9, .lease_until = {12345}}, got;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    share_view_writer_open(&w, &k.daemon_com);
    v.committed[0] = 1;
    v.committed[SHARE_VIEW_WORDS - 1] = UINT64_C(1) << 63;
    v.optimistic[3] = 77;
    share_view_publish(&w, &v);
    ck_assert_int_eq(share_view_read(&k.process_com, &got), 0);
    ck_assert(got.flags == SHARE_VIEW_FENCED && got.epoch == 9 && got.lease_until.ns == 12345);
    ck_assert_mem_eq(got.committed, v.committed, sizeof v.committed);
    ck_assert_mem_eq(got.optimistic, v.optimistic, sizeof v.optimistic);
    ck_assert(share_view_has(got.committed, 0) && !share_view_has(got.committed, 1));
    ck_assert(share_view_has(got.committed, SHARE_SERVERS_MOST - 1));
    ck_assert(!share_view_has(got.committed, SHARE_SERVERS_MOST) && !share_view_has(got.committed, CW_SERVER_NONE));
    ck_assert_uint_eq(share_view_epoch(&k.process_com), 9);
    ck_assert(share_kit_close(&k));
}
END_TEST

/* A daemon that died while it wrote: the reader ends, and says so. */
START_TEST(never_ready)
{
    struct share_view got = {.epoch = 4};
    uint32_t odd = 7;
    share_kit_open(&k, 16, SHARE_INBOX_LEAST, 0);
    memcpy(k.com + SHARE_COM_VIEW, &odd, sizeof odd);
    ck_assert_int_eq(share_view_read(&k.process_com, &got), -EAGAIN);
    ck_assert_uint_eq(got.epoch, 4);
    ck_assert(share_kit_close(&k));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_published), SUITE_TEST(never_ready)};
SUITE_MAIN("view", tests)
