/* SPDX-License-Identifier: Apache-2.0 */
/*
 * town.h - small worlds for tests: opened, booted, and sent single packets.
 *
 * Its service sends one packet to a key per command "key ROUTE PAD". What passes by is forwarded; after the command
 * "take" the next one is kept from going on.
 */
#ifndef UNIT_SIMULATOR_TOWN_H
#define UNIT_SIMULATOR_TOWN_H

#include "base/bytes.h"
#include "cubeway/service.h"
#include "keyspace/key.h"
#include "nmu/book.h"
#include "scenario/oracle.h"
#include "simulator/check.h"
#include "simulator/world.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOWN_JOB = 901, TOWN_STAMP = 8 };

struct townsman {
    uint64_t sequence;
    bool take;
};

static inline cw_verdict town_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    struct townsman *t = state;
    if (rx->where == CW_TRANSIT && t->take) {
        t->take = false;
        cw_packet_free(s, p);
        return CW_TAKE;
    }
    return CW_FORWARD;
}

static inline int town_command(cw_svc *s, void *state, cw_request *r, int argc, const char *const *argv)
{
    struct townsman *t = state;
    (void)r;
    if (argc < 3) {
        t->take = true;
        return 0;
    }
    uint64_t number = strtoull(argv[1], NULL, 10);
    cw_packet *packet = cw_packet_new_padded(s, TOWN_STAMP, strtoul(argv[2], NULL, 10));
    if (packet == NULL) {
        return -ENOMEM;
    }
    put_be64(cw_packet_data(packet, NULL), ++t->sequence);
    cw_to to = {.kind = CW_TO_KEY, .job = TOWN_JOB};
    put_be64(to.key.b + CW_KEY_BYTES - 8, number);
    cw_send_or_drop(s, packet, &to, NULL);
    return 0;
}

static inline void town_row(void *context)
{
    (void)context;
}
static inline void town_integer(void *context, const char *name, int64_t value)
{
    (void)context;
    (void)name;
    (void)value;
}
static inline void town_text(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}
static inline void town_done(void *context, int rc)
{
    (void)context;
    (void)rc;
}

static inline void town_tell(struct world *w, cw_server s, int argc, const char *const *argv)
{
    static const struct node_request_sink sink = {NULL, town_row, town_integer, town_text, town_done};
    ck_assert_int_eq(world_command(w, s, "town", argc, argv, &sink), 0);
}

/* s sends one packet with this much padding to the key. */
static inline void town_send(struct world *w, cw_server s, uint64_t route, unsigned pad)
{
    char number[24], bytes[24];
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)route);
    (void)snprintf(bytes, sizeof bytes, "%u", pad);
    town_tell(w, s, 3, (const char *[]){"key", number, bytes});
}

/* A key whose home is that server. */
static inline uint64_t town_key(struct world *w, cw_server home)
{
    return key_first(world_torus(w), home) + 1;
}

static inline const struct world_service *town_services(void)
{
    static const cw_service service = {
        CW_SERVICE_INIT,
        .name = "town",
        .version = "1",
        .job = TOWN_JOB,
        .state_size = sizeof(struct townsman),
        .on_path = CW_PATH_ALL,
        .on_packet = town_packet,
        .on_command = town_command,
    };
    static const struct world_service list[] = {{.table = &service}};
    return list;
}

/* The people of the town may say anything to one another. */
static inline void town_grants(struct world_config *config)
{
    static const struct book_grant own = {.from = TOWN_JOB, .to = TOWN_JOB, .any_port = true, .all_processes = true};
    config->grants = &own;
    config->grant_count = 1;
}

static inline struct world_config town_config(cw_dims dims, uint64_t seed)
{
    struct world_config config = world_config_default();
    config.dims = dims;
    config.seed = seed;
    config.node.timers = ls_timers_fast();
    config.services = town_services();
    config.service_count = 1;
    town_grants(&config);
    return config;
}

static inline struct world *town_open(const struct world_config *config)
{
    struct world *w = NULL;
    ck_assert_int_eq(world_open(&w, config), 0);
    world_stamps(w, &(struct world_stamp){.job = TOWN_JOB, .bytes = TOWN_STAMP});
    return w;
}

/* Runs on for so long; says what broke when something does. */
static inline void town_run(struct world *w, cw_span span)
{
    if (world_run(w, cw_time_add(world_now(w), span)) != 0) {
        const struct world_violation *v = world_violation(w);
        ck_abort_msg("%s", v != NULL ? v->text : "stopped");
    }
}

/* All start within 5 ms; until all know one another. */
static inline void town_boot(struct world *w)
{
    world_start_all(w, CW_MS(5));
    for (int ms = 0; ms < 2000; ms++) {
        town_run(w, CW_MS(1));
        if (ms > 5 && world_agreeing(w) == world_torus(w)->servers) {
            return;
        }
    }
    ck_abort_msg("%u of %u agree after 2 s", world_agreeing(w), world_torus(w)->servers);
}

/* Opened and booted. */
static inline struct world *town_up(cw_dims dims, uint64_t seed)
{
    struct world_config config = town_config(dims, seed);
    struct world *w = town_open(&config);
    town_boot(w);
    return w;
}

static inline struct world_totals town_totals(struct world *w)
{
    struct world_totals t;
    world_totals(w, &t);
    return t;
}

/* The run must have ended by this invariant. */
static inline void town_broken(const struct world *w, unsigned invariant)
{
    const struct world_violation *v = world_violation(w);
    ck_assert_ptr_nonnull(v);
    ck_assert_msg(v->invariant == invariant, "expected invariant %u, but: %s", invariant, v->text);
}

#endif
