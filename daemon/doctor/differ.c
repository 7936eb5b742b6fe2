/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/doctor/differ.h"

#include "base/quantity.h"

#include <stddef.h>
#include <stdio.h>

enum { DIMS_MOST = 16 };

/* Milliseconds that people write. */
static const uint16_t usual[] = {1,   2,   3,   4,    5,    6,    8,    10,   12,   15,   20,   25,  30,
                                 40,  50,  60,  70,   75,   80,   90,   100,  110,  120,  125,  150, 160,
                                 180, 200, 220, 250,  300,  350,  400,  450,  500,  550,  600,  650, 700,
                                 750, 800, 900, 1000, 1200, 1500, 2000, 2500, 3000, 5000, 10000};
enum { USUAL = sizeof usual / sizeof *usual };

static const struct timer {
    const char *name;
    size_t at;
} timers[] = {
    {"hello", offsetof(struct ls_timers, hello)}, {"dead", offsetof(struct ls_timers, dead)},
    {"hold", offsetof(struct ls_timers, hold)},   {"flood_bound", offsetof(struct ls_timers, flood_bound)},
    {"retry", offsetof(struct ls_timers, retry)}, {"pending_limit", offsetof(struct ls_timers, pending_limit)},
};
enum { TIMERS = sizeof timers / sizeof *timers };

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
    tell_timer(&own, a, first, false);
    tell_timer(&own, b, second, false);
    snprintf(out->ours, DIFFER_TEXT, a == b ? "%s" : "%s and %s", first, second);
}

/* Tries all usual values of one timer, or of two. */
static bool try_timers(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash,
                       const struct timer *a, const struct timer *b, struct differ *out)
{
    struct daemon_config other = *config;
    for (unsigned i = 0; i < USUAL; i++) {
        for (unsigned j = 0; j < (a == b ? 1 : USUAL); j++) {
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
        if (try_timers(config, dims, mtu, hash, &timers[i], &timers[i], out)) {
            return true;
        }
    }
    return try_timers(config, dims, mtu, hash, &timers[0], &timers[1], out) ||
           try_timers(config, dims, mtu, hash, &timers[1], &timers[2], out);
}
