/* SPDX-License-Identifier: Apache-2.0 */
/* test_figures_host.c - questions see what the node counts, of the server that is meant. */
#include "daemon/host/figures_host.h"

#include "daemon_town.h"
#include "suite.h"

#include <string.h>

struct seen {
    uint64_t delivered, dropped, all;
    unsigned counters, times;
};

static void counter(void *context, const char *group, const char *name, uint64_t value)
{
    struct seen *seen = context;
    seen->counters++;
    if (strcmp(group, "node") == 0 && strcmp(name, "delivered") == 0) {
        seen->delivered = value;
    } else if (strcmp(group, "node") == 0 && strcmp(name, "dropped") == 0) {
        seen->dropped = value;
    } else if (strcmp(group, "drop") == 0) {
        seen->all += value;
    }
}

static void times(void *context, const char *group, const char *name, const struct histogram *h)
{
    struct seen *seen = context;
    (void)group;
    (void)name;
    (void)h;
    seen->times++;
}

START_TEST(counts_of_the_node)
{
    struct host *h = town_open("torus { dims = 3x1x1; coordinate = all }");
    town_settle(h, 3);
    struct figures_host figures;
    struct seen seen = {0}, none = {0};
    figures_host_open(&figures, h);
    const struct figures_visit visit = {&seen, counter, times}, nobody = {&none, counter, times};
    figures.each(figures.context, host_server(h, 1)->self, &visit);
    ck_assert_uint_eq(seen.delivered, node_tally(host_server(h, 1)->node).delivered);
    ck_assert_uint_eq(seen.dropped, seen.all);
    ck_assert_uint_gt(seen.counters, CW_DROP_COUNT);
    figures.each(figures.context, (cw_coord){7, 7, 7}, &nobody);
    ck_assert_uint_eq(none.counters + none.times, 0);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(counts_of_the_node)};
SUITE_MAIN("figures_host", tests)
