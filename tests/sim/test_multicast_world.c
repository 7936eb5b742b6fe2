/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_multicast_world.c - the multicast on real nodes in a simulated 3x3x3 torus of 1 Gb/s links and 9,000-byte frames: rates (of the simulator's
 * clock, so the same on every machine), shares of messages that run at the same time, servers that die on the way, frames that get lost.
 *
 *   test_multicast_world [--bytes N | --seeds FIRST COUNT]     prints what it saw; exit code 1: it is not as promised
 */
#include "fake_result.h"
#include "keyspace/torus.h"
#include "nmu/book.h"
#include "services/multicast/multicast.h"
#include "simulator/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENDS = 4 };
static struct world *world;
static bool wrong;

static void must(bool good, const char *what)
{
    if (!good) {
        printf("WRONG: %s\n", what);
        wrong = true;
    }
}

static void run(cw_span span)
{
    if (world_run(world, cw_time_add(world_now(world), span)) != 0) {
        fprintf(stderr, "%s\n", world_violation(world) != NULL ? world_violation(world)->text : "stopped");
        exit(1);
    }
}

static void open_world(uint64_t seed)
{
    static const struct world_service services[] = {{.table = &multicast_service}};
    static const struct book_grant grants[] = {
        {.from = MULTICAST_JOB, .to = MULTICAST_JOB, .port = MULTICAST_PORT, .all_processes = true}};
    struct world_config config = world_config_default();
    config.seed = seed;
    config.services = services;
    config.service_count = 1;
    config.grants = grants;
    config.grant_count = 1;
    if (world_open(&world, &config) != 0) {
        exit(1);
    }
    world_start_all(world, CW_MS(1));
    unsigned servers = world_torus(world)->servers;
    for (int i = 0; i < 500 && (world_active(world) < servers || world_agreeing(world) < servers); i++) {
        run(CW_MS(10));
    }
}

static void command(cw_server s, const char *line, struct fake_result *r)
{
    static struct node_request_sink sinks[64];
    static unsigned used;
    struct fake_words words = fake_words_of(line);
    struct node_request_sink *sink = &sinks[used++ % 64];
    *sink = (struct node_request_sink){r, fake_result_row, fake_result_int, fake_result_text, fake_result_done};
    fake_result_init(r);
    if (world_command(world, s, "multicast", words.argc, words.argv, sink) != 0) {
        exit(1);
    }
}

/* Until all are answered, for at most a while. */
static void wait_for(struct fake_result *r, unsigned count, cw_span most)
{
    cw_time end = cw_time_add(world_now(world), most);
    for (unsigned i = 0; i < count;) {
        if (r[i].done) {
            i++;
        } else if (cw_time_before(world_now(world), end)) {
            run(CW_US(200));
        } else {
            return;
        }
    }
}

/* Every live member of the newest message there has it, and says that its bytes are right. */
static void look_at(const cw_server *members, unsigned count, unsigned messages)
{
    static struct fake_result r;
    for (unsigned i = 0; i < count; i++) {
        if (world_state(world, members[i]) != WORLD_RUNS) {
            continue;
        }
        command(members[i], "status", &r);
        unsigned well = 0;
        for (unsigned row = 0; row < r.rows; row++) {
            well += strcmp(fake_text(&r, row, "role"), "member") == 0 && fake_int(&r, row, "ended") == 1 &&
                    fake_int(&r, row, "status") == 0 && fake_int(&r, row, "has") == fake_int(&r, row, "pieces");
        }
        must(well == messages, "a member that lives has not all of it");
    }
}

static void one(unsigned count, uint64_t bytes)
{
    static const char *const some[] = {"1,0,0 ", "1,1,1 ", "2,0,1 ", "0,2,0 ", "2,2,2 ", "0,1,2 ", "1,2,0 ",
                                       "0,0,1 ", "2,1,0 ", "1,0,2 ", "0,2,1 ", "2,1,1 ", "1,2,2 "};
    static struct fake_result r;
    char line[200];
    cw_server members[26];
    open_world(1);
    int at = snprintf(line, sizeof line, "send %llu to ", (unsigned long long)bytes);
    for (unsigned i = 0; i < count && count < 26; i++) {
        cw_coord c = {(uint8_t)(some[i][0] - '0'), (uint8_t)(some[i][2] - '0'), (uint8_t)(some[i][4] - '0')};
        members[i] = torus_id(world_torus(world), c);
        at += snprintf(line + at, sizeof line - (size_t)at, "%s", some[i]);
    }
    for (unsigned i = 0; i < count && count == 26; i++) {
        members[i] = i + 1;
    }
    snprintf(line + at, sizeof line - (size_t)at, "%s", count == 26 ? "all" : "");
    command(0, line, &r);
    wait_for(&r, 1, CW_SEC(20));
    if (!r.done || r.rc != 0) {
        must(false, "the source did not end");
        world_close(world);
        return;
    }
    double rate = (double)fake_int(&r, 0, "least_bits_per_s") / 1e9;
    printf("to %2u members: %lld complete, least %.3f Gb/s, %lld sent again by the source\n", count,
           (long long)fake_int(&r, 0, "complete"), rate, (long long)fake_int(&r, 0, "repeated"));
    must(fake_int(&r, 0, "complete") == count, "not all are complete");
    must(rate >= 5.8 || bytes < 40000000, "slower than 5.80 Gb/s");
    look_at(members, count, 1);
    world_close(world);
}

/* Messages at the same time, from one source or from three. */
static void three(bool apart, uint64_t bytes)
{
    static struct fake_result r[SENDS];
    static const cw_server from[] = {0, 13, 26};
    char line[64];
    double rate[3], sum = 0, least = 1e9, most = 0;
    open_world(2);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    for (unsigned i = 0; i < 3; i++) {
        command(apart ? from[i] : 0, line, &r[i]);
    }
    wait_for(r, 3, CW_SEC(60));
    for (unsigned i = 0; i < 3; i++) {
        bool good = r[i].done && r[i].rc == 0 && fake_int(&r[i], 0, "complete") == 26;
        must(good, "one of three did not end well");
        rate[i] = good ? (double)fake_int(&r[i], 0, "least_bits_per_s") / 1e9 : 0;
        sum += rate[i];
        least = rate[i] < least ? rate[i] : least;
        most = rate[i] > most ? rate[i] : most;
    }
    printf("three at once from %s: %.3f %.3f %.3f Gb/s, sum %.3f, most / least %.4f\n",
           apart ? "three servers" : "one server", rate[0], rate[1], rate[2], sum, most / least);
    must(apart || most <= least * 1.01 || bytes < 40000000, "shares differ by more than 1 %");
    must(sum >= 5.75 || bytes < 40000000 || apart, "the sum is below 5.75 Gb/s");
    world_close(world);
}

static void deaths(unsigned count, uint64_t bytes, uint64_t seed)
{
    static struct fake_result r;
    static const cw_server victims[] = {9, 4, 25, 1, 16, 20, 8, 12, 23};
    cw_server all[26];
    char line[64];
    open_world(seed);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    command(0, line, &r);
    for (unsigned i = 0; i < 26; i++) {
        all[i] = i + 1;
    }
    for (unsigned i = 0; i < count; i++) {
        run(CW_MS(2));
        world_kill(world, victims[(i + seed) % 9], false);
    }
    wait_for(&r, 1, CW_SEC(60));
    if (!r.done || r.rc != 0) {
        must(false, "the source did not end after deaths");
        world_close(world);
        return;
    }
    printf("%u servers die: %lld of 26 complete, after %lld ms, the source sent %lld pieces again\n", count,
           (long long)fake_int(&r, 0, "complete"), (long long)fake_int(&r, 0, "took_ns") / 1000000,
           (long long)fake_int(&r, 0, "repeated"));
    must(fake_int(&r, 0, "complete") >= 26 - (int64_t)count, "a member that lives is not complete");
    look_at(all, 26, 1);
    world_close(world);
}

static void losses(uint32_t per_million, uint64_t bytes)
{
    static struct fake_result r;
    char line[64];
    open_world(5);
    const struct wire_harm harm = {.loss = per_million};
    for (cw_server s = 0; s < 27; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(world, s, link, &harm);
        }
    }
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    command(0, line, &r);
    wait_for(&r, 1, CW_SEC(60));
    must(r.done && r.rc == 0 && fake_int(&r, 0, "complete") == 26, "losses were not made good");
    if (r.done && r.rc == 0) {
        printf("%u of a million frames lost: least %.3f Gb/s, the source sent %lld pieces again\n", per_million,
               (double)fake_int(&r, 0, "least_bits_per_s") / 1e9, (long long)fake_int(&r, 0, "repeated"));
    }
    world_close(world);
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* Members, losses, deaths and returns of a seed. Who was there all the time must have everything; who died is not waited for. */
static void drawn(uint64_t seed)
{
    static struct fake_result r;
    static const uint32_t losses[] = {0, 0, 1000, 20000};
    uint64_t state = seed * 77777;
    bool member[27] = {false}, died[27] = {false};
    cw_server source = draw(&state, 27), well[27];
    unsigned count = 0;
    char line[300];
    open_world(seed);
    const struct wire_harm harm = {.loss = losses[draw(&state, 4)]};
    for (cw_server s = 0; s < 27; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_harm(world, s, link, &harm);
        }
    }
    int at = snprintf(line, sizeof line, "send %u to", 1000000 + draw(&state, 8000000));
    for (cw_server s = 0; s < 27; s++) {
        member[s] = s != source && draw(&state, 3) > 0;
        cw_coord c = torus_coord(world_torus(world), s);
        at += member[s] ? snprintf(line + at, sizeof line - (size_t)at, " %u,%u,%u", c.x, c.y, c.z) : 0;
    }
    command(source, line, &r);
    for (unsigned left = draw(&state, 7); left > 0; left--) {
        cw_server victim = draw(&state, 27);
        run(CW_US(draw(&state, 4000)));
        if (victim != source && world_state(world, victim) == WORLD_RUNS) {
            world_kill(world, victim, false);
            died[victim] = true;
        } else if (world_state(world, victim) == WORLD_DEAD) {
            must(world_start(world, victim) == 0, "a server does not start");
        }
    }
    wait_for(&r, 1, CW_SEC(60));
    for (cw_server s = 0; s < 27; s++) {
        if (member[s] && !died[s]) {
            well[count++] = s;
        }
    }
    if (!r.done || r.rc != 0) {
        printf("seed %llu: done %d, %d\n", (unsigned long long)seed, r.done, r.rc);
        for (unsigned row = 1; row < r.rows; row++) {
            const char *name = fake_text(&r, row, "incomplete");
            cw_coord c = {(uint8_t)(name[0] - '0'), (uint8_t)(name[2] - '0'), (uint8_t)(name[4] - '0')};
            cw_server id = torus_id(world_torus(world), c);
            printf("  %s: %lld%s\n", name, (long long)fake_int(&r, row, "status"), died[id] ? ", it died" : "");
        }
        must(false, "the source did not end");
    } else if (fake_int(&r, 0, "complete") < (int64_t)count) {
        printf("seed %llu: %lld complete, at least %u could be\n", (unsigned long long)seed,
               (long long)fake_int(&r, 0, "complete"), count);
        must(false, "a member that lived is not complete");
    } else {
        look_at(well, count, 1);
    }
    world_close(world);
}

int main(int argc, char **argv)
{
    uint64_t bytes = 50000000;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3 && strcmp(argv[1], "--bytes") == 0) {
        bytes = strtoull(argv[2], NULL, 10);
    }
    if (argc == 4 && strcmp(argv[1], "--seeds") == 0) {
        uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
        for (uint64_t seed = first; seed < first + count; seed++) {
            drawn(seed);
        }
        printf("%llu seeds\n", (unsigned long long)count);
        return wrong ? 1 : 0;
    }
    one(1, 1); /* less than a piece */
    one(1, bytes);
    one(6, bytes);
    one(13, bytes);
    one(26, bytes);
    three(false, bytes);
    three(true, bytes);
    losses(1000, bytes / 5);
    deaths(1, bytes / 2, 3);
    deaths(3, bytes / 2, 4);
    deaths(9, bytes / 2, 5);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        drawn(seed);
    }
    return wrong ? 1 : 0;
}
