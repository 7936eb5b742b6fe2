/* SPDX-License-Identifier: Apache-2.0 */
/* The service on a small torus of fake hosts; packets of its own queue cross the link they were asked for. */
#include "services/multicast/multicast.h"

#include "fake_host.h"
#include "keyspace/key.h"
#include "services/multicast/cast/head.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { MOST = 9 };
static cw_svc *host[MOST];
static unsigned count, lose, moved;
static struct fake_result r;

static void setup(cw_dims dims)
{
    count = (unsigned)dims.x * dims.y * dims.z;
    lose = moved = 0;
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    for (cw_server i = 0; i < count; i++) {
        host[i] = fake_open(&multicast_service, dims, torus_coord(&torus, i));
        host[i]->random = i * 7919 + 1;
    }
}

static void teardown(void)
{
    for (cw_server i = 0; i < count; i++) {
        fake_shut(host[i]);
    }
    for (cw_server i = 0; i < count; i++) {
        ck_assert_uint_eq(fake_close(host[i]), 0);
    }
}

static void bring(cw_server from, cw_server to, const uint8_t *bytes, size_t length)
{
    moved++;
    if (host[0]->down[to] || (lose != 0 && moved % lose == 0)) {
        return;
    }
    const cw_rx rx = {.size = sizeof rx,
                      .where = CW_ARRIVED,
                      .job = MULTICAST_JOB,
                      .src_job = MULTICAST_JOB,
                      .src_process = from,
                      .src_server = host[from]->self};
    fake_arrive(host[to], fake_packet(host[to], bytes, length, 0), &rx, NULL);
}

static void step(void)
{
    for (cw_server i = 0; i < count; i++) {
        static uint8_t bytes[FAKE_MTU];
        struct fake_send send;
        size_t length;
        if (host[0]->down[i]) {
            continue;
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            cw_packet *p = (host[i]->polled & cw_links_of(link))
                               ? multicast_service.next_packet(host[i], host[i]->state, CW_PLACE_MAIN, link)
                               : NULL;
            if (p == NULL) {
                continue;
            }
            const uint8_t *data = cw_packet_data(p, &length);
            memcpy(bytes, data, length);
            cw_packet_free(host[i], p);
            bring(i, torus_neighbour(&host[i]->torus, i, link), bytes, length);
        }
        while (fake_take(host[i], &send)) {
            cw_server to =
                send.to.kind == CW_TO_KEY ? key_home(&host[i]->torus, key_route64(&send.to.key)) : send.to.process;
            const uint8_t *data = cw_packet_data(send.packet, &length);
            memcpy(bytes, data, length);
            fake_free(send.packet);
            bring(i, to, bytes, length);
        }
    }
    for (cw_server i = 0; i < count; i++) {
        fake_run(host[i], CW_US(50));
    }
}

static void finish(void)
{
    for (int i = 0; i < 400000 && !r.done; i++) {
        step();
    }
    ck_assert(r.done && r.rc == 0);
}

static void one_message(const char *line, unsigned members)
{
    fake_command(host[0], line, &r);
    finish();
    ck_assert_int_eq(fake_int(&r, 0, "complete"), members);
    ck_assert_int_eq(fake_int(&r, 0, "members"), members);
    ck_assert_uint_eq(r.rows, 1);
}

START_TEST(to_all)
{
    setup((cw_dims){3, 3, 1});
    one_message("send 1 to all", 8);
    one_message("send 3000000 to all", 8);
    ck_assert_int_eq(fake_int(&r, 0, "repeated"), 0);
    fake_command(host[4], "status", &r);
    ck_assert_uint_eq(r.rows, 2);
    ck_assert_str_eq(fake_text(&r, 0, "role"), "member");
    ck_assert(fake_int(&r, 0, "ended") == 1 && fake_int(&r, 0, "status") == 0);
    teardown();
}
END_TEST

START_TEST(to_some)
{
    setup((cw_dims){3, 3, 1});
    one_message("send 500000 to 1,1,0 2,2,0 0,0,0", 2); /* the source has it */
    teardown();
}
END_TEST

START_TEST(through_loss)
{
    setup((cw_dims){3, 3, 1});
    lose = 17;
    one_message("send 2000000 to all", 8);
    teardown();
}
END_TEST

START_TEST(a_member_goes)
{
    setup((cw_dims){3, 1, 1});
    fake_command(host[0], "send 3000000 to all", &r);
    for (int i = 0; i < 20; i++) {
        step();
    }
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = host[2]->self};
    for (cw_server i = 0; i < 3; i++) {
        host[i]->down[2] = true;
    }
    for (cw_server i = 0; i < 2; i++) {
        multicast_service.on_event(host[i], host[i]->state, &ev);
    }
    finish();
    ck_assert(fake_int(&r, 0, "complete") == 1 && r.rows == 2);
    ck_assert_str_eq(fake_text(&r, 1, "incomplete"), "2,0,0");
    ck_assert_int_eq(fake_int(&r, 1, "status"), -ENETUNREACH);
    teardown();
}
END_TEST

START_TEST(the_source_goes)
{
    setup((cw_dims){3, 1, 1});
    fake_command(host[0], "send 3000000 to all", &r);
    for (int i = 0; i < 20; i++) {
        step();
    }
    const cw_event ev = {.size = sizeof ev, .kind = CW_EVENT_SERVER_DOWN, .server = host[0]->self};
    host[1]->down[0] = true;
    static struct fake_result status;
    fake_command(host[1], "status", &status);
    int64_t before = fake_int(&status, 0, "memory");
    ck_assert_int_gt(before, 0);
    multicast_service.on_event(host[1], host[1]->state, &ev);
    fake_command(host[1], "status", &status);
    ck_assert_int_eq(fake_int(&status, 0, "ended"), 0); /* it may only be out of sight */
    /* So it keeps what it has of the trees, and says so if the source returns: never more than it had. */
    ck_assert_int_le(fake_int(&status, 0, "memory"), before);
    ck_assert_int_gt(fake_int(&status, 0, "memory"), before / 2);
    ck_assert_int_lt(before, 6 * 128 * 9000);
    fake_run(host[1], CW_SEC(6));
    fake_command(host[1], "status", &status);
    ck_assert_uint_eq(status.fields, 0);
    teardown(); /* in the middle of everything */
}
END_TEST

/* Packets that are none, of a message nobody knows, and more messages than there is room for. */
START_TEST(strangers)
{
    setup((cw_dims){3, 1, 1});
    uint8_t bytes[CAST_OPEN_HEAD + 1] = {0};
    for (size_t n = 0; n < sizeof bytes; n++) {
        bring(0, 1, bytes, n);
    }
    struct cast_head h = {.kind = CAST_OPEN, .origin = 0, .piece_bytes = 64, .bytes = 1000000, .servers = 3};
    bytes[CAST_OPEN_HEAD] = 7;
    for (uint64_t i = 1; i <= 40; i++) {
        h.number = i;
        h.edge = (uint32_t)i;
        cast_head_encode(&h, bytes);
        bring(0, 1, bytes, sizeof bytes);
    }
    static struct fake_result status;
    fake_command(host[1], "status", &status);
    ck_assert_uint_eq(status.rows, 16);
    teardown();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(to_all),          SUITE_TEST(to_some),
                                          SUITE_TEST(through_loss),    SUITE_TEST(a_member_goes),
                                          SUITE_TEST(the_source_goes), SUITE_TEST(strangers)};
SUITE_MAIN("multicast", tests)
