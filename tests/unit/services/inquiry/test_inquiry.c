/* SPDX-License-Identifier: Apache-2.0 */
/* test_inquiry.c - every server in view is asked, and what it says comes whole, in pages, or is missed by name. */
#include "services/inquiry/inquiry.h"

#include "fake_net.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct fake_net *net;
static struct fake_result r;
static unsigned rows_of_each = 3;

/* Each server has so many rows to tell, of some 400 bytes each. */
static uint64_t tell(void *context, cw_coord self, unsigned topic, uint64_t from, struct rows_writer *out)
{
    char text[400], server[TORUS_TEXT];
    (void)context;
    torus_format(self, server);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (uint64_t i = from; topic == INQUIRY_DOCTOR && i < rows_of_each; i++) {
        rows_text(out, "server", server);
        rows_integer(out, "row", (int64_t)i);
        rows_text(out, "text", text);
        if (!rows_end(out)) {
            return i;
        }
    }
    return 0;
}

static const struct inquiry_host host = {.size = sizeof host, .rows = tell};

static const void *offer(cw_svc *s, const char *name, unsigned version)
{
    (void)s;
    return strcmp(name, INQUIRY_HOST_NAME) == 0 && version == INQUIRY_HOST_VERSION ? &host : NULL;
}

static void run(const char *command, int rc)
{
    fake_command(net->server[0], command, &r);
    fake_net_finish(net, &r);
    ck_assert_msg(r.done && r.rc == rc, "'%s' gave %d, %sdone", command, r.rc, r.done ? "" : "not ");
}

static unsigned count_of(const char *server)
{
    unsigned count = 0;
    for (unsigned i = 0; i + 1 < r.rows; i++) {
        count += strcmp(fake_text(&r, i, "server"), server) == 0;
    }
    return count;
}

START_TEST(everybody_is_asked)
{
    fake_offers = offer;
    net = fake_net_open(&inquiry_service, (cw_dims){3, 1, 1});
    rows_of_each = 5; /* two pages */
    run("about doctor", 0);
    ck_assert_uint_eq(r.rows, 3 * 5 + 1);
    ck_assert_uint_eq(count_of("0,0,0"), 5);
    ck_assert_uint_eq(count_of("2,0,0"), 5);
    ck_assert_int_eq(fake_int(&r, r.rows - 1, "asked"), 3);
    ck_assert_int_eq(fake_int(&r, r.rows - 1, "answered"), 3);
    run("about doctor 1,0,0 from=4", 0);
    ck_assert_uint_eq(r.rows, 2);
    ck_assert_int_eq(fake_int(&r, 0, "row"), 4);
    run("about events", 0); /* nothing of that */
    ck_assert_uint_eq(r.rows, 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(who_does_not_answer_is_named)
{
    fake_offers = offer;
    net = fake_net_open(&inquiry_service, (cw_dims){2, 1, 1});
    rows_of_each = 1;
    net->lose = 1;
    run("about doctor timeout=1000", 0);
    ck_assert_uint_eq(r.rows, 3);
    ck_assert_str_eq(fake_text(&r, 1, "server"), "1,0,0");
    ck_assert_int_eq(fake_int(&r, 1, "unanswered"), 1);
    ck_assert_int_eq(fake_int(&r, 2, "asked"), 2);
    ck_assert_int_eq(fake_int(&r, 2, "answered"), 1);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Neighbours may have answered before they missed it, so nobody else may tell of it. */
START_TEST(who_goes_meanwhile_is_named)
{
    fake_offers = offer;
    net = fake_net_open(&inquiry_service, (cw_dims){2, 1, 1});
    rows_of_each = 1;
    net->lose = 1;
    fake_command(net->server[0], "about doctor timeout=1000", &r);
    net->server[0]->down[1] = true;
    fake_net_finish(net, &r);
    ck_assert_uint_eq(r.rows, 3);
    ck_assert_str_eq(fake_text(&r, 1, "server"), "1,0,0");
    ck_assert_int_eq(fake_int(&r, 1, "unanswered"), 1);
    ck_assert_int_eq(fake_int(&r, 1, "away"), 1);
    ck_assert_int_eq(fake_int(&r, 2, "asked"), 2);
    ck_assert_int_eq(fake_int(&r, 2, "answered"), 1);
    /* And from then on it is not asked at all. */
    run("about doctor", 0);
    ck_assert_uint_eq(r.rows, 2);
    run("about doctor away=1", 0);
    ck_assert_uint_eq(r.rows, 3);
    ck_assert_int_eq(fake_int(&r, 1, "unasked"), 1);
    ck_assert_int_eq(fake_int(&r, 2, "asked"), 1);
    ck_assert_int_eq(fake_int(&r, 2, "servers"), 2);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(words_that_make_no_sense)
{
    static const char *const lines[] = {"", "about", "about weather", "about doctor 9,0,0", "about doctor x=1"};
    fake_offers = offer;
    net = fake_net_open(&inquiry_service, (cw_dims){2, 1, 1});
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        run(lines[i], -EINVAL);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(strange_packets_are_dropped)
{
    fake_offers = offer;
    net = fake_net_open(&inquiry_service, (cw_dims){2, 1, 1});
    cw_svc *s = net->server[0];
    const cw_rx rx = {.size = sizeof rx, .where = CW_ARRIVED, .src_server = {1, 0, 0}, .src_process = 1};
    uint8_t bytes[32] = {0x43, 0x57, 0x49, 0x6e, 1};
    for (size_t length = 0; length <= sizeof bytes; length += 8) {
        cw_verdict verdict;
        fake_arrive(s, fake_packet(s, bytes, length, 0), &rx, &verdict); /* no call */
        ck_assert_int_eq(verdict, CW_DROP);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

/* Whoever asked is answered before the service is gone. */
START_TEST(closes_in_the_middle)
{
    fake_offers = offer;
    net = fake_net_open(&inquiry_service, (cw_dims){3, 1, 1});
    rows_of_each = 5; /* two pages */
    fake_command(net->server[0], "about doctor", &r);
    ck_assert(!r.done);
    (void)fake_net_close(net);
    ck_assert(r.done && r.rc == -ECANCELED);
    fake_offers = NULL;
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(closes_in_the_middle),         SUITE_TEST(everybody_is_asked),
    SUITE_TEST(who_does_not_answer_is_named), SUITE_TEST(who_goes_meanwhile_is_named),
    SUITE_TEST(words_that_make_no_sense),     SUITE_TEST(strange_packets_are_dropped),
};
SUITE_MAIN("inquiry", tests)
