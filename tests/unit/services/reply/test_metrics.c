/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/metrics.h"

#include "fake_host.h"
#include "suite.h"

enum { SENT, LOST, COUNTS };
static const struct metric counts[COUNTS] = {
    [SENT] = {"sent", "Packets sent."},
    [LOST] = {"lost", "Packets without an answer in time."},
};

static const cw_service counting = {CW_SERVICE_INIT, .name = "counting", .job = 900};

START_TEST(each_row_opens_its_own)
{
    cw_svc *s = fake_open(&counting, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    cw_counter *counter[COUNTS] = {NULL};
    cw_histogram *times[COUNTS] = {NULL};
    metrics_counters(s, counts, COUNTS, counter);
    metrics_histograms(s, counts, COUNTS, times);
    cw_counter_add(counter[LOST], 3);
    cw_histogram_note(times[SENT], CW_MS(2));
    ck_assert_str_eq(counter[SENT]->name, "sent");
    ck_assert_str_eq(counter[LOST]->name, "lost");
    ck_assert_uint_eq(counter[SENT]->value, 0);
    ck_assert_uint_eq(counter[LOST]->value, 3);
    ck_assert_uint_eq(cw_histogram_count(times[SENT]), 1);
    ck_assert_uint_eq(cw_histogram_count(times[LOST]), 0);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_row_opens_its_own)};
SUITE_MAIN("metrics", tests)
