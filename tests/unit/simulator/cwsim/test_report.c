/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/report.h"
#include "suite.h"

#include <string.h>

/* All the fields that the outside was promised are there, of a world that has done nothing. */
START_TEST(run_fields)
{
    static const char *const promised[] = {
        "seed",
        "dims",
        "packets",
        "delivered",
        "dropped",
        "dropped_by_cause",
        "misdelivered",
        "duplicated",
        "hops_mean",
        "hops_max",
        "achieved_gbps",
        "bound_gbps",
        "ratio",
        "sim_seconds",
        "wall_seconds",
        "packet_hops",
        "packet_hops_per_second",
        "bytes_per_node",
        "digest",
        "command",
        "commit",
    };
    struct world_config config = world_config_default();
    struct world *w;
    struct report_span span = {.wall_seconds = 1};
    ck_assert_int_eq(world_open(&w, &config), 0);
    world_totals(w, &span.from);
    ck_assert_int_eq(world_run(w, (cw_time){1000000}), 0);
    world_totals(w, &span.to);
    struct report *r = report_open("test");
    report_run(r, w, &span);
    report_throughput(r, w, &span, 27, 9038, 0);
    char text[4000];
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(report_print_json(r, out), 0);
    fclose(out);
    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\":", promised[i]);
        ck_assert_msg(strstr(text, key) != NULL, "%s is not there", promised[i]);
    }
    ck_assert_double_eq_tol(report_value(r, "bound_gbps"), 2.8888889, 1e-6);
    ck_assert_double_eq_tol(report_value(r, "sim_seconds"), 0.001, 1e-12);
    double none = -1;
    ck_assert(report_number(r, "dropped_by_cause.no-route", &none) == 0 && none <= 0);
    report_close(r);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(run_fields)};
SUITE_MAIN("report of a run", tests)
