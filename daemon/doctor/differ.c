/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/differ.h"

#include "base/quantity.h"

#include <stddef.h>
#include <stdio.h>

enum { DIMS_MOST = 16 };

/* Milliseconds that people write. */
static const uint16_t usual[] = {1,    2,    3,    4,    5,    6,    8,    10,   12,   15,   20,   25,    30,    40,
                                 50,   60,   70,   75,   80,   90,   100,  110,  120,  125,  150,  160,   180,   200,
                                 220,  250,  275,  300,  330,  350,  360,  400,  440,  450,  480,  500,   550,   600,
                                 650,  700,  750,  800,  900,  1000, 1100, 1200, 1250, 1500, 1650, 1800,  2000,  2200,
                                 2400, 2500, 3000, 3300, 3600, 4000, 4400, 5000, 5500, 6000, 8000, 10000, 11000, 12000};
enum { USUAL = sizeof usual / sizeof *usual, FINE_MS = 1000, COARSE_MS = 50, COARSE_MOST = 20000 };
/* What hold is more than dead, in per cent. */
static const uint16_t more_than_dead[] = {105, 110, 120, 125, 150, 200};
enum { HOLDS = sizeof more_than_dead / sizeof *more_than_dead };

static const struct timer {
    const char *name;
    size_t at;
} timers[] = {
    {"hello", offsetof(struct ls_timers, hello)}, {"dead", offsetof(struct ls_timers, dead)},
    {"hold", offsetof(struct ls_timers, hold)},   {"flood_bound", offsetof(struct ls_timers, flood_bound)},
    {"retry", offsetof(struct ls_timers, retry)}, {"pending_limit", offsetof(struct ls_timers, pending_limit)},
};
enum {
    TIMERS = sizeof timers / sizeof *timers,
    ONE_TIMER = FINE_MS + (COARSE_MOST - FINE_MS) / COARSE_MS + 1,
};
_Static_assert(DIMS_MOST *DIMS_MOST *DIMS_MOST + (int)TIMERS * (int)ONE_TIMER + 2 * (int)USUAL * (int)USUAL +
                       (int)USUAL * (int)USUAL * (int)HOLDS <=
                   (int)DIFFER_TRIES,
               "all that is tried");

static cw_span *timer_of(struct daemon_config *config, const struct timer *timer)
{
    return (cw_span *)(void *)((char *)&config->timers + timer->at);
}

static bool find_dims(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash, struct differ *out)
{
    for (unsigned i = 0; i < DIMS_MOST * DIMS_MOST * DIMS_MOST; i++) {
        cw_dims other = {(uint16_t)(1 + i % DIMS_MOST), (uint16_t)(1 + i / DIMS_MOST % DIMS_MOST),
                         (uint16_t)(1 + i / DIMS_MOST / DIMS_MOST)};
        if (config_hash(config, other, mtu) == hash) {
            char theirs[QUANTITY_TEXT];
            quantity_dims_format(other, theirs);
            snprintf(out->theirs, sizeof out->theirs, "torus.dims = %s", theirs);
            quantity_dims_format(dims, out->ours);
            snprintf(out->set, sizeof out->set, "torus.dims = %.40s", out->ours);
            return true;
        }
    }
    return false;
}

static void tell_timer(struct daemon_config *config, const struct timer *timer, char *out, bool named)
{
    char span[QUANTITY_TEXT];
    quantity_span_format(*timer_of(config, timer), span);
    snprintf(out, DIFFER_TEXT / 2, named ? "timers.%s = %s" : "%.0s%s", timer->name, span);
}

static void tell_timers(const struct daemon_config *ours, struct daemon_config *theirs, const struct timer *a,
                        const struct timer *b, struct differ *out)
{
    struct daemon_config own = *ours;
    char first[DIFFER_TEXT / 2], second[DIFFER_TEXT / 2];
    tell_timer(theirs, a, first, true);
    tell_timer(theirs, b, second, true);
    snprintf(out->theirs, DIFFER_TEXT, a == b ? "%s" : "%s and %s", first, second);
    tell_timer(&own, a, first, true);
    tell_timer(&own, b, second, true);
    snprintf(out->set, DIFFER_TEXT, a == b ? "%s" : "%s and %s", first, second);
    tell_timer(&own, a, first, false);
    tell_timer(&own, b, second, false);
    snprintf(out->ours, DIFFER_TEXT, a == b ? "%s" : "%s and %s", first, second);
}

static void tell_three(const struct daemon_config *ours, const struct daemon_config *theirs, struct differ *out)
{
    struct daemon_config own = *ours, other = *theirs;
    char hello[DIFFER_TEXT / 2], rest[DIFFER_TEXT];
    tell_timers(ours, &other, &timers[1], &timers[2], out);
    tell_timer(&other, &timers[0], hello, true);
    snprintf(rest, sizeof rest, "%s", out->theirs);
    snprintf(out->theirs, DIFFER_TEXT, "%.40s, %.80s", hello, rest);
    tell_timer(&own, &timers[0], hello, true);
    snprintf(rest, sizeof rest, "%s", out->set);
    snprintf(out->set, DIFFER_TEXT, "%.40s, %.80s", hello, rest);
    tell_timer(&own, &timers[0], hello, false);
    snprintf(rest, sizeof rest, "%s", out->ours);
    snprintf(out->ours, DIFFER_TEXT, "%.40s, %.80s", hello, rest);
}

/* Tries every millisecond of the first second, and rounder values beyond it. */
static bool try_timer(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash,
                      const struct timer *timer, struct differ *out)
{
    struct daemon_config other = *config;
    for (int64_t ms = 1; ms <= COARSE_MOST; ms += ms < FINE_MS ? 1 : COARSE_MS) {
        *timer_of(&other, timer) = CW_MS(ms);
        if (config_hash(&other, dims, mtu) == hash) {
            tell_timers(config, &other, timer, timer, out);
            return true;
        }
    }
    return false;
}

/* Tries usual values of hello and dead, with a hold that follows from dead. */
static bool try_three(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash, struct differ *out)
{
    struct daemon_config other = *config;
    for (unsigned i = 0; i < USUAL * USUAL * HOLDS; i++) {
        unsigned hello = usual[i % USUAL], dead = usual[i / USUAL % USUAL];
        other.timers.hello = CW_MS(hello);
        other.timers.dead = CW_MS(dead);
        other.timers.hold = CW_US((int64_t)dead * 10 * more_than_dead[i / USUAL / USUAL]);
        if (2 * hello <= dead && config_hash(&other, dims, mtu) == hash) {
            tell_three(config, &other, out);
            return true;
        }
    }
    return false;
}

/* Tries all usual values of two timers. */
static bool try_timers(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash,
                       const struct timer *a, const struct timer *b, struct differ *out)
{
    struct daemon_config other = *config;
    for (unsigned i = 0; i < USUAL; i++) {
        for (unsigned j = 0; j < USUAL; j++) {
            *timer_of(&other, b) = CW_MS(usual[j]);
            *timer_of(&other, a) = CW_MS(usual[i]);
            if (config_hash(&other, dims, mtu) == hash) {
                tell_timers(config, &other, a, b, out);
                return true;
            }
        }
    }
    return false;
}

bool differ_find(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash, struct differ *out)
{
    if (find_dims(config, dims, mtu, hash, out)) {
        return true;
    }
    for (unsigned i = 0; i < TIMERS; i++) {
        if (try_timer(config, dims, mtu, hash, &timers[i], out)) {
            return true;
        }
    }
    return try_timers(config, dims, mtu, hash, &timers[0], &timers[1], out) ||
           try_timers(config, dims, mtu, hash, &timers[1], &timers[2], out) || try_three(config, dims, mtu, hash, out);
}
