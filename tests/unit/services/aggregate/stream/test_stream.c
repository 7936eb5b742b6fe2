/* SPDX-License-Identifier: Apache-2.0 */
#include "services/reply/servers.h"
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static int told;

static void done(void *context, void *arg, int status)
{
    (void)context;
    (void)arg;
    told = status;
}

/* What server `to` says to a message of server 1. */
static int say(struct fake_net *net, cw_server to, const struct letter *l, size_t cut)
{
    struct stream *st = stream_town_at(net, 1);
    uint8_t bytes[LETTER_BYTES_MOST];
    letter_encode(l, bytes);
    const struct transport_data data = {.bytes = bytes, .size = letter_size(l) - cut};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    cw_to address = to_server(st->s, AGGREGATE_JOB, AGGREGATE_PORT_STREAM_CALL, to);
    told = 1;
    ck_assert_int_gt(transport_send(st->call, &address, &data, &options, done, NULL), 0);
    fake_net_run(net, CW_MS(10));
    return told;
}

/* How often server `at` has counted that. */
static uint64_t counted(struct fake_net *net, cw_server at, enum stream_count what)
{
    return stream_town_at(net, at)->counted[what];
}

START_TEST(strangers)
{
    struct fake_net *net = stream_town_open(NULL);
    struct letter l = {.kind = LETTER_PROBE, .run = {2, 5, 6}, .attempt = 1};
    ck_assert_int_eq(say(net, 2, &l, 0), -ESTALE); /* there is no such run */
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_STALE), 1);
    ck_assert_int_eq(say(net, 3, &l, 0), -EPROTO); /* and neither of the two is its root */
    ck_assert_uint_eq(counted(net, 3, STREAM_COUNT_REFUSED), 1);
    ck_assert_int_eq(say(net, 2, &l, 1), -EPROTO); /* cut off */
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_MALFORMED), 1);
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_REFUSED), 0);
    l.kind = LETTER_VOID;
    ck_assert_int_eq(say(net, 2, &l, 0), 0);
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_STALE), 2);
    ck_assert_int_eq(say(net, 3, &l, 0), -EPROTO);
    ck_assert_uint_eq(counted(net, 3, STREAM_COUNT_REFUSED), 2);
    l.kind = LETTER_END;
    ck_assert_int_eq(say(net, 2, &l, 0), -EPROTO); /* the root alone says so */
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_REFUSED), 1);
    l.run.root = 1;
    ck_assert_int_eq(say(net, 2, &l, 0), 0);
    l.kind = LETTER_GRANT;
    ck_assert_int_eq(say(net, 2, &l, 0), -ESTALE);
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_STALE), 3);
    l.kind = LETTER_COLLECTED;
    (void)say(net, 2, &l, 0); /* of no run that was ordered here */
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_STALE), 4);
    l.kind = LETTER_BLOCK;
    ck_assert_int_eq(say(net, 2, &l, 0), -EPROTO); /* it is no message of its own */
    l = (struct letter){.kind = LETTER_PREPARED};
    ck_assert_int_eq(say(net, 2, &l, 0), -EPROTO); /* nor an answer */
    l = (struct letter){.kind = LETTER_COMMIT, .run = {1, 5, 6}, .attempt = 1};
    ck_assert_int_eq(say(net, 2, &l, 0), -EPROTO); /* that is a request */
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_REFUSED), 3);
    ck_assert_uint_eq(counted(net, 2, STREAM_COUNT_MALFORMED), 2); /* PREPARED of nobody cannot be read */
    stream_town_close(net);
}
END_TEST

START_TEST(two_runs_at_once)
{
    static struct fake_result one, two;
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(800);
    stream_town_begin(net, 1, "run map=kv from=in to=0,0,0:out", &one);
    stream_town_begin(net, 2, "run map=kv from=in to=2,1,0:out without=1", &two);
    fake_net_finish(net, &one);
    fake_net_finish(net, &two);
    ck_assert(one.rc == 0 && two.rc == 0);
    ck_assert(stream_town_right(0, 800, 0x1ff));
    ck_assert(stream_town_right(7, 800, 0x1ff));
    stream_town_close(net);
}
END_TEST

START_TEST(seen_on_the_way)
{
    static struct fake_result r;
    struct fake_net *net = stream_town_open(NULL);
    bool seen = false;
    stream_town_fill(20000);
    stream_town_begin(net, 1, "run map=kv from=in to=0,0,0:out", &r);
    for (int i = 0; i < 400 && !r.done && !seen; i++) {
        fake_net_run(net, CW_US(50));
        const struct fake_result *look = stream_town_ask(net, 5, "status");
        seen = look->fields > 0 && strcmp(fake_text(look, 0, "role"), "member") == 0;
    }
    ck_assert(seen);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, 0);
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(strangers), SUITE_TEST(two_runs_at_once),
                                          SUITE_TEST(seen_on_the_way)};
SUITE_MAIN("stream", tests)
