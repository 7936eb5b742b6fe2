/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_linkstate.c - single scenes of a few servers on one axis, cables without delay. What is true of all scenes
 * together is tests/sim/linkstate/test_linkstate_world.c's business.
 */
#include "linkstate/internal.h"
#include "suite.h"
#include "wire/goodbye.h"
#include "wire/hello.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, ROOM = 1492 };

struct scene {
    struct torus torus;
    cw_server neighbours[MOST * CW_LINK_COUNT];
    struct linkstate *ls[MOST];
    bool mute[MOST][CW_LINK_COUNT]; /* what the server sends by the link is lost */
    cw_time now;
};

static struct ls_config config_of(const struct scene *s, cw_server self, uint64_t incarnation)
{
    return (struct ls_config){
        .torus = s->torus,
        .neighbours = s->neighbours,
        .self = self,
        .cluster = 1,
        .config_hash = 2,
        .incarnation = incarnation,
        .seed = 3,
        .timers = ls_timers_default(),
    };
}

static void light(struct scene *s, cw_server self)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ls_carrier(s->ls[self], link, true, s->now);
    }
}

static void start(struct scene *s, cw_server self, uint64_t incarnation)
{
    struct ls_config config = config_of(s, self, incarnation);
    ck_assert_int_eq(ls_open(&s->ls[self], &config), 0);
    light(s, self);
}

static void scene_open(struct scene *s, uint16_t servers)
{
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(torus_init(&s->torus, (cw_dims){1, 1, servers}), 0);
    for (cw_server i = 0; i < servers; i++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            s->neighbours[i * CW_LINK_COUNT + link] = torus_neighbour(&s->torus, i, link);
        }
    }
    s->now = (cw_time){1000};
    for (cw_server i = 0; i < servers; i++) {
        start(s, i, 100 * (i + 1));
    }
}

static void scene_close(struct scene *s)
{
    for (cw_server i = 0; i < s->torus.servers; i++) {
        if (s->ls[i] != NULL) {
            ls_close(s->ls[i]);
        }
    }
}

static bool deliver(struct scene *s, cw_server to, cw_link in, const struct frame_head *head, const uint8_t *bytes,
                    size_t size)
{
    bool well = true;
    (void)ls_frame(s->ls[to], in, head, s->now);
    for (size_t at = 0, length; at < size; at += length) {
        length = (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        well &= ls_control(s->ls[to], in, bytes + at, length, s->now) == WIRE_OK;
    }
    return well;
}

/* Sends what one link has to say; false when that is nothing. */
static bool send_one(struct scene *s, cw_server from, cw_link link)
{
    uint8_t bytes[ROOM], packets;
    struct frame_head head = {0};
    size_t size = ls_pull(s->ls[from], link, bytes, sizeof bytes, &packets, s->now);
    if (size == 0) {
        return false;
    }
    ls_stamp(s->ls[from], link, &head);
    cw_server to = s->neighbours[from * CW_LINK_COUNT + link];
    if (!s->mute[from][link] && s->ls[to] != NULL) {
        ck_assert(deliver(s, to, cw_link_opposite(link), &head, bytes, size));
    }
    return true;
}

static bool send_all(struct scene *s)
{
    bool any = false;
    for (cw_server i = 0; i < s->torus.servers; i++) {
        for (cw_link link = 0; s->ls[i] != NULL && link < CW_LINK_COUNT; link++) {
            any |= (ls_tx_links(s->ls[i]) & cw_links_of(link)) && send_one(s, i, link);
        }
    }
    return any;
}

static void run(struct scene *s, cw_span span)
{
    cw_time end = cw_time_add(s->now, span);
    for (;;) {
        while (send_all(s)) {
        }
        cw_time wake = end;
        for (cw_server i = 0; i < s->torus.servers; i++) {
            wake = s->ls[i] == NULL ? wake : cw_time_min(wake, ls_next_wake(s->ls[i]));
        }
        s->now = cw_time_max(s->now, wake);
        for (cw_server i = 0; i < s->torus.servers; i++) {
            if (s->ls[i] != NULL) {
                ls_tick(s->ls[i], s->now);
            }
        }
        if (s->now.ns >= end.ns) {
            break;
        }
    }
    for (cw_server i = 0; i < s->torus.servers; i++) {
        if (s->ls[i] != NULL) {
            ls_refresh(s->ls[i], s->now);
        }
    }
}

static bool all_agree(const struct scene *s)
{
    bool agree = true;
    for (cw_server i = 0; i < s->torus.servers; i++) {
        agree &= ls_serving(s->ls[i], s->now) && ls_committed(s->ls[i])->members == s->torus.servers &&
                 ls_optimistic(s->ls[i]) == ls_committed(s->ls[i]) && ls_digest(s->ls[i]) == ls_digest(s->ls[0]);
    }
    return agree;
}

START_TEST(refuses_what_cannot_be)
{
    struct scene s;
    struct linkstate *ls = NULL;
    scene_open(&s, 3);
    struct ls_config config = config_of(&s, 3, 1);
    ck_assert_int_eq(ls_open(&ls, &config), -EINVAL);
    config = config_of(&s, 0, 0);
    ck_assert_int_eq(ls_open(&ls, &config), -EINVAL);
    config = config_of(&s, 0, 1);
    config.timers.hold = CW_MS(54);
    ck_assert_int_eq(ls_open(&ls, &config), -EINVAL);
    ck_assert_ptr_null(ls);
    ck_assert_uint_gt(ls_bytes(s.ls[0]), sizeof *s.ls[0]);
    scene_close(&s);
}
END_TEST

START_TEST(a_cluster_forms)
{
    struct scene s;
    scene_open(&s, 4);
    ck_assert(!ls_active(s.ls[0]));
    run(&s, CW_MS(20));
    ck_assert(all_agree(&s));
    for (cw_server i = 0; i < 4; i++) {
        ck_assert_uint_eq(ls_up_links(s.ls[i]), 0x30);
        for (cw_server to = 0; to < 4; to++) {
            ck_assert_uint_eq(ls_hops(s.ls[i], to), torus_distance(&s.torus, i, to));
            ck_assert_uint_eq(ls_next_hops(s.ls[i], to), torus_minimal_links(&s.torus, i, to));
        }
        ck_assert_uint_eq(ls_count(s.ls[i], LS_FENCES), 0);
    }
    scene_close(&s);
}
END_TEST

START_TEST(alone_serves_only_if_told)
{
    struct scene s;
    scene_open(&s, 3);
    struct linkstate *ls;
    struct ls_config config = config_of(&s, 0, 1);
    ck_assert_int_eq(ls_open(&ls, &config), 0);
    ls_tick(ls, s.now);
    ck_assert(!ls_serving(ls, s.now) && !ls_active(ls));
    ls_close(ls);
    config.alone = true;
    ck_assert_int_eq(ls_open(&ls, &config), 0);
    ls_tick(ls, s.now);
    ck_assert(ls_serving(ls, s.now) && ls_active(ls));
    ck_assert_uint_eq(ls_committed(ls)->members, 1);
    ck_assert_uint_eq(ls_hops(ls, 1), UINT_MAX);
    ls_close(ls);
    scene_close(&s);
}
END_TEST

/* A death, seen by silence: C lets go at once, O after the hold; then the server comes back in a new life. */
START_TEST(a_death_and_a_return)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    ck_assert(all_agree(&s));
    ls_close(s.ls[2]);
    s.ls[2] = NULL;
    run(&s, CW_MS(39)); /* the last hello may be 10 ms old */
    ck_assert(reach_has(ls_committed(s.ls[0]), 2));
    run(&s, CW_MS(13));
    ck_assert(!reach_has(ls_committed(s.ls[0]), 2) && reach_has(ls_optimistic(s.ls[0]), 2));
    run(&s, CW_MS(60));
    ck_assert(!reach_has(ls_optimistic(s.ls[0]), 2));
    ck_assert(ls_serving(s.ls[0], s.now));
    start(&s, 2, 301);
    run(&s, CW_MS(200));
    ck_assert(all_agree(&s));
    scene_close(&s);
}
END_TEST

START_TEST(a_goodbye_ends_the_hold)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    for (cw_link link = 4; link < 6; link++) {
        uint8_t bytes[GOODBYE_BYTES];
        const struct adjacency *adj = &s.ls[2]->links[link].adj;
        struct goodbye goodbye = {adj->session, 300, torus_coord(&s.torus, 2), GOODBYE_DIED};
        cw_server to = s.neighbours[2 * CW_LINK_COUNT + link];
        goodbye.incarnation = 299; /* of a former life: no effect */
        goodbye_encode(&goodbye, bytes);
        ck_assert_int_eq(ls_control(s.ls[to], cw_link_opposite(link), bytes, sizeof bytes, s.now), WIRE_OK);
        ck_assert_int_eq(s.ls[to]->links[cw_link_opposite(link)].adj.state, ADJ_UP);
        goodbye.incarnation = 300;
        goodbye_encode(&goodbye, bytes);
        ck_assert_int_eq(ls_control(s.ls[to], cw_link_opposite(link), bytes, sizeof bytes, s.now), WIRE_OK);
    }
    ls_close(s.ls[2]);
    s.ls[2] = NULL;
    run(&s, CW_MS(5));
    ck_assert(!reach_has(ls_optimistic(s.ls[0]), 2) && !reach_has(ls_optimistic(s.ls[1]), 2));
    scene_close(&s);
}
END_TEST

/* Nobody hears server 2, though it hears all: its lease runs out in time and it comes back with a new incarnation. */
START_TEST(whoever_is_not_heard_is_fenced)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    s.mute[2][4] = s.mute[2][5] = true;
    run(&s, CW_MS(39));
    ck_assert(ls_serving(s.ls[2], s.now));
    run(&s, CW_MS(12));
    ck_assert(!ls_serving(s.ls[2], s.now) && !ls_active(s.ls[2]));
    ck_assert_uint_eq(ls_incarnation(s.ls[2]), 301);
    ck_assert_uint_eq(ls_optimistic(s.ls[2])->members, 1);
    ck_assert_uint_eq(ls_count(s.ls[2], LS_FENCES), 1);
    s.mute[2][4] = s.mute[2][5] = false;
    run(&s, CW_MS(300));
    ck_assert(all_agree(&s));
    scene_close(&s);
}
END_TEST

START_TEST(whoever_sleeps_is_fenced_before_anything_else)
{
    struct scene s;
    scene_open(&s, 2);
    run(&s, CW_MS(30));
    s.now = cw_time_add(s.now, CW_MS(70));
    struct frame_head head = {.session = (uint16_t)s.ls[1]->links[4].adj.peer_session};
    ck_assert(!ls_serving(s.ls[1], s.now));
    ck_assert_int_eq(ls_frame(s.ls[1], 4, &head, s.now), LS_STALE);
    ck_assert_uint_eq(ls_incarnation(s.ls[1]), 201);
    scene_close(&s);
}
END_TEST

START_TEST(leaving_takes_no_hold)
{
    struct scene s;
    scene_open(&s, 4);
    run(&s, CW_MS(30));
    ls_leave(s.ls[1], s.now);
    ck_assert(!ls_serving(s.ls[1], s.now) && !ls_left(s.ls[1], s.now));
    run(&s, CW_MS(2));
    for (cw_server i = 0; i < 4; i++) {
        ck_assert(!reach_has(ls_optimistic(s.ls[i]), 1));
    }
    /* It still forwards, and whoever has something for it still finds the way. */
    ck_assert_uint_ne(ls_next_hops(s.ls[0], 1), 0);
    ck_assert_uint_eq(ls_hops(s.ls[0], 2), 2);
    ck_assert(!ls_left(s.ls[1], s.now));
    run(&s, CW_MS(9));
    ck_assert(ls_left(s.ls[1], s.now));
    ck_assert_int_lt(s.ls[0]->links[4].adj.state, ADJ_INIT);
    scene_close(&s);
}
END_TEST

/* A hello of server 1 towards server 0, as it should be. */
static struct hello good_hello(const struct scene *s)
{
    return (struct hello){
        .session = 77,
        .cluster = 1,
        .config_hash = 2,
        .server = torus_coord(&s->torus, 1),
        .port = 5,
        .incarnation = 200,
        .clock = {1},
    };
}

static enum adjacency_state after_hello(struct scene *s, const struct hello *hello)
{
    uint8_t bytes[HELLO_BYTES];
    hello_encode(hello, bytes);
    ck_assert_int_eq(ls_control(s->ls[0], 4, bytes, sizeof bytes, s->now), WIRE_OK);
    return s->ls[0]->links[4].adj.state;
}

START_TEST(wrong_cables_are_told)
{
    struct scene s;
    scene_open(&s, 3);
    struct hello hello = good_hello(&s);
    hello.port = 4;
    ck_assert_int_eq(after_hello(&s, &hello), ADJ_MISWIRED);
    hello = good_hello(&s);
    ck_assert_int_eq(after_hello(&s, &hello), ADJ_INIT);
    hello.server = torus_coord(&s.torus, 2);
    ck_assert_int_eq(after_hello(&s, &hello), ADJ_MISWIRED);
    hello = good_hello(&s);
    hello.cluster = 9;
    ck_assert_int_eq(after_hello(&s, &hello), ADJ_MISWIRED);
    hello = good_hello(&s);
    hello.config_hash = 9;
    ck_assert_int_eq(after_hello(&s, &hello), ADJ_MISWIRED);
    ck_assert_uint_eq(ls_count(s.ls[0], LS_MISWIRED), 4);
    s.now = cw_time_add(s.now, CW_MS(60));
    ls_tick(s.ls[0], s.now);
    s.now = cw_time_add(s.now, CW_MS(1));
    ls_tick(s.ls[0], s.now);
    ck_assert_int_eq(s.ls[0]->links[4].adj.state, ADJ_DOWN);
    scene_close(&s);
}
END_TEST

START_TEST(refused_packets_touch_nothing)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    uint8_t bytes[HELLO_BYTES];
    struct hello hello = good_hello(&s);
    hello_encode(&hello, bytes);
    uint64_t digest = ls_digest(s.ls[0]);
    ck_assert_int_ne(ls_control(s.ls[0], 4, bytes, sizeof bytes - 1, s.now), WIRE_OK);
    bytes[0] = 0;
    ck_assert_int_ne(ls_control(s.ls[0], 4, bytes, sizeof bytes, s.now), WIRE_OK);
    ck_assert_uint_eq(ls_digest(s.ls[0]), digest);
    ck_assert(all_agree(&s));
    scene_close(&s);
}
END_TEST

/*
 * Back with a lower incarnation than before (the clock was set back, the state was lost): it learns, outbids and is
 * admitted.
 */
START_TEST(a_low_incarnation_is_outbid)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    ls_close(s.ls[2]);
    start(&s, 2, 7);
    run(&s, CW_MS(800));
    ck_assert_uint_gt(ls_incarnation(s.ls[2]), 300);
    ck_assert_uint_eq(ls_count(s.ls[2], LS_OUTBIDS), 1);
    ck_assert_uint_eq(ls_count(s.ls[2], LS_DUPLICATES), 0);
    ck_assert(all_agree(&s));
    scene_close(&s);
}
END_TEST

/* Somebody goes on making records in our name: we keep away. */
START_TEST(a_double_is_an_alarm)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    for (unsigned i = 0; i < 4; i++) {
        struct record forged = {
            .origin = torus_coord(&s.torus, 2),
            .incarnation = ls_incarnation(s.ls[2]) + 5,
            .seq = 1,
            .boot_nonce = (uint16_t)(s.ls[2]->nonce + 1),
        };
        linkstate_apply(s.ls[0], &forged, 1, CW_LINK_SELF);
        run(&s, CW_MS(1500));
    }
    ck_assert_uint_eq(ls_count(s.ls[2], LS_OUTBIDS), 4);
    ck_assert_uint_eq(ls_count(s.ls[2], LS_DUPLICATES), 1);
    ck_assert_int_eq(s.ls[2]->links[4].adj.state, ADJ_DAMPED);
    ck_assert(!ls_serving(s.ls[2], s.now));
    run(&s, CW_SEC(10));
    ck_assert(all_agree(&s));
    scene_close(&s);
}
END_TEST

/* A database that lost something nobody will send again: found by its digest, repaired, and told. */
START_TEST(databases_that_differ_are_repaired)
{
    struct scene s;
    struct lsdb_change change;
    scene_open(&s, 2);
    run(&s, CW_MS(30));
    struct record record = *lsdb_record(&s.ls[0]->db, 0);
    record.seq++;
    ck_assert_int_eq(lsdb_apply(&s.ls[0]->db, &record, &change), LSDB_NEWER);
    ck_assert_uint_ne(ls_digest(s.ls[0]), ls_digest(s.ls[1]));
    run(&s, CW_MS(60));
    ck_assert(all_agree(&s));
    ck_assert_uint_gt(ls_count(s.ls[0], LS_REPAIRS) + ls_count(s.ls[1], LS_REPAIRS), 0);
    scene_close(&s);
}
END_TEST

START_TEST(data_waits_for_control)
{
    struct scene s;
    scene_open(&s, 2);
    run(&s, CW_MS(30));
    struct frame_head head = {0};
    ls_stamp(s.ls[0], 4, &head);
    ck_assert_int_eq(ls_gate_again(s.ls[1], 5, &head), LS_PASS);
    head.position++;
    ck_assert_int_eq(ls_frame(s.ls[1], 5, &head, s.now), LS_WAIT);
    head.session++;
    ck_assert_int_eq(ls_frame(s.ls[1], 5, &head, s.now), LS_STALE);
    scene_close(&s);
}
END_TEST

/* A neighbour that says hello and acknowledges nothing: what is kept for it is bounded, and then it is cut off. */
START_TEST(a_link_that_takes_nothing_is_cut)
{
    struct scene s;
    scene_open(&s, 3);
    run(&s, CW_MS(30));
    uint32_t limit = s.ls[0]->flood.limit;
    for (uint32_t i = 0; i < limit + 10; i++) {
        linkstate_publish(s.ls[0]);
        linkstate_note(s.ls[0]); /* as an entry would */
        (void)send_one(&s, 0, 5);
        if (i % 32 == 0) {
            s.now = cw_time_add(s.now, CW_US(300));
            ls_tick(s.ls[2], s.now);
            (void)send_one(&s, 2, 4);
        }
    }
    ck_assert_uint_eq(ls_count(s.ls[0], LS_OVERFLOWS), 1);
    ck_assert_int_lt(s.ls[0]->links[4].adj.state, ADJ_EXCHANGE);
    ck_assert_int_eq(s.ls[0]->links[5].adj.state, ADJ_UP);
    ck_assert_uint_le(flood_bytes(&s.ls[0]->flood), limit * sizeof(struct flood_entry));
    run(&s, CW_MS(300));
    ck_assert(all_agree(&s));
    scene_close(&s);
}
END_TEST

START_TEST(counters_have_names)
{
    for (int i = 0; i < LS_COUNTERS; i++) {
        ck_assert_ptr_nonnull(ls_counter_name((enum ls_counter)i));
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(ls_counter_name((enum ls_counter)i), ls_counter_name((enum ls_counter)j));
        }
    }
    ck_assert_str_eq(ls_counter_name(LS_COUNTERS), "?");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(refuses_what_cannot_be),
    SUITE_TEST(a_cluster_forms),
    SUITE_TEST(alone_serves_only_if_told),
    SUITE_TEST(a_death_and_a_return),
    SUITE_TEST(a_goodbye_ends_the_hold),
    SUITE_TEST(whoever_is_not_heard_is_fenced),
    SUITE_TEST(whoever_sleeps_is_fenced_before_anything_else),
    SUITE_TEST(leaving_takes_no_hold),
    SUITE_TEST(wrong_cables_are_told),
    SUITE_TEST(refused_packets_touch_nothing),
    SUITE_TEST(a_low_incarnation_is_outbid),
    SUITE_TEST(a_double_is_an_alarm),
    SUITE_TEST(databases_that_differ_are_repaired),
    SUITE_TEST(data_waits_for_control),
    SUITE_TEST(a_link_that_takes_nothing_is_cut),
    SUITE_TEST(counters_have_names),
};
SUITE_MAIN("linkstate_scenes", tests)
