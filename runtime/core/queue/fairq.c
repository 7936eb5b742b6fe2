/* SPDX-License-Identifier: Apache-2.0 */
#include "core/queue/fairq.h"

#include "base/check.h"

enum {
    /*
     * Virtual time of one byte at weight 1: divisible by the small weights people use, so that their shares are exact,
     * and so large that what division by others cuts off is below 1 in 10^7 of the smallest packet.
     */
    BYTE_COST = 5040 * 1024,
};
/* One charge adds at most 65535 * BYTE_COST < 2^39: far from overflow. */
#define REBASE_AT (UINT64_C(1) << 62)

void fairq_init(struct fairq *q)
{
    *q = (struct fairq){.wanted = 0};
}

static unsigned class_of(uint64_t background, unsigned place)
{
    return background >> place & 1u;
}

/* Takes the same amount off a class's clocks: differences are all that counts. Once in some 10^12 bytes. */
static void rebase(struct fairq *q, uint64_t background, unsigned class)
{
    uint64_t base = q->now[class];
    for (unsigned i = 0; i < FAIRQ_PLACES; i++) {
        if (class_of(background, i) == class) {
            q->start[i] = q->start[i] > base ? q->start[i] - base : 0;
        }
    }
    q->now[class] = 0;
}

/* Places that begin to want the link may not bring credit from the time they did not. */
static void welcome(struct fairq *q, uint64_t background, uint64_t fresh)
{
    for (; fresh != 0; fresh &= fresh - 1) {
        unsigned i = (unsigned)__builtin_ctzll(fresh);
        uint64_t now = q->now[class_of(background, i)];
        if (q->start[i] < now) {
            q->start[i] = now;
        }
    }
}

unsigned fairq_pick(struct fairq *q, uint64_t background, uint64_t wants)
{
    welcome(q, background, wants & ~q->wanted);
    q->wanted = wants;
    uint64_t front = wants & ~background;
    uint64_t rest = front != 0 ? front : wants;
    if (rest == 0) {
        return FAIRQ_NONE;
    }
    unsigned best = (unsigned)__builtin_ctzll(rest);
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctzll(rest);
        if (q->start[i] < q->start[best]) {
            best = i;
        }
    }
    return best;
}

void fairq_charge(struct fairq *q, uint64_t background, unsigned place, uint32_t bytes, uint32_t weight)
{
    CHECK(place < FAIRQ_PLACES && weight > 0);
    unsigned class = class_of(background, place);
    if (q->start[place] > q->now[class]) {
        q->now[class] = q->start[place];
    }
    q->start[place] += (uint64_t)bytes * BYTE_COST / weight;
    if (q->now[class] >= REBASE_AT) {
        rebase(q, background, class);
    }
}

void fairq_forget(struct fairq *q, unsigned place)
{
    CHECK(place < FAIRQ_PLACES);
    q->start[place] = 0;
    q->wanted &= ~(UINT64_C(1) << place);
}
