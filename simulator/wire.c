/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/wire.h"

#include "base/check.h"

enum { PS = 1000 /* of one ns */ };

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
    uint32_t bytes = wire_bytes(size), ring = c->ring - 1u;
    int64_t now_ps = now.ns * PS;
    int64_t last = w->done_ps[(w->frames - 1) & ring];
    /* Less than a ns ago is back to back: the clock of events is coarser than the wire's. */
    int64_t start = last > now_ps - PS ? last : now_ps;
    int64_t done = start + (int64_t)bytes * ps_per_byte;
    w->done_ps[w->frames & ring] = done;
    w->frames++;
    w->bytes += bytes;
    /* The frame whose place the next one takes must have left. */
    w->room_ns = ns_up(w->done_ps[w->frames & ring]);

    int64_t done_ns = ns_up(done);
    struct wire_flight flight = {
        .arrives = {done_ns + c->propagation.ns + c->hop_delay.ns},
        .again = CW_NEVER,
        .fate = WIRE_ARRIVES,
    };
    if (c->hop_ps_per_byte != 0) {
        flight.arrives.ns += ns_up((int64_t)(size + WIRE_FRAME_EXTRA) * c->hop_ps_per_byte);
    }
    bool twice = false;
    if (__builtin_expect(w->state != 0, 0)) {
        if (w->state & WIRE_HARMED) {
            int64_t late_ns = 0;
            flight.fate = befall(harm, random, &late_ns, &twice);
            flight.arrives.ns += late_ns;
        }
        if (w->state & WIRE_DOWN) {
            flight.fate = WIRE_CUT;
            twice = false;
        }
    }
    /* First in, first out. */
    int64_t before = ns_up(last) + w->late_ns;
    flight.arrives.ns = flight.arrives.ns < before ? before : flight.arrives.ns;
    CHECK(flight.arrives.ns - done_ns <= UINT32_MAX);
    w->late_ns = (uint32_t)(flight.arrives.ns - done_ns);
    if (twice) {
        flight.again = flight.arrives;
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
