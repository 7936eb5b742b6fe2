/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_multicast_world.c - the multicast on real nodes in a simulated 3x3x3 torus of 1 Gb/s links and 9,000-byte
 * frames: rates (by the simulator's clock, so the same on every machine), shares of messages that run at the same time,
 * servers that die on the way, frames that get lost; then worlds that are drawn from seeds.
 *
 *   test_multicast_world [--bytes N] [--verbose], and the options of seeds.h
 *
 * --bytes is the size of the long messages; --verbose prints what happens in a drawn world. With seeds on the command
 * line only drawn worlds run. Exit code 1: something is not as promised.
 */
#include "mc_world.h"
#include "sanitized.h"
#include "seeds.h"

#include <stdio.h>
#include <string.h>

enum { SENDS = 4 };
static bool wrong;

static void must(bool good, const char *what)
{
    if (!good) {
        printf("WRONG: %s\n", what);
        wrong = true;
    }
}

static const cw_dims three_by_three = {3, 3, 3};

/* Every live member of the newest message there has it, and says that its bytes are right. */
static void look_at(const cw_server *members, unsigned count, unsigned messages)
{
    static struct fake_result r;
    for (unsigned i = 0; i < count; i++) {
        if (world_state(mc_world, members[i]) != WORLD_RUNS) {
            continue;
        }
        (void)mc_command(members[i], "status", &r);
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
    mc_open(three_by_three, 1, false);
    int at = snprintf(line, sizeof line, "send %llu to ", (unsigned long long)bytes);
    for (unsigned i = 0; i < count && count < 26; i++) {
        cw_coord c = {(uint8_t)(some[i][0] - '0'), (uint8_t)(some[i][2] - '0'), (uint8_t)(some[i][4] - '0')};
        members[i] = torus_id(world_torus(mc_world), c);
        at += snprintf(line + at, sizeof line - (size_t)at, "%s", some[i]);
    }
    for (unsigned i = 0; i < count && count == 26; i++) {
        members[i] = i + 1;
    }
    snprintf(line + at, sizeof line - (size_t)at, "%s", count == 26 ? "all" : "");
    (void)mc_command(0, line, &r);
    mc_wait(&r, 1, CW_SEC(20));
    if (!r.done || r.rc != 0) {
        must(false, "the source did not end");
        mc_close();
        return;
    }
    double rate = (double)fake_int(&r, 0, "least_bits_per_s") / 1e9;
    printf("to %2u members: %lld complete, least %.3f Gb/s, %lld sent again by the source\n", count,
           (long long)fake_int(&r, 0, "complete"), rate, (long long)fake_int(&r, 0, "repeated"));
    must(fake_int(&r, 0, "complete") == count, "not all are complete");
    must(rate >= 5.8 || bytes < 40000000, "slower than 5.80 Gb/s");
    look_at(members, count, 1);
    mc_close();
}

/* Messages at the same time, from one source or from three. */
static void three(bool apart, uint64_t bytes)
{
    static struct fake_result r[SENDS];
    static const cw_server from[] = {0, 13, 26};
    char line[64];
    double rate[3], sum = 0, least = 1e9, most = 0;
    mc_open(three_by_three, 2, false);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    for (unsigned i = 0; i < 3; i++) {
        (void)mc_command(apart ? from[i] : 0, line, &r[i]);
    }
    mc_wait(r, 3, CW_SEC(60));
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
    mc_close();
}

static void deaths(unsigned count, uint64_t bytes, uint64_t seed)
{
    static struct fake_result r;
    static const cw_server victims[] = {9, 4, 25, 1, 16, 20, 8, 12, 23};
    cw_server all[26];
    char line[64];
    mc_open(three_by_three, seed, false);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    (void)mc_command(0, line, &r);
    for (unsigned i = 0; i < 26; i++) {
        all[i] = i + 1;
    }
    for (unsigned i = 0; i < count; i++) {
        mc_run(CW_MS(2));
        world_kill(mc_world, victims[(i + seed) % 9], false);
    }
    mc_wait(&r, 1, CW_SEC(60));
    if (!r.done || r.rc != 0) {
        must(false, "the source did not end after deaths");
        mc_close();
        return;
    }
    printf("%u servers die: %lld of 26 complete, after %lld ms, the source sent %lld pieces again\n", count,
           (long long)fake_int(&r, 0, "complete"), (long long)fake_int(&r, 0, "took_ns") / 1000000,
           (long long)fake_int(&r, 0, "repeated"));
    must(fake_int(&r, 0, "complete") >= 26 - (int64_t)count, "a member that lives is not complete");
    look_at(all, 26, 1);
    mc_close();
}

static void losses(uint32_t per_million, uint64_t bytes, uint64_t seed)
{
    static struct fake_result r;
    char line[64];
    mc_open(three_by_three, seed, false);
    mc_lose(per_million);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    (void)mc_command(0, line, &r);
    mc_wait(&r, 1, CW_SEC(60));
    must(r.done && r.rc == 0 && fake_int(&r, 0, "complete") == 26, "losses were not made good");
    if (r.done && r.rc == 0) {
        must(fake_int(&r, 0, "least_bits_per_s") >= 5000000000 || bytes < 40000000,
             "slower than 5 Gb/s with some loss");
        printf("%u of a million frames lost: least %.3f Gb/s, the source sent %lld pieces again\n", per_million,
               (double)fake_int(&r, 0, "least_bits_per_s") / 1e9, (long long)fake_int(&r, 0, "repeated"));
    }
    mc_close();
}

/* More servers than a server has places, all at once: none may wait for another in a circle. */
static void everybody(uint64_t bytes, uint64_t seed)
{
    static struct fake_result r[27];
    char line[64];
    unsigned ended = 0;
    mc_open(three_by_three, seed, false);
    cw_time began = world_now(mc_world);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    for (cw_server s = 0; s < 27; s++) {
        (void)mc_command(s, line, &r[s]);
    }
    mc_wait(r, 27, CW_SEC(5));
    for (cw_server s = 0; s < 27; s++) {
        ended += r[s].done && r[s].rc == 0 && fake_int(&r[s], 0, "complete") == 26;
    }
    printf("27 servers send %llu bytes to all at once: %u complete after %lld ms\n", (unsigned long long)bytes, ended,
           (long long)cw_time_since(world_now(mc_world), began).ns / 1000000);
    must(ended == 27, "of 27 messages at once not all are complete within 5 s");
    mc_close();
}

static void scenes(uint64_t bytes)
{
    one(1, 1); /* less than a piece */
    one(1, bytes);
    one(6, bytes);
    one(13, bytes);
    one(26, bytes);
    three(false, bytes);
    three(true, bytes);
    losses(1000, bytes / 5, 5);
    losses(1000, bytes / 5, 6);
    everybody(100000, 8);
    everybody(100000, 9);
    deaths(1, bytes / 2, 3);
    deaths(3, bytes / 2, 4);
    deaths(9, bytes / 2, 5);
}

/* ---- Worlds of seeds --------------------------------------------------------------------------------------------- */

static char *wrong_of_seed; /* shared with the child that runs the seed */
static bool verbose;

static void drawn(uint64_t seed)
{
    const char *why;
    if (!mc_drawn(seed, verbose, &why)) {
        seeds_fail(wrong_of_seed, "drawn", "%s", why);
    }
}

int main(int argc, char **argv)
{
    int64_t bytes = SANITIZED ? 2000000 : 40000000;
    const struct seeds_option options[] = {
        {"--bytes", NULL, &bytes}, {"--verbose", &verbose, NULL}, {NULL, NULL, NULL}};
    wrong_of_seed = seeds_share(SEEDS_WRONG_BYTES);
    struct seeds seeds = {.count = SANITIZED ? 2 : 12,
                          .options = options,
                          .ledger = wrong_of_seed,
                          .ledger_bytes = SEEDS_WRONG_BYTES,
                          .wrong = wrong_of_seed,
                          .run = drawn};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (seeds_read(&seeds, argc, argv) != 0) {
        return 2;
    }
    if (!seeds.named) {
        scenes((uint64_t)bytes);
    }
    return seeds_run(&seeds) != 0 || wrong ? 1 : 0;
}
