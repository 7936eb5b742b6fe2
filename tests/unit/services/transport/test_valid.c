/* SPDX-License-Identifier: Apache-2.0 */
/* The walker passes what is sound (in all other tests of a debug build too) and stops at each kind of damage. */
#include "messenger.h"
#include "services/transport/internal.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;
static struct transport *from, *to;

/* In the middle of a long message, with others before and behind it: everything is there to be damaged. */
static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){3, 1, 1});
    from = messenger_of(net, 0)->t;
    to = messenger_of(net, 1)->t;
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    fake_net_run(net, CW_MS(1));
    net->hop = CW_US(100); /* so that some parts have come, and others are on their way */
    ck_assert_int_gt(messenger_send(net, 0, 1, 3 << 20, NULL), 0);
    ck_assert_int_gt(messenger_send(net, 0, 1, 2 << 20, NULL), 0);
    fake_net_run(net, CW_US(250));
}

static struct peer *peer_of(struct transport *t)
{
    ck_assert(!list_is_empty(&t->age));
    return container_of(list_first(&t->age), struct peer, age);
}

static struct outgoing *numbered(void)
{
    struct peer *p = peer_of(from);
    for (unsigned i = 0; i < SEGMENT_NUMBERS; i++) {
        if (p->slot[i] != NULL) {
            return p->slot[i];
        }
    }
    ck_abort_msg("no message is under way");
}

static struct incoming *coming(void)
{
    ck_assert(!list_is_empty(&to->incoming));
    return container_of(list_first(&to->incoming), struct incoming, all);
}

START_TEST(what_is_sound_passes)
{
    setup();
    ck_assert(transport_valid(from));
    ck_assert(transport_valid(to));
    ck_assert_uint_gt(peer_of(from)->flight.out, 0);
    ck_assert_uint_gt(coming()->got_count, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

#define STOPS(name, of, damage)         \
    START_TEST(name)                    \
    {                                   \
        setup();                        \
        damage;                         \
        ck_assert(transport_valid(of)); \
    }                                   \
    END_TEST

STOPS(stops_at_a_message_in_the_wrong_state, from, numbered()->state = OUTGOING_WAITING)
STOPS(stops_at_a_lost_part_that_nobody_counts, from, numbered()->lost++)
STOPS(stops_at_a_part_sent_beyond_the_credit, from, numbered()->limit = numbered()->next - 1)
STOPS(stops_at_bytes_in_flight, from, peer_of(from)->flight.out_bytes++)
STOPS(stops_at_packets_in_flight, from, peer_of(from)->flight.out--)
STOPS(stops_at_a_window_out_of_bounds, from, peer_of(from)->congestion.window = peer_of(from)->congestion.most + 1)
STOPS(stops_at_a_part_that_counts_twice, to, coming()->got_count++)
STOPS(stops_at_a_message_that_has_ended, to, outcomes_end(&peer_of(to)->outcomes, coming()->number, 0))
STOPS(stops_at_memory_of_a_peer, to, peer_of(to)->memory++)
STOPS(stops_at_memory_of_all, to, to->stats.memory--)
STOPS(stops_at_a_peer_too_many, from, from->stats.peers++)
STOPS(stops_at_a_peer_at_a_wrong_place, from, peer_of(from)->port++)
STOPS(stops_at_a_late_timer, from, from->timer_at = CW_NEVER)
STOPS(stops_without_a_timer, from, from->timer = NULL)
STOPS(stops_at_a_message_that_is_nowhere, from, list_remove(&numbered()->link))

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_sound_passes),
    SUITE_ABORTS(stops_at_a_message_in_the_wrong_state),
    SUITE_ABORTS(stops_at_a_lost_part_that_nobody_counts),
    SUITE_ABORTS(stops_at_a_part_sent_beyond_the_credit),
    SUITE_ABORTS(stops_at_bytes_in_flight),
    SUITE_ABORTS(stops_at_packets_in_flight),
    SUITE_ABORTS(stops_at_a_window_out_of_bounds),
    SUITE_ABORTS(stops_at_a_part_that_counts_twice),
    SUITE_ABORTS(stops_at_a_message_that_has_ended),
    SUITE_ABORTS(stops_at_memory_of_a_peer),
    SUITE_ABORTS(stops_at_memory_of_all),
    SUITE_ABORTS(stops_at_a_peer_too_many),
    SUITE_ABORTS(stops_at_a_peer_at_a_wrong_place),
    SUITE_ABORTS(stops_at_a_late_timer),
    SUITE_ABORTS(stops_without_a_timer),
    SUITE_ABORTS(stops_at_a_message_that_is_nowhere),
};
SUITE_MAIN("valid", tests)
