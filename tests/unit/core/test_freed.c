/* SPDX-License-Identifier: Apache-2.0 */
/* test_freed.c - in strict mode who writes to a packet that he has given up is found, and named by what gave it up. */
#include "node_bench.h"
#include "sanitized.h"
#include "suite.h"

#include <string.h>

#define WROTE ": somebody wrote to the packet afterwards, "
#define NOBODYS ": it was nobody's any more"

static cw_verdict on_packet(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)p, (void)rx;
    return CW_DROP;
}

/* Two servers: their hellos let time pass. */
static struct bench *two(bool strict)
{
    struct bench *b = bench_open((cw_dims){2, 1, 1});
    b->config.strict = strict;
    b->hooks.on_packet = on_packet;
    bench_start(b, 0);
    bench_start(b, 1);
    bench_settle(b);
    b->logs = 0;
    b->logged[0] = '\0';
    return b;
}

/* Gives up a packet of 8 bytes, by its arrival or by freeing it. Returns the pointer that a service may have kept. */
static uint8_t *give_up(struct bench *b, bool arrives)
{
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 0);
    cw_packet *p = cw_packet_new(s, 8);
    uint8_t *data = cw_packet_data(p, NULL);
    if (!arrives) {
        cw_packet_free(s, p);
        return data;
    }
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
    bench_run(b, CW_MS(1));
    return data;
}

static void expect(struct bench *b, unsigned count, const char *says)
{
    struct node_service_info info;
    ck_assert(node_service_at(b->node[0], 0, &info));
    ck_assert_uint_eq(info.misuses, count);
    ck_assert_uint_eq(b->logs, count);
    ck_assert_msg(strcmp(b->logged, says) == 0, "%s", b->logged);
}

START_TEST(it_is_named)
{
    struct bench *b = two(true);
    (void)give_up(b, false);
    (void)give_up(b, true);
    bench_run(b, CW_MS(200));
    expect(b, 0, "");
    give_up(b, false)[5] = 0;
    bench_run(b, CW_MS(50));
    expect(b, 0, ""); /* not looked at yet */
    bench_run(b, CW_MS(60));
    expect(b, 1, "cw_packet_free" WROTE "at byte 5 of 8" NOBODYS);
    give_up(b, false)[-1] = 0;
    bench_run(b, CW_MS(110));
    expect(b, 2, "cw_packet_free" WROTE "before its payload" NOBODYS);
    give_up(b, true)[7] = 0;
    bench_run(b, CW_MS(110));
    expect(b, 3, "on_packet" WROTE "at byte 7 of 8" NOBODYS);
    bench_close(b);
}
END_TEST

/* Packets that are given up make room for one another, and the service's end is the last moment to find anything. */
START_TEST(none_goes_home_unseen)
{
    struct bench *b = two(true);
    give_up(b, false)[0] = 0;
    for (unsigned i = 0; i < NODE_FREED; i++) {
        expect(b, 0, "");
        (void)give_up(b, false);
    }
    expect(b, 1, "cw_packet_free" WROTE "at byte 0 of 8" NOBODYS);
    give_up(b, false)[1] = 0;
    bench_close(b);
}
END_TEST

START_TEST(only_in_strict_mode)
{
    struct bench *b = two(false);
    uint8_t *data = give_up(b, false);
    if (!SANITIZED) { /* the address sanitizer ends the program there */
        data[5] = 0;
    }
    bench_run(b, CW_MS(200));
    expect(b, 0, "");
    bench_close(b);
}
END_TEST

/* One that somebody else still holds is neither filled nor looked at. */
START_TEST(what_others_see_is_left_alone)
{
    struct bench *b = two(true);
    cw_svc *s = bench_svc(b, 0);
    cw_packet *p = cw_packet_new(s, 8);
    struct cw_packet *other = pkt_ref(p);
    uint8_t *data = cw_packet_data(p, NULL);
    memcpy(data, "contents", 8);
    cw_packet_free(s, p);
    ck_assert_int_eq(memcmp(data, "contents", 8), 0);
    pkt_release(other);
    bench_run(b, CW_MS(200));
    expect(b, 0, "");
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_is_named),
    SUITE_TEST(none_goes_home_unseen),
    SUITE_TEST(only_in_strict_mode),
    SUITE_TEST(what_others_see_is_left_alone),
};
SUITE_MAIN("freed", tests)
