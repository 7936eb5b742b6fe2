/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in service: its commands, and the table for others. */
#include "fake_net.h"
#include "services/transport/transport.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;
static struct fake_result r;

static void command(cw_server s, const char *line)
{
    fake_command(net->server[s], line, &r);
    fake_net_finish(net, &r);
}

START_TEST(bulk)
{
    net = fake_net_open(&transport_service, (cw_dims){3, 3, 3});
    command(0, "bulk 1,1,1 3M");
    ck_assert_int_eq(r.rc, 0);
    ck_assert_int_eq(fake_int(&r, 0, "done"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "bytes"), 3000000);
    ck_assert_int_eq(fake_int(&r, 0, "wrong"), 0);
    ck_assert_int_gt(fake_int(&r, 0, "bits_per_s"), 0);
    command(13, "stats");
    ck_assert_int_eq(fake_int(&r, 0, "bytes_taken"), 3000000);
    ck_assert_int_eq(fake_int(&r, 0, "bytes_wrong"), 0);
    command(0, "path 1,1,1");
    ck_assert_int_gt(fake_int(&r, 0, "window"), 0);
    command(0, "bulk 1,1,1 10 count=5");
    ck_assert_int_eq(fake_int(&r, 0, "done"), 5);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(echo)
{
    net = fake_net_open(&transport_service, (cw_dims){3, 1, 1});
    command(0, "echo 1,0,0 bytes=100000 count=3");
    ck_assert_int_eq(r.rc, 0);
    ck_assert_int_eq(fake_int(&r, 0, "done"), 3);
    ck_assert_int_eq(fake_int(&r, 0, "wrong"), 0);
    net->lose = 1;
    command(0, "echo 2,0,0 timeout_us=5000");
    ck_assert_int_eq(r.rc, -ETIMEDOUT);
    ck_assert_str_eq(fake_text(&r, 0, "error"), "message 1 of 10: no answer in time (110)");
    fake_net_close(net);
}
END_TEST

START_TEST(refused)
{
    static const char *const lines[] = {"",
                                        "bulk",
                                        "bulk 1,0,0",
                                        "bulk 9,9,9 5",
                                        "bulk 1,0,0 x",
                                        "echo",
                                        "bulk 1,0,0 5 count=0",
                                        "bulk 1,0,0 5 bytes=3",
                                        "path",
                                        "path 1,0,0",
                                        "stats now",
                                        "echo 1,0,0 bytes=2M"};
    net = fake_net_open(&transport_service, (cw_dims){3, 1, 1});
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        command(0, lines[i]);
        ck_assert_msg(r.rc < 0, "'%s'", lines[i]);
        ck_assert_str_ne(fake_text(&r, 0, "error"), "");
    }
    net->server[0]->down[1] = true;
    command(0, "bulk 1,0,0 5");
    ck_assert_int_eq(r.rc, -ENETUNREACH);
    fake_net_close(net);
}
END_TEST

START_TEST(the_table)
{
    const struct transport_api *api = transport_service.exports;
    ck_assert_uint_eq(transport_service.job, TRANSPORT_JOB);
    ck_assert_uint_eq(transport_service.exports_version, TRANSPORT_API_VERSION);
    ck_assert_uint_eq(api->size, sizeof *api);
    void (*const *functions)(void) = (void (*const *)(void))(const void *)((const char *)api + sizeof api->size);
    for (size_t i = 0; i < (sizeof *api - sizeof api->size) / sizeof *functions; i++) {
        ck_assert(functions[i] != NULL);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(bulk),
    SUITE_TEST(echo),
    SUITE_TEST(refused),
    SUITE_TEST(the_table),
};
SUITE_MAIN("services.transport.bulk", tests)
