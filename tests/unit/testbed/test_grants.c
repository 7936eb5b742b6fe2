/* SPDX-License-Identifier: Apache-2.0 */
/* test_grants.c - what a lab's services may when they begin, signed by a key that only the lab has. */
#include "testbed/grants.h"

#include "jobfile/jobfile.h"
#include "lab_place.h"
#include "scenario/scenario.h"
#include "seal/job_seal.h"
#include "seal/keyfile.h"
#include "testbed/conf.h"

#include <errno.h>

static struct lab lab;
static char why[GRANTS_WHY];

static void make_lab(void)
{
    memset(&lab, 0, sizeof lab);
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){3, 3, 1}), 0);
    ck_assert_int_eq(lab_place(&lab, "t", why), 0);
    ck_assert_int_eq(lab_make_folder(&lab), 0);
    lab.services = 2;
    snprintf(lab.service[0], LAB_PATH, "%s", HITCOUNT);
    snprintf(lab.service[1], LAB_PATH, "kvcache"); /* built in: it needs no grant of the lab's */
}

static void tell(void *context, const char *text)
{
    (void)context;
    ck_abort_msg("%s", text);
}

static const char *written(void)
{
    static char text[1024];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    grants_write(&lab, out);
    fclose(out);
    return text;
}

START_TEST(a_service_reaches_its_own_job)
{
    static const struct jobfile_options options = {.names = NULL};
    char path[LAB_PATH];
    uint8_t raw[SEAL_PUBLIC_BYTES], *bytes;
    size_t size;
    struct seal_public *key;
    struct jobfile file;
    char *place = place_make();
    make_lab();
    ck_assert_msg(grants_make(&lab, why) == 0, "%s", why);
    ck_assert_ptr_nonnull(strstr(written(), "/t/operator.key.pub\"\njob_file = \""));
    ck_assert_int_eq(keyfile_public(lab_path(&lab, NULL, "operator.key.pub", path), raw, why), 0);
    ck_assert_int_eq(seal_public_open(&key, raw), 0);
    ck_assert_int_eq(jobfile_load(&file, lab_path(&lab, NULL, "jobs.conf", path), &options, tell, NULL), 0);
    const struct jobfile_entry *e = jobfile_find(&file, "hitcount");
    ck_assert_ptr_nonnull(e);
    ck_assert_uint_eq(e->plan.ranges, 1);
    ck_assert_uint_eq(e->plan.range[0].count, 9);
    ck_assert_ptr_nonnull(job_plan_allows(&e->plan, e->plan.id, true, 0, 12345));
    ck_assert_uint_eq(e->plan.rights, 1);
    ck_assert_int_eq(job_plan_record(&e->plan, &bytes, &size, why), 0);
    ck_assert_int_eq(job_seal_verify(key, CONF_CLUSTER, bytes, size, e->signature), 0);
    free(bytes);
    jobfile_close(&file);
    seal_public_close(key);
    place_remove(place);
}
END_TEST

START_TEST(or_nothing)
{
    char *place = place_make();
    make_lab();
    lab.no_grants = true;
    ck_assert_msg(grants_make(&lab, why) == 0, "%s", why);
    ck_assert_ptr_nonnull(strstr(written(), "operator_key"));
    ck_assert_ptr_null(strstr(written(), "job_file"));
    place_remove(place);
}
END_TEST

START_TEST(or_what_a_scenario_says)
{
    static const struct jobfile_options options = {.names = NULL};
    static struct scenario s;
    char path[LAB_PATH];
    struct jobfile file;
    char *place = place_make();
    make_lab();
    scenario_init(&s);
    s.grant[s.grants++] = (struct scenario_grant){.from = 4096, .to = 4096, .first = 2, .last = 3, .port = 7};
    s.grant[s.grants++] = (struct scenario_grant){.from = 4096, .to = 4097, .all_processes = true, .any_port = true};
    s.grant[s.grants++] = (struct scenario_grant){.from = 1, .to = 4096, .all_processes = true, .port = 7};
    lab.plays = &s;
    ck_assert_msg(grants_make(&lab, why) == 0, "%s", why);
    ck_assert_ptr_nonnull(strstr(written(), "job_file"));
    ck_assert_int_eq(jobfile_load(&file, lab_path(&lab, NULL, "jobs.conf", path), &options, tell, NULL), 0);
    ck_assert_uint_eq(file.count, 3);
    const struct job_plan *p = &jobfile_find(&file, "job-4096")->plan;
    ck_assert_ptr_nonnull(job_plan_allows(p, 4096, false, 3, 7));
    ck_assert_ptr_null(job_plan_allows(p, 4096, false, 4, 7));
    ck_assert_ptr_nonnull(job_plan_allows(p, 4097, true, 0, 99));
    ck_assert_uint_eq(jobfile_find(&file, "job-4097")->plan.rights, 0);
    p = &jobfile_find(&file, "job-1")->plan;
    ck_assert_uint_eq(p->version, 2);
    ck_assert_ptr_nonnull(job_plan_allows(p, 4096, true, 0, 7));
    ck_assert_ptr_nonnull(job_plan_allows(p, 1, false, 0, 0)); /* as it came */
    jobfile_close(&file);
    place_remove(place);
}
END_TEST

START_TEST(what_is_no_service_is_told)
{
    char *place = place_make();
    make_lab();
    snprintf(lab.service[0], LAB_PATH, "/nowhere.so");
    ck_assert_int_lt(grants_make(&lab, why), 0);
    ck_assert_ptr_nonnull(strstr(why, "/nowhere.so"));
    place_remove(place);
}
END_TEST

START_TEST(the_key_is_lent)
{
    char *place = place_make();
    make_lab();
    unsetenv("CUBEWAY_OPERATOR_KEY");
    grants_lend_key(&lab);
    ck_assert_ptr_null(getenv("CUBEWAY_OPERATOR_KEY")); /* there is none yet */
    ck_assert_int_eq(grants_make(&lab, why), 0);
    ck_assert_int_eq(grants_make(&lab, why), -EEXIST);
    grants_lend_key(&lab);
    ck_assert_ptr_nonnull(strstr(getenv("CUBEWAY_OPERATOR_KEY"), "/t/operator.key"));
    setenv("CUBEWAY_OPERATOR_KEY", "mine", 1);
    grants_lend_key(&lab);
    ck_assert_str_eq(getenv("CUBEWAY_OPERATOR_KEY"), "mine");
    place_remove(place);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_service_reaches_its_own_job), SUITE_TEST(or_nothing),      SUITE_TEST(or_what_a_scenario_says),
    SUITE_TEST(what_is_no_service_is_told),    SUITE_TEST(the_key_is_lent),
};
SUITE_MAIN("grants", tests)
