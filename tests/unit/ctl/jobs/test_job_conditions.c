/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_job_conditions.c - the conditions of `cwctl job explain`: those of an NMU's answer, and those that the records
 * alone decide.
 */
#include "ctl/jobs/job_conditions.h"

#include "suite.h"

#include <string.h>

/* "ynn-..": a letter for each condition. */
static const char *letters(const enum truth is[static CONDITIONS])
{
    static char text[CONDITIONS + 1];
    for (unsigned i = 0; i < CONDITIONS; i++) {
        text[i] = "-yn"[is[i]];
    }
    return text;
}

START_TEST(of_an_answer)
{
    static const struct {
        const char *cause, *is;
    } cases[] = {
        {"no-speaker", "yn-------"}, {"no-record", "yyn------"},  {"destroyed", "yyyn-----"},
        {"stale", "yyyyn----"},      {"no-grant", "yyyyyn---"},   {"no-reach", "yyyyyyn--"},
        {"no-job", "yyyyyyyn-"},     {"no-process", "yyyyyyyyn"},
    };
    enum truth is[CONDITIONS];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct message *answer = message_open();
        message_text(answer, "cause", cases[i].cause);
        ck_assert(conditions_of_answer(answer, is));
        ck_assert_str_eq(letters(is), cases[i].is);
        message_flag(answer, "allowed", true);
        ck_assert(conditions_of_answer(answer, is));
        ck_assert_str_eq(letters(is), "yyyyyyyyy");
        message_close(answer);
    }
    struct message *other = message_open();
    message_text(other, "cause", "tampered");
    ck_assert(!conditions_of_answer(other, is));
    message_close(other);
}
END_TEST

/* A service `hits` of job 2001 runs on all of 27 servers; job 5001 has processes 0 to 8, and may use port 7 of 5002. */
struct records {
    struct job_world world;
    struct rows services;
    struct job_plan web, store;
};

static void open_records(struct records *r)
{
    const struct job_ports ports = {.count = 1, .port = (cw_port[]){7}};
    char why[JOB_PLAN_WHY];
    struct message *row = message_open();
    struct processes who = {.all = true};
    *r = (struct records){.world = {.servers = 27}};
    message_text(row, "service", "hits");
    message_integer(row, "job", 2001);
    rows_add(&r->world.services, row);
    job_plan_open(&r->web, 5001, "web");
    job_plan_open(&r->store, 5002, "store");
    ck_assert_int_eq(job_plan_add_range(&r->web, 0, 8, 0, why), 0);
    ck_assert_int_eq(job_plan_add_range(&r->store, 0, 1, 13, why), 0);
    ck_assert_int_eq(job_plan_grant(&r->web, 5002, &ports, &who), 1);
}

static void close_records(struct records *r)
{
    job_plan_close(&r->web);
    job_plan_close(&r->store);
    rows_clear(&r->world.services);
}

START_TEST(of_records)
{
    struct records r;
    enum truth is[CONDITIONS] = {OPEN};
    struct question q = {.from = 5001, .from_process = 99, .to = 5002, .to_process = 1, .port = 7};
    open_records(&r);
    conditions_of_records(&r.world, &q, &r.web, &r.store, is);
    ck_assert_str_eq(letters(is), "ynyy-yyyy");
    q.port = 8;
    q.to_process = 2;
    conditions_of_records(&r.world, &q, &r.web, &r.store, is);
    ck_assert_str_eq(letters(is), "ynyy-nnyn");
    q.port = 7;
    q.key = true; /* the grant covers all processes */
    conditions_of_records(&r.world, &q, &r.web, &r.store, is);
    ck_assert_str_eq(letters(is), "ynyy-yyyy");
    job_plan_destroy(&r.web);
    conditions_of_records(&r.world, &q, &r.web, &r.store, is);
    ck_assert_str_eq(letters(is), "ynyn-nnyy");
    close_records(&r);
}
END_TEST

START_TEST(of_services_and_of_jobs_without_names)
{
    struct records r;
    enum truth is[CONDITIONS] = {OPEN}, nameless[CONDITIONS] = {OPEN};
    struct question q = {.from = 2001, .from_process = 99, .to = 2001, .to_process = 26, .port = 1};
    open_records(&r);
    conditions_of_records(&r.world, &q, NULL, NULL, is);
    ck_assert_str_eq(letters(is), "ynny-nnyy");
    q = (struct question){.from = 5001, .from_process = 8, .to = 5002, .to_process = 1, .nameless = true};
    job_plan_destroy(&r.store);
    conditions_of_records(&r.world, &q, &r.web, &r.store, nameless);
    ck_assert_str_eq(letters(nameless), "y-yy---nn");
    close_records(&r);
}
END_TEST

START_TEST(as_a_list)
{
    char text[4096] = "";
    struct call call = {.out = fmemopen(text, sizeof text, "w")};
    const enum truth is[CONDITIONS] = {YES, NO, YES, NO};
    const struct question q = {
        .from_process = 3, .to_process = 7, .from_name = "web", .to_name = "store", .port_name = "get"};
    struct message *answer = message_open();
    message_text(answer, "cause", "destroyed");
    message_text(answer, "remedy", "begin it again");
    conditions_add(&q, answer, is);
    conditions_show(&call, answer);
    fclose(call.out);
    ck_assert_str_eq(text, "  yes  the job exists: web\n"
                           "  no   process 3 of job web runs on a server\n"
                           "  yes  there is a record of job web, its own or a signed one\n"
                           "  no   job web was not destroyed\n"
                           "       remedy: begin it again\n"
                           "  -    what runs there belongs to the job's present generation\n"
                           "  -    a grant of job web names port get of job store\n"
                           "  -    the grant covers process 7\n"
                           "  -    job store is known, and was not destroyed\n"
                           "  -    job store has process 7\n");
    message_close(answer);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(of_an_answer),
    SUITE_TEST(of_records),
    SUITE_TEST(of_services_and_of_jobs_without_names),
    SUITE_TEST(as_a_list),
};
SUITE_MAIN("job_conditions", tests)
