/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/report.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4000 };

static char *print(const struct report *r, int (*how)(const struct report *r, FILE *out))
{
    static char text[ROOM];
    FILE *out = fmemopen(text, ROOM, "w");
    ck_assert_int_eq(how(r, out), 0);
    fclose(out);
    return text;
}

static struct report *example(void)
{
    struct report *r = report_open(NULL);
    report_integer(r, "packets", 12);
    report_real(r, "ratio", 0.25);
    report_flag(r, "converged", true);
    report_text(r, "dims", "3x3x3");
    report_hash(r, "digest", UINT64_C(0xfedcba9876543210));
    for (int i = 0; i < 2; i++) {
        struct report *point = report_open(NULL);
        report_integer(point, "servers", 27 << i);
        report_text(point, "name", i == 0 ? "a,\"b\"" : "c");
        if (i == 1) {
            report_real(point, "only_here", 1.5);
        }
        report_append(r, "points", point);
    }
    return r;
}

START_TEST(json)
{
    struct report *r = example();
    const char *text = print(r, report_print_json);
    ck_assert(strstr(text, "\"packets\":12,") != NULL && strstr(text, "\"ratio\":0.25,") != NULL);
    ck_assert(strstr(text, "\"converged\":true,") != NULL && strstr(text, "\"digest\":\"fedcba9876543210\",") != NULL);
    ck_assert(strstr(text, "\"points\":[") != NULL && strstr(text, "\"name\":\"a,\\\"b\\\"\"") != NULL);
    ck_assert(strstr(text, "packets") < strstr(text, "ratio") && strstr(text, "ratio") < strstr(text, "dims"));
    report_close(r);
    r = report_open("throughput");
    text = print(r, report_print_json);
    ck_assert(strstr(text, "\"command\":\"throughput\"") != NULL && strstr(text, "\"commit\":\"") != NULL);
    report_close(r);
}
END_TEST

START_TEST(table)
{
    struct report *r = example();
    ck_assert_str_eq(print(r, report_print_table), "packets                  12\n"
                                                   "ratio                    0.25\n"
                                                   "converged                yes\n"
                                                   "dims                     3x3x3\n"
                                                   "digest                   fedcba9876543210\n"
                                                   "\n"
                                                   "points\n"
                                                   "  servers   name  only here\n"
                                                   "       27  a,\"b\"\n"
                                                   "       54      c        1.5\n");
    report_close(r);
}
END_TEST

/* As cwctl has them: thousands, units, three digits that matter (commandline/units.h). */
START_TEST(numbers_for_people)
{
    struct report *r = report_open(NULL), *row = report_open(NULL);
    report_integer(r, "sent", 1234567);
    report_integer(r, "keeper", 12345);
    report_integer(r, "rtt_max_ns", 2030280);
    report_real(r, "ratio", 0.98765);
    report_real(r, "sim_seconds", 1.2);
    report_integer(r, "kept_waiting", 1);
    report_integer(r, "kept_waiting_ns", 32779800);
    report_integer(r, "files_free_bytes", 72836000000);
    report_integer(r, "waited_for_processor_ppm", 481234);
    report_real(r, "dropped_share", 0.021);
    report_integer(r, "waited_percent", 48);
    report_real(r, "goodput_gbps", 0.5);
    report_integer(row, "pid", 0);
    report_integer(row, "memory_bytes", 1024000);
    report_append(r, "daemons", row);
    ck_assert_str_eq(print(r, report_print_table), "sent                     1,234,567\n"
                                                   "keeper                   12345\n"
                                                   "rtt max                  2.03 ms\n"
                                                   "ratio                    0.988\n"
                                                   "sim time                 1.20 s\n"
                                                   "kept waiting             1\n"
                                                   "kept waiting for         32.7 ms\n"
                                                   "files free               72.8 GB\n"
                                                   "waited for processor     48 %\n"
                                                   "dropped share            2.1 %\n"
                                                   "waited                   48 %\n"
                                                   "goodput                  500 Mbit/s\n"
                                                   "\n"
                                                   "daemons\n"
                                                   "  pid   memory\n"
                                                   "    -  1.02 MB\n");
    report_close(r);
}
END_TEST

/* What was not measured is no 0: "-", beside rows where it was. */
START_TEST(what_was_not_measured)
{
    struct report *r = report_open(NULL), *row = report_open(NULL), *other = report_open(NULL);
    report_text(row, "server", "0,0,0");
    report_integer(row, "rtt_max_ns", 2030280);
    report_text(row, "why", "");
    report_append(r, "servers", row);
    report_text(other, "server", "1,0,0");
    report_text(other, "why", "dead");
    report_append(r, "servers", other);
    ck_assert_str_eq(print(r, report_print_table), "  server  rtt max   why\n"
                                                   "   0,0,0  2.03 ms      \n"
                                                   "   1,0,0        -  dead\n");
    report_close(r);
}
END_TEST

/* A line for each row, and the rest last; nothing for a report that has no more than an empty list of rows. */
START_TEST(lines_of_json)
{
    struct report *r = report_open(NULL), *row = report_open(NULL), *other = report_open(NULL);
    ck_assert_str_eq(print(r, report_print_lines), "");
    report_text(r, "lab", "demo");
    report_integer(row, "pid", 7);
    report_text(other, "pid", "none");
    report_append(r, "daemons", row);
    report_append(r, "daemons", other);
    report_part(r, "by_cause", "ttl", 3);
    ck_assert_str_eq(print(r, report_print_lines), "{\"pid\":7}\n"
                                                   "{\"pid\":\"none\"}\n"
                                                   "{\"lab\":\"demo\",\"by_cause\":{\"ttl\":3}}\n");
    report_close(r);
}
END_TEST

static int csv(const struct report *r, FILE *out)
{
    static const char *const columns[] = {"name", "servers", "only_here"};
    return report_print_csv(r, "points", columns, 3, out);
}

START_TEST(csv_rows)
{
    struct report *r = example();
    ck_assert_str_eq(print(r, csv), "name,servers,only_here\n\"a,\"\"b\"\"\",27,\nc,54,1.5\n");
    report_close(r);
}
END_TEST

START_TEST(numbers)
{
    struct report *r = example();
    double value = -1;
    ck_assert(report_number(r, "packets", &value) == 0 && value >= 12 && value <= 12);
    ck_assert(report_number(r, "converged", &value) == 0 && value >= 1 && value <= 1);
    ck_assert(report_number(r, "dims", &value) == -ENOENT && report_number(r, "none", &value) == -ENOENT);
    ck_assert(report_value(r, "none") <= 0 && report_value(r, "ratio") > 0.2);
    ck_assert(report_hash_value(r, "digest") == UINT64_C(0xfedcba9876543210) && report_hash_value(r, "none") == 0);
    report_close(r);
    report_close(NULL);
}
END_TEST

START_TEST(known)
{
    ck_assert(report_field_known("misdelivered", 12) && !report_field_known("misdelivere", 11));
    ck_assert(report_field_known("dropped_by_cause.no-route", 25) &&
              report_field_known("dropped_by_cause.injected", 25));
    ck_assert(!report_field_known("dropped_by_cause", 16) && !report_field_known("dropped_by_cause.", 17));
    for (size_t i = 0; i < report_field_count(); i++) {
        ck_assert_ptr_nonnull(report_field_nth(i));
    }
    ck_assert_ptr_nonnull(report_commit());
}
END_TEST

START_TEST(parts)
{
    struct report *r = report_open(NULL);
    double value = -1;
    report_part(r, "dropped_by_cause", NULL, 0);
    ck_assert(report_number(r, "dropped_by_cause.cut", &value) == 0 && value <= 0);
    report_part(r, "dropped_by_cause", "cut", 7);
    ck_assert(report_number(r, "dropped_by_cause.cut", &value) == 0 && value >= 7 && value <= 7);
    report_close(r);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(json),
                                          SUITE_TEST(table),
                                          SUITE_TEST(numbers_for_people),
                                          SUITE_TEST(what_was_not_measured),
                                          SUITE_TEST(lines_of_json),
                                          SUITE_TEST(csv_rows),
                                          SUITE_TEST(numbers),
                                          SUITE_TEST(known),
                                          SUITE_TEST(parts)};
SUITE_MAIN("report", tests)
