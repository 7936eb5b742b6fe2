/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/refuse.h"

#include "fake_host.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* "no ..": refuse_request(); "gone ..": refuse_with(); any other: refuse_option() of the first word that is no option. */
static int refuse_all(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    (void)state;
    uint64_t count = 0;
    const struct words_option options[] = {{"count", 1, 9, &count}};
    if (strcmp(argv[0], "no") == 0) {
        return refuse_request(r, "%d words are not '%s'", argc, argv[argc - 1]);
    }
    if (strcmp(argv[0], "gone") == 0) {
        return refuse_with(r, -ENOENT, "there is no %s", argv[1]);
    }
    int good = words_options(argc, argv, options, 1);
    return good < argc ? refuse_option(r, argv[good], options, 1) : 0;
}

static const cw_service strict = {CW_SERVICE_INIT, .name = "strict", .job = 900, .on_command = refuse_all};

static void says(cw_svc *s, const char *line, int rc, const char *error)
{
    struct fake_result r;
    fake_command(s, line, &r);
    ck_assert_int_eq(r.rc, rc);
    ck_assert_str_eq(fake_text(&r, 0, "error"), error);
}

START_TEST(a_sentence_becomes_the_error)
{
    cw_svc *s = fake_open(&strict, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    says(s, "no sense", -EINVAL, "2 words are not 'sense'");
    says(s, "gone horse", -ENOENT, "there is no horse");
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(a_long_sentence_is_cut)
{
    cw_svc *s = fake_open(&strict, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    struct fake_result r;
    char line[600];
    memset(line, 'x', sizeof line - 1);
    memcpy(line, "no ", 3);
    line[sizeof line - 1] = '\0';
    fake_command(s, line, &r);
    ck_assert_int_eq(r.rc, -EINVAL);
    ck_assert_uint_le(strlen(fake_text(&r, 0, "error")), REFUSE_TEXT - 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(an_option_is_refused_with_what_it_takes)
{
    cw_svc *s = fake_open(&strict, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    says(s, "count=3 count=10", -EINVAL, "count=10: count is a whole number from 1 to 9");
    says(s, "colour=red", -EINVAL, "colour=red: no such option; there are count=N");
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(a_setting_is_refused_in_the_log)
{
    cw_svc *s = fake_open(&strict, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    ck_assert_int_eq(refuse_setting(s, "age", "blue", "a time of at least 1min, as 168h"), -EINVAL);
    ck_assert_ptr_nonnull(strstr(s->logged, "option age = \"blue\": expected a time of at least 1min, as 168h"));
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_sentence_becomes_the_error),
    SUITE_TEST(a_long_sentence_is_cut),
    SUITE_TEST(an_option_is_refused_with_what_it_takes),
    SUITE_TEST(a_setting_is_refused_in_the_log),
};
SUITE_MAIN("refuse", tests)
