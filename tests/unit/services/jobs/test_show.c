/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

static void put_rich(void)
{
    struct job_record head = {.job = 60, .version = 3, .generation = 2, .name = "shop"};
    struct job_record_writer w;
    const struct job_range ranges[] = {{0, 2, 1}, {5, 1, 0}};
    const struct job_span spans[] = {{0, 1}, {4, 4}};
    const cw_port ports[] = {1, 9};
    size_t size;
    job_record_begin(&w, town_room, sizeof town_room, &head);
    job_record_put_range(&w, &ranges[0]);
    job_record_put_range(&w, &ranges[1]);
    job_record_put_port(&w, 9, "get");
    job_record_put_grant(&w, 60, NULL, 0, NULL, 0);
    job_record_put_grant(&w, 61, spans, 2, ports, 2);
    ck_assert_int_eq(job_record_finish(&w, &size), WIRE_OK);
    kit_sign(KIT_KEY, KIT_CLUSTER, town_room, size, town_room + size);
    jobs_take_kept(town_jobs(0), town_room, size + JOBS_SIGNATURE_BYTES);
}

static void open_town(void)
{
    town_prepare();
    town_open((cw_dims){3, 1, 1});
    put_rich();
}

START_TEST(a_row_for_each_job)
{
    open_town();
    static uint8_t gone[4096];
    struct kit_job k = {.job = 40, .version = 3, .generation = 1, .destroyed = true};
    jobs_take_kept(town_jobs(0), gone, kit_record(&k, KIT_KEY, KIT_CLUSTER, gone, sizeof gone));
    town_line(0, "list");
    ck_assert_uint_eq(town_result.rows, 2);
    ck_assert_int_eq(fake_int(&town_result, 0, "job"), 40);
    ck_assert_int_eq(fake_int(&town_result, 0, "destroyed"), 1);
    ck_assert_str_eq(fake_text(&town_result, 1, "name"), "shop");
    ck_assert_int_eq(fake_int(&town_result, 1, "processes"), 3);
    ck_assert_int_eq(fake_int(&town_result, 1, "grants"), 2);
    ck_assert_int_eq(fake_int(&town_result, 1, "kept"), 1);
    town_line(1, "list");
    ck_assert_uint_eq(town_result.fields, 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(one_job_by_number_or_name)
{
    open_town();
    for (unsigned i = 0; i < 2; i++) {
        town_line(0, i == 0 ? "show shop" : "show 60");
        ck_assert_int_eq(town_result.rc, 0);
        ck_assert_uint_eq(town_result.rows, 6);
        ck_assert_int_eq(fake_int(&town_result, 0, "version"), 3);
        ck_assert_uint_eq(strlen(fake_text(&town_result, 0, "digest")), 16);
        ck_assert_str_eq(fake_text(&town_result, 1, "what"), "range");
        ck_assert_int_eq(fake_int(&town_result, 1, "last"), 1);
        ck_assert_str_eq(fake_text(&town_result, 1, "server"), "1,0,0");
        ck_assert_str_eq(fake_text(&town_result, 3, "name"), "get");
        ck_assert_str_eq(fake_text(&town_result, 4, "to_processes"), "all");
        ck_assert_str_eq(fake_text(&town_result, 5, "to_processes"), "0-1,4");
        ck_assert_str_eq(fake_text(&town_result, 5, "to_ports"), "1,9");
    }
    ck_assert_uint_eq(jobs_named(town_jobs(0), "shop", 4), 60);
    ck_assert_uint_eq(jobs_named(town_jobs(0), "shopping", 4), 60);
    ck_assert_uint_eq(jobs_named(town_jobs(0), "", 0), 0);
    town_line(0, "show 61");
    ck_assert_int_eq(town_result.rc, -ENOENT);
    town_line(0, "show nobody");
    ck_assert_int_eq(town_result.rc, -ENOENT);
    town_line(0, "show");
    ck_assert_int_eq(town_result.rc, -EINVAL);
    town_line(0, "show 60 more");
    ck_assert_int_eq(town_result.rc, -EINVAL);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(its_bytes)
{
    open_town();
    town_line(0, "show shop raw=1");
    ck_assert_uint_eq(town_result.rows, 2);
    /* The kit cuts texts; what it kept is the beginning. */
    uint8_t bytes[1000];
    char text[FAKE_TEXT];
    snprintf(text, sizeof text, "%.*s", 156, fake_text(&town_result, 1, "record"));
    int n = base64_decode(text, bytes, sizeof bytes);
    ck_assert_int_gt(n, 100);
    ck_assert_int_eq(memcmp(bytes, town_room, (size_t)n), 0);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(many_spans_and_ports_are_cut)
{
    open_town();
    struct job_record head = {.job = 70, .version = 1, .generation = 1, .name = "many"};
    struct job_record_writer w;
    struct job_span spans[100];
    cw_port ports[100];
    size_t size;
    for (unsigned i = 0; i < 100; i++) {
        spans[i] = (struct job_span){1000000 + 3 * i, 1000001 + 3 * i};
        ports[i] = (cw_port)(10000 + i);
    }
    job_record_begin(&w, town_room, sizeof town_room, &head);
    job_record_put_grant(&w, 60, spans, 100, ports, 100);
    ck_assert_int_eq(job_record_finish(&w, &size), WIRE_OK);
    kit_sign(KIT_KEY, KIT_CLUSTER, town_room, size, town_room + size);
    jobs_take_kept(town_jobs(0), town_room, size + JOBS_SIGNATURE_BYTES);
    town_line(0, "show many");
    const char *text = fake_text(&town_result, 1, "to_processes");
    ck_assert_str_eq(text + strlen(text) - 3, ",..");
    text = fake_text(&town_result, 1, "to_ports");
    ck_assert_str_eq(text + strlen(text) - 3, ",..");
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(all_in_all)
{
    open_town();
    town_line(0, "status");
    ck_assert_int_eq(fake_int(&town_result, 0, "signed"), 1);
    ck_assert_int_eq(fake_int(&town_result, 0, "jobs"), 1);
    ck_assert_int_eq(fake_int(&town_result, 0, "accepted"), 1);
    ck_assert_int_eq(fake_int(&town_result, 0, "missing"), 1); /* the resident job's */
    ck_assert(!fake_has(&town_result, 0, "note"));
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_row_for_each_job), SUITE_TEST(one_job_by_number_or_name),
    SUITE_TEST(its_bytes),          SUITE_TEST(many_spans_and_ports_are_cut),
    SUITE_TEST(all_in_all),
};
SUITE_MAIN("show", tests)
