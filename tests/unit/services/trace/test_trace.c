/* SPDX-License-Identifier: Apache-2.0 */
#include "services/trace/trace.h"

#include "fake_net.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;
static struct fake_result r, second;

static void run(const char *command, int rc)
{
    fake_command(net->server[0], command, &r);
    fake_net_finish(net, &r);
    ck_assert_msg(r.done && r.rc == rc, "'%s' gave %d, %sdone", command, r.rc, r.done ? "" : "not ");
}

START_TEST(every_server_there_and_back)
{
    net = fake_net_open(&trace_service, (cw_dims){4, 4, 4});
    run("to 2,1,0", 0);
    ck_assert_uint_eq(r.rows, 4 + 4 + 1);
    ck_assert_str_eq(fake_text(&r, 0, "leg"), "there");
    ck_assert_str_eq(fake_text(&r, 0, "server"), "0,0,0");
    ck_assert_str_eq(fake_text(&r, 0, "in"), "self");
    ck_assert_str_eq(fake_text(&r, 0, "out"), "+x");
    ck_assert_int_eq(fake_int(&r, 0, "wait_ns"), 100);
    ck_assert_int_eq(fake_int(&r, 2, "queued"), 2);
    ck_assert_str_eq(fake_text(&r, 1, "in"), "-x");
    ck_assert_str_eq(fake_text(&r, 3, "server"), "2,1,0");
    ck_assert_str_eq(fake_text(&r, 3, "out"), "self");
    ck_assert_str_eq(fake_text(&r, 4, "leg"), "back");
    ck_assert_str_eq(fake_text(&r, 4, "server"), "2,1,0");
    ck_assert_str_eq(fake_text(&r, 7, "server"), "0,0,0");
    ck_assert_str_eq(fake_text(&r, 8, "server"), "2,1,0");
    ck_assert_int_eq(fake_int(&r, 8, "rtt_ns"), 6000);
    ck_assert_int_eq(fake_int(&r, 8, "hops_there"), 3);
    ck_assert_int_eq(fake_int(&r, 8, "hops_back"), 3);
    ck_assert_int_eq(fake_int(&r, 8, "complete"), 1);
    run("to 0,0,0", 0);
    ck_assert_uint_eq(r.rows, 3);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(keys_lead_to_their_roots)
{
    net = fake_net_open(&trace_service, (cw_dims){3, 3, 3});
    run("key 000000000000000000000000ffffffffffffffff size=1000", 0);
    ck_assert_str_eq(fake_text(&r, r.rows - 1, "server"), "2,2,2");
    run("key some-name", 0);
    ck_assert_int_eq(fake_int(&r, r.rows - 1, "complete"), 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_lost_probe_times_out)
{
    net = fake_net_open(&trace_service, (cw_dims){3, 1, 1});
    net->lose = 1;
    run("to 1,0,0 timeout=2000", -ETIMEDOUT);
    ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "lost on the way to 1,0,0 or back"));
    ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "it leaves here by +x ("));
    ck_assert_int_eq(net->now.ns, 2000 * 1000);
    net->lose = 0;
    run("to 1,0,0", 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(bad_words_are_named)
{
    static const char *const lines[] = {"",         "to",           "sideways 1,0,0",     "to 9,0,0",
                                        "to 1,0",   "to 1,0,0 x=1", "to 1,0,0 timeout=0", "to 1,0,0 size=15",
                                        "key a b c"};
    net = fake_net_open(&trace_service, (cw_dims){3, 1, 1});
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        run(lines[i], -EINVAL);
        ck_assert(strlen(fake_text(&r, 0, "error")) > 10);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(so_many_at_a_time)
{
    net = fake_net_open(&trace_service, (cw_dims){3, 1, 1});
    for (unsigned i = 0; i < 8; i++) {
        static struct fake_result each[8];
        fake_command(net->server[0], "to 1,0,0", &each[i]);
        ck_assert(!each[i].done);
    }
    fake_command(net->server[0], "to 1,0,0", &second);
    ck_assert(second.done);
    ck_assert_int_eq(second.rc, -EBUSY);
    fake_net_run(net, CW_MS(1));
    run("to 1,0,0", 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(strange_packets_are_dropped)
{
    net = fake_net_open(&trace_service, (cw_dims){3, 1, 1});
    cw_svc *s = net->server[0];
    const cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = 0, .src_server = {1, 0, 0}, .src_process = 1};
    uint8_t bytes[64] = {0x43, 0x57, 0x54, 0x72, 2};
    cw_verdict verdict;
    for (size_t length = 0; length <= sizeof bytes; length += 4) {
        fake_arrive(s, fake_packet(s, bytes, length, 0), &rx, &verdict); /* an answer to nobody */
        ck_assert_int_eq(verdict, CW_DROP);
    }
    fake_command(s, "to 1,0,0", &r);
    bytes[11] = 1; /* the call it is, but longer than its reports */
    fake_arrive(s, fake_packet(s, bytes, sizeof bytes, 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    bytes[5] = 200;
    fake_arrive(s, fake_packet(s, bytes, sizeof bytes, 0), &rx, &verdict);
    ck_assert_int_eq(verdict, CW_DROP);
    ck_assert(!r.done);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Whoever asked is answered before the service is gone. */
START_TEST(closes_in_the_middle)
{
    net = fake_net_open(&trace_service, (cw_dims){4, 4, 4});
    fake_command(net->server[0], "to 2,1,0", &r);
    ck_assert(!r.done);
    (void)fake_net_close(net);
    ck_assert(r.done && r.rc == -ECANCELED);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(closes_in_the_middle),        SUITE_TEST(every_server_there_and_back),
    SUITE_TEST(keys_lead_to_their_roots),    SUITE_TEST(a_lost_probe_times_out),
    SUITE_TEST(bad_words_are_named),         SUITE_TEST(so_many_at_a_time),
    SUITE_TEST(strange_packets_are_dropped),
};
SUITE_MAIN("trace", tests)
