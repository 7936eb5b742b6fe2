/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs_town.h"
#include "suite.h"

static void open_town(void)
{
    town_prepare();
    town_open((cw_dims){3, 2, 1});
    size_t size = kit_version(TOWN_RESIDENT, 5, town_room); /* processes 0..3 on servers 0..3, may reach itself */
    town_put_room(0, size, NULL, true);
    ck_assert_int_eq(town_result.rc, 0);
}

/* Server s refuses its process so often. */
static void refuse(cw_server s, cw_job job, cw_port port, bool key, unsigned times)
{
    const struct nmu_to to = {.job = job, .port = port, .key = key, .process = 1};
    struct nmu_pass pass;
    for (unsigned i = 0; i < times; i++) {
        ck_assert_int_ne(nmu_ask(&town.at[s].nmu, 0, &to, &pass), NMU_ALLOWED);
    }
}

START_TEST(may_a_reach_b)
{
    open_town();
    town_line(5, "explain 50:2 50:3:7");
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_int_eq(fake_int(&town_result, 0, "allowed"), 1);
    ck_assert_str_eq(fake_text(&town_result, 0, "asked"), "1,0,0");
    ck_assert_str_eq(fake_text(&town_result, 0, "leads_to"), "1,1,0");
    ck_assert_int_eq(fake_int(&town_result, 0, "version"), 5);
    ck_assert_ptr_nonnull(strstr(fake_text(&town_result, 0, "entry"), "grant 1 of 1"));
    refuse(2, 99, 7, false, 3);
    refuse(2, 99, 7, true, 2);
    town_line(0, "explain job-50:2 99:1:7");
    ck_assert_int_eq(fake_int(&town_result, 0, "allowed"), 0);
    ck_assert_str_eq(fake_text(&town_result, 0, "because"), cause_text(NMU_NO_GRANT));
    ck_assert_int_eq(fake_int(&town_result, 0, "refused"), 3);
    ck_assert(!fake_has(&town_result, 0, "entry"));
    town_line(0, "explain 50:2 99:*:7");
    ck_assert_int_eq(fake_int(&town_result, 0, "refused"), 2);
    ck_assert_str_eq(fake_text(&town_result, 0, "destination"), "99:*:7");
    town_line(0, "explain 50:2 50:*:7");
    ck_assert_int_eq(fake_int(&town_result, 0, "allowed"), 1);
    town_line(0, "explain 51:2 50:1:7"); /* a service that is not there: nobody speaks */
    ck_assert_str_eq(fake_text(&town_result, 0, "because"), cause_text(NMU_NO_SPEAKER));
    ck_assert_str_eq(fake_text(&town_result, 0, "cause"), "no-speaker");
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(explain_is_strict)
{
    static const char *const lines[] = {"explain",
                                        "explain 50:1",
                                        "explain 50 50:1:1",
                                        "explain 50:1 50:1",
                                        "explain x:1 50:1:1",
                                        "explain 50:1:1 50:1:1",
                                        "explain 50:1 50:1:70000",
                                        "explain 50:1 50:1:1 x",
                                        "explain 50:* 50:1:1",
                                        "explain 50:111111111111111111111111111 50:1:1"};
    open_town();
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        town_line(0, lines[i]);
        ck_assert_msg(town_result.rc == -EINVAL, "%s gave %d", lines[i], town_result.rc);
    }
    town_line(0, "explain 50:4 50:1:1"); /* by its record there is none */
    ck_assert_int_eq(town_result.rc, -ENOENT);
    town.net->server[2]->swallow = true;
    town_line(0, "explain 50:2 50:1:1");
    ck_assert_int_eq(town_result.rc, -ETIMEDOUT);
    town.net->server[0]->down[2] = true;
    town_line(0, "explain 50:2 50:1:1");
    ck_assert_int_eq(town_result.rc, -ENETUNREACH);
    ck_assert_uint_gt(strlen(fake_text(&town_result, 0, "error")), 10);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(who_was_refused_what_everywhere)
{
    open_town();
    refuse(1, 99, 7, false, 4);
    for (cw_port port = 0; port < 60; port++) {
        refuse(3, 99, port, port % 2 == 0, 1);
    }
    town_line(0, "audit");
    ck_assert_int_eq(town_result.rc, 0);
    ck_assert_uint_eq(town_result.rows, 62);
    unsigned row = town_result.rows - 1;
    ck_assert_int_eq(fake_int(&town_result, row, "servers"), 6);
    ck_assert_int_eq(fake_int(&town_result, row, "silent"), 0);
    ck_assert_int_eq(fake_int(&town_result, row, "refused"), 64);
    ck_assert_int_eq(fake_int(&town_result, row, "in_no_row"), 0);
    int64_t times = 0;
    for (row = 0; row + 1 < town_result.rows; row++) {
        times += fake_int(&town_result, row, "times");
        ck_assert_str_eq(fake_text(&town_result, row, "because"), cause_text(NMU_NO_GRANT));
    }
    ck_assert_int_eq(times, 64);
    town.net->server[4]->swallow = true;
    town.net->server[0]->down[5] = true;
    town_line(0, "audit");
    row = town_result.rows - 1;
    ck_assert_int_eq(fake_int(&town_result, row, "servers"), 5);
    ck_assert_int_eq(fake_int(&town_result, row, "silent"), 1);
    town_line(0, "audit x");
    ck_assert_int_eq(town_result.rc, -EINVAL);
    ck_assert_uint_eq(town_close(), 0);
}
END_TEST

START_TEST(closed_while_asking)
{
    open_town();
    for (cw_server s = 1; s < 6; s++) {
        town.net->server[s]->swallow = true;
    }
    static struct fake_result results[JOBS_ASKING];
    for (unsigned i = 0; i < JOBS_ASKING; i++) {
        fake_command(town.net->server[0], i % 2 == 0 ? "audit" : "explain 50:2 50:1:1", &results[i]);
    }
    town_line(0, "audit");
    ck_assert_int_eq(town_result.rc, -EBUSY);
    town_line(0, "explain 50:2 50:1:1");
    ck_assert_int_eq(town_result.rc, -EBUSY);
    ck_assert_uint_eq(town_close(), 0);
    for (unsigned i = 0; i < JOBS_ASKING; i++) {
        ck_assert(results[i].done && results[i].rc == -ECANCELED);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(may_a_reach_b),
    SUITE_TEST(explain_is_strict),
    SUITE_TEST(who_was_refused_what_everywhere),
    SUITE_TEST(closed_while_asking),
};
SUITE_MAIN("ask", tests)
