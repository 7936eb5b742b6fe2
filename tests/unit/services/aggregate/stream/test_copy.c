/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy refuses; that all get the same, whatever dies, is tried by tests/sim/aggregate/test_sorted_world.c. */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(nobody_can_send_it)
{
    struct fake_net *net = stream_town_open(NULL); /* where vectors have no engine */
    stream_town_fill(3);
    const struct fake_result *r = stream_town_ask(net, 1, "run map=kv from=in to=all:out");
    ck_assert_int_lt(r->rc, 0);
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        ck_assert_str_eq(stream_town_result(s), "-");
    }
    stream_town_close(net);
}
END_TEST

START_TEST(strangers)
{
    struct fake_net *net = stream_town_open(NULL);
    struct stream *st = stream_town_at(net, 3);
    const struct transport_reply_to reply = {0};
    struct letter l = {.kind = LETTER_COPY, .run = {0, 7, 1}, .attempt = 1, .servers = STREAM_TOWN};
    strcpy(l.wish.to, "out");
    ck_assert_int_eq(copy_open(st, &l, 0, &reply), -EPROTO); /* it is for others */
    l.others[0] = 1 << 3;
    ck_assert_int_eq(copy_open(st, &l, 0, &reply), -EOPNOTSUPP);
    ck_assert_int_eq(copy_commit(st, &l, &reply), -ESTALE); /* there is no such copy */
    ck_assert(!copy_has_name(st, &l.run, "out"));
    ck_assert(list_is_empty(&st->copies));
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(nobody_can_send_it), SUITE_TEST(strangers)};
SUITE_MAIN("copy", tests)
