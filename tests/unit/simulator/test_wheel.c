/* SPDX-License-Identifier: Apache-2.0 */
/* The timing wheel against a list that is searched from end to end. */
#include "simulator/wheel.h"

#include "base/prng.h"
#include "suite.h"

#include <string.h>

enum { MOST = 4096 };

/* All that is queued, in no order. */
struct list {
    struct wheel_event event[MOST];
    uint32_t count;
    uint64_t sequence;
};

static void list_put(struct list *l, int64_t at, uint32_t order, void *what)
{
    l->event[l->count++] = (struct wheel_event){.at_ns = at, .order = order, .sequence = l->sequence++, .what = what};
}

static bool precedes(const struct wheel_event *a, const struct wheel_event *b)
{
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    return a->order != b->order ? a->order < b->order : a->sequence < b->sequence;
}

static bool list_take(struct list *l, int64_t until, struct wheel_event *out)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < l->count; i++) {
        first = precedes(&l->event[i], &l->event[first]) ? i : first;
    }
    if (l->count == 0 || l->event[first].at_ns > until) {
        return false;
    }
    *out = l->event[first];
    l->event[first] = l->event[--l->count];
    return true;
}

static void take_both(struct wheel *w, struct list *l, int64_t until, int64_t *now)
{
    struct wheel_event got = {.at_ns = -1}, want = {.at_ns = -2};
    bool some = wheel_take(w, (cw_time){until}, &got), expected = list_take(l, until, &want);
    if (some != expected) {
        ck_abort_msg("one has an event until %lld and the other has not", (long long)until);
    }
    if (some && (got.at_ns != want.at_ns || got.order != want.order || got.what != want.what)) {
        ck_abort_msg("at %lld order %x, expected at %lld order %x", (long long)got.at_ns, got.order,
                     (long long)want.at_ns, want.order);
    }
    *now = some ? got.at_ns : *now;
}

/* How far ahead an event is put: the same instant, the open bucket, near, around the horizon, far. */
static int64_t ahead(struct prng *p, int64_t horizon)
{
    switch (prng_below(p, 8)) {
    case 0:
        return 0;
    case 1:
        return (int64_t)prng_below(p, 16);
    case 2:
        return horizon - 2 + (int64_t)prng_below(p, 5);
    case 3:
        return (int64_t)prng_below(p, (uint64_t)horizon * 100);
    default:
        return (int64_t)prng_below(p, (uint64_t)horizon);
    }
}

static bool is_of_server(void *context, const struct wheel_event *e)
{
    return EVENT_SERVER(e->order) == *(cw_server *)context;
}

static uint32_t list_sweep(struct list *l, cw_server s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        if (!is_of_server(&s, &l->event[i])) {
            l->event[kept++] = l->event[i];
        }
    }
    uint32_t removed = l->count - kept;
    l->count = kept;
    return removed;
}

static void compare(uint64_t seed, int64_t horizon, int64_t gap)
{
    static struct list list;
    static char things[64];
    struct prng p = prng_stream(seed, 0, 1);
    struct wheel w;
    int64_t now = 0;
    list.count = 0;
    ck_assert_int_eq(wheel_open(&w, CW_NS(horizon), CW_NS(gap)), 0);
    for (int step = 0; step < 20000; step++) {
        uint64_t what = prng_below(&p, 100);
        if (what == 0) {
            cw_server s = (cw_server)prng_below(&p, 4);
            if (wheel_sweep(&w, is_of_server, &s) != list_sweep(&list, s)) {
                ck_abort_msg("sweeping server %u removed something else", s);
            }
        } else if (what < 50 && list.count < 300) {
            int64_t at = now + ahead(&p, horizon);
            uint32_t order = EVENT_ORDER(prng_below(&p, 4), prng_below(&p, 19));
            void *thing = &things[prng_below(&p, sizeof things)];
            wheel_put(&w, (cw_time){at}, order, thing);
            list_put(&list, at, order, thing);
        } else {
            int64_t until = prng_chance(&p, 1, 4) ? now + ahead(&p, horizon) : INT64_MAX;
            take_both(&w, &list, until, &now);
        }
        if (wheel_count(&w) != list.count) {
            ck_abort_msg("%u events, expected %u", wheel_count(&w), list.count);
        }
    }
    while (list.count > 0) {
        take_both(&w, &list, INT64_MAX, &now);
    }
    take_both(&w, &list, INT64_MAX, &now);
    wheel_close(&w);
}

START_TEST(order_is_that_of_a_list)
{
    static const int64_t horizons[] = {1, 100, 5000, 1000 * 1000, INT64_C(1) << 40};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++) {
            compare(seed, horizons[i], 0);
            compare(seed, horizons[i], horizons[i] / 64);
            compare(seed, horizons[i], horizons[i] * 4);
        }
    }
}
END_TEST

/* Thousands at one instant, the case for which a bucket is sorted by merging. */
START_TEST(ties_are_taken_by_order_then_insertion)
{
    enum { SERVERS = 1000, EACH = 3 };
    static int marks[SERVERS * EACH];
    struct wheel w;
    struct prng p = prng_stream(1, 0, 2);
    static uint32_t server[SERVERS * EACH];
    for (uint32_t i = 0; i < SERVERS * EACH; i++) {
        server[i] = i % SERVERS;
    }
    prng_shuffle(&p, server, SERVERS * EACH, sizeof *server);
    for (int64_t at = 0; at < 1000 * 1000; at += 500) {
        ck_assert_int_eq(wheel_open(&w, CW_NS(1000), CW_NS(10)), 0);
        for (uint32_t i = 0; i < SERVERS * EACH; i++) {
            wheel_put(&w, (cw_time){at}, EVENT_ORDER(server[i], EVENT_WAKE), &marks[i]);
        }
        struct wheel_event before = {.what = NULL}, e;
        uint32_t count = 0;
        for (; wheel_take(&w, (cw_time){at}, &e); count++) {
            bool same = count > 0 && before.order == e.order;
            if (EVENT_SERVER(e.order) != count / EACH || (same && (int *)before.what >= (int *)e.what)) {
                ck_abort_msg("event %u is of server %u", count, EVENT_SERVER(e.order));
            }
            before = e;
        }
        ck_assert_uint_eq(count, SERVERS * EACH);
        wheel_close(&w);
        at = at == 500 ? 999 * 1000 : at; /* due at once, in a bucket, and far */
    }
}
END_TEST

START_TEST(the_world_comes_before_servers_and_frames_before_wakes)
{
    struct wheel w;
    struct wheel_event e;
    static const uint32_t order[] = {
        EVENT_WORLD,
        EVENT_ORDER(0, EVENT_POLL + CW_LINK_XP),
        EVENT_ORDER(0, EVENT_POLL + CW_LINK_ZM),
        EVENT_ORDER(0, EVENT_FRAME + CW_LINK_XP),
        EVENT_ORDER(0, EVENT_FRAME + CW_LINK_ZM),
        EVENT_ORDER(0, EVENT_WORK),
        EVENT_ORDER(0, EVENT_OFFLOAD),
        EVENT_ORDER(0, EVENT_WAKE),
        EVENT_ORDER(1, EVENT_POLL),
        EVENT_ORDER(EVENT_SERVERS_MAX - 2, EVENT_WAKE),
    };
    enum { COUNT = sizeof order / sizeof *order };
    ck_assert_int_eq(wheel_open(&w, CW_NS(1000), CW_NS(10)), 0);
    for (unsigned i = COUNT; i-- > 0;) {
        wheel_put(&w, (cw_time){700}, order[i], NULL);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        ck_assert(wheel_take(&w, CW_NEVER, &e));
        ck_assert_uint_eq(e.order, order[i]);
    }
    ck_assert_uint_eq(EVENT_SERVER(order[COUNT - 1]), EVENT_SERVERS_MAX - 2);
    ck_assert_uint_eq(EVENT_KIND(order[COUNT - 1]), EVENT_WAKE);
    wheel_close(&w);
}
END_TEST

/* A world of constant size allocates nothing more. */
START_TEST(events_are_used_again)
{
    struct wheel w;
    struct wheel_event e;
    struct prng p = prng_stream(1, 0, 3);
    ck_assert_int_eq(sizeof(struct wheel_event), 32);
    ck_assert_int_eq(wheel_open(&w, CW_US(100), CW_NS(50)), 0);
    for (int i = 0; i < 5000; i++) {
        wheel_put(&w, (cw_time){(int64_t)prng_below(&p, 100000)}, EVENT_ORDER(i, 0), NULL);
    }
    size_t bytes = 0;
    for (int i = 0; i < 1000000; i++) {
        if (!wheel_take(&w, CW_NEVER, &e)) {
            ck_abort_msg("nothing is left");
        }
        wheel_put(&w, (cw_time){e.at_ns + 1 + (int64_t)prng_below(&p, 90000)}, e.order, NULL);
        bytes = i == 100000 ? wheel_bytes(&w) : bytes;
    }
    ck_assert_uint_eq(wheel_bytes(&w), bytes);
    ck_assert_uint_eq(wheel_count(&w), 5000);
    wheel_close(&w);
}
END_TEST

START_TEST(what_is_seen_ahead_is_in_the_wheel)
{
    struct wheel w;
    struct wheel_event e;
    int thing;
    unsigned seen = 0;
    struct prng p = prng_stream(9, 0, 0);
    ck_assert_int_eq(wheel_open(&w, CW_US(100), CW_NS(50)), 0);
    ck_assert_ptr_null(wheel_ahead(&w, 0));
    for (unsigned i = 0; i < 200; i++) {
        wheel_put(&w, (cw_time){100 + (int64_t)prng_below(&p, 90000)}, EVENT_ORDER(i, EVENT_WAKE), &thing);
    }
    while (wheel_take(&w, CW_NEVER, &e)) {
        if (prng_chance(&p, 1, 2)) {
            wheel_put(&w, (cw_time){e.at_ns + (int64_t)prng_below(&p, 100000)}, e.order, &thing);
        }
        for (unsigned ahead = 0; ahead <= WHEEL_AHEAD; ahead++) {
            const struct wheel_event *next = wheel_ahead(&w, ahead);
            if (next != NULL) {
                seen++;
                ck_assert_uint_lt(ahead, WHEEL_AHEAD);
                ck_assert_int_ge(next->at_ns, e.at_ns);
                ck_assert_ptr_eq(next->what, &thing);
            }
        }
    }
    ck_assert_uint_gt(seen, 200);
    wheel_close(&w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(order_is_that_of_a_list),
    SUITE_TEST(ties_are_taken_by_order_then_insertion),
    SUITE_TEST(the_world_comes_before_servers_and_frames_before_wakes),
    SUITE_TEST(events_are_used_again),
    SUITE_TEST(what_is_seen_ahead_is_in_the_wheel),
};
SUITE_MAIN("simulator/wheel", tests)
