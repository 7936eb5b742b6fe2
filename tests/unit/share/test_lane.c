/* SPDX-License-Identifier: Apache-2.0 */
/* A lane, step by step; tests/sim/share has the random walks. */
#include "share/lane.h"
#include "suite.h"

#include <errno.h>

static _Alignas(SHARE_LINE) unsigned char area[2][SHARE_LANE_AREA];
static struct share_lane lane[2];
static unsigned char bytes[SHARE_LANE_RING], to[SHARE_LANE_RING];

static void open_lanes(void)
{
    memset(area, 0, sizeof area);
    for (unsigned i = 0; i < 2; i++) {
        struct share_out ours = share_out_of(area[i], SHARE_LANE_AREA);
        struct share_in theirs = share_in_of(area[1 - i], SHARE_LANE_AREA);
        share_lane_open(&lane[i], &ours, &theirs, 0);
    }
}

START_TEST(there_and_back)
{
    struct share_lane_message m;
    open_lanes();
    ck_assert_int_eq(share_lane_put(&lane[0], 5, 9, "hello", 6), 0);
    ck_assert_int_eq(share_lane_put(&lane[0], 6, 10, NULL, 0), 0);
    ck_assert_int_eq(share_lane_take(&lane[1], UINT64_MAX, &m, to, sizeof to), 0);
    ck_assert(!share_lane_publish(&lane[0]));
    ck_assert_int_eq(share_lane_take(&lane[1], UINT64_MAX, &m, to, 5), -EMSGSIZE);
    ck_assert_int_eq(share_lane_take(&lane[1], UINT64_MAX, &m, to, 6), 1);
    ck_assert(m.endpoint == 5 && m.tag == 9 && m.length == 6);
    ck_assert_str_eq((char *)to, "hello");
    ck_assert_int_eq(share_lane_take(&lane[1], 1, &m, to, 6), 0); /* not for endpoint 6 */
    ck_assert_uint_eq(lane[1].refused, 1);
    ck_assert_int_eq(share_lane_put(&lane[1], 0, 1, "back", 5), 0);
    (void)!share_lane_publish(&lane[1]);
    ck_assert_int_eq(share_lane_take(&lane[0], 1, &m, to, sizeof to), 1);
    ck_assert_str_eq((char *)to, "back");
}
END_TEST

START_TEST(full)
{
    unsigned put = 0;
    struct share_lane_message m;
    open_lanes();
    ck_assert_int_eq(share_lane_put(&lane[0], 0, 0, bytes, SHARE_LANE_RING / 2), -EMSGSIZE);
    while (share_lane_put(&lane[0], 0, put, bytes, 1000) == 0) {
        put++;
    }
    ck_assert_uint_eq(put, SHARE_LANE_RING / 1088);
    (void)!share_lane_publish(&lane[0]);
    ck_assert_int_eq(share_lane_take(&lane[1], 1, &m, to, sizeof to), 1);
    ck_assert_int_eq(share_lane_put(&lane[0], 0, 0, bytes, 1000), -EAGAIN); /* not told yet */
    (void)!share_lane_publish(&lane[1]);
    ck_assert_int_eq(share_lane_take(&lane[1], 1, &m, to, sizeof to), 1);
    (void)!share_lane_publish(&lane[1]);
    ck_assert_int_eq(share_lane_put(&lane[0], 0, 0, bytes, 1000), 0);
}
END_TEST

START_TEST(sleep)
{
    open_lanes();
    uint32_t tail = share_lane_rests(&lane[1], SHARE_REST_FUTEX);
    ck_assert_uint_eq(tail, 0);
    (void)!share_lane_put(&lane[0], 0, 0, NULL, 0);
    ck_assert(share_lane_publish(&lane[0]));
    ck_assert(!share_lane_publish(&lane[0])); /* nothing new */
    ck_assert_uint_eq(share_lane_rests(&lane[1], SHARE_REST_FUTEX), 64);
    share_lane_wakes(&lane[1]);
    (void)!share_lane_put(&lane[0], 0, 0, NULL, 0);
    ck_assert(!share_lane_publish(&lane[0]));
}
END_TEST

/* A lane that breaks a rule: which, and for ever. */
START_TEST(broken)
{
    for (unsigned i = 0; i < 12; i++) {
        struct share_lane_message m;
        open_lanes();
        (void)!share_lane_put(&lane[0], 3, 9, "hello", 5);
        (void)!share_lane_publish(&lane[0]);
        unsigned char *head = area[0] + SHARE_LANE_RECORDS;
        uint32_t length = 5, tail = 128;
        switch (i) {
        case 0:
            head[0] = SHARE_RECORD_LONG;
            break;
        case 1:
            head[1] = SHARE_RECORD_TO_KEY;
            break;
        case 2:
            head[2] = 64; /* endpoint */
            break;
        case 3:
            length = 65; /* beyond the tail */
            break;
        case 4:
            length = UINT32_MAX;
            break;
        case 5:
            head[8] = 1; /* says a job */
            break;
        case 6:
            head[32] = 1; /* a right */
            break;
        case 7:
            tail = 100;
            break;
        case 8:
            tail = SHARE_LANE_RING + 64;
            break;
        case 9:
            head[0] = SHARE_RECORD_FILLER; /* that says a tag */
            break;
        case 10:
            head[0] = 0;
            break;
        default:
            break;
        }
        memcpy(head + 4, &length, sizeof length);
        memcpy(area[0] + SHARE_LANE_TAIL, &tail, sizeof tail);
        SUITE_HOLDS(share_lane_take(&lane[1], UINT64_MAX, &m, to, sizeof to) == (i == 11 ? 1 : -EPROTO), "round %u", i);
        SUITE_HOLDS(share_lane_take(&lane[1], UINT64_MAX, &m, to, sizeof to) == (i == 11 ? 0 : -EPROTO), "round %u", i);
        SUITE_HOLDS(share_lane_put(&lane[1], 0, 0, NULL, 0) == (i == 11 ? 0 : -EPROTO), "round %u", i);
    }
}
END_TEST

START_TEST(a_head_out_of_bounds)
{
    open_lanes();
    while (share_lane_put(&lane[0], 0, 0, bytes, 1000) == 0) {
    }
    (void)!share_lane_publish(&lane[0]);
    uint32_t head = 65;
    memcpy(area[1] + SHARE_LANE_HEAD, &head, sizeof head);
    ck_assert_int_eq(share_lane_put(&lane[0], 0, 0, bytes, 1000), -EPROTO);
    ck_assert(lane[0].broken);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(there_and_back),       SUITE_TEST(full), SUITE_TEST(sleep), SUITE_TEST(broken),
    SUITE_TEST(a_head_out_of_bounds),
};
SUITE_MAIN("lane", tests)
