/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/adjacency.h"

#include "suite.h"

#include <string.h>

static const struct adjacency_timing timing = {
    .dead = {50000000},
    .limit = {500000000},
    .damp = {100000000},
    .damp_max = {1000000000},
};

enum { OURS = 0x10001, NEXT = 0x20002, THEIRS = 0x30003, OTHERS = 0x40004, INCARNATION = 77 };

static cw_time ms(int64_t n)
{
    return (cw_time){n * 1000000};
}

static unsigned step(struct adjacency *a, enum adjacency_event event, cw_time now)
{
    return adjacency_step(a, event, a->session == OURS ? NEXT : OURS, &timing, now);
}

/* A link in this state, by the ordinary way; whoever is in it heard the peer at now. */
static struct adjacency in_state(enum adjacency_state state, cw_time now)
{
    static const enum adjacency_event way[ADJ_STATES][5] = {
        [ADJ_NO_CARRIER] = {0},
        [ADJ_DAMPED] = {ADJ_CARRIER_UP, ADJ_ANSWERED, ADJ_FOUND_NEW, ADJ_CLOSED},
        [ADJ_DOWN] = {ADJ_CARRIER_UP},
        [ADJ_MISWIRED] = {ADJ_CARRIER_UP, ADJ_WRONG},
        [ADJ_INIT] = {ADJ_CARRIER_UP, ADJ_HEARD},
        [ADJ_EXCHANGE] = {ADJ_CARRIER_UP, ADJ_HEARD, ADJ_ANSWERED},
        [ADJ_PENDING] = {ADJ_CARRIER_UP, ADJ_HEARD, ADJ_ANSWERED, ADJ_FOUND_NEW},
        [ADJ_UP] = {ADJ_CARRIER_UP, ADJ_HEARD, ADJ_ANSWERED, ADJ_FOUND_KNOWN},
    };
    struct adjacency a;
    adjacency_init(&a, OURS);
    for (const enum adjacency_event *e = way[state]; *e != ADJ_NOTHING; e++) {
        (void)step(&a, *e, now);
        adjacency_note(&a, THEIRS, INCARNATION, now);
    }
    ck_assert_int_eq(a.state, state);
    return a;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

struct row {
    enum adjacency_state state;
    enum adjacency_event event;
    enum adjacency_state next;
    unsigned actions;
};

enum { E = ADJ_END, B = ADJ_BEGIN, H = ADJ_HELLO };

/* All that happens; whatever is not here changes nothing. */
static const struct row rows[] = {
    {ADJ_NO_CARRIER, ADJ_CARRIER_UP, ADJ_DOWN, H},
    {ADJ_DAMPED, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, 0},
    {ADJ_DAMPED, ADJ_RESTED, ADJ_DOWN, H},
    {ADJ_DOWN, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, 0},
    {ADJ_DOWN, ADJ_HEARD, ADJ_INIT, H},
    {ADJ_DOWN, ADJ_ANSWERED, ADJ_EXCHANGE, B | H},
    {ADJ_DOWN, ADJ_WRONG, ADJ_MISWIRED, 0},
    {ADJ_DOWN, ADJ_CLOSED, ADJ_DOWN, 0},
    {ADJ_MISWIRED, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, 0},
    {ADJ_MISWIRED, ADJ_HEARD, ADJ_INIT, H},
    {ADJ_MISWIRED, ADJ_ANSWERED, ADJ_EXCHANGE, B | H},
    {ADJ_MISWIRED, ADJ_SILENT, ADJ_DOWN, 0},
    {ADJ_MISWIRED, ADJ_CLOSED, ADJ_DOWN, 0},
    {ADJ_INIT, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, 0},
    {ADJ_INIT, ADJ_HEARD, ADJ_INIT, 0},
    {ADJ_INIT, ADJ_ANSWERED, ADJ_EXCHANGE, B | H},
    {ADJ_INIT, ADJ_REPLACED, ADJ_INIT, H},
    {ADJ_INIT, ADJ_WRONG, ADJ_MISWIRED, 0},
    {ADJ_INIT, ADJ_GOODBYE, ADJ_DOWN, 0},
    {ADJ_INIT, ADJ_LEFT, ADJ_DOWN, 0},
    {ADJ_INIT, ADJ_SILENT, ADJ_DOWN, 0},
    {ADJ_INIT, ADJ_CLOSED, ADJ_DOWN, H},
    {ADJ_EXCHANGE, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, E},
    {ADJ_EXCHANGE, ADJ_REPLACED, ADJ_INIT, E | H},
    {ADJ_EXCHANGE, ADJ_WRONG, ADJ_MISWIRED, E | H},
    {ADJ_EXCHANGE, ADJ_GOODBYE, ADJ_DOWN, E | H},
    {ADJ_EXCHANGE, ADJ_LEFT, ADJ_DOWN, E | H},
    {ADJ_EXCHANGE, ADJ_SILENT, ADJ_DOWN, E | H},
    {ADJ_EXCHANGE, ADJ_FOUND_NEW, ADJ_PENDING, H},
    {ADJ_EXCHANGE, ADJ_FOUND_KNOWN, ADJ_UP, H},
    {ADJ_EXCHANGE, ADJ_CLOSED, ADJ_DOWN, E | H},
    /* Those that end an announced link are flaps: the link rests before it is down. But for an orderly leave. */
    {ADJ_PENDING, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, E},
    {ADJ_PENDING, ADJ_REPLACED, ADJ_DAMPED, E | H},
    {ADJ_PENDING, ADJ_WRONG, ADJ_MISWIRED, E | H},
    {ADJ_PENDING, ADJ_GOODBYE, ADJ_DAMPED, E | H},
    {ADJ_PENDING, ADJ_LEFT, ADJ_DOWN, E | H},
    {ADJ_PENDING, ADJ_SILENT, ADJ_DAMPED, E | H},
    {ADJ_PENDING, ADJ_FOUND_KNOWN, ADJ_UP, H},
    {ADJ_PENDING, ADJ_ADMITTED, ADJ_UP, H},
    {ADJ_PENDING, ADJ_OVERDUE, ADJ_DAMPED, E | H},
    {ADJ_PENDING, ADJ_CLOSED, ADJ_DAMPED, E | H},
    {ADJ_UP, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, E},
    {ADJ_UP, ADJ_REPLACED, ADJ_DAMPED, E | H},
    {ADJ_UP, ADJ_WRONG, ADJ_MISWIRED, E | H},
    {ADJ_UP, ADJ_GOODBYE, ADJ_DAMPED, E | H},
    {ADJ_UP, ADJ_LEFT, ADJ_DOWN, E | H},
    {ADJ_UP, ADJ_SILENT, ADJ_DAMPED, E | H},
    {ADJ_UP, ADJ_DOUBTED, ADJ_PENDING, H},
    {ADJ_UP, ADJ_OVERDUE, ADJ_DAMPED, E | H},
    {ADJ_UP, ADJ_CLOSED, ADJ_DAMPED, E | H},
};

static struct row row_of(enum adjacency_state state, enum adjacency_event event)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].state == state && rows[i].event == event) {
            return rows[i];
        }
    }
    return (struct row){state, event, state, 0};
}

START_TEST(every_state_and_every_event)
{
    for (enum adjacency_state state = ADJ_NO_CARRIER; state < ADJ_STATES; state++) {
        for (enum adjacency_event event = ADJ_NOTHING; event < ADJ_EVENTS; event++) {
            /* Damping ends when RESTED says so, no sooner: the rest of in_state() is 100 ms. */
            cw_time now = event == ADJ_RESTED ? ms(100) : ms(1);
            struct adjacency a = in_state(state, ms(0));
            struct row want = row_of(state, event);
            uint32_t before = a.session;
            unsigned actions = step(&a, event, now);
            if (a.state != want.next || actions != want.actions) {
                ck_abort_msg("%s, %s: %s %#x, not %s %#x", adjacency_state_name(state), adjacency_event_name(event),
                             adjacency_state_name(a.state), actions, adjacency_state_name(want.next), want.actions);
            }
            ck_assert((a.session != before) == ((actions & ADJ_END) != 0));
            ck_assert(a.peer_session ==
                      (state >= ADJ_INIT && a.state >= ADJ_INIT ? THEIRS : 0)); /* noted after the step */
            ck_assert((a.announced.ns != CW_NEVER.ns) == (a.state >= ADJ_PENDING));
            ck_assert(adjacency_is_two_way(&a) == (a.state >= ADJ_EXCHANGE));
        }
    }
}
END_TEST

START_TEST(a_session_whose_low_half_is_the_old_one_is_refused)
{
    struct adjacency a = in_state(ADJ_UP, ms(0));
    (void)adjacency_step(&a, ADJ_CLOSED, 0x70000 | (uint16_t)OURS, &timing, ms(1));
}
END_TEST

START_TEST(a_session_of_zero_is_refused)
{
    struct adjacency a;
    adjacency_init(&a, 0);
}
END_TEST

/* ---- What a hello means ------------------------------------------------------------------------------------------ */

START_TEST(hellos_are_judged_by_state)
{
    static const struct {
        enum adjacency_state state;
        uint32_t session, heard;
        uint64_t incarnation;
        enum adjacency_event want;
    } cases[] = {
        {ADJ_DOWN, THEIRS, 0, INCARNATION, ADJ_HEARD},
        {ADJ_DOWN, THEIRS, NEXT, INCARNATION, ADJ_HEARD}, /* of a session of ours that is over */
        {ADJ_DOWN, THEIRS, OURS, INCARNATION, ADJ_ANSWERED},
        {ADJ_MISWIRED, THEIRS, 0, INCARNATION, ADJ_HEARD},
        {ADJ_MISWIRED, THEIRS, OURS, INCARNATION, ADJ_ANSWERED},
        {ADJ_INIT, THEIRS, 0, INCARNATION, ADJ_HEARD},
        {ADJ_INIT, OTHERS, 0, INCARNATION, ADJ_REPLACED},
        {ADJ_INIT, THEIRS, 0, INCARNATION + 1, ADJ_REPLACED},
        {ADJ_INIT, THEIRS, OURS, INCARNATION, ADJ_ANSWERED},
        {ADJ_INIT, OTHERS, OURS, INCARNATION, ADJ_ANSWERED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct adjacency a = in_state(cases[i].state, ms(0));
        ck_assert_int_eq(adjacency_judge(&a, cases[i].session, cases[i].heard, cases[i].incarnation), cases[i].want);
    }
    for (enum adjacency_state state = ADJ_EXCHANGE; state < ADJ_STATES; state++) {
        struct adjacency a = in_state(state, ms(0));
        ck_assert_int_eq(adjacency_judge(&a, THEIRS, OURS, INCARNATION), ADJ_NOTHING);
        ck_assert_int_eq(adjacency_judge(&a, OTHERS, OURS, INCARNATION), ADJ_REPLACED);
        ck_assert_int_eq(adjacency_judge(&a, THEIRS, 0, INCARNATION), ADJ_REPLACED);
        ck_assert_int_eq(adjacency_judge(&a, THEIRS, NEXT, INCARNATION), ADJ_REPLACED);
        ck_assert_int_eq(adjacency_judge(&a, THEIRS, OURS, INCARNATION + 1), ADJ_REPLACED);
    }
}
END_TEST

START_TEST(nobody_is_noted_where_hellos_are_not_answered)
{
    static const enum adjacency_state deaf[] = {ADJ_NO_CARRIER, ADJ_DAMPED, ADJ_DOWN, ADJ_MISWIRED};
    for (size_t i = 0; i < sizeof deaf / sizeof *deaf; i++) {
        struct adjacency a = in_state(deaf[i], ms(0));
        adjacency_note(&a, OTHERS, INCARNATION, ms(3));
        ck_assert_uint_eq(a.peer_session, 0);
    }
    struct adjacency a = in_state(ADJ_INIT, ms(0));
    adjacency_note(&a, OTHERS, INCARNATION + 1, ms(3));
    ck_assert_uint_eq(a.peer_session, OTHERS);
    ck_assert_uint_eq(a.peer_incarnation, INCARNATION + 1);
    ck_assert_int_eq(a.heard.ns, ms(3).ns);
}
END_TEST

/* ---- Time -------------------------------------------------------------------------------------------------------- */

START_TEST(silence_is_due_after_dead_since_the_last_frame)
{
    static const enum adjacency_state states[] = {ADJ_MISWIRED, ADJ_INIT, ADJ_EXCHANGE, ADJ_PENDING, ADJ_UP};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        struct adjacency a = in_state(states[i], ms(0));
        adjacency_heard(&a, ms(7));
        ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(57).ns);
        ck_assert_int_eq(adjacency_due(&a, &timing, (cw_time){ms(57).ns - 1}), ADJ_NOTHING);
        ck_assert_int_eq(adjacency_due(&a, &timing, ms(57)), ADJ_SILENT);
    }
    static const enum adjacency_state calm[] = {ADJ_NO_CARRIER, ADJ_DOWN};
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++) {
        struct adjacency a = in_state(calm[i], ms(0));
        ck_assert_int_eq(adjacency_wake(&a, &timing).ns, CW_NEVER.ns);
        ck_assert_int_eq(adjacency_due(&a, &timing, ms(1000000)), ADJ_NOTHING);
    }
}
END_TEST

START_TEST(a_link_that_stays_announced_is_overdue_at_the_limit)
{
    for (enum adjacency_state state = ADJ_PENDING; state < ADJ_STATES; state++) {
        struct adjacency a = in_state(state, ms(10));
        adjacency_heard(&a, ms(500));
        ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(510).ns);
        ck_assert_int_eq(adjacency_due(&a, &timing, (cw_time){ms(510).ns - 1}), ADJ_NOTHING);
        ck_assert_int_eq(adjacency_due(&a, &timing, ms(510)), ADJ_OVERDUE);
        /* Up at both ends: the clock stops; no longer so: it starts anew. */
        adjacency_commit(&a, true, ms(505));
        ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(550).ns);
        adjacency_commit(&a, false, ms(506));
        adjacency_commit(&a, false, ms(507));
        ck_assert_int_eq(a.announced.ns, ms(506).ns);
    }
    /* From PENDING to UP and back the clock goes on. */
    struct adjacency a = in_state(ADJ_PENDING, ms(10));
    (void)step(&a, ADJ_ADMITTED, ms(20));
    (void)step(&a, ADJ_DOUBTED, ms(30));
    ck_assert_int_eq(a.announced.ns, ms(10).ns);
    struct adjacency exchange = in_state(ADJ_EXCHANGE, ms(0));
    adjacency_commit(&exchange, false, ms(1));
    ck_assert_int_eq(exchange.announced.ns, CW_NEVER.ns);
}
END_TEST

/* ---- Damping ----------------------------------------------------------------------------------------------------- */

/* Up and down again at now; the rest that follows. */
static int64_t flap_ms(struct adjacency *a, cw_time now)
{
    (void)step(a, ADJ_RESTED, now);
    (void)step(a, ADJ_ANSWERED, now);
    (void)step(a, ADJ_FOUND_NEW, now);
    ck_assert_int_eq(a->state, ADJ_PENDING);
    (void)step(a, ADJ_CLOSED, now);
    ck_assert_int_eq(a->state, ADJ_DAMPED);
    return cw_time_since(a->rest, now).ns / 1000000;
}

START_TEST(the_rest_doubles_up_to_its_cap)
{
    static const int64_t want[] = {100, 200, 400, 800, 1000, 1000};
    struct adjacency a = in_state(ADJ_DOWN, ms(0));
    cw_time now = ms(0);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        ck_assert_int_eq(flap_ms(&a, now), want[i]);
        ck_assert_int_eq(adjacency_wake(&a, &timing).ns, a.rest.ns);
        ck_assert_int_eq(adjacency_due(&a, &timing, (cw_time){a.rest.ns - 1}), ADJ_NOTHING);
        ck_assert_int_eq(adjacency_due(&a, &timing, a.rest), ADJ_RESTED);
        now = a.rest;
    }
    for (unsigned i = 0; i < 40; i++) {
        ck_assert_int_eq(flap_ms(&a, now), 1000);
        now = a.rest;
    }
    ck_assert_uint_eq(a.flaps, 31);
}
END_TEST

START_TEST(a_quiet_minute_halves_the_flaps)
{
    struct adjacency a = in_state(ADJ_DOWN, ms(0));
    cw_time now = ms(0);
    for (unsigned i = 0; i < 4; i++) {
        (void)flap_ms(&a, now);
        now = a.rest;
    }
    ck_assert_uint_eq(a.flaps, 4);
    struct adjacency soon = a, one = a, two = a, hour = a;
    ck_assert_uint_eq(adjacency_flaps(&a, cw_time_add(a.flapped, CW_NS(CW_SEC(60).ns - 1))), 4);
    ck_assert_uint_eq(adjacency_flaps(&a, cw_time_add(a.flapped, CW_SEC(60))), 2);
    ck_assert_uint_eq(adjacency_flaps(&a, cw_time_add(a.flapped, CW_SEC(3600))), 0);
    ck_assert_int_eq(flap_ms(&soon, cw_time_add(a.flapped, CW_NS(CW_SEC(60).ns - 1))), 1000);
    ck_assert_uint_eq(soon.flaps, 5);
    ck_assert_int_eq(flap_ms(&one, cw_time_add(a.flapped, CW_SEC(60))), 400);
    ck_assert_uint_eq(one.flaps, 3);
    ck_assert_int_eq(flap_ms(&two, cw_time_add(a.flapped, CW_SEC(120))), 200);
    ck_assert_int_eq(flap_ms(&hour, cw_time_add(a.flapped, CW_SEC(3600))), 100);
    ck_assert_uint_eq(hour.flaps, 1);
}
END_TEST

START_TEST(light_out_and_on_again_does_not_end_the_rest)
{
    struct adjacency a = in_state(ADJ_UP, ms(0));
    (void)step(&a, ADJ_CARRIER_DOWN, ms(10));
    ck_assert_int_eq(a.state, ADJ_NO_CARRIER);
    (void)step(&a, ADJ_CARRIER_UP, ms(20));
    ck_assert_int_eq(a.state, ADJ_DAMPED);
    ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(110).ns);
    (void)step(&a, ADJ_CARRIER_DOWN, ms(30));
    (void)step(&a, ADJ_CARRIER_UP, ms(110));
    ck_assert_int_eq(a.state, ADJ_DOWN);
}
END_TEST

START_TEST(an_exchange_that_fails_is_no_flap)
{
    struct adjacency a = in_state(ADJ_EXCHANGE, ms(0));
    (void)step(&a, ADJ_SILENT, ms(50));
    ck_assert_int_eq(a.state, ADJ_DOWN);
    ck_assert_uint_eq(a.flaps, 0);
}
END_TEST

START_TEST(an_orderly_leave_is_no_flap)
{
    struct adjacency a = in_state(ADJ_UP, ms(0));
    (void)step(&a, ADJ_LEFT, ms(50));
    ck_assert_int_eq(a.state, ADJ_DOWN);
    ck_assert_uint_eq(a.flaps, 0);
    ck_assert_int_eq(a.since.ns, ms(50).ns);
    (void)step(&a, ADJ_ANSWERED, ms(51)); /* back at once */
    ck_assert_int_eq(a.state, ADJ_EXCHANGE);
    ck_assert_int_eq(a.since.ns, ms(51).ns);
    (void)step(&a, ADJ_FOUND_NEW, ms(52));
    (void)step(&a, ADJ_GOODBYE, ms(53));
    ck_assert_uint_eq(a.flaps, 1);
    /* What earlier flaps asked for still holds. */
    struct adjacency flapped = in_state(ADJ_UP, ms(0));
    (void)step(&flapped, ADJ_CLOSED, ms(1));
    (void)step(&flapped, ADJ_RESTED, ms(101));
    (void)step(&flapped, ADJ_ANSWERED, ms(102));
    (void)step(&flapped, ADJ_FOUND_NEW, ms(103));
    (void)step(&flapped, ADJ_LEFT, ms(104));
    ck_assert_int_eq(flapped.state, ADJ_DOWN);
    ck_assert_uint_eq(flapped.flaps, 1);
}
END_TEST

START_TEST(a_rest_can_be_ordered)
{
    struct adjacency a = in_state(ADJ_EXCHANGE, ms(0));
    adjacency_rest(&a, ms(900));
    adjacency_rest(&a, ms(300)); /* the longer one holds */
    (void)step(&a, ADJ_CLOSED, ms(1));
    ck_assert_int_eq(a.state, ADJ_DAMPED);
    ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(900).ns);
}
END_TEST

START_TEST(names_are_different_and_never_null)
{
    for (int i = 0; i < ADJ_STATES; i++) {
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(adjacency_state_name((enum adjacency_state)i),
                             adjacency_state_name((enum adjacency_state)j));
        }
    }
    for (int i = 0; i < ADJ_EVENTS; i++) {
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(adjacency_event_name((enum adjacency_event)i),
                             adjacency_event_name((enum adjacency_event)j));
        }
    }
    /* As `cwctl links` prints them, and the page of it explains. */
    static const char *const words[ADJ_STATES] = {"stay", "no-carrier", "damped",  "down", "miswired",
                                                  "init", "exchange",   "pending", "up"};
    for (unsigned i = 0; i < ADJ_STATES; i++) {
        bool known = false;
        for (unsigned k = 0; k < ADJ_STATES; k++) {
            known |= strcmp(adjacency_state_name((enum adjacency_state)i), words[k]) == 0;
        }
        ck_assert(known);
    }
    ck_assert_str_eq(adjacency_state_name(ADJ_UP), "up");
    ck_assert_str_eq(adjacency_state_name(ADJ_STATES), "?");
    ck_assert_str_eq(adjacency_event_name(ADJ_SILENT), "silent");
    ck_assert_str_eq(adjacency_event_name(ADJ_EVENTS), "?");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_state_and_every_event),
    SUITE_ABORTS(a_session_whose_low_half_is_the_old_one_is_refused),
    SUITE_ABORTS(a_session_of_zero_is_refused),
    SUITE_TEST(hellos_are_judged_by_state),
    SUITE_TEST(nobody_is_noted_where_hellos_are_not_answered),
    SUITE_TEST(silence_is_due_after_dead_since_the_last_frame),
    SUITE_TEST(a_link_that_stays_announced_is_overdue_at_the_limit),
    SUITE_TEST(the_rest_doubles_up_to_its_cap),
    SUITE_TEST(a_quiet_minute_halves_the_flaps),
    SUITE_TEST(light_out_and_on_again_does_not_end_the_rest),
    SUITE_TEST(an_exchange_that_fails_is_no_flap),
    SUITE_TEST(an_orderly_leave_is_no_flap),
    SUITE_TEST(a_rest_can_be_ordered),
    SUITE_TEST(names_are_different_and_never_null),
};

SUITE_MAIN("adjacency", tests)
