/* SPDX-License-Identifier: Apache-2.0 */
/* The walkers of messages: what is sound passes, and each planted fault stops the program. */
#include "services/multicast/cast/audit.h"

#include "fake_host.h"
#include "services/multicast/multicast.h"
#include "suite.h"

enum { PIECE = 64 };
static struct cast_session_table table;
static cw_svc *host;
static struct cast_session *own, *other;

static struct cast_session *begin(cw_server origin, uint64_t number)
{
    static const uint8_t members[2] = {0xff, 1};
    struct cast_session *c;
    const struct cast_head open = {.kind = CAST_OPEN,
                                   .origin = origin,
                                   .number = number,
                                   .bytes = 1000,
                                   .piece_bytes = PIECE,
                                   .servers = 9,
                                   .rest = members,
                                   .rest_bytes = sizeof members};
    ck_assert_int_eq(cast_session_table_begin(&table, &open, &c), 0);
    return c;
}

/* Server 4 has a message of its own, and one of server 0 with a piece of tree 0. */
static void setup(void)
{
    host = fake_open(&multicast_service, (cw_dims){3, 3, 1}, (cw_coord){1, 1, 0});
    ck_assert_int_eq(cast_session_table_open(&table, host), 0);
    own = begin(4, 1);
    other = begin(0, 2);
    static const uint8_t bytes[PIECE];
    const struct cast_head data = {.kind = CAST_DATA, .index = 3, .piece = 3, .rest = bytes, .rest_bytes = PIECE};
    (void)cast_session_tree(other, 0, 0, CAST_OPEN_ENDED);
    ck_assert_int_eq(cast_session_put(other, &data), 0);
}

START_TEST(sound)
{
    setup();
    ck_assert(cast_audit_table(&table));
    cast_session_table_close(&table);
    ck_assert_uint_eq(fake_close(host), 0);
}
END_TEST

START_TEST(a_session_is_not_counted)
{
    setup();
    table.count++;
    (void)cast_audit_table(&table);
}
END_TEST

START_TEST(a_message_has_two_sessions)
{
    setup();
    other->origin = own->origin;
    other->number = own->number;
    (void)cast_audit_table(&table);
}
END_TEST

START_TEST(a_piece_is_counted_twice)
{
    static uint8_t got[3] = {0x0f};
    setup();
    other->in.accepted = true;
    other->in.receiver = (struct cast_receiver){.cut = other->cut, .got = got, .count = 5};
    (void)cast_audit_session(other);
}
END_TEST

START_TEST(what_is_left_is_miscounted)
{
    setup();
    own->out.stripe.left++;
    (void)cast_audit_session(own);
}
END_TEST

START_TEST(a_ring_says_more_than_it_has)
{
    setup();
    cast_bits_add(other->tree[0].ring.have, 5);
    (void)cast_audit_session(other);
}
END_TEST

START_TEST(flies_and_was_never_sent)
{
    setup();
    ck_assert_uint_gt(other->edges, 0);
    cast_bits_add(other->edge[0].flying, 1);
    (void)cast_audit_session(other);
}
END_TEST

START_TEST(one_waits_and_is_not_counted)
{
    setup();
    own->out.members.waiting--;
    (void)cast_audit_session(own);
}
END_TEST

START_TEST(ended_without_a_receiver)
{
    setup();
    other->ended = true;
    (void)cast_audit_session(other);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(sound),
    SUITE_ABORTS(a_session_is_not_counted),
    SUITE_ABORTS(a_message_has_two_sessions),
    SUITE_ABORTS(a_piece_is_counted_twice),
    SUITE_ABORTS(what_is_left_is_miscounted),
    SUITE_ABORTS(a_ring_says_more_than_it_has),
    SUITE_ABORTS(flies_and_was_never_sent),
    SUITE_ABORTS(one_waits_and_is_not_counted),
    SUITE_ABORTS(ended_without_a_receiver),
};
SUITE_MAIN("cast_audit", tests)
