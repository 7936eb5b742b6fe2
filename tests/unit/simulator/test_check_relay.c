/* SPDX-License-Identifier: Apache-2.0 */
/* What relays go by, against what their servers know: planted breaches are found. */
#include "simulator/check_relay.h"

#include "relay_town.h"
#include "simulator/check_internal.h"
#include "wire/frame.h"

static struct world *w;
static struct relay_view view; /* as server 2 would publish it */

static void up(void)
{
    struct ls_transit now;
    w = relay_town_up(9, 1);
    struct linkstate *ls = w->server[2].linkstate;
    ls_transit(ls, &now);
    memset(&view, 0, sizeof view);
    view.in = now.live;
    view.out = now.out;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        view.link[link].session = now.link[link].session;
        view.link[link].top = now.link[link].top;
    }
    for (cw_server s = 0; s < w->servers; s++) {
        view.way[s] = (uint8_t)(ls_next_hops(ls, s) | RELAY_WAY_HOME);
    }
}

static uint64_t look(void)
{
    return check_relay_published(w->check, 2, &view);
}

START_TEST(what_is_right_is_found_right)
{
    up();
    ck_assert_uint_gt(look(), 0);
    ck_assert_ptr_null(world_violation(w));
    world_close(w);
}
END_TEST

START_TEST(a_wrong_way_is_found)
{
    up();
    view.way[5] ^= 1 << CW_LINK_ZM;
    (void)look();
    town_broken(w, 39);
    world_close(w);
}
END_TEST

START_TEST(somebody_who_is_not_in_c_is_found)
{
    up();
    view.way[5] &= RELAY_WAY_LINKS;
    (void)look();
    town_broken(w, 39);
    world_close(w);
}
END_TEST

START_TEST(a_top_that_was_not_sent_is_found)
{
    up();
    view.link[CW_LINK_ZP].top++;
    (void)look();
    town_broken(w, 40);
    world_close(w);
}
END_TEST

/* A frame of one packet to the key, which comes to server 2 from server 1. */
static struct cw_packet *frame_to(uint64_t route)
{
    struct cw_packet *frame = pkt_take(w->packets, FRAME_HEAD_BYTES + PACKET_HEAD_BYTES);
    memset(frame->data, 0, frame->length);
    uint8_t *packet = frame->data + FRAME_HEAD_BYTES;
    packet[0] = WIRE_VERSION_NOW << 4 | PACKET_KEY;
    put_be16(packet + PACKET_AT_LENGTH, PACKET_HEAD_BYTES);
    put_be64(packet + PACKET_AT_DESTINATION, route);
    frame->order = 0;
    return frame;
}

static struct check_pass pass(void)
{
    return (struct check_pass){
        .server = 2,
        .in = CW_LINK_ZM,
        .out = CW_LINK_ZP,
        .view = &view,
        .known = look(),
        .lease = relays_lease(&w->server[2]),
    };
}

static void passes(const struct check_pass *p, struct cw_packet *frame, unsigned broken)
{
    check_relay_passed(w->check, p, frame);
    pkt_release(frame);
    if (broken == 0) {
        ck_assert_ptr_null(world_violation(w));
    } else {
        town_broken(w, broken);
    }
    world_close(w);
}

START_TEST(a_frame_that_may_pass)
{
    up();
    struct check_pass p = pass();
    passes(&p, frame_to(town_key(w, 4)), 0);
}
END_TEST

START_TEST(a_frame_behind_the_lease_is_found)
{
    up();
    struct check_pass p = pass();
    p.lease = w->now;
    passes(&p, frame_to(town_key(w, 4)), 42);
}
END_TEST

START_TEST(a_frame_after_goodbye_is_found)
{
    up();
    struct check_pass p = pass();
    p.ended = true;
    passes(&p, frame_to(town_key(w, 4)), 42);
}
END_TEST

START_TEST(a_key_of_this_server_is_found)
{
    up();
    struct check_pass p = pass();
    passes(&p, frame_to(town_key(w, 2)), 43);
}
END_TEST

START_TEST(a_frame_that_passes_others_is_found)
{
    up();
    struct check_pass p = pass();
    p.passed_by = cw_links_of(CW_LINK_ZP);
    passes(&p, frame_to(town_key(w, 4)), 23);
}
END_TEST

/* Server 1 has learned that a link is gone, and server 2 still goes by what it knew before. */
START_TEST(a_sender_that_knew_more_is_found)
{
    up();
    struct check_pass p = pass();
    struct cw_packet *frame = frame_to(town_key(w, 4));
    world_cable(w, 8, CW_LINK_ZM, true, false);
    town_run(w, CW_MS(100));
    frame_encode(&(struct frame_head){.packets = 1}, frame->data);
    check_relay_sent(w->check, 1, CW_LINK_ZP, frame);
    ck_assert_uint_gt(frame->order, p.known);
    p.lease = relays_lease(&w->server[2]);
    passes(&p, frame, 41);
}
END_TEST

START_TEST(a_link_of_one_who_stands_still_is_found)
{
    up();
    w->server[2].state = WORLD_PAUSED;
    w->server[2].since_ns = w->now.ns;
    check_relay_paused(w->check, 2);
    w->server[2].state = WORLD_RUNS; /* it goes on with its hellos, and is said to stand still again */
    town_run(w, CW_MS(15));
    w->server[2].state = WORLD_PAUSED;
    w->server[1].linkstate = w->server[4].linkstate; /* whose link is up */
    ck_assert_int_eq(world_run(w, cw_time_add(w->now, CW_MS(300))), 1);
    town_broken(w, 44);
    w->server[1].linkstate = node_linkstate(w->server[1].node);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_right_is_found_right),
    SUITE_TEST(a_wrong_way_is_found),
    SUITE_TEST(somebody_who_is_not_in_c_is_found),
    SUITE_TEST(a_top_that_was_not_sent_is_found),
    SUITE_TEST(a_frame_that_may_pass),
    SUITE_TEST(a_frame_behind_the_lease_is_found),
    SUITE_TEST(a_frame_after_goodbye_is_found),
    SUITE_TEST(a_key_of_this_server_is_found),
    SUITE_TEST(a_frame_that_passes_others_is_found),
    SUITE_TEST(a_sender_that_knew_more_is_found),
    SUITE_TEST(a_link_of_one_who_stands_still_is_found),
};
SUITE_MAIN("simulator/check_relay", tests)
