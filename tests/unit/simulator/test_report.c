/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: every field that is promised, in JSON that another parser reads, in tables and in CSV. */
#include "simulator/report.h"

#include "town.h"

#include <jansson.h>

static char text[1 << 16];

static FILE *paper(void)
{
    memset(text, 0, sizeof text);
    return fmemopen(text, sizeof text, "w");
}

START_TEST(a_run_has_every_field_and_is_json)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 1);
    struct report_span span = {.wall_seconds = 0.5};
    world_totals(w, &span.from);
    town_send(w, 0, town_key(w, 13), 0);
    town_run(w, CW_MS(10));
    world_totals(w, &span.to);
    struct report *r = report_open("run");
    report_run(r, w, &span);
    report_throughput(r, w, &span, 27, 1000, 500);
    for (size_t i = 0; i < report_field_count(); i++) {
        const char *name = report_field_nth(i);
        double value;
        bool number = report_field_known(name, strlen(name));
        ck_assert(number == (strcmp(name, "dropped_by_cause") != 0));
        ck_assert_msg(!number || report_number(r, name, &value) == 0, "%s", name);
    }
    FILE *out = paper();
    ck_assert_int_eq(report_print_json(r, out), 0);
    fclose(out);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(json != NULL, "%s", error.text);
    ck_assert_str_eq(json_string_value(json_object_get(json, "command")), "run");
    ck_assert_str_eq(json_string_value(json_object_get(json, "commit")), report_commit());
    ck_assert_str_eq(json_string_value(json_object_get(json, "dims")), "3x3x3");
    ck_assert_int_eq(json_integer_value(json_object_get(json, "delivered")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "misdelivered")), 0);
    ck_assert(json_is_object(json_object_get(json, "dropped_by_cause")));
    ck_assert_double_eq_tol(json_real_value(json_object_get(json, "bound_gbps")), 26.0 / 9, 1e-9);
    ck_assert_double_eq_tol(json_real_value(json_object_get(json, "sim_seconds")), 0.01, 1e-12);
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(json, "digest"))), 16);
    ck_assert_uint_eq(report_hash_value(r, "digest"), world_digest(w));
    json_decref(json);
    report_close(r);
    world_close(w);
}
END_TEST

START_TEST(numbers_are_found_by_name)
{
    double value = 7;
    struct report *r = report_open(NULL);
    report_integer(r, "kills", 3);
    report_flag(r, "converged", true);
    report_text(r, "dims", "3x3x3");
    report_hash(r, "digest", UINT64_C(0xfedcba9876543210));
    ck_assert(report_number(r, "kills", &value) == 0 && value > 2.5 && value < 3.5);
    ck_assert(report_number(r, "converged", &value) == 0 && value > 0.5);
    ck_assert_int_eq(report_number(r, "dims", &value), -ENOENT);
    ck_assert_int_eq(report_number(r, "starts", &value), -ENOENT);
    ck_assert(report_value(r, "starts") < 0.5 && report_hash_value(r, "starts") == 0);
    ck_assert_uint_eq(report_hash_value(r, "digest"), UINT64_C(0xfedcba9876543210));
    ck_assert(report_field_known("dropped_by_cause.no-route", 25));
    ck_assert(!report_field_known("dropped_by_cause.nothing", 24) && !report_field_known("kill", 4));
    report_close(r);
    report_close(NULL);
}
END_TEST

START_TEST(lists_are_tables_and_csv)
{
    static const char *const columns[] = {"name", "gbps", "none"};
    struct report *r = report_open("paper");
    for (int i = 0; i < 2; i++) {
        struct report *row = report_open(NULL);
        report_text(row, "name", i == 0 ? "a \"b\", c" : "plain");
        report_real(row, "gbps", 2.5 + i);
        report_append(r, "rows", row);
    }
    FILE *out = paper();
    ck_assert_int_eq(report_print_csv(r, "rows", columns, 3, out), 0);
    fclose(out);
    ck_assert_str_eq(text, "name,gbps,none\n\"a \"\"b\"\", c\",2.5,\nplain,3.5,\n");
    out = paper();
    ck_assert_int_eq(report_print_table(r, out), 0);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "command                  paper\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nrows\n      name  gbps\n  a \"b\", c   2.5\n     plain   3.5\n"));
    report_close(r);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_run_has_every_field_and_is_json),
    SUITE_TEST(numbers_are_found_by_name),
    SUITE_TEST(lists_are_tables_and_csv),
};
SUITE_MAIN("simulator/report", tests)
