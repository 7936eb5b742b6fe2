/* SPDX-License-Identifier: Apache-2.0 */
#include "core/adjacency.h"
#include "suite.h"

#include <string.h>

static const struct adjacency_timing timing = {
    .dead = {50000000}, .limit = {500000000}, .damp = {100000000}, .damp_max = {1000000000}};

static cw_time ms(int64_t n)
{
    return (cw_time){n * 1000000};
}

/* An instant, an event, and what must follow. */
struct row {
    int64_t at_ms;
    enum adjacency_event event;
    enum adjacency_state state;
    unsigned actions;
};

static void play(struct adjacency *a, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t fresh = a->session + 1, before = a->session;
        unsigned actions = adjacency_step(a, rows[i].event, fresh, &timing, ms(rows[i].at_ms));
        if (a->state != rows[i].state || actions != rows[i].actions) {
            ck_abort_msg("row %zu: %s gives %s, actions %x", i, adjacency_event_name(rows[i].event),
                         adjacency_state_name(a->state), actions);
        }
        ck_assert_uint_eq(a->session, actions & ADJ_END ? fresh : before);
        adjacency_note(a, 77, 5, ms(rows[i].at_ms));
    }
}
#define PLAY(a, rows) play(a, rows, sizeof(rows) / sizeof *(rows))

START_TEST(the_way_up_and_every_way_down)
{
    static const struct row rows[] = {
        {0, ADJ_HEARD, ADJ_NO_CARRIER, 0},
        {1, ADJ_CARRIER_UP, ADJ_DOWN, ADJ_HELLO},
        {2, ADJ_SILENT, ADJ_DOWN, 0},
        {3, ADJ_HEARD, ADJ_INIT, ADJ_HELLO},
        {4, ADJ_HEARD, ADJ_INIT, 0},
        {5, ADJ_ADMITTED, ADJ_INIT, 0},
        {6, ADJ_ANSWERED, ADJ_EXCHANGE, ADJ_BEGIN | ADJ_HELLO},
        {7, ADJ_OVERDUE, ADJ_EXCHANGE, 0},
        {8, ADJ_REPLACED, ADJ_INIT, ADJ_END | ADJ_HELLO},
        {9, ADJ_SILENT, ADJ_DOWN, 0},
        {10, ADJ_ANSWERED, ADJ_EXCHANGE, ADJ_BEGIN | ADJ_HELLO},
        {11, ADJ_FOUND_NEW, ADJ_PENDING, ADJ_HELLO},
        {12, ADJ_ADMITTED, ADJ_UP, ADJ_HELLO},
        {13, ADJ_DOUBTED, ADJ_PENDING, ADJ_HELLO},
        {14, ADJ_FOUND_KNOWN, ADJ_UP, ADJ_HELLO},
        {15, ADJ_SILENT, ADJ_DAMPED, ADJ_END | ADJ_HELLO},
        {16, ADJ_ANSWERED, ADJ_DAMPED, 0},
        {17, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, 0},
        {18, ADJ_CARRIER_UP, ADJ_DAMPED, ADJ_HELLO},
        {115, ADJ_RESTED, ADJ_DOWN, ADJ_HELLO},
        {116, ADJ_WRONG, ADJ_MISWIRED, 0},
        {117, ADJ_WRONG, ADJ_MISWIRED, 0},
        {118, ADJ_ANSWERED, ADJ_EXCHANGE, ADJ_BEGIN | ADJ_HELLO},
        {119, ADJ_FOUND_KNOWN, ADJ_UP, ADJ_HELLO},
        {120, ADJ_CARRIER_DOWN, ADJ_NO_CARRIER, ADJ_END},
    };
    struct adjacency a;
    adjacency_init(&a, 9);
    PLAY(&a, rows);
}
END_TEST

/* From EXCHANGE on, every event that leads below it ends the session; no other does. */
START_TEST(sessions_end_with_the_adjacency)
{
    for (int state = ADJ_NO_CARRIER; state < ADJ_STATES; state++) {
        for (int event = ADJ_NOTHING; event < ADJ_EVENTS; event++) {
            struct adjacency a;
            adjacency_init(&a, 9);
            a.state = (enum adjacency_state)state;
            unsigned actions = adjacency_step(&a, (enum adjacency_event)event, 10, &timing, ms(1));
            bool fell = state >= ADJ_EXCHANGE && a.state < ADJ_EXCHANGE;
            bool rose = state < ADJ_EXCHANGE && a.state >= ADJ_EXCHANGE;
            if (((actions & ADJ_END) != 0) != fell || (a.session == 10) != fell ||
                ((actions & ADJ_BEGIN) != 0) != rose) {
                ck_abort_msg("%s, %s", adjacency_state_name((enum adjacency_state)state),
                             adjacency_event_name((enum adjacency_event)event));
            }
            ck_assert(rose == (rose && event == ADJ_ANSWERED));
        }
    }
}
END_TEST

START_TEST(hellos_are_judged_by_sessions)
{
    struct adjacency a;
    adjacency_init(&a, 9);
    adjacency_step(&a, ADJ_CARRIER_UP, 10, &timing, ms(0));
    ck_assert_int_eq(adjacency_judge(&a, 70, 0, 5), ADJ_HEARD);
    ck_assert_int_eq(adjacency_judge(&a, 70, 9, 5), ADJ_ANSWERED);
    adjacency_step(&a, ADJ_HEARD, 10, &timing, ms(1));
    adjacency_note(&a, 70, 5, ms(1));
    ck_assert_int_eq(adjacency_judge(&a, 70, 8, 5), ADJ_HEARD);
    ck_assert_int_eq(adjacency_judge(&a, 71, 8, 5), ADJ_REPLACED);
    ck_assert_int_eq(adjacency_judge(&a, 71, 9, 5), ADJ_ANSWERED);
    adjacency_step(&a, ADJ_ANSWERED, 10, &timing, ms(2));
    adjacency_note(&a, 70, 5, ms(2));
    ck_assert_int_eq(adjacency_judge(&a, 70, 9, 5), ADJ_NOTHING);
    ck_assert_int_eq(adjacency_judge(&a, 70, 0, 5), ADJ_REPLACED);
    ck_assert_int_eq(adjacency_judge(&a, 71, 9, 5), ADJ_REPLACED);
    ck_assert_int_eq(adjacency_judge(&a, 70, 9, 6), ADJ_REPLACED);
}
END_TEST

START_TEST(rest_doubles_with_flaps_and_fades)
{
    static const int64_t rests_ms[] = {100, 200, 400, 800, 1000, 1000};
    struct adjacency a;
    adjacency_init(&a, 9);
    int64_t at = 0;
    for (size_t i = 0; i < sizeof rests_ms / sizeof *rests_ms; i++) {
        a.state = ADJ_UP;
        adjacency_step(&a, ADJ_SILENT, a.session + 1, &timing, ms(at));
        ck_assert_int_eq(a.state, ADJ_DAMPED);
        ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(at + rests_ms[i]).ns);
        ck_assert_int_eq(adjacency_due(&a, &timing, ms(at + rests_ms[i] - 1)), ADJ_NOTHING);
        ck_assert_int_eq(adjacency_due(&a, &timing, ms(at + rests_ms[i])), ADJ_RESTED);
        at += 1000;
    }
    /* Six recent flaps; after two quiet minutes one is left, and this one makes two. */
    a.state = ADJ_PENDING;
    at += 121000;
    adjacency_step(&a, ADJ_OVERDUE, a.session + 1, &timing, ms(at));
    ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(at + 200).ns);
    at += 3600 * 1000 * 24;
    a.state = ADJ_PENDING;
    adjacency_step(&a, ADJ_OVERDUE, a.session + 1, &timing, ms(at));
    ck_assert_int_eq(adjacency_wake(&a, &timing).ns, ms(at + 100).ns);
}
END_TEST

START_TEST(silence_and_waiting_are_due)
{
    struct adjacency a;
    adjacency_init(&a, 9);
    ck_assert_int_eq(adjacency_wake(&a, &timing).ns, CW_NEVER.ns);
    adjacency_step(&a, ADJ_CARRIER_UP, 10, &timing, ms(0));
    ck_assert_int_eq(adjacency_wake(&a, &timing).ns, CW_NEVER.ns);
    adjacency_step(&a, ADJ_ANSWERED, 10, &timing, ms(10));
    adjacency_note(&a, 70, 5, ms(10));
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(59)), ADJ_NOTHING);
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(60)), ADJ_SILENT);
    adjacency_step(&a, ADJ_FOUND_NEW, 10, &timing, ms(20));
    for (int64_t at = 20; at < 520; at += 10) {
        adjacency_heard(&a, ms(at));
        ck_assert_int_eq(adjacency_due(&a, &timing, ms(at)), ADJ_NOTHING);
    }
    adjacency_heard(&a, ms(520));
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(520)), ADJ_OVERDUE);
    /* Up at both ends: nothing to wait for; no longer so: it starts anew. */
    adjacency_step(&a, ADJ_ADMITTED, 10, &timing, ms(521));
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(521)), ADJ_OVERDUE);
    adjacency_commit(&a, true, ms(521));
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(560)), ADJ_NOTHING);
    adjacency_commit(&a, false, ms(560));
    adjacency_commit(&a, false, ms(565));
    adjacency_heard(&a, ms(1060));
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(1060)), ADJ_OVERDUE);
}
END_TEST

START_TEST(a_rest_from_outside_holds)
{
    struct adjacency a;
    adjacency_init(&a, 9);
    adjacency_rest(&a, ms(700));
    adjacency_step(&a, ADJ_CARRIER_UP, 10, &timing, ms(0));
    ck_assert_int_eq(a.state, ADJ_DAMPED);
    ck_assert_int_eq(adjacency_due(&a, &timing, ms(700)), ADJ_RESTED);
}
END_TEST

START_TEST(all_have_names)
{
    for (int i = 0; i < ADJ_STATES; i++) {
        ck_assert_ptr_nonnull(adjacency_state_name((enum adjacency_state)i));
        for (int j = 0; j < i; j++) {
            ck_assert_str_ne(adjacency_state_name((enum adjacency_state)i),
                             adjacency_state_name((enum adjacency_state)j));
        }
    }
    for (int i = 0; i < ADJ_EVENTS; i++) {
        ck_assert_ptr_nonnull(adjacency_event_name((enum adjacency_event)i));
    }
    ck_assert_str_eq(adjacency_state_name(ADJ_STATES), "?");
    ck_assert_str_eq(adjacency_event_name(ADJ_EVENTS), "?");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_way_up_and_every_way_down),
    SUITE_TEST(sessions_end_with_the_adjacency),
    SUITE_TEST(hellos_are_judged_by_sessions),
    SUITE_TEST(rest_doubles_with_flaps_and_fades),
    SUITE_TEST(silence_and_waiting_are_due),
    SUITE_TEST(a_rest_from_outside_holds),
    SUITE_TEST(all_have_names),
};
SUITE_MAIN("adjacency", tests)
