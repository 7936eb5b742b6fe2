/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_host.h"
#include "services/reply/refuse.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static int refuse_all(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)s;
    (void)state;
    return refuse_request(r, "%d words are not '%s'", argc, argv[0]);
}

START_TEST(a_sentence_becomes_the_error)
{
    static const cw_service table = {CW_SERVICE_INIT, .name = "strict", .job = 900, .on_command = refuse_all};
    struct fake_result r;
    cw_svc *s = fake_open(&table, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0});
    fake_command(s, "no sense", &r);
    ck_assert_int_eq(r.rc, -EINVAL);
    ck_assert_str_eq(fake_text(&r, 0, "error"), "2 words are not 'no'");
    char line[600];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    fake_command(s, line, &r);
    ck_assert_int_eq(r.rc, -EINVAL);
    ck_assert_uint_le(strlen(fake_text(&r, 0, "error")), 255); /* cut, and ended */
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_sentence_becomes_the_error)};
SUITE_MAIN("refuse", tests)
