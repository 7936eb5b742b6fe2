/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differ.h - in what the configuration of a neighbour differs, by the number that stands for it in hellos
 * (config_hash() of daemon/config): other dims, one other timer, or two or three that go together, with values
 * that people write. Pure.
 */
#ifndef DAEMON_DOCTOR_DIFFER_H
#define DAEMON_DOCTOR_DIFFER_H

#include "daemon/config/config.h"

enum { DIFFER_TEXT = 128, DIFFER_TRIES = 60000 };

struct differ {
    char theirs[DIFFER_TEXT]; /* "timers.hello = 20ms", "timers.dead = 1s and timers.hold = 1500ms" */
    char ours[DIFFER_TEXT];   /* "10ms", "500ms and 600ms" */
    char set[DIFFER_TEXT];    /* ours as they are to be set there: "timers.hello = 10ms" */
};

/*
 * Ours are config, dims and mtu. False: it differs in something else, or in more. DIFFER_TRIES hashes at most, of which
 * 40,000 take a millisecond.
 */
bool differ_find(const struct daemon_config *config, cw_dims dims, uint32_t mtu, uint32_t hash, struct differ *out);

#endif
