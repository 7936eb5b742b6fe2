/* SPDX-License-Identifier: Apache-2.0 */
#include "tcp_model.h"

enum { FIRST_WINDOW = 10, LEAST_WINDOW = 2 };
static const cw_span first_timeout = CW_SEC(1), least_timeout = CW_MS(200), longest_timeout = CW_SEC(60),
                     ack_delay = CW_MS(40);

void tcp_begin(struct tcp_model *c, uint32_t total)
{
    *c = (struct tcp_model){.total = total,
                            .window = FIRST_WINDOW,
                            .threshold = UINT32_MAX,
                            .timeout = first_timeout,
                            .deadline = CW_NEVER,
                            .ack_due = CW_NEVER};
}

static uint32_t bits(uint64_t set)
{
    return (uint32_t)__builtin_popcountll(set);
}

/* ---- The sender -------------------------------------------------------------------------------------------------- */

static uint64_t all_sent(const struct tcp_model *c)
{
    uint32_t n = c->next - c->first;
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Segments that are believed to be on their way. */
static uint32_t flight(const struct tcp_model *c)
{
    return bits(all_sent(c) & ~c->came & ~(c->lost & ~c->again));
}

static void arm(struct tcp_model *c, cw_time now)
{
    c->deadline = c->first == c->next ? CW_NEVER : cw_time_add(now, c->timeout);
}

static void send(struct tcp_model *c, uint32_t at, uint32_t count, const struct tcp_send *to, cw_time now)
{
    bool reduced = c->say_reduced && at == c->next;
    for (uint32_t i = at; i < at + count; i++) {
        c->sent[i % TCP_WINDOW] = now;
    }
    if (at == c->next) {
        c->say_reduced = false;
        c->next += count;
    }
    if (c->deadline.ns == CW_NEVER.ns) {
        arm(c, now);
    }
    to->data(to->context, at, count, reduced);
}

void tcp_send_more(struct tcp_model *c, const struct tcp_send *to, cw_time now)
{
    for (uint64_t owed; (owed = c->lost & ~c->again & ~c->came) != 0 && flight(c) < c->window;) {
        unsigned bit = (unsigned)__builtin_ctzll(owed);
        c->again |= UINT64_C(1) << bit;
        c->counts.again++;
        send(c, c->first + bit, 1, to, now);
    }
    uint32_t in_flight = flight(c);
    while (in_flight < c->window && c->next < c->total && c->next - c->first < TCP_WINDOW) {
        uint32_t count = c->window - in_flight, room = TCP_WINDOW - (c->next - c->first);
        count = count < room ? count : room;
        count = count < TCP_BURST ? count : TCP_BURST;
        count = count < c->total - c->next ? count : c->total - c->next;
        send(c, c->next, count, to, now);
        in_flight += count;
    }
}

static void reduce(struct tcp_model *c)
{
    uint32_t half = c->window / 2;
    c->threshold = half > LEAST_WINDOW ? half : LEAST_WINDOW;
    c->window = c->threshold;
    c->grown = 0;
    c->counts.reduced++;
}

static void measure(struct tcp_model *c, cw_span trip)
{
    if (c->round_trip.ns == 0) {
        c->round_trip = trip;
        c->deviation = CW_NS(trip.ns / 2);
        c->least = trip;
    } else {
        int64_t off = trip.ns > c->round_trip.ns ? trip.ns - c->round_trip.ns : c->round_trip.ns - trip.ns;
        c->deviation.ns += (off - c->deviation.ns) / 4;
        c->round_trip.ns += (trip.ns - c->round_trip.ns) / 8;
        c->least = trip.ns < c->least.ns ? trip : c->least;
    }
}

static void set_timeout(struct tcp_model *c)
{
    int64_t timeout = c->round_trip.ns + 4 * c->deviation.ns;
    timeout = timeout > least_timeout.ns ? timeout : least_timeout.ns;
    c->timeout = c->round_trip.ns == 0 ? first_timeout : CW_NS(timeout);
}

/* What was sent well before something that has come, and has not come, is lost (RACK). */
static void find_lost(struct tcp_model *c, cw_time now)
{
    uint64_t missing = all_sent(c) & ~c->came & ~(c->lost & ~c->again);
    for (; missing != 0; missing &= missing - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(missing);
        uint64_t one = UINT64_C(1) << bit;
        cw_time sent = c->sent[(c->first + bit) % TCP_WINDOW];
        bool before = cw_time_before(sent, c->newest);
        if (!before || cw_time_since(now, sent).ns < c->round_trip.ns + c->least.ns / 4) {
            continue;
        }
        c->lost |= one;
        c->again &= ~one;
        if (!c->recovering) {
            reduce(c);
            c->recovering = true;
            c->recover = c->next;
        }
    }
}

/* Segments in `set` have come for the first time as far as we know: when were they sent? */
static void note_came(struct tcp_model *c, uint64_t set, cw_time now)
{
    cw_time last = {0};
    for (; set != 0; set &= set - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(set);
        cw_time sent = c->sent[(c->first + bit) % TCP_WINDOW];
        bool once = (c->again >> bit & 1) == 0; /* of a segment that was sent twice nobody knows which one came */
        last = once && cw_time_before(last, sent) ? sent : last;
        c->newest = cw_time_before(c->newest, sent) ? sent : c->newest;
    }
    if (last.ns > 0) {
        measure(c, cw_time_since(now, last));
    }
}

static void grow(struct tcp_model *c, uint32_t count)
{
    if (c->window < c->threshold) {
        c->window += count;
    } else {
        c->grown += count;
        while (c->grown >= c->window) {
            c->grown -= c->window;
            c->window++;
        }
    }
    c->window = c->window < TCP_WINDOW ? c->window : TCP_WINDOW;
}

void tcp_ack_came(struct tcp_model *c, uint32_t expected, uint64_t beyond, bool echo, const struct tcp_send *to,
                  cw_time now)
{
    if (expected < c->first || expected > c->next) {
        return; /* overtaken by a later one */
    }
    uint32_t count = expected - c->first;
    uint64_t told = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    bool limited = flight(c) + count >= c->window;
    told |= count >= 64 ? 0 : beyond << count;
    note_came(c, told & ~c->came & all_sent(c), now);
    c->came = (c->came | told) & all_sent(c);
    c->came = count >= 64 ? 0 : c->came >> count;
    c->lost = count >= 64 ? 0 : c->lost >> count;
    c->again = count >= 64 ? 0 : c->again >> count;
    c->first = expected;
    if (c->recovering && c->first >= c->recover) {
        c->recovering = false;
    }
    if (echo && c->first > c->reduced_at && !c->recovering) {
        reduce(c);
        c->reduced_at = c->next;
        c->say_reduced = true;
    } else if (count > 0 && (!c->recovering || c->window < c->threshold) && limited) {
        grow(c, count);
    }
    if (count > 0) {
        set_timeout(c);
        arm(c, now);
    }
    find_lost(c, now);
    tcp_send_more(c, to, now);
}

void tcp_sender_tick(struct tcp_model *c, const struct tcp_send *to, cw_time now)
{
    if (c->first == c->next) {
        return;
    }
    if (!cw_time_before(now, c->deadline)) {
        c->counts.timeouts++;
        reduce(c);
        c->window = 1;
        c->recovering = true;
        c->recover = c->next;
        c->lost = all_sent(c) & ~c->came;
        c->again = 0;
        c->timeout = CW_NS(2 * c->timeout.ns < longest_timeout.ns ? 2 * c->timeout.ns : longest_timeout.ns);
        arm(c, now);
    } else {
        find_lost(c, now);
    }
    tcp_send_more(c, to, now);
}

/* ---- The receiver ------------------------------------------------------------------------------------------------ */

static void acknowledge(struct tcp_model *c, const struct tcp_send *to)
{
    c->unacknowledged = 0;
    c->ack_due = CW_NEVER;
    to->ack(to->context, c->expected, c->beyond, c->echo);
}

void tcp_data_came(struct tcp_model *c, uint32_t at, uint32_t count, bool marked, bool reduced,
                   const struct tcp_send *to, cw_time now)
{
    bool next = at == c->expected && c->beyond == 0;
    for (uint32_t i = at; i < at + count; i++) {
        if (i >= c->expected && i - c->expected < 64) {
            c->beyond |= UINT64_C(1) << (i - c->expected);
        }
    }
    unsigned whole = c->beyond == UINT64_MAX ? 64 : (unsigned)__builtin_ctzll(~c->beyond);
    c->expected += whole;
    c->beyond = whole >= 64 ? 0 : c->beyond >> whole;
    c->echo = marked || (c->echo && !reduced);
    c->unacknowledged += count;
    if (!next || marked || c->unacknowledged >= 2) {
        acknowledge(c, to);
    } else if (c->ack_due.ns == CW_NEVER.ns) {
        c->ack_due = cw_time_add(now, ack_delay);
    }
}

void tcp_receiver_tick(struct tcp_model *c, const struct tcp_send *to, cw_time now)
{
    if (!cw_time_before(now, c->ack_due)) {
        acknowledge(c, to);
    }
}
