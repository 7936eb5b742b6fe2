/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_town.h - a torus inside this process, run by the daemon's own pump, and ways to wait for what should happen.
 */
#ifndef KIT_DAEMON_TOWN_H
#define KIT_DAEMON_TOWN_H

#include "daemon/host/host.h"
#include "daemon/machine/log.h"
#include "keyspace/reach.h"
#include "shim/clock.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static inline void town_mistake(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%s\n", text);
}

static inline struct daemon_config town_config(const char *text)
{
    struct daemon_config config;
    ck_assert_int_eq(config_parse("town", text, strlen(text), &config, town_mistake, NULL), 0);
    return config;
}

/* A torus of one process, its services running. */
static inline struct host *town_open(const char *text)
{
    struct daemon_config config = town_config(text);
    struct host_options options = {.config = &config, .incarnation = 1000};
    struct host *h = NULL;
    char why[HOST_WHY];
    int rc = host_open(&h, &options, why);
    ck_assert_msg(rc == 0, "%s", why);
    rc = host_load_configured(h, why);
    ck_assert_msg(rc == 0, "%s", why);
    return h;
}

static inline unsigned town_reach(struct host *h, unsigned index)
{
    struct node *n = host_server(h, index)->node;
    unsigned count = 0;
    if (n == NULL) {
        return 0;
    }
    const struct reach *set = ls_committed(node_linkstate(n));
    for (cw_server s = reach_next(set, 0); s < host_torus(h)->servers; s = reach_next(set, s + 1)) {
        count++;
    }
    return count;
}

/* True when every live server reaches `servers` servers and delivers keys. */
static inline bool town_is_whole(struct host *h, unsigned servers)
{
    for (unsigned i = 0; i < host_count(h); i++) {
        struct node *n = host_server(h, i)->node;
        if (n != NULL && (town_reach(h, i) != servers || !ls_serving(node_linkstate(n), host_now(h)))) {
            return false;
        }
    }
    return true;
}

/* Runs for so long. */
static inline void town_run(struct host *h, cw_span span)
{
    cw_time end = cw_time_add(clock_now(), span);
    while (cw_time_before(clock_now(), end)) {
        host_turn(h, CW_MS(1));
    }
}

/* Runs until the torus is whole. Returns the time that took, in us; the test fails after 20 s. */
static inline int64_t town_settle(struct host *h, unsigned servers)
{
    cw_time start = clock_now(), end = cw_time_add(start, CW_SEC(20));
    while (!town_is_whole(h, servers)) {
        ck_assert_msg(cw_time_before(clock_now(), end), "not whole after 20 s");
        host_turn(h, CW_MS(1));
    }
    return cw_time_since(clock_now(), start).ns / 1000;
}

#endif
