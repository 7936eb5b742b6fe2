/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/servers.h"

#include "fake_host.h"
#include "keyspace/key.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* Tells the server of its first word in both forms, and one outside the torus. */
static int tell_both(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    (void)state;
    cw_coord c = {7, 7, 7};
    int rc = argc < 1 ? -EINVAL : read_server(s, r, argv[0], &c);
    if (rc < 0) {
        ck_assert_uint_eq(c.x, 7); /* untouched */
        return rc;
    }
    tell_server(r, "at", c);
    tell_server_id(s, r, "id", cw_server_id(s, c));
    tell_server_id(s, r, "outside", servers_of(cw_torus(s)));
    return 0;
}

static const cw_service teller = {CW_SERVICE_INIT, .name = "teller", .job = 900, .on_command = tell_both};

START_TEST(a_server_is_read_and_told)
{
    struct fake_result r;
    cw_svc *s = fake_open(&teller, (cw_dims){2, 3, 4}, (cw_coord){0, 0, 0});
    fake_command(s, "1,2,3", &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_str_eq(fake_text(&r, 0, "at"), "1,2,3");
    ck_assert_str_eq(fake_text(&r, 0, "id"), "1,2,3");
    ck_assert_str_eq(fake_text(&r, 0, "outside"), "none");
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(what_is_no_server_here_is_refused)
{
    struct fake_result r;
    cw_svc *s = fake_open(&teller, (cw_dims){2, 3, 4}, (cw_coord){0, 0, 0});
    fake_command(s, "2,0,0", &r);
    ck_assert_int_eq(r.rc, -EINVAL);
    ck_assert_str_eq(fake_text(&r, 0, "error"), "not a server of this torus (x,y,z): '2,0,0'");
    fake_command(s, "somewhere", &r);
    ck_assert_int_eq(r.rc, -EINVAL);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(a_server_is_addressed_by_its_id)
{
    cw_svc *s = fake_open(&teller, (cw_dims){2, 3, 4}, (cw_coord){0, 0, 0});
    ck_assert_uint_eq(servers_of(cw_torus(s)), 24);
    cw_to to = to_server(s, 900, 3, 23);
    ck_assert_int_eq(to.kind, CW_TO_SERVER);
    ck_assert_uint_eq(to.job, 900);
    ck_assert_uint_eq(to.port, 3);
    ck_assert_uint_eq(to.process, 23);
    ck_assert_uint_eq(cw_server_id(s, to.server), 23);
    ck_assert_uint_eq(servers_of((cw_dims){256, 256, 256}), UINT32_C(1) << 24);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(a_word_is_a_key_or_names_one)
{
    cw_svc *s = fake_open(&teller, (cw_dims){2, 3, 4}, (cw_coord){0, 0, 0});
    cw_key literal = read_key(s, "000102030405060708090a0b0c0d0e0f10111213");
    for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
        ck_assert_uint_eq(literal.b[i], i);
    }
    cw_key named = read_key(s, "horse"), expected = cw_key_of(s, "horse", 5);
    ck_assert_mem_eq(&named, &expected, sizeof named);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_server_is_read_and_told),
    SUITE_TEST(what_is_no_server_here_is_refused),
    SUITE_TEST(a_server_is_addressed_by_its_id),
    SUITE_TEST(a_word_is_a_key_or_names_one),
};
SUITE_MAIN("servers", tests)
