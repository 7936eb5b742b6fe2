/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/loss.h"

/* The full part that many before the last one. */
static uint8_t part_back(const struct loss_rate *rate, unsigned back)
{
    unsigned last = rate->parts < LOSS_PARTS ? rate->parts - 1u : (rate->at + LOSS_PARTS - 1u) % LOSS_PARTS;
    return rate->part[(last + LOSS_PARTS - back) % LOSS_PARTS];
}

/* Leaves out of the rate what is older than the last parts, if the cable was far better then, or far worse. */
static void leave_out_older(struct loss_rate *rate)
{
    unsigned old = rate->fresh - (unsigned)LOSS_STEP_PARTS, lost = 0;
    bool worse = true, better = true;
    if (rate->fresh < 2 * LOSS_STEP_PARTS) {
        return;
    }
    for (unsigned i = 0; i < old; i++) {
        lost += part_back(rate, LOSS_STEP_PARTS + i);
    }
    for (unsigned i = 0; i < LOSS_STEP_PARTS; i++) {
        unsigned last = part_back(rate, i);
        worse &= last * old > 2 * lost + LOSS_STEP * old;
        better &= 2 * (last + LOSS_STEP) * old < lost;
    }
    rate->fresh = worse || better ? LOSS_STEP_PARTS : rate->fresh;
}

/* Counts a hello whose fate is known. */
static void judge(struct loss_rate *rate, bool lost)
{
    rate->sent++;
    rate->lost += lost;
    rate->grown++;
    rate->grown_lost = (uint8_t)(rate->grown_lost + lost);
    if (rate->grown < LOSS_PART) {
        return;
    }
    if (rate->parts < LOSS_PARTS) {
        rate->part[rate->parts++] = rate->grown_lost;
    } else {
        rate->part[rate->at] = rate->grown_lost;
        rate->at = (uint8_t)((rate->at + 1) % LOSS_PARTS);
    }
    rate->grown = rate->grown_lost = 0;
    rate->fresh = (uint8_t)(rate->fresh < LOSS_PARTS ? rate->fresh + 1 : LOSS_PARTS);
    leave_out_older(rate);
}

/* Of the last full parts, so many, and the one that grows. */
static int32_t rate_of(const struct loss_rate *rate, unsigned parts)
{
    uint32_t sent = (uint32_t)parts * LOSS_PART + rate->grown, lost = rate->grown_lost;
    for (unsigned i = 0; i < parts; i++) {
        lost += part_back(rate, i);
    }
    return sent < LOSS_SURE ? -1 : (int32_t)((uint64_t)lost * LOSS_PPM / sent);
}

int32_t loss_ppm(const struct loss_rate *rate)
{
    return rate_of(rate, rate->fresh);
}

int32_t loss_before_ppm(const struct loss_rate *rate)
{
    return rate->bad && rate_of(rate, rate->fresh) < LOSS_GOOD_PPM ? rate_of(rate, rate->parts) : 0;
}

/* True when the cable is called bad and was not, or the other way round. All parts count: see loss.h. */
static bool turned(struct loss_rate *rate)
{
    bool was = rate->bad;
    if (rate->parts < LOSS_PARTS_SURE) {
        return false;
    }
    rate->bad = rate_of(rate, rate->parts) >= (was ? LOSS_GOOD_PPM : LOSS_BAD_PPM);
    return rate->bad != was;
}

uint16_t loss_send(struct loss *l)
{
    return ++l->sent;
}

static void listen_from(struct loss *l, uint32_t peer, uint16_t number)
{
    l->peer = peer;
    l->newest = number;
    l->before = 0;
    l->known = 0;
}

bool loss_heard(struct loss *l, uint32_t peer, uint16_t number)
{
    uint16_t ahead = (uint16_t)(number - l->newest), behind = (uint16_t)(l->newest - number);
    if (peer == l->peer && behind <= LOSS_JUMP) { /* late, or twice */
        if (behind >= 1 && behind <= LOSS_WINDOW) {
            l->before = (uint16_t)(l->before | 1u << (behind - 1));
        }
        return false;
    }
    if (peer != l->peer || ahead > LOSS_JUMP) {
        listen_from(l, peer, number);
        return false;
    }
    bool heard = true; /* the newest so far; those between it and this one were not */
    for (; ahead > 0; ahead--) {
        l->before = (uint16_t)(l->before << 1 | heard);
        heard = false;
        l->known = l->known < LOSS_WINDOW ? (uint8_t)(l->known + 1) : l->known;
        if (l->known >= LOSS_LATE) {
            judge(&l->in, (l->before >> (LOSS_LATE - 1) & 1) == 0);
        }
    }
    l->newest = number;
    return turned(&l->in);
}

bool loss_told(struct loss *l, uint32_t session, uint16_t newest, uint16_t before)
{
    uint16_t end = (uint16_t)(newest - LOSS_LATE); /* up to this one numbers are judged now */
    uint16_t ahead = (uint16_t)(end - l->judged);
    const unsigned told = LOSS_WINDOW - LOSS_LATE + 1;
    if (session != l->session || (uint16_t)(l->sent - newest) > LOSS_JUMP) {
        l->session = session;
        l->judged = newest; /* what left before is not this session's, or was not told of */
        return false;
    }
    if (ahead > LOSS_JUMP) {
        return false; /* it was all judged before */
    }
    /* Of those that were lost with the hellos that told of them nothing is known: they are left out. */
    unsigned first = ahead < told ? ahead : told;
    for (unsigned i = first; i > 0; i--) {
        judge(&l->out, (before >> (LOSS_LATE + i - 2) & 1) == 0);
    }
    l->judged = end;
    return turned(&l->out);
}

void loss_pause(struct loss *l)
{
    l->session = l->peer = 0;
}
