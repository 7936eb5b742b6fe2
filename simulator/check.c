/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/check_internal.h"

#include "keyspace/facet.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, MEGA = 1000 * 1000 };

/* Invariant 1, by translation: what holds for home 0 holds for all. */
static bool sequences_are_permutations(const struct torus *torus, uint64_t *visited)
{
    for (unsigned index = 0; index < FACET_SEQUENCES; index++) {
        struct facet_walk walk;
        uint32_t count = 0;
        memset(visited, 0, reach_bytes(torus->servers));
        facet_walk_init(&walk, torus, 0, index);
        do {
            cw_server s = facet_walk_server(&walk);
            if (s >= torus->servers || visited[s / WORD] >> (s % WORD) & 1) {
                return false;
            }
            visited[s / WORD] |= UINT64_C(1) << (s % WORD);
            count++;
        } while (facet_walk_next(&walk));
        if (count != torus->servers) {
            return false;
        }
    }
    return true;
}

static void choose_origins(struct check *c, uint32_t servers)
{
    for (cw_server s = 0; s < servers; s++) {
        c->order[s] = s;
    }
    if (c->origins < servers) {
        prng_shuffle(&c->random, c->order, servers, sizeof *c->order);
    }
    memcpy(c->origin, c->order, c->origins * sizeof *c->origin);
}

int check_open(struct check **out, struct world *w)
{
    size_t n = w->servers, words = reach_bytes(w->servers) / sizeof(uint64_t);
    struct check *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return -ENOMEM;
    }
    c->world = w;
    c->random = prng_stream(w->config.seed, 0, WORLD_STREAM_CHECK);
    c->origins = n <= CHECK_ALL_SERVERS ? (uint32_t)n : CHECK_ORIGINS;
    c->known = calloc(n, sizeof *c->known);
    c->words = calloc((n + 1) * words, sizeof *c->words);
    c->versions = calloc(n * c->origins, sizeof *c->versions);
    c->origin = calloc(c->origins, sizeof *c->origin);
    c->newest = calloc(n, sizeof *c->newest);
    c->first = malloc(n * sizeof *c->first);
    c->next = malloc(n * sizeof *c->next);
    c->order = malloc(n * sizeof *c->order);
    c->trusted = calloc(n, sizeof *c->trusted);
    c->visited = calloc(words, sizeof *c->visited);
    if (c->known == NULL || c->words == NULL || c->versions == NULL || c->origin == NULL || c->newest == NULL ||
        c->first == NULL || c->next == NULL || c->order == NULL || c->trusted == NULL || c->visited == NULL ||
        recent_open(&c->recent, w->servers) < 0 || check_relay_open(&c->relay, w) < 0) {
        check_close(c);
        return -ENOMEM;
    }
    for (size_t s = 0; s < n; s++) {
        reach_init(&c->known[s].committed, w->servers, c->words + s * words);
        c->known[s].version = c->versions + s * c->origins;
    }
    reach_init(&c->group, w->servers, c->words + n * words);
    choose_origins(c, w->servers);
    *out = c;
    return 0;
}

void check_close(struct check *c)
{
    if (c == NULL) {
        return;
    }
    check_relay_close(c->relay);
    recent_close(&c->recent);
    free(c->known);
    free(c->words);
    free(c->versions);
    free(c->origin);
    free(c->newest);
    free(c->first);
    free(c->next);
    free(c->order);
    free(c->trusted);
    free(c->visited);
    free(c);
}

size_t check_bytes(const struct check *c)
{
    size_t n = c->world->servers;
    size_t each = sizeof *c->known + reach_bytes(c->world->servers) + c->origins * sizeof *c->versions +
                  sizeof *c->newest + sizeof *c->first + sizeof *c->next + sizeof *c->order + sizeof *c->trusted;
    return sizeof *c + n * each + 2 * ((size_t)c->recent.mask + 1) * sizeof *c->recent.id[0];
}

/* ---- When -------------------------------------------------------------------------------------------------------- */

void check_disturbed(struct check *c)
{
    c->disturbed = c->world->now;
    c->perfect = false;
}

/* All servers run, all links are up, and everybody knows: from now on packets take shortest ways. */
static bool is_perfect(struct check *c)
{
    struct world *w = c->world;
    if (w->running != w->servers || world_agreeing(w) != w->servers) {
        return false;
    }
    for (cw_server s = 0; s < w->servers; s++) {
        if (oracle_links(&w->oracle, s) != w->links) {
            return false;
        }
    }
    return true;
}

static void sweep(struct check *c)
{
    struct world *w = c->world;
    (void)check_conservation(w);
    /* What was under way when the world became perfect has arrived a second later. */
    if (!c->perfect && cw_time_since(w->now, c->disturbed).ns > CW_SEC(1).ns) {
        c->perfect = is_perfect(c);
        c->disturbed = c->perfect ? c->disturbed : w->now;
    }
}

static void due(struct world *w, void *arg)
{
    struct check *c = arg;
    check_sample(c);
    if (c->connected) {
        check_members(c);
    }
    if (++c->sweep == CHECK_SWEEP_US / CHECK_SAMPLE_US) {
        c->sweep = 0;
        sweep(c);
    }
    world_at(w, cw_time_add(w->now, CW_US(CHECK_SAMPLE_US)), due, c);
}

void check_begin(struct check *c)
{
    struct world *w = c->world;
    if (!sequences_are_permutations(&w->torus, c->visited)) {
        check_violated(w, 1, 0, NULL, "a sequence of keys' owners is no permutation of the servers");
    }
    if (ls_timers_check(&w->config.node.timers) < 0) {
        check_violated(w, 18, 0, NULL, "the timers cannot keep the guarantee");
    }
    world_at(w, cw_time_add(w->now, CW_US(CHECK_SAMPLE_US)), due, c);
}

/* ---- Violations -------------------------------------------------------------------------------------------------- */

static size_t put(char *text, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static size_t put(char *text, size_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text + at, WORLD_VIOLATION_TEXT - at, format, args);
    va_end(args);
    at += length > 0 ? (size_t)length : 0;
    return at < WORLD_VIOLATION_TEXT ? at : WORLD_VIOLATION_TEXT - 1;
}

void check_violated(struct world *w, unsigned invariant, unsigned count, const cw_server servers[], const char *format,
                    ...)
{
    struct world_violation *v = &w->violation;
    w->stopped = true;
    if (v->text[0] != '\0') {
        return;
    }
    v->invariant = invariant;
    v->at = w->now;
    long long s = (long long)(w->now.ns / CW_SEC(1).ns), ns = (long long)(w->now.ns % CW_SEC(1).ns);
    size_t at = invariant > 0 ? put(v->text, 0, "invariant %u broken at %lld.%09lld s: ", invariant, s, ns)
                              : put(v->text, 0, "stopped at %lld.%09lld s: ", s, ns);
    va_list args;
    va_start(args, format);
    int length = vsnprintf(v->text + at, WORLD_VIOLATION_TEXT - at, format, args);
    va_end(args);
    at += length > 0 ? (size_t)length : 0;
    at = at < WORLD_VIOLATION_TEXT ? at : WORLD_VIOLATION_TEXT - 1;
    at = put(v->text, at, "; seed %llu", (unsigned long long)w->config.seed);
    for (unsigned i = 0; i < count && i < WORLD_VIOLATION_SERVERS; i++) {
        char place[TORUS_TEXT];
        v->server[v->servers++] = servers[i];
        torus_format(torus_coord(&w->torus, servers[i]), place);
        at = put(v->text, at, "%s%s", i == 0 ? ", servers " : " ", place);
    }
    if (w->config.replay != NULL) {
        (void)put(v->text, at, "; again: %s", w->config.replay);
    }
}
