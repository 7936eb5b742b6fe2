/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/tell.h"
#include "simulator/cwsim/trial.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

static char *told(const char *service, const char *text, cw_span after)
{
    struct trial t;
    struct tell tell;
    struct world_config config = world_config_default();
    struct scenario_tell what = {.at = {10000000}, .server = 3};
    config.dims = (cw_dims){2, 2, 1};
    snprintf(what.service, sizeof what.service, "%s", service);
    snprintf(what.text, sizeof what.text, "%s", text);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, stderr), 0);
    struct report *r = report_open(NULL);
    tell_schedule(&tell, &what, r, t.world);
    ck_assert_int_eq(trial_boot(&t, CW_MS(0), CW_SEC(5)), 0);
    ck_assert_int_eq(trial_run_for(&t, after), 0);
    trial_close(&t);
    char *json = NULL;
    size_t length;
    FILE *out = open_memstream(&json, &length);
    ck_assert_int_eq(report_print_json(r, out), 0);
    fclose(out);
    report_close(r);
    return json;
}

START_TEST(answers)
{
    char *json = told("ping", "to 0,0,0 count=2", CW_MS(100));
    ck_assert_ptr_nonnull(strstr(json, "\"asked\":\"1,1,0\""));
    ck_assert_ptr_nonnull(strstr(json, "\"at_ms\":10"));
    ck_assert_ptr_nonnull(strstr(json, "\"received\":2"));
    ck_assert_ptr_nonnull(strstr(json, "\"result\":\"ok\""));
    free(json);
}
END_TEST

START_TEST(mistakes)
{
    char *json = told("ping", "to nowhere", CW_MS(100));
    ck_assert_ptr_nonnull(
        strstr(json, "\"error\":\"'nowhere' is not a server of this torus (2x2x1), as 0,0,0; usage: ping to SERVER ["));
    ck_assert_ptr_nonnull(strstr(json, "\"result\":\"Invalid argument\""));
    free(json);
    json = told("ping", "tu 1,1,0", CW_MS(100));
    ck_assert_ptr_nonnull(strstr(json, "\"error\":\"service ping has no command 'tu'; did you mean to?\""));
    free(json);
    json = told("pign", "to 0,0,0", CW_MS(100));
    ck_assert_ptr_nonnull(strstr(json, "\"error\":\"no service 'pign' runs here; did you mean ping?\""));
    free(json);
    json = told("nobody", "", CW_MS(100));
    ck_assert_ptr_nonnull(strstr(json, "\"error\":\"no service 'nobody' runs here\""));
    ck_assert_ptr_nonnull(strstr(json, "\"result\":\"No such file or directory\""));
    free(json);
}
END_TEST

/* The world ends before the service has answered: the row says so. */
START_TEST(unfinished)
{
    char *json = told("ping", "to 0,0,0 count=1000 interval=1000000", CW_MS(20));
    ck_assert_ptr_nonnull(strstr(json, "\"result\":\"not answered\""));
    free(json);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(answers), SUITE_TEST(mistakes), SUITE_TEST(unfinished)};
SUITE_MAIN("tell", tests)
