/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/wire.h"

#include "base/check.h"

enum { PS = 1000 /* of one ns */ };

struct wire_config wire_config_default(void)
{
    return (struct wire_config){
        .bits_per_second = 1000 * 1000 * 1000,
        .propagation = CW_US(1),
        .ring = 1,
    };
}

uint32_t wire_ps_per_byte(const struct wire_config *c)
{
    uint64_t byte_ps = UINT64_C(8) * 1000 * 1000 * 1000 * 1000;
    CHECK(c->bits_per_second > 0);
    uint64_t ps = (byte_ps + c->bits_per_second / 2) / c->bits_per_second;
    CHECK(ps > 0 && ps <= UINT32_MAX);
    return (uint32_t)ps;
}

static int64_t ns_up(int64_t ps)
{
    return (ps + PS - 1) / PS;
}

cw_time wire_room_at(const struct wire *w, const struct wire_config *c)
{
    /* The oldest of the `ring` frames must have left: it is the one that the next would take the place of. */
    return (cw_time){ns_up(w->done_ps[w->frames & (c->ring - 1u)])};
}

/* Draws what befalls the frame, and how much later than it should it arrives. */
static enum wire_fate befall(const struct wire_harm *harm, struct prng *random, int64_t *late_ns, bool *twice)
{
    if (prng_chance(random, harm->delayed, WIRE_MILLION)) {
        *late_ns = prng_span(random, CW_NS(0), harm->delay_most).ns;
    }
    *twice = prng_chance(random, harm->duplicate, WIRE_MILLION);
    if (prng_chance(random, harm->loss, WIRE_MILLION)) {
        return WIRE_LOST;
    }
    return prng_chance(random, harm->corrupt, WIRE_MILLION) ? WIRE_CORRUPTED : WIRE_ARRIVES;
}

struct wire_flight wire_send(struct wire *w, const struct wire_config *c, uint32_t ps_per_byte, uint32_t size,
                             cw_time now, const struct wire_harm *harm, struct prng *random)
{
    uint32_t bytes = wire_bytes(size);
    int64_t now_ps = now.ns * PS;
    uint32_t place = w->frames & (c->ring - 1u);
    int64_t last = w->done_ps[(w->frames - 1) & (c->ring - 1u)];
    /* Less than a ns ago is back to back: the clock of events is coarser than the wire's. */
    int64_t start = last > now_ps - PS ? last : now_ps;
    int64_t done = start + (int64_t)bytes * ps_per_byte;
    CHECK(ns_up(w->done_ps[place]) <= now.ns);
    w->done_ps[place] = done;
    w->frames++;
    w->bytes += bytes;

    int64_t host_ps = (int64_t)(size + WIRE_FRAME_EXTRA) * c->hop_ps_per_byte;
    struct wire_flight flight = {
        .arrives = {ns_up(done + host_ps) + c->propagation.ns + c->hop_delay.ns},
        .again = CW_NEVER,
        .fate = WIRE_ARRIVES,
    };
    if (__builtin_expect(w->state != 0, 0)) {
        bool twice = false;
        if (w->state & WIRE_HARMED) {
            int64_t late_ns = 0;
            flight.fate = befall(harm, random, &late_ns, &twice);
            flight.arrives.ns += late_ns;
        }
        if (w->state & WIRE_DOWN) {
            flight.fate = WIRE_CUT;
            return flight;
        }
        if (twice) {
            flight.again = flight.arrives;
        }
    }
    if (flight.arrives.ns < w->arrived_ns) {
        flight.arrives.ns = w->arrived_ns;
    }
    if (flight.again.ns != CW_NEVER.ns) {
        /* As if it had been sent twice in a row, without taking the sender's time. */
        flight.again.ns = flight.arrives.ns + ns_up((int64_t)bytes * ps_per_byte);
        w->arrived_ns = flight.again.ns;
    } else {
        w->arrived_ns = flight.arrives.ns;
    }
    return flight;
}

const char *wire_fate_name(enum wire_fate fate)
{
    static const char *const names[WIRE_FATES] = {
        [WIRE_ARRIVES] = "arrives",
        [WIRE_LOST] = "lost",
        [WIRE_CORRUPTED] = "corrupted",
        [WIRE_CUT] = "cut",
    };
    return fate < WIRE_FATES ? names[fate] : "?";
}
