/* SPDX-License-Identifier: Apache-2.0 */
#include "core/feed.h"
#include "rng.h"
#include "suite.h"

enum { LINK = 2, OTHER = 4 };

static cw_time us(int64_t n)
{
    return (cw_time){n * 1000};
}

static const cw_span retry = {2000000};

struct bed {
    struct arena arena;
    struct flood log;
    struct feed feed;
};

static void bed_open(struct bed *b)
{
    b->arena = arena_measure();
    flood_init(&b->log, 4, 1 << 16, &b->arena);
    ck_assert_int_eq(arena_open(&b->arena, arena_used(&b->arena)), 0);
    flood_init(&b->log, 4, 1 << 16, &b->arena);
    feed_start(&b->feed, b->log.end);
}

static void bed_close(struct bed *b)
{
    flood_close(&b->log);
    arena_close(&b->arena);
}

/* An entry with a name of its own, for one link or the other. */
static void append(struct bed *b, uint64_t name, cw_links owed)
{
    struct flood_entry *entry = flood_append(&b->log, FLOOD_SYNCED, owed);
    ck_assert_ptr_nonnull(entry);
    entry->digest = name;
    if (owed & cw_links_of(LINK)) {
        feed_owe(&b->feed);
    }
}

static uint64_t send_one(struct bed *b, cw_time now)
{
    const struct flood_entry *entry = feed_peek(&b->feed, &b->log, LINK);
    if (entry == NULL) {
        return 0;
    }
    uint64_t name = entry->digest;
    feed_sent(&b->feed, now);
    return name;
}

START_TEST(sends_what_is_owed_in_order_and_repeats_it)
{
    struct bed b;
    bed_open(&b);
    for (uint64_t name = 1; name <= 10; name++) {
        append(&b, name, name % 2 ? cw_links_of(LINK) : cw_links_of(OTHER));
    }
    ck_assert_uint_eq(b.feed.unsent, 5);
    for (uint64_t name = 1; name <= 9; name += 2) {
        ck_assert_uint_eq(send_one(&b, us(1)), name);
    }
    ck_assert_uint_eq(send_one(&b, us(1)), 0);
    ck_assert_uint_eq(b.feed.top, 5);
    ck_assert(!feed_is_idle(&b.feed));
    /* Two arrive, the third is lost. */
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 2, us(10)));
    ck_assert_int_eq(feed_wake(&b.feed, retry).ns, us(2010).ns);
    ck_assert(!feed_tick(&b.feed, retry, us(2009)));
    ck_assert(feed_tick(&b.feed, retry, us(2010)));
    for (uint64_t name = 5; name <= 9; name += 2) {
        ck_assert_uint_eq(send_one(&b, us(2011)), name);
    }
    ck_assert_uint_eq(b.feed.sent, 5);
    ck_assert_uint_eq(b.feed.top, 5);
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 5, us(2020)));
    ck_assert(feed_is_idle(&b.feed));
    ck_assert_uint_eq(feed_floor(&b.feed, &b.log), b.log.end);
    ck_assert_int_eq(feed_wake(&b.feed, retry).ns, CW_NEVER.ns);
    bed_close(&b);
}
END_TEST

START_TEST(what_is_struck_out_takes_no_number)
{
    struct bed b;
    bed_open(&b);
    for (uint64_t name = 1; name <= 4; name++) {
        append(&b, name, cw_links_of(LINK));
    }
    ck_assert_uint_eq(send_one(&b, us(1)), 1);
    flood_at(&b.log, b.log.first + 1)->owed = 0;
    feed_forgive(&b.feed);
    ck_assert_uint_eq(send_one(&b, us(1)), 3);
    ck_assert_uint_eq(b.feed.top, 2);
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 2, us(2)));
    ck_assert_uint_eq(b.feed.base, b.log.first + 3);
    bed_close(&b);
}
END_TEST

START_TEST(the_window_bounds_what_is_under_way)
{
    struct bed b;
    bed_open(&b);
    for (uint64_t name = 1; name <= FEED_WINDOW + 10; name++) {
        append(&b, name, cw_links_of(LINK));
    }
    for (unsigned i = 0; i < FEED_WINDOW; i++) {
        ck_assert_uint_eq(send_one(&b, us(1)), i + 1);
    }
    ck_assert(!feed_has_more(&b.feed));
    ck_assert_uint_eq(b.feed.unsent, 10);
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 1, us(2)));
    ck_assert_uint_eq(send_one(&b, us(3)), FEED_WINDOW + 1);
    /* Without progress only a probe is repeated; the first sign of life opens the window again. */
    ck_assert(feed_tick(&b.feed, retry, us(3000)));
    for (unsigned i = 0; i < FEED_PROBE; i++) {
        ck_assert_uint_eq(send_one(&b, us(3001)), i + 2);
    }
    ck_assert_uint_eq(send_one(&b, us(3001)), 0);
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 2, us(3002)));
    ck_assert_uint_eq(send_one(&b, us(3003)), FEED_PROBE + 2);
    bed_close(&b);
}
END_TEST

START_TEST(acks_of_what_was_never_sent_are_refused)
{
    struct bed b;
    bed_open(&b);
    for (uint64_t name = 1; name <= 3; name++) {
        append(&b, name, cw_links_of(LINK));
    }
    ck_assert(!feed_acked(&b.feed, &b.log, LINK, 1, us(1)));
    send_one(&b, us(1));
    send_one(&b, us(1));
    ck_assert(!feed_acked(&b.feed, &b.log, LINK, 3, us(1)));
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 2, us(1)));
    ck_assert(feed_acked(&b.feed, &b.log, LINK, 1, us(1))); /* old news */
    ck_assert_uint_eq(b.feed.acked, 2);
    bed_close(&b);
}
END_TEST

START_TEST(receives_in_order_only)
{
    struct feed d;
    feed_start(&d, 1);
    ck_assert(feed_receive(&d, 1, us(200)));
    ck_assert_int_eq(d.ack_at.ns, us(200).ns);
    ck_assert(!feed_receive(&d, 3, us(300)));
    ck_assert(!feed_receive(&d, 1, us(300)));
    ck_assert_int_eq(d.ack_at.ns, us(200).ns);
    ck_assert(feed_receive(&d, 2, us(300)));
    ck_assert(feed_knows(&d, 2) && !feed_knows(&d, 3));
    feed_ack_left(&d);
    ck_assert_int_eq(d.ack_at.ns, CW_NEVER.ns);
    d.received = 0xffff;
    ck_assert(feed_knows(&d, 0xffff) && !feed_knows(&d, 0) && feed_knows(&d, 0xfffe));
}
END_TEST

/* A sender, a link that loses one frame in three, and a receiver: everything comes once, in order, whatever is trimmed. */
START_TEST(random_losses)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng rng = {seed};
        struct bed b;
        struct feed far;
        bed_open(&b);
        feed_start(&far, 1);
        uint64_t name = 0, expected = 0;
        uint64_t got[4000], wanted[4000];
        unsigned got_count = 0, wanted_count = 0;
        for (int64_t at = 1; at < 60000 && (name < 2000 || !feed_is_idle(&b.feed)); at += 10) {
            for (uint64_t i = rng_below(&rng, 4); i > 0 && name < 2000; i--) {
                bool ours = rng_below(&rng, 3) != 0;
                append(&b, ++name, (cw_links)(cw_links_of(OTHER) | (ours ? cw_links_of(LINK) : 0)));
                if (ours) {
                    wanted[wanted_count++] = name;
                }
            }
            feed_tick(&b.feed, CW_US(300), us(at));
            bool lost = rng_below(&rng, 3) == 0;
            const struct flood_entry *entry;
            for (unsigned room = 5; room > 0 && (entry = feed_peek(&b.feed, &b.log, LINK)) != NULL; room--) {
                feed_sent(&b.feed, us(at));
                if (!lost && feed_receive(&far, b.feed.sent, us(at))) {
                    got[got_count++] = entry->digest;
                }
            }
            if (rng_below(&rng, 3) != 0) {
                ck_assert(feed_acked(&b.feed, &b.log, LINK, far.received, us(at)));
                flood_trim(&b.log, feed_floor(&b.feed, &b.log));
            }
            ck_assert_uint_le(b.feed.sent - b.feed.acked, FEED_WINDOW);
        }
        ck_assert_uint_eq(got_count, wanted_count);
        for (; expected < got_count; expected++) {
            if (got[expected] != wanted[expected]) {
                ck_abort_msg("seed %llu, item %llu", (unsigned long long)seed, (unsigned long long)expected);
            }
        }
        bed_close(&b);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(sends_what_is_owed_in_order_and_repeats_it),
    SUITE_TEST(what_is_struck_out_takes_no_number),
    SUITE_TEST(the_window_bounds_what_is_under_way),
    SUITE_TEST(acks_of_what_was_never_sent_are_refused),
    SUITE_TEST(receives_in_order_only),
    SUITE_TEST(random_losses),
};
SUITE_MAIN("feed", tests)
