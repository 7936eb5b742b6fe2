/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_config.h - what the operator sets of the memcached front end: options of the service kvcache.
 */
#ifndef SERVICES_KVCACHE_MC_CONFIG_H
#define SERVICES_KVCACHE_MC_CONFIG_H

#include "cubeway/service.h"
#include "setting/setting.h"

enum { MC_ADDRESS = 64, MC_CONFIG_WHY = SETTING_WHY };

struct mc_config {
    char listen[MC_ADDRESS]; /* an address and a port: 127.0.0.1:11211, [::1]:11211; "": no listener */
    unsigned connections;    /* at one time, at most */
    cw_span idle;            /* a connection without a command for so long is closed; 0: never */
    cw_span slow;            /* so is one that stops inside a command, or does not take its answers, for so long */
    size_t output; /* bytes of answers that a client has not taken, above which nothing more is read from it */
    size_t memory; /* bytes of all clients' answers, above which values are looked up one at a time */
};

/* Listens at `fallback` ("": nowhere). */
struct mc_config mc_config_default(const char *fallback);
/*
 * The defaults, changed by the options: get gives the value of an option, or NULL; the option listen is an address and
 * a port, or "none" for nowhere. 0; or -EINVAL, and why is one sentence. Every name is asked for in any case, as
 * cw_option() wants.
 */
CW_MUST_CHECK int mc_config_read(struct mc_config *c, const char *fallback,
                                 const char *(*get)(void *context, const char *name), void *context,
                                 char why[static MC_CONFIG_WHY]);
/* The same in the service's own open(): reads with cw_option(), and says what is wrong with cw_log(). */
CW_MUST_CHECK int mc_config_check(cw_svc *s);

/* "1.2.3.4:port" or "[::1]:port" in its two parts, the host without brackets. False: it is neither. */
bool mc_config_split(const char *listen, char host[static MC_ADDRESS], unsigned *port);

#endif
