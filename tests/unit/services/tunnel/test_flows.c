/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/flows.h"

#include "base/container.h"
#include "rng.h"
#include "suite.h"

#include <string.h>

enum { QUANTUM = 1000, MEMORY = 10000, PACKETS = 3000 };

struct test_packet {
    struct flow_packet p;
    uint32_t left;
    bool ect, marked;
    int dropped; /* why, and 1 */
};

static struct test_packet packets[PACKETS];
static unsigned made;
static struct flows f;
static cw_time now = {CW_NS_PER_SEC};

static bool mark(void *context, struct flow_packet *p)
{
    struct test_packet *t = container_of(p, struct test_packet, p);
    ck_assert_ptr_eq(context, &f);
    t->marked = t->ect;
    return t->ect;
}

static void drop(void *context, struct flow_packet *p, enum flow_drop why)
{
    ck_assert_ptr_eq(context, &f);
    container_of(p, struct test_packet, p)->dropped = 1 + (int)why;
}

static void open_all(void)
{
    struct flows_config config = {.quantum = QUANTUM,
                                  .memory_most = MEMORY,
                                  .codel = {.target = CW_MS(1), .interval = CW_MS(20)},
                                  .mark = mark,
                                  .drop = drop,
                                  .context = &f};
    ck_assert_int_eq(flows_open(&f, &config), 0);
}

static struct test_packet *put(uint64_t hash, uint32_t bytes, cw_links links)
{
    struct test_packet *t = &packets[made++];
    *t = (struct test_packet){.p = {.bytes = bytes, .links = {links}}, .left = bytes};
    flows_put(&f, hash, &t->p, now);
    SUITE_HOLDS(flows_valid(&f));
    return t;
}

/* Sends up to a frame of whatever has its turn; NULL: nothing has. */
static struct test_packet *send_on(cw_link link)
{
    struct flow_packet *p = flows_next(&f, FLOW_SHORTEST, link, now);
    SUITE_HOLDS(p == flows_next(&f, FLOW_SHORTEST, link, now));
    if (p == NULL) {
        return NULL;
    }
    struct test_packet *t = container_of(p, struct test_packet, p);
    uint32_t bytes = t->left < QUANTUM ? t->left : QUANTUM;
    t->left -= bytes;
    flows_sent(&f, p, bytes, t->left == 0);
    SUITE_HOLDS(flows_valid(&f));
    return t;
}

START_TEST(one_flow_is_a_queue)
{
    open_all();
    struct test_packet *a = put(1, 2500, 1), *b = put(1, 100, 1);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 1);
    ck_assert_ptr_null(flows_next(&f, FLOW_SHORTEST, CW_LINK_XM, now));
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_ptr_eq(send_on(0), a);
    }
    ck_assert_ptr_eq(send_on(0), b);
    ck_assert_ptr_null(send_on(0));
    ck_assert_uint_eq(f.counts.sent, 2);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 0);
    flows_close(&f);
}
END_TEST

START_TEST(flows_share_byte_for_byte)
{
    open_all();
    f.config.memory_most = 1u << 30;
    uint64_t sent[3] = {0};
    for (unsigned i = 0; i < 40; i++) {
        put(0, 5000, 1);
        put(1, 5000, 1);
    }
    for (unsigned i = 0; i < 2000; i++) {
        put(2, 100, 1);
    }
    for (unsigned i = 0; i < 400; i++) {
        struct flow_packet *p = flows_next(&f, FLOW_SHORTEST, 0, now);
        struct test_packet *t = container_of(p, struct test_packet, p);
        uint32_t bytes = t->left < QUANTUM ? t->left : QUANTUM;
        sent[p->flow] += bytes;
        t->left -= bytes;
        flows_sent(&f, p, bytes, t->left == 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_ge(sent[i] + 2 * QUANTUM, sent[2]);
        ck_assert_uint_le(sent[i], sent[2] + 2 * QUANTUM);
    }
    flows_close(&f);
}
END_TEST

START_TEST(sparse_flows_come_first)
{
    open_all();
    struct test_packet *large = put(1, 5000, 1);
    ck_assert_ptr_eq(send_on(0), large);
    struct test_packet *small = put(2, 50, 1);
    ck_assert_ptr_eq(send_on(0), small); /* between two pieces of the large one */
    ck_assert_ptr_eq(send_on(0), large);
    /* And no longer, once it has sent what a turn allows. */
    unsigned others = 0;
    for (unsigned i = 0; i < 60; i++) {
        put(2, 200, 1);
        others += send_on(0)->p.flow == 1;
    }
    ck_assert_uint_eq(others, 3); /* all that was left of it */
    flows_close(&f);
}
END_TEST

START_TEST(every_link_has_its_round)
{
    open_all();
    struct test_packet *a = put(1, 3000, 3), *b = put(2, 3000, 2);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 3);
    ck_assert_ptr_eq(send_on(0), a);
    ck_assert_ptr_eq(send_on(1), b);
    ck_assert_ptr_eq(send_on(1), a);
    ck_assert_ptr_eq(send_on(0), a);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 2);
    /* The next packet of a flow may go other ways than the first. */
    struct test_packet *c = put(2, 500, 4);
    ck_assert_ptr_eq(send_on(1), b);
    ck_assert_ptr_eq(send_on(1), b);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 4);
    ck_assert_ptr_eq(send_on(2), c);
    flows_close(&f);
}
END_TEST

START_TEST(fullest_flow_loses)
{
    open_all();
    struct test_packet *small = put(1, 1000, 1), *first = put(2, 4000, 1), *second = put(2, 4000, 1);
    ck_assert_ptr_eq(send_on(0), small);
    ck_assert_ptr_eq(send_on(0), first);
    struct test_packet *other = put(3, 3000, 1);
    ck_assert_int_eq(first->dropped, 0); /* a piece of it has left */
    ck_assert_int_eq(second->dropped, 1 + FLOW_FULL);
    ck_assert_int_eq(other->dropped, 0);
    ck_assert_uint_le(f.bytes, MEMORY);
    struct test_packet *huge = put(4, 2 * MEMORY, 1);
    ck_assert_int_eq(huge->dropped, 1 + FLOW_FULL);
    flows_close(&f);
    ck_assert_int_eq(first->dropped, 1 + FLOW_CLOSED);
}
END_TEST

START_TEST(standing_queues_are_marked_or_dropped)
{
    open_all();
    f.config.memory_most = 1u << 30;
    unsigned marked = 0, dropped = 0;
    for (unsigned i = 0; i < 1000; i++) {
        put(i % 2, 900, 1)->ect = i % 2 == 0;
    }
    for (unsigned i = 0; i < 900; i++) {
        now = cw_time_add(now, CW_US(200));
        (void)send_on(0);
    }
    for (unsigned i = 0; i < 1000; i++) {
        marked += packets[i].marked;
        dropped += packets[i].dropped == 1 + FLOW_CODEL;
        SUITE_HOLDS(i % 2 == 0 ? packets[i].dropped == 0 : !packets[i].marked);
    }
    ck_assert_uint_gt(marked, 5);
    ck_assert_uint_gt(dropped, 5);
    ck_assert_uint_eq(f.counts.marked, marked);
    ck_assert_uint_eq(f.counts.dropped[FLOW_CODEL], dropped);
    flows_close(&f);
}
END_TEST

/* Long before CoDel's interval is over. */
START_TEST(who_waits_for_long_is_marked)
{
    open_all();
    f.config.mark_above = CW_MS(3);
    struct test_packet *short_wait = put(1, 100, 1), *long_wait = put(2, 100, 1), *deaf = put(3, 100, 1);
    short_wait->ect = long_wait->ect = true;
    now = cw_time_add(now, CW_MS(3));
    ck_assert_ptr_eq(send_on(0), short_wait);
    now = cw_time_add(now, CW_US(1));
    ck_assert_ptr_eq(send_on(0), long_wait);
    ck_assert_ptr_eq(send_on(0), deaf);
    ck_assert(!short_wait->marked);
    ck_assert(long_wait->marked);
    ck_assert(!deaf->marked);
    ck_assert_int_eq(deaf->dropped, 0);
    ck_assert_uint_eq(f.counts.marked, 1);
    flows_close(&f);
}
END_TEST

static void other_ways(void *context, struct flow_packet *p)
{
    ck_assert_ptr_eq(context, &f);
    p->links[FLOW_SHORTEST] = p->flow == 2 ? CW_LINKS_NONE : 0x20;
    p->links[FLOW_LONGER] = p->flow == 2 ? CW_LINKS_NONE : 0x01;
}

static void keep_ways(void *context, struct flow_packet *p)
{
    (void)context;
    (void)p;
}

/* A longer way takes only what the shortest ones leave behind, and of a packet pieces go by both. */
START_TEST(longer_ways_take_what_is_left)
{
    open_all();
    f.config.longer_above = 1500;
    struct test_packet *small = put(1, 1500, 1), *large = put(2, 3000, 1);
    small->p.links[FLOW_LONGER] = 2; /* too late for a packet that waits already, so by a change of ways */
    large->p.links[FLOW_LONGER] = 2;
    flows_reroute(&f, keep_ways);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 1);
    ck_assert_uint_eq(flows_wanted(&f, FLOW_LONGER), 2);
    ck_assert_ptr_null(flows_next(&f, FLOW_LONGER, 0, now));
    ck_assert_ptr_null(flows_next(&f, FLOW_SHORTEST, 1, now));
    ck_assert_ptr_eq(flows_next(&f, FLOW_LONGER, 1, now), &large->p);
    flows_sent(&f, &large->p, QUANTUM, false);
    ck_assert(flows_valid(&f));
    ck_assert_ptr_eq(send_on(0), small);
    ck_assert_ptr_eq(send_on(0), small); /* the other one has had its turn, by the longer way */
    ck_assert_ptr_eq(send_on(0), large);
    ck_assert_ptr_eq(flows_next(&f, FLOW_LONGER, 1, now), &large->p);
    flows_sent(&f, &large->p, QUANTUM, true);
    ck_assert(flows_valid(&f));
    ck_assert_uint_eq(flows_wanted(&f, FLOW_LONGER), 0);
    ck_assert_uint_eq(f.packets, 0);
    flows_close(&f);
}
END_TEST

START_TEST(ways_change)
{
    open_all();
    struct test_packet *a = put(1, 100, 1), *b = put(2, 100, 1), *c = put(2, 100, 2), *d = put(1, 100, 4);
    flows_reroute(&f, other_ways);
    ck_assert(flows_valid(&f));
    ck_assert_uint_eq(flows_wanted(&f, FLOW_SHORTEST), 0x20);
    ck_assert_int_eq(b->dropped, 1 + FLOW_NO_WAY);
    ck_assert_int_eq(c->dropped, 1 + FLOW_NO_WAY);
    ck_assert_ptr_eq(send_on(5), a);
    ck_assert_ptr_eq(send_on(5), d);
    flows_close(&f);
}
END_TEST

/* Anything in any order: nothing is lost, nothing stays, and the memory is kept. */
START_TEST(at_random)
{
    struct rng r = {41};
    open_all();
    while (made < PACKETS) {
        switch (rng_below(&r, 20)) {
        case 0:
            flows_reroute(&f, other_ways);
            break;
        case 9: { /* some of what begins by a longer way ends by a shorter one */
            struct flow_packet *p = flows_next(&f, FLOW_LONGER, (cw_link)rng_below(&r, CW_LINK_COUNT), now);
            if (p != NULL) {
                struct test_packet *t = container_of(p, struct test_packet, p);
                uint32_t bytes = t->left < QUANTUM ? t->left : QUANTUM;
                t->left -= bytes;
                flows_sent(&f, p, bytes, t->left == 0);
            }
            break;
        }
        default:
            (void)send_on((cw_link)rng_below(&r, CW_LINK_COUNT));
            break;
        case 1 ... 8:
            put(rng_below(&r, 5), 1 + (uint32_t)rng_below(&r, 3000), (cw_links)(1 + rng_below(&r, 0x3f)))->ect =
                made % 3;
            break;
        }
        SUITE_HOLDS(f.bytes <= MEMORY);
        now = cw_time_add(now, CW_US(rng_below(&r, 500)));
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        while (send_on(link) != NULL) {
        }
    }
    uint64_t home = f.counts.sent;
    for (unsigned i = 0; i <= FLOW_CLOSED; i++) {
        home += f.counts.dropped[i];
    }
    ck_assert_uint_eq(home, PACKETS);
    ck_assert_uint_eq(f.packets, 0);
    ck_assert_uint_gt(f.counts.sent, 500);
    flows_close(&f);
}
END_TEST

START_TEST(no_way_at_all)
{
    open_all();
    put(1, 100, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(one_flow_is_a_queue),
    SUITE_TEST(flows_share_byte_for_byte),
    SUITE_TEST(longer_ways_take_what_is_left),
    SUITE_TEST(sparse_flows_come_first),
    SUITE_TEST(every_link_has_its_round),
    SUITE_TEST(fullest_flow_loses),
    SUITE_TEST(standing_queues_are_marked_or_dropped),
    SUITE_TEST(who_waits_for_long_is_marked),
    SUITE_TEST(ways_change),
    SUITE_TEST(at_random),
    SUITE_ABORTS(no_way_at_all),
};
SUITE_MAIN("flows", tests)
