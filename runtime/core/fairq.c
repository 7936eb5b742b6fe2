/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fairq.h"

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

static unsigned class_of(const struct fairq_shares *shares, unsigned service)
{
    return shares->background >> service & 1u;
}

/* Takes the same amount off a class's clocks: differences are all that counts. Once in some 10^12 bytes. */
static void rebase(struct fairq *q, const struct fairq_shares *shares, unsigned class)
{
    uint64_t base = q->now[class];
    for (unsigned i = 0; i < FAIRQ_SERVICES; i++) {
        if (class_of(shares, i) == class) {
            q->start[i] = q->start[i] > base ? q->start[i] - base : 0;
        }
    }
    q->now[class] = 0;
}

/* Services that begin to want the link may not bring credit from the time they did not. */
static void welcome(struct fairq *q, const struct fairq_shares *shares, uint32_t fresh)
{
    for (; fresh != 0; fresh &= fresh - 1) {
        unsigned i = (unsigned)__builtin_ctz(fresh);
        uint64_t now = q->now[class_of(shares, i)];
        if (q->start[i] < now) {
            q->start[i] = now;
        }
    }
}

unsigned fairq_pick(struct fairq *q, const struct fairq_shares *shares, uint32_t wants)
{
    welcome(q, shares, wants & ~q->wanted);
    q->wanted = wants;
    uint32_t front = wants & ~shares->background;
    uint32_t rest = front != 0 ? front : wants;
    if (rest == 0) {
        return FAIRQ_NONE;
    }
    unsigned best = (unsigned)__builtin_ctz(rest);
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        if (q->start[i] < q->start[best]) {
            best = i;
        }
    }
    return best;
}

void fairq_charge(struct fairq *q, const struct fairq_shares *shares, unsigned service, uint32_t bytes)
{
    CHECK(service < FAIRQ_SERVICES && shares->weight[service] > 0);
    unsigned class = class_of(shares, service);
    if (q->start[service] > q->now[class]) {
        q->now[class] = q->start[service];
    }
    q->start[service] += (uint64_t)bytes * BYTE_COST / shares->weight[service];
    if (q->now[class] >= REBASE_AT) {
        rebase(q, shares, class);
    }
}

void fairq_forget(struct fairq *q, unsigned service)
{
    CHECK(service < FAIRQ_SERVICES);
    q->start[service] = 0;
    q->wanted &= ~(UINT32_C(1) << service);
}
