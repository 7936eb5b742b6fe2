/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_config.h - what the operator sets of the memcached front end: options of the service kvcache.
 */
#ifndef SERVICES_KVCACHE_MC_CONFIG_H
#define SERVICES_KVCACHE_MC_CONFIG_H

#include "cubeway/service.h"

enum { MC_ADDRESS = 64, MC_CONFIG_WHY = 200 };

struct mc_config {
    char listen[MC_ADDRESS]; /* "": nowhere. An address and a port: 127.0.0.1:11211, [::1]:11211 */
    unsigned connections;    /* at one time */
    cw_span idle;            /* a connection that says nothing for so long is closed; 0: never */
    cw_span slow;            /* one that stops in the middle of a command, or does not take its answers */
    size_t output;           /* bytes of answers that a client has not taken, beyond which nothing is read from it */
    size_t memory;           /* of all of them, beyond which look-ups are made one after the other */
};

/* listen is where it is said, fallback ("" is nowhere) when it is not said. "none" is nowhere, too. */
struct mc_config mc_config_default(const char *fallback);
/*
 * Reads the options: get gives a value, or NULL. 0, or -EINVAL and why in one sentence. All names are asked for in any case, as cw_option() wants.
 */
CW_MUST_CHECK int mc_config_read(struct mc_config *c, const char *fallback,
                                 const char *(*get)(void *context, const char *name), void *context,
                                 char why[static MC_CONFIG_WHY]);
/* The same from the service's own open(): cw_option(), and cw_log() of what is wrong. */
CW_MUST_CHECK int mc_config_check(cw_svc *s);

/* "1.2.3.4:port" or "[::1]:port" in two; false: it is neither. Host is without brackets. */
bool mc_config_split(const char *listen, char host[static MC_ADDRESS], unsigned *port);

#endif
