/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/feed.h"

#include "base/prng.h"
#include "suite.h"

enum { LIMIT = 4096, LINK = CW_LINK_YM };

static const cw_span retry = {2000000};

/* One log with one reader at our end, and its other end. */
struct fixture {
    struct arena arena;
    struct flood flood;
    struct feed near, far;
};

static cw_time us(int64_t n)
{
    return (cw_time){n * 1000};
}

static struct fixture *fixture_open(uint32_t number)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct arena measure = arena_measure();
    flood_init(&f->flood, 1, LIMIT, &measure);
    ck_assert_int_eq(arena_open(&f->arena, arena_used(&measure)), 0);
    flood_init(&f->flood, 1, LIMIT, &f->arena);
    feed_start(&f->near, f->flood.end);
    feed_start(&f->far, 1);
    f->near.acked = f->near.sent = f->near.top = f->far.received = number;
    return f;
}

static void fixture_close(struct fixture *f)
{
    flood_close(&f->flood);
    arena_close(&f->arena);
    free(f);
}

/* Appends entries whose digest is `what` and counts up; owed to our link, or to the others. */
static void owe(struct fixture *f, uint64_t what, unsigned count, bool ours)
{
    for (unsigned i = 0; i < count; i++) {
        cw_links bit = cw_links_of(LINK);
        struct flood_entry *entry = flood_append(&f->flood, FLOOD_SYNCED, ours ? bit : CW_LINKS_ALL & (cw_links)~bit);
        ck_assert_ptr_nonnull(entry);
        entry->digest = what + i;
        if (ours) {
            feed_owe(&f->near);
        }
    }
}

/* Sends at most `most` items; how many there were. */
static unsigned send(struct fixture *f, unsigned most, cw_time now)
{
    unsigned sent = 0;
    while (sent < most && feed_peek(&f->near, &f->flood, LINK) != NULL) {
        feed_sent(&f->near, now);
        sent++;
    }
    return sent;
}

START_TEST(a_feed_at_rest)
{
    struct fixture *f = fixture_open(0);
    ck_assert(feed_is_idle(&f->near));
    ck_assert(!feed_has_more(&f->near));
    ck_assert_ptr_null(feed_peek(&f->near, &f->flood, LINK));
    ck_assert_int_eq(feed_wake(&f->near, retry).ns, CW_NEVER.ns);
    ck_assert(!feed_tick(&f->near, retry, us(1000000)));
    ck_assert(feed_knows(&f->far, 0));
    ck_assert(!feed_knows(&f->far, 1));
    ck_assert_int_eq(f->near.ack_at.ns, CW_NEVER.ns);
    feed_stop(&f->near);
    ck_assert(!f->near.running);
    fixture_close(f);
}
END_TEST

START_TEST(items_are_numbered_from_one_and_what_is_not_owed_takes_no_number)
{
    struct fixture *f = fixture_open(0);
    owe(f, 10, 1, true);
    owe(f, 20, 3, false);
    owe(f, 30, 1, true);
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 10);
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 10); /* looking changes nothing */
    feed_sent(&f->near, us(5));
    ck_assert_uint_eq(f->near.sent, 1);
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 30);
    feed_sent(&f->near, us(6));
    ck_assert_uint_eq(f->near.sent, 2);
    ck_assert_uint_eq(f->near.top, 2);
    ck_assert_ptr_null(feed_peek(&f->near, &f->flood, LINK));
    ck_assert(!feed_is_idle(&f->near));
    ck_assert_int_eq(feed_wake(&f->near, retry).ns, us(2005).ns); /* since the first one under way */
    fixture_close(f);
}
END_TEST

START_TEST(what_is_struck_out_before_it_was_sent_takes_no_number)
{
    struct fixture *f = fixture_open(0);
    owe(f, 10, 2, true);
    flood_at(&f->flood, 1)->owed = CW_LINKS_NONE;
    feed_forgive(&f->near);
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 11);
    feed_sent(&f->near, us(0));
    ck_assert_uint_eq(f->near.top, 1);
    ck_assert_uint_eq(f->near.unsent, 0);
    flood_append(&f->flood, FLOOD_SYNCED, cw_links_of(LINK));
    feed_owe(&f->near);
    flood_at(&f->flood, 3)->owed = CW_LINKS_NONE;
    feed_forgive(&f->near); /* the last of all: nothing is left to peek at */
    ck_assert_ptr_null(feed_peek(&f->near, &f->flood, LINK));
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 1, us(1)));
    ck_assert(feed_is_idle(&f->near));
    ck_assert_uint_eq(feed_floor(&f->near, &f->flood), f->flood.end);
    fixture_close(f);
}
END_TEST

START_TEST(the_window_bounds_what_is_under_way)
{
    struct fixture *f = fixture_open(0);
    owe(f, 0, FEED_WINDOW + 10, true);
    ck_assert_uint_eq(send(f, UINT32_MAX, us(0)), FEED_WINDOW);
    ck_assert(!feed_has_more(&f->near));
    ck_assert_uint_eq(f->near.unsent, 10);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 3, us(1)));
    ck_assert_uint_eq(send(f, UINT32_MAX, us(1)), 3);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, FEED_WINDOW + 3, us(2)));
    ck_assert_uint_eq(send(f, UINT32_MAX, us(2)), 7);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, FEED_WINDOW + 10, us(3)));
    ck_assert(feed_is_idle(&f->near));
    fixture_close(f);
}
END_TEST

START_TEST(without_progress_everything_is_repeated_at_first_a_probe)
{
    struct fixture *f = fixture_open(0);
    owe(f, 0, 100, true);
    ck_assert_uint_eq(send(f, 100, us(10)), 100);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 20, us(500)));
    ck_assert_int_eq(feed_wake(&f->near, retry).ns, us(2500).ns); /* since the progress */
    ck_assert(!feed_tick(&f->near, retry, (cw_time){us(2500).ns - 1}));
    ck_assert(feed_tick(&f->near, retry, us(2500)));
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 20);
    ck_assert_uint_eq(send(f, UINT32_MAX, us(2500)), FEED_PROBE);
    ck_assert_uint_eq(f->near.sent, 20 + FEED_PROBE);
    ck_assert_uint_eq(f->near.top, 100); /* data is stamped with all that was ever sent */
    ck_assert(feed_tick(&f->near, retry, us(4500)));
    ck_assert_uint_eq(send(f, UINT32_MAX, us(4500)), FEED_PROBE);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 30, us(4600)));
    ck_assert_uint_eq(send(f, UINT32_MAX, us(4600)), 100 - 20 - FEED_PROBE); /* the rest */
    ck_assert_uint_eq(f->near.sent, 100);
    fixture_close(f);
}
END_TEST

START_TEST(a_late_ack_of_the_first_copies_skips_the_repeats)
{
    struct fixture *f = fixture_open(0);
    owe(f, 0, 50, true);
    owe(f, 0, 5, false);
    owe(f, 50, 1, true);
    ck_assert_uint_eq(send(f, 51, us(0)), 51);
    ck_assert(feed_tick(&f->near, retry, us(2000)));
    ck_assert_uint_eq(send(f, 10, us(2000)), 10);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 50, us(2100)));
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 50);
    feed_sent(&f->near, us(2100));
    ck_assert_uint_eq(f->near.sent, 51);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 51, us(2200)));
    ck_assert(feed_is_idle(&f->near));
    fixture_close(f);
}
END_TEST

START_TEST(acks_of_what_was_never_sent_are_refused)
{
    struct fixture *f = fixture_open(0);
    owe(f, 0, 10, true);
    ck_assert_uint_eq(send(f, 5, us(0)), 5);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 3, us(1)));
    struct feed before = f->near;
    ck_assert(!feed_acked(&f->near, &f->flood, LINK, 6, us(2)));
    ck_assert(!feed_acked(&f->near, &f->flood, LINK, 0x7fffffff, us(2)));
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 3, us(2)));          /* again */
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 1, us(2)));          /* older */
    ck_assert(feed_acked(&f->near, &f->flood, LINK, UINT32_MAX, us(2))); /* much older */
    ck_assert_mem_eq(&before, &f->near, sizeof before);
    fixture_close(f);
}
END_TEST

START_TEST(the_floor_follows_the_acks_and_what_is_not_owed)
{
    struct fixture *f = fixture_open(0);
    owe(f, 0, 4, true);
    owe(f, 0, 4, false);
    owe(f, 0, 1, true);
    ck_assert_uint_eq(feed_floor(&f->near, &f->flood), 1);
    ck_assert_uint_eq(send(f, 4, us(0)), 4);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 2, us(1)));
    ck_assert_uint_eq(feed_floor(&f->near, &f->flood), 3);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 4, us(1)));
    ck_assert_uint_eq(feed_floor(&f->near, &f->flood), 5); /* one is owed further on */
    flood_trim(&f->flood, 5);
    ck_assert_uint_eq(send(f, 4, us(2)), 1);
    ck_assert(feed_acked(&f->near, &f->flood, LINK, 5, us(3)));
    owe(f, 0, 8, false);
    ck_assert_uint_eq(feed_floor(&f->near, &f->flood), 18);
    flood_trim(&f->flood, 18);
    owe(f, 99, 1, true);
    ck_assert_uint_eq(feed_peek(&f->near, &f->flood, LINK)->digest, 99);
    fixture_close(f);
}
END_TEST

START_TEST(only_the_next_in_order_is_received_and_an_ack_is_owed_either_way)
{
    struct fixture *f = fixture_open(0);
    ck_assert(!feed_receive(&f->far, 2, us(700)));
    ck_assert_int_eq(f->far.ack_at.ns, us(700).ns);
    ck_assert(feed_receive(&f->far, 1, us(900)));
    ck_assert_int_eq(f->far.ack_at.ns, us(700).ns); /* the earlier promise holds */
    ck_assert(!feed_receive(&f->far, 1, us(950)));
    ck_assert(feed_receive(&f->far, 2, us(960)));
    feed_ack_left(&f->far);
    ck_assert_int_eq(f->far.ack_at.ns, CW_NEVER.ns);
    ck_assert_uint_eq(f->far.received, 2);
    fixture_close(f);
}
END_TEST

START_TEST(the_gate_compares_low_halves)
{
    static const struct {
        uint32_t received;
        uint16_t position;
        bool knows;
    } cases[] = {
        {0, 0, true},           {5, 5, true},           {5, 4, true},       {5, 6, false},
        {0xffff, 0xffff, true}, {0xffff, 0, false},     {0x10000, 0, true}, {0x10000, 0xffff, true},
        {0x1fffe, 2, false},    {0xffffffff, 0, false}, {0, 0xffff, true},  {5, 5 + FEED_WINDOW, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct feed feed = {.received = cases[i].received, .running = true};
        ck_assert_msg(feed_knows(&feed, cases[i].position) == cases[i].knows, "case %zu", i);
    }
}
END_TEST

/* Numbers from `first` on, over a link that loses every third frame or so: everything owed, once, in order. */
static void soak(uint32_t first, uint64_t seed)
{
    struct fixture *f = fixture_open(first);
    struct prng prng = prng_stream(seed, 0, 0);
    uint64_t made = 0, got = 0;
    cw_time now = us(0);
    while (got < 6000) {
        now = cw_time_add(now, CW_US(prng_below(&prng, 300)));
        if (f->flood.end - f->flood.first > LIMIT / 2) {
            flood_trim(&f->flood, feed_floor(&f->near, &f->flood));
        }
        unsigned fresh = (unsigned)prng_below(&prng, 40);
        if (made < 6000 && f->flood.end - f->flood.first < LIMIT - 80) {
            owe(f, 0, (unsigned)prng_below(&prng, 40), false);
            owe(f, made, fresh, true);
            made += fresh;
        }
        (void)feed_tick(&f->near, retry, now);
        bool lost = prng_chance(&prng, 1, 3);
        for (unsigned i = 0; i < 32; i++) {
            const struct flood_entry *entry = feed_peek(&f->near, &f->flood, LINK);
            if (entry == NULL) {
                break;
            }
            uint64_t what = entry->digest;
            feed_sent(&f->near, now);
            if (f->near.sent - f->near.acked > FEED_WINDOW) {
                ck_abort_msg("window");
            }
            if (!lost && feed_receive(&f->far, f->near.sent, now)) {
                if (what != got) {
                    ck_abort_msg("item %llu came as %llu", (unsigned long long)got, (unsigned long long)what);
                }
                got++;
            }
        }
        if (prng_chance(&prng, 1, 2)) {
            ck_assert(feed_acked(&f->near, &f->flood, LINK, f->far.received, now));
        }
    }
    ck_assert_uint_eq(f->far.received, (uint32_t)(first + got));
    fixture_close(f);
}

START_TEST(everything_arrives_once_and_in_order_over_a_lossy_link)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        soak(0, seed);
    }
}
END_TEST

START_TEST(and_across_the_wrap_of_the_numbers)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        soak(UINT32_MAX - 3000, seed);
    }
}
END_TEST

START_TEST(nothing_is_owed_to_a_feed_that_does_not_run)
{
    struct feed feed;
    feed_stop(&feed);
    feed_owe(&feed);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_feed_at_rest),
    SUITE_TEST(items_are_numbered_from_one_and_what_is_not_owed_takes_no_number),
    SUITE_TEST(what_is_struck_out_before_it_was_sent_takes_no_number),
    SUITE_TEST(the_window_bounds_what_is_under_way),
    SUITE_TEST(without_progress_everything_is_repeated_at_first_a_probe),
    SUITE_TEST(a_late_ack_of_the_first_copies_skips_the_repeats),
    SUITE_TEST(acks_of_what_was_never_sent_are_refused),
    SUITE_TEST(the_floor_follows_the_acks_and_what_is_not_owed),
    SUITE_TEST(only_the_next_in_order_is_received_and_an_ack_is_owed_either_way),
    SUITE_TEST(the_gate_compares_low_halves),
    SUITE_TEST(everything_arrives_once_and_in_order_over_a_lossy_link),
    SUITE_TEST(and_across_the_wrap_of_the_numbers),
    SUITE_ABORTS(nothing_is_owed_to_a_feed_that_does_not_run),
};

SUITE_MAIN("feed", tests)
