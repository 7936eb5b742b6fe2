/* SPDX-License-Identifier: Apache-2.0 */
#include "services/ping/ping.h"

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

static int64_t last(const char *name)
{
    return fake_int(&r, r.rows - 1, name);
}

START_TEST(options_are_checked_when_it_opens)
{
    static const char *const good[] = {"timeout_us=5000", NULL}, *const bad[] = {"timeout_us=0", NULL},
                             *const strange[] = {"colour=red", NULL};
    int rc;
    ck_assert_ptr_null(fake_open_with(&ping_service, (cw_dims){4, 1, 1}, (cw_coord){0, 0, 0}, bad, &rc));
    ck_assert_int_eq(rc, -EINVAL);
    ck_assert_ptr_null(fake_open_with(&ping_service, (cw_dims){4, 1, 1}, (cw_coord){0, 0, 0}, strange, &rc));
    ck_assert_int_eq(rc, -EINVAL);
    cw_svc *s = fake_open_with(&ping_service, (cw_dims){4, 1, 1}, (cw_coord){0, 0, 0}, good, &rc);
    ck_assert_int_eq(rc, 0);
    fake_command(s, "to 1,0,0", &r); /* nobody answers: lost after the option's time, and not after a second */
    fake_run(s, CW_MS(4));
    ck_assert_int_eq(r.done, false);
    fake_run(s, CW_MS(2));
    ck_assert_int_eq(r.done, true);
    ck_assert_int_eq(last("lost"), 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(one_there_and_back)
{
    net = fake_net_open(&ping_service, (cw_dims){4, 4, 4});
    run("to 2,1,3", 0);
    ck_assert_uint_eq(r.rows, 1);
    ck_assert_str_eq(fake_text(&r, 0, "server"), "2,1,3");
    ck_assert_int_eq(last("sent"), 1);
    ck_assert_int_eq(last("received"), 1);
    ck_assert_int_eq(last("lost"), 0);
    ck_assert_int_eq(last("miscounted"), 0);
    ck_assert_int_eq(last("hops_there_min"), 4);
    ck_assert_int_eq(last("hops_there_max"), 4);
    ck_assert_int_eq(last("hops_back_max"), 4);
    ck_assert_int_eq(last("rtt_min_ns"), 8000);
    ck_assert_int_eq(last("rtt_mean_ns"), 8000);
    ck_assert_int_eq(last("rtt_max_ns"), 8000);
    ck_assert_uint_eq(net->crossed, 8);
    run("to 0,0,0", 0);
    ck_assert_int_eq(last("hops_there_max"), 0);
    ck_assert_int_eq(last("rtt_max_ns"), 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(many_one_after_the_other)
{
    net = fake_net_open(&ping_service, (cw_dims){5, 1, 1});
    run("to 2,0,0 count=1000 size=8900", 0);
    ck_assert_int_eq(last("received"), 1000);
    ck_assert_int_eq(last("rtt_max_ns"), 4000);
    ck_assert_int_eq(net->now.ns, 1000 * 4000);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(many_at_an_interval)
{
    net = fake_net_open(&ping_service, (cw_dims){5, 1, 1});
    fake_net_run(net, CW_US(500));
    run("to 2,0,0 count=11 interval=100 rows=1", 0);
    ck_assert_uint_eq(r.rows, 12);
    ck_assert_int_eq(fake_int(&r, 3, "seq"), 3);
    ck_assert_int_eq(fake_int(&r, 3, "rtt_ns"), 4000);
    ck_assert_int_eq(fake_int(&r, 3, "hops_there"), 2);
    ck_assert_str_eq(fake_text(&r, 3, "server"), "2,0,0");
    ck_assert_int_eq(net->now.ns, 500000 + 10 * 100000 + 4000);
    /* Shorter than the way: packets overlap. */
    run("to 2,0,0 count=100 interval=1", 0);
    ck_assert_int_eq(last("received"), 100);
    ck_assert_int_eq(net->now.ns, 1504000 + 99 * 1000 + 4000);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(every_server_once)
{
    net = fake_net_open(&ping_service, (cw_dims){3, 4, 2});
    run("all rows=1", 0);
    ck_assert_uint_eq(r.rows, 24);
    bool answered[24] = {false};
    for (unsigned row = 0; row < 23; row++) {
        cw_coord c;
        const char *text = fake_text(&r, row, "server");
        ck_assert_int_eq(torus_parse(&net->torus, text, strlen(text), &c), 0);
        cw_server id = torus_id(&net->torus, c);
        ck_assert(id != 0 && !answered[id]);
        answered[id] = true;
        ck_assert_int_eq(fake_int(&r, row, "hops_there"), torus_distance(&net->torus, 0, id));
    }
    ck_assert_int_eq(last("sent"), 23);
    ck_assert_int_eq(last("received"), 23);
    ck_assert_int_eq(last("hops_there_min"), 1);
    ck_assert_int_eq(last("hops_there_max"), torus_diameter(&net->torus));
    net->server[0]->down[5] = true;
    run("all", 0);
    ck_assert_int_eq(last("sent"), 22);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(nobody_else_is_there)
{
    net = fake_net_open(&ping_service, (cw_dims){1, 1, 1});
    run("all", 0);
    ck_assert_int_eq(last("sent"), 0);
    ck_assert(!fake_has(&r, 0, "rtt_min_ns"));
    run("far", -ENETUNREACH);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* The paper's: 15 links there, the same 15 back. */
START_TEST(far)
{
    static const cw_dims shapes[] = {{10, 10, 10}, {3, 3, 3}, {8, 8, 2}};
    for (int i = 0; i < 3; i++) {
        net = fake_net_open(&ping_service, shapes[i]);
        run("far count=3", 0);
        ck_assert_int_eq(last("received"), 3);
        ck_assert_int_eq(last("miscounted"), 0);
        ck_assert_int_eq(last("hops_there_min"), 15);
        ck_assert_int_eq(last("hops_there_max"), 15);
        ck_assert_int_eq(last("hops_back_min"), 15);
        ck_assert_int_eq(last("hops_back_max"), 15);
        ck_assert_int_eq(last("rtt_min_ns"), 30000);
        run("far counted=1", 0); /* and counted on the way */
        ck_assert_int_eq(last("miscounted"), 0);
        ck_assert_int_eq(last("hops_there_max"), 15);
        run("far hops=7 size=1500", 0);
        ck_assert_int_eq(last("hops_there_max"), 7);
        ck_assert_uint_eq(fake_net_close(net), 0);
    }
}
END_TEST

START_TEST(far_over_named_servers)
{
    net = fake_net_open(&ping_service, (cw_dims){5, 5, 1});
    run("far via 2,0,0 2,2,0 0,1,0 count=2", 0);
    ck_assert_str_eq(fake_text(&r, 0, "server"), "0,1,0");
    ck_assert_int_eq(last("hops_there_min"), 2 + 2 + 3);
    ck_assert_int_eq(last("hops_back_max"), 7);
    run("far via 1,0,0 0,0,0", 0); /* home again */
    ck_assert_int_eq(last("hops_there_min"), 2);
    ck_assert_int_eq(last("miscounted"), 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(the_root_of_a_key)
{
    net = fake_net_open(&ping_service, (cw_dims){3, 3, 3});
    run("key 0000000000000000000000008000000000000000", 0); /* half way through the keyspace */
    ck_assert_str_eq(fake_text(&r, 0, "server"), "1,1,1");
    ck_assert_int_eq(last("hops_there_max"), 3);
    run("key photos/cat count=5", 0);
    ck_assert_int_eq(last("received"), 5);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(losses_time_out)
{
    net = fake_net_open(&ping_service, (cw_dims){3, 1, 1});
    net->lose = 3;
    run("to 1,0,0 count=10 timeout=500 rows=1", 0);
    ck_assert_int_eq(last("sent"), 10);
    ck_assert_int_gt(last("lost"), 2);
    ck_assert_int_eq(last("received") + last("lost"), 10);
    int64_t lost = 0;
    for (unsigned row = 0; row < 10; row++) {
        lost += fake_has(&r, row, "lost");
    }
    ck_assert_int_eq(lost, last("lost"));
    net->lose = 1;
    run("key x", 0);
    ck_assert_int_eq(last("lost"), 1);
    ck_assert(!fake_has(&r, 0, "server"));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(waits_for_room)
{
    net = fake_net_open(&ping_service, (cw_dims){3, 1, 1});
    cw_svc *s = net->server[0];
    s->room = 2;
    fake_command(s, "to 1,0,0 count=5", &r);
    fake_net_run(net, CW_MS(5));
    ck_assert(!r.done);
    s->room = SIZE_MAX;
    s->packets_max = 0;
    fake_net_run(net, CW_MS(5));
    ck_assert(!r.done);
    s->packets_max = SIZE_MAX;
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_int_eq(last("received"), 5);
    s->room = 0;
    s->timers_max = 0;
    run("to 1,0,0", -EAGAIN); /* nothing to wait with */
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_cannot_be_reached_is_said_at_once)
{
    net = fake_net_open(&ping_service, (cw_dims){3, 1, 1});
    net->server[0]->down[1] = true;
    run("to 1,0,0 count=1000", -ENETUNREACH);
    ck_assert_int_eq(last("sent"), 0);
    ck_assert_int_eq(net->now.ns, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(commands_that_are_none)
{
    static const char too_long[] = "far via 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0"
                                   " 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0 0,0,0";
    static const char *const bad[] = {
        "",
        "fro 1,0,0",
        "to",
        "to 3,0,0",
        "to 1,0",
        "to 1,0,0 2,0,0",
        "to 1,0,0 count=0",
        "to 1,0,0 count=x",
        "to 1,0,0 size=15",
        "to 1,0,0 size=9000",
        "to 1,0,0 rows=2",
        "to 1,0,0 hops=3",
        "to 1,0,0 timeout=0",
        "key",
        "all count=3",
        "far hops=0",
        "far hops=61",
        "far via",
        "far via 9,9,9",
        too_long,
    };
    net = fake_net_open(&ping_service, (cw_dims){3, 3, 3});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run(bad[i], -EINVAL);
        ck_assert_msg(strlen(fake_text(&r, 0, "error")) > 10, "'%s' is not explained", bad[i]);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(several_commands_at_once)
{
    static struct fake_result many[9];
    net = fake_net_open(&ping_service, (cw_dims){5, 1, 1});
    for (int i = 0; i < 9; i++) {
        fake_command(net->server[0], i % 2 ? "to 2,0,0 count=100" : "all", &many[i]);
    }
    ck_assert_int_eq(many[8].rc, -EBUSY);
    for (int i = 0; i < 8; i++) {
        fake_net_finish(net, &many[i]);
        ck_assert_int_eq(many[i].rc, 0);
        ck_assert_int_eq(fake_int(&many[i], 0, "received"), i % 2 ? 100 : 4);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(closing_answers_everybody)
{
    net = fake_net_open(&ping_service, (cw_dims){5, 1, 1});
    fake_command(net->server[0], "to 2,0,0 count=100", &r);
    fake_command(net->server[0], "to 2,0,0 count=100 interval=1000000", &second);
    fake_net_run(net, CW_MS(1)); /* the second waits for its time, the first has been answered */
    ck_assert(r.done && !second.done);
    fake_command(net->server[0], "all", &r);
    ck_assert(!r.done);
    ck_assert_uint_eq(fake_net_close(net), 0);
    ck_assert_int_eq(r.rc, -ECANCELED);
    ck_assert_int_eq(second.rc, -ECANCELED);
}
END_TEST

/* What others send to the service's job. */
START_TEST(strange_packets_are_dropped)
{
    static const uint8_t good[16] = {0x43, 0x57, 0x50, 0x69, 1};
    static const struct {
        uint8_t bytes[16];
        size_t length;
        bool call;
    } table[] = {
        {{0}, 0, true},
        {{0x43, 0x57, 0x50, 0x69, 1}, 15, true},  /* short */
        {{0x43, 0x57, 0x50, 0x68, 1}, 16, true},  /* another magic */
        {{0x43, 0x57, 0x50, 0x69, 2}, 16, true},  /* an answer that is a question */
        {{0x43, 0x57, 0x50, 0x69, 1}, 16, false}, /* nobody to answer to */
    };
    cw_svc *s = fake_open(&ping_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = CW_LINK_XP, .hops = 1};
        rx.call = table[i].call ? fake_right(s, (cw_coord){1, 0, 0}, 1) : 0;
        cw_verdict verdict;
        fake_arrive(s, fake_packet(s, table[i].bytes, table[i].length, 0), &rx, &verdict);
        ck_assert_msg(verdict == CW_DROP && fake_sends(s) == 0, "packet %zu", i);
    }
    /* A counter that is at its end wraps round, and a miscount is seen. */
    cw_rx rx = {.size = sizeof rx, .where = CW_TRANSIT, .in = CW_LINK_XP, .hops = 1};
    cw_packet *p = fake_packet(s, good, 16, 0);
    p->data[6] = p->data[7] = 0xff;
    ck_assert(fake_arrive(s, p, &rx, NULL));
    ck_assert_uint_eq(p->data[6] | p->data[7], 0);
    fake_free(p);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

START_TEST(strange_answers_are_losses)
{
    cw_svc *s = fake_open(&ping_service, (cw_dims){3, 1, 1}, (cw_coord){0, 0, 0});
    const cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .in = CW_LINK_XP, .hops = 3, .src_server = {1, 0, 0}};
    struct fake_send send;
    fake_command(s, "to 1,0,0 count=5 counted=1", &r);
    fake_take(s, &send);
    fake_free(send.packet);
    fake_answer(s, send.call, 0, NULL, &rx); /* none */
    fake_take(s, &send);
    fake_answer(s, send.call, 0, send.packet, &rx); /* our own question */
    fake_take(s, &send);
    send.packet->data[4] = 2;
    send.packet->data[15]++;
    fake_answer(s, send.call, 0, send.packet, &rx); /* of another number */
    fake_take(s, &send);
    send.packet->data[4] = 2;
    fake_answer(s, send.call, -EPERM, send.packet, &rx); /* refused */
    fake_take(s, &send);
    send.packet->data[4] = 2;
    send.packet->data[7] = 2; /* two servers counted, and the head says none */
    fake_answer(s, send.call, 0, send.packet, &rx);
    ck_assert(r.done);
    ck_assert_int_eq(last("lost"), 4);
    ck_assert_int_eq(last("received"), 1);
    ck_assert_int_eq(last("miscounted"), 1);
    ck_assert_uint_eq(fake_close(s), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(options_are_checked_when_it_opens),
    SUITE_TEST(one_there_and_back),
    SUITE_TEST(many_one_after_the_other),
    SUITE_TEST(many_at_an_interval),
    SUITE_TEST(every_server_once),
    SUITE_TEST(nobody_else_is_there),
    SUITE_TEST(far),
    SUITE_TEST(far_over_named_servers),
    SUITE_TEST(the_root_of_a_key),
    SUITE_TEST(losses_time_out),
    SUITE_TEST(waits_for_room),
    SUITE_TEST(what_cannot_be_reached_is_said_at_once),
    SUITE_TEST(commands_that_are_none),
    SUITE_TEST(several_commands_at_once),
    SUITE_TEST(closing_answers_everybody),
    SUITE_TEST(strange_packets_are_dropped),
    SUITE_TEST(strange_answers_are_losses),
};
SUITE_MAIN("ping", tests)
