/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kv_outage.c - for how long nobody can write a key whose root is gone (kvcache rules 9 and 18): a torus of 3x3x3
 * with the default timers, of which one server, two neighbours, or a plane is lost at once. Living servers set keys all
 * the time; what counts is the last key that can be set again. The time is simulated, so the figures of
 * docs/services/kvcache.md are the same on every machine, and the bounds here are exact.
 *
 *   test_kv_outage    prints the table. Exit code 1: a bound is broken.
 */
#include "nmu/book.h"
#include "sanitized.h"
#include "services/kvcache/kvcache.h"
#include "simulator/faults.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 160, SEEDS = SANITIZED ? 1 : 8, FIRST_ALIVE = 18, AXIS_X = 0, PACKETS = 1 << 18 };

static const struct book_grant grants[] = {
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 0, .all_processes = true},
    {.from = KVCACHE_JOB, .to = KVCACHE_JOB, .port = 1, .all_processes = true},
};

/* A key, and whether somebody could set it since the failure. */
struct key_writer {
    struct world *w;
    cw_server server; /* it lives through all failures */
    char key[24];
    bool asked, done;
    cw_time set; /* when it could be set */
};

static void on_row(void *context)
{
    (void)context;
}

static void on_integer(void *context, const char *name, int64_t value)
{
    (void)context;
    (void)name;
    (void)value;
}

static void on_text(void *context, const char *name, const char *value)
{
    struct key_writer *k = context;
    if (strcmp(name, "status") == 0 && strcmp(value, "done") == 0 && !k->done) {
        k->done = true;
        k->set = world_now(k->w);
    }
}

static void on_done(void *context, int rc)
{
    (void)rc;
    ((struct key_writer *)context)->asked = false;
}

static void must(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "test_kv_outage: %s\n", what);
        exit(1);
    }
}

/* Asks again, each quarter of a millisecond, for all keys that could not be set yet. */
static void set_all(struct world *w, struct key_writer *keys, cw_span span)
{
    cw_time end = cw_time_add(world_now(w), span);
    while (cw_time_before(world_now(w), end)) {
        for (unsigned i = 0; i < KEYS; i++) {
            struct key_writer *k = &keys[i];
            const char *const set[] = {"set", k->key, "value"};
            const struct node_request_sink sink = {k, on_row, on_integer, on_text, on_done};
            if (!k->done && !k->asked) {
                k->asked = true;
                must(world_command(w, k->server, "kvcache", 3, set, &sink) == 0, "a server does not run");
            }
        }
        must(world_run(w, cw_time_add(world_now(w), CW_US(250))) == 0, "an invariant is broken");
    }
}

enum what { ONE, TWO, PLANE };

static void fail(struct world *w, enum what what)
{
    static const struct fault cut = {.kind = FAULT_PARTITION, .axis = AXIS_X, .number = 1};
    if (what == PLANE) {
        fault_apply(w, &cut); /* the servers with x = 0 see one another, and nobody else */
        return;
    }
    world_kill(w, 0, true);
    if (what == TWO) {
        world_kill(w, 1, true);
    }
}

/* The time from the failure to when the last key could be set, in a world of this seed. */
static cw_span outage(enum what what, uint64_t seed)
{
    static const struct world_service services[] = {{.table = &kvcache_service}};
    static struct key_writer keys[KEYS];
    struct world_config config = world_config_default();
    struct world *w;
    config.dims = (cw_dims){3, 3, 3};
    config.seed = seed;
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = sizeof grants / sizeof *grants;
    config.packets_max = PACKETS;
    must(world_open(&w, &config) == 0, "the world does not open");
    world_start_all(w, CW_MS(20));
    must(world_run(w, (cw_time){CW_SEC(12).ns}) == 0, "an invariant is broken"); /* rule 17: no writes for 11 s */
    memset(keys, 0, sizeof keys);
    for (unsigned i = 0; i < KEYS; i++) {
        keys[i] = (struct key_writer){.w = w, .server = FIRST_ALIVE + i % 9};
        snprintf(keys[i].key, sizeof keys[i].key, "key-%u", i);
    }
    set_all(w, keys, CW_MS(200));
    cw_time last = world_now(w);
    for (unsigned i = 0; i < KEYS; i++) {
        must(keys[i].done, "all being well, a key cannot be set");
        keys[i].done = false;
    }
    cw_time failed = last;
    fail(w, what);
    set_all(w, keys, CW_SEC(2));
    for (unsigned i = 0; i < KEYS; i++) {
        must(keys[i].done, "a key cannot be set 2 s after the failure");
        last = cw_time_before(last, keys[i].set) ? keys[i].set : last;
    }
    world_close(w);
    return cw_time_since(last, failed);
}

int main(void)
{
    static const struct {
        const char *name;
        cw_span most;
    } rows[] = {
        [ONE] = {"one server", CW_MS(130)},
        [TWO] = {"two neighbours", CW_MS(210)},
        [PLANE] = {"a plane of nine", CW_MS(340)},
    };
    int rc = 0;
    printf("%-20s %12s %12s\n", "what fails at once", "least", "most");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        cw_span least = {INT64_MAX}, most = {0};
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            cw_span t = outage(i, seed);
            least = t.ns < least.ns ? t : least;
            most = t.ns > most.ns ? t : most;
        }
        printf("%-20s %9.1f ms %9.1f ms%s\n", rows[i].name, (double)least.ns / 1e6, (double)most.ns / 1e6,
               most.ns > rows[i].most.ns ? ": too long" : "");
        rc = most.ns > rows[i].most.ns ? 1 : rc;
    }
    return rc;
}
