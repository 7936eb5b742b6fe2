/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/adjacency.h"

#include "base/check.h"

static const cw_span quiet = CW_SEC(60); /* without a flap: then recent flaps count half */

enum { FLAPS_MAX = 31 };

/* An event that a state's row does not name changes nothing. ADJ_LEFT is a goodbye that counts as no flap. */
static const struct step {
    uint8_t next; /* enum adjacency_state; ADJ_STAY: the same */
    uint8_t actions;
} table[ADJ_STATES][ADJ_EVENTS] = {
    [ADJ_NO_CARRIER] =
        {
            [ADJ_CARRIER_UP] = {ADJ_DOWN, ADJ_HELLO},
        },
    [ADJ_DAMPED] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, 0},
            [ADJ_RESTED] = {ADJ_DOWN, ADJ_HELLO},
        },
    [ADJ_DOWN] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, 0},
            [ADJ_HEARD] = {ADJ_INIT, ADJ_HELLO},
            [ADJ_ANSWERED] = {ADJ_EXCHANGE, ADJ_BEGIN | ADJ_HELLO},
            [ADJ_WRONG] = {ADJ_MISWIRED, 0},
            [ADJ_CLOSED] = {ADJ_DOWN, 0},
        },
    [ADJ_MISWIRED] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, 0},
            [ADJ_HEARD] = {ADJ_INIT, ADJ_HELLO},
            [ADJ_ANSWERED] = {ADJ_EXCHANGE, ADJ_BEGIN | ADJ_HELLO},
            [ADJ_SILENT] = {ADJ_DOWN, 0},
            [ADJ_CLOSED] = {ADJ_DOWN, 0},
        },
    [ADJ_INIT] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, 0},
            [ADJ_HEARD] = {ADJ_INIT, 0},
            [ADJ_ANSWERED] = {ADJ_EXCHANGE, ADJ_BEGIN | ADJ_HELLO},
            [ADJ_REPLACED] = {ADJ_INIT, ADJ_HELLO},
            [ADJ_WRONG] = {ADJ_MISWIRED, 0},
            [ADJ_GOODBYE] = {ADJ_DOWN, 0},
            [ADJ_SILENT] = {ADJ_DOWN, 0},
            [ADJ_CLOSED] = {ADJ_DOWN, ADJ_HELLO},
        },
    [ADJ_EXCHANGE] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, ADJ_END},
            [ADJ_REPLACED] = {ADJ_INIT, ADJ_END | ADJ_HELLO},
            [ADJ_WRONG] = {ADJ_MISWIRED, ADJ_END | ADJ_HELLO},
            [ADJ_GOODBYE] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_SILENT] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_FOUND_NEW] = {ADJ_PENDING, ADJ_HELLO},
            [ADJ_FOUND_KNOWN] = {ADJ_UP, ADJ_HELLO},
            [ADJ_CLOSED] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
        },
    [ADJ_PENDING] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, ADJ_END},
            [ADJ_REPLACED] = {ADJ_INIT, ADJ_END | ADJ_HELLO},
            [ADJ_WRONG] = {ADJ_MISWIRED, ADJ_END | ADJ_HELLO},
            [ADJ_GOODBYE] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_SILENT] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_FOUND_KNOWN] = {ADJ_UP, ADJ_HELLO},
            [ADJ_ADMITTED] = {ADJ_UP, ADJ_HELLO},
            [ADJ_OVERDUE] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_CLOSED] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
        },
    [ADJ_UP] =
        {
            [ADJ_CARRIER_DOWN] = {ADJ_NO_CARRIER, ADJ_END},
            [ADJ_REPLACED] = {ADJ_INIT, ADJ_END | ADJ_HELLO},
            [ADJ_WRONG] = {ADJ_MISWIRED, ADJ_END | ADJ_HELLO},
            [ADJ_GOODBYE] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_SILENT] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_DOUBTED] = {ADJ_PENDING, ADJ_HELLO},
            [ADJ_OVERDUE] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
            [ADJ_CLOSED] = {ADJ_DOWN, ADJ_END | ADJ_HELLO},
        },
};

void adjacency_init(struct adjacency *a, uint32_t session)
{
    CHECK(session != 0);
    *a = (struct adjacency){
        .state = ADJ_NO_CARRIER,
        .session = session,
        .announced = CW_NEVER,
        .rest = {INT64_MIN},
    };
}

enum adjacency_event adjacency_judge(const struct adjacency *a, uint32_t session, uint32_t heard, uint64_t incarnation)
{
    bool names_us = heard == a->session;
    bool same = session == a->peer_session && incarnation == a->peer_incarnation;
    if (adjacency_is_two_way(a)) {
        return names_us && same ? ADJ_NOTHING : ADJ_REPLACED;
    }
    if (names_us) {
        return ADJ_ANSWERED;
    }
    return a->state == ADJ_INIT && !same ? ADJ_REPLACED : ADJ_HEARD;
}

unsigned adjacency_flaps(const struct adjacency *a, cw_time now)
{
    int64_t minutes = a->flaps == 0 ? 0 : cw_time_since(now, a->flapped).ns / quiet.ns;
    return minutes > FLAPS_MAX ? 0 : a->flaps >> minutes;
}

/* Counts a flap, the end of an announced link: with each recent one the damping before the next try doubles. */
static void flap(struct adjacency *a, const struct adjacency_timing *timing, cw_time now)
{
    a->flaps = adjacency_flaps(a, now);
    a->flaps += a->flaps < FLAPS_MAX;
    a->flapped = now;
    a->flapped_life = a->peer_incarnation;
    int64_t rest = timing->damp.ns;
    for (unsigned i = 1; i < a->flaps && rest < timing->damp_max.ns; i++) {
        rest *= 2;
    }
    rest = rest < timing->damp_max.ns ? rest : timing->damp_max.ns;
    a->rest = cw_time_max(a->rest, cw_time_add(now, CW_NS(rest)));
}

unsigned adjacency_step(struct adjacency *a, enum adjacency_event event, uint32_t fresh,
                        const struct adjacency_timing *timing, cw_time now)
{
    const struct step *step = &table[a->state][event == ADJ_LEFT ? ADJ_GOODBYE : event];
    if (step->next == ADJ_STAY) {
        return 0;
    }
    enum adjacency_state before = a->state;
    a->state = step->next;
    if (step->actions & ADJ_END) {
        CHECK(fresh != 0 && (uint16_t)fresh != (uint16_t)a->session);
        a->session = fresh;
        if (before >= ADJ_PENDING && event != ADJ_LEFT) {
            flap(a, timing, now);
        }
    }
    if ((a->state == ADJ_DOWN || a->state == ADJ_INIT) && cw_time_before(now, a->rest)) {
        a->state = ADJ_DAMPED;
    }
    a->since = a->state == before ? a->since : now;
    if (a->state < ADJ_INIT) {
        a->peer_session = 0;
    }
    if (a->state < ADJ_PENDING) {
        a->announced = CW_NEVER;
    } else if (before < ADJ_PENDING) {
        a->announced = now;
    }
    return step->actions;
}

void adjacency_note(struct adjacency *a, uint32_t session, uint64_t incarnation, cw_time now)
{
    if (a->state < ADJ_INIT) {
        return;
    }
    a->peer_session = session;
    a->peer_incarnation = incarnation;
    a->heard = now;
}

void adjacency_heard(struct adjacency *a, cw_time now)
{
    a->heard = now;
}

void adjacency_commit(struct adjacency *a, bool both, cw_time now)
{
    if (both) {
        a->announced = CW_NEVER;
    } else if (a->state >= ADJ_PENDING && a->announced.ns == CW_NEVER.ns) {
        a->announced = now;
    }
}

void adjacency_rest(struct adjacency *a, cw_time until)
{
    a->rest = cw_time_max(a->rest, until);
}

enum adjacency_event adjacency_due(const struct adjacency *a, const struct adjacency_timing *timing, cw_time now)
{
    switch (a->state) {
    case ADJ_DAMPED:
        return cw_time_due(a->rest, now) ? ADJ_RESTED : ADJ_NOTHING;
    case ADJ_MISWIRED:
    case ADJ_INIT:
    case ADJ_EXCHANGE:
        return cw_time_due(cw_time_add(a->heard, timing->dead), now) ? ADJ_SILENT : ADJ_NOTHING;
    case ADJ_PENDING:
    case ADJ_UP:
        if (cw_time_due(cw_time_add(a->heard, timing->dead), now)) {
            return ADJ_SILENT;
        }
        return cw_time_due(cw_time_add(a->announced, timing->limit), now) ? ADJ_OVERDUE : ADJ_NOTHING;
    default:
        return ADJ_NOTHING;
    }
}

cw_time adjacency_wake(const struct adjacency *a, const struct adjacency_timing *timing)
{
    switch (a->state) {
    case ADJ_DAMPED:
        return a->rest;
    case ADJ_MISWIRED:
    case ADJ_INIT:
    case ADJ_EXCHANGE:
        return cw_time_add(a->heard, timing->dead);
    case ADJ_PENDING:
    case ADJ_UP:
        return cw_time_min(cw_time_add(a->heard, timing->dead), cw_time_add(a->announced, timing->limit));
    default:
        return CW_NEVER;
    }
}

const char *adjacency_state_name(enum adjacency_state state)
{
    static const char *const names[ADJ_STATES] = {
        [ADJ_STAY] = "stay",         [ADJ_NO_CARRIER] = "no-carrier", [ADJ_DAMPED] = "damped",
        [ADJ_DOWN] = "down",         [ADJ_MISWIRED] = "miswired",     [ADJ_INIT] = "init",
        [ADJ_EXCHANGE] = "exchange", [ADJ_PENDING] = "pending",       [ADJ_UP] = "up",
    };
    return (unsigned)state < ADJ_STATES ? names[state] : "?";
}

const char *adjacency_event_name(enum adjacency_event event)
{
    static const char *const names[ADJ_EVENTS] = {
        [ADJ_NOTHING] = "nothing",
        [ADJ_CARRIER_UP] = "carrier-up",
        [ADJ_CARRIER_DOWN] = "carrier-down",
        [ADJ_HEARD] = "heard",
        [ADJ_ANSWERED] = "answered",
        [ADJ_REPLACED] = "replaced",
        [ADJ_WRONG] = "wrong",
        [ADJ_GOODBYE] = "goodbye",
        [ADJ_SILENT] = "silent",
        [ADJ_RESTED] = "rested",
        [ADJ_FOUND_NEW] = "found-new",
        [ADJ_FOUND_KNOWN] = "found-known",
        [ADJ_ADMITTED] = "admitted",
        [ADJ_DOUBTED] = "doubted",
        [ADJ_OVERDUE] = "overdue",
        [ADJ_CLOSED] = "closed",
        [ADJ_LEFT] = "left",
    };
    return (unsigned)event < ADJ_EVENTS ? names[event] : "?";
}
