/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_multicast [--smoke] [--bytes N] [--only members|three|deaths|large] [--json] [--folder DIRECTORY]: the
 * multicast in the simulator, 1 Gb/s links, 9,000-byte frames (CamCubeOS 6.1, table 1).
 *
 * From the command until the source knows that the slowest member has everything, in the simulator's time: the same on
 * every machine. To 1, 6, 13 and 26 members at 3x3x3, three messages at once, to 511 at 8x8x8, and with 1, 3 and 9 of
 * 27 servers that die one after the other in the first half. With --folder what the slowest member has gets there over
 * time: deaths-N.csv and a script for gnuplot. --smoke: 1 MB, one death, and no 8x8x8.
 */
#include "curve.h"
#include "mc_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 512 };
static bool json, smoke, first_row = true;
static const char *folder, *only;
static uint64_t bytes = 750000000;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A row of the table, or of the JSON list. */
static void row(const char *what, uint64_t size, const struct fake_result *r, double bound, double cpu)
{
    double rate = r->done && r->rc == 0 ? (double)fake_int(r, 0, "least_bits_per_s") / 1e9 : 0;
    long long complete = r->done ? (long long)fake_int(r, 0, "complete") : 0;
    long long again = r->done ? (long long)fake_int(r, 0, "repeated") : 0;
    if (json) {
        printf("%s{\"case\": \"%s\", \"bytes\": %llu, \"least_gbps\": %.4f, \"complete\": %lld, \"sent_again\": %lld, "
               "\"bound_gbps\": %.3f, \"cpu_s\": %.1f}",
               first_row ? "[" : ",\n ", what, (unsigned long long)size, rate, complete, again, bound, cpu);
    } else {
        printf("%-34s %12llu %8.3f %9.3f %9lld %9lld %8.1f\n", what, (unsigned long long)size, rate, bound, complete,
               again, cpu);
    }
    first_row = false;
}

static void to_members(cw_dims dims, unsigned count)
{
    static struct fake_result r;
    char line[400], what[40];
    uint64_t size = dims.x > 3 ? bytes / 5 : bytes;
    mc_open(dims, 1, false);
    unsigned servers = world_torus(mc_world)->servers;
    int at = snprintf(line, sizeof line, "send %llu to", (unsigned long long)size);
    for (unsigned i = 1; i <= count && count < servers - 1; i++) {
        cw_coord c =
            torus_coord(world_torus(mc_world), i * 7 % servers); /* spread: 7 and 27 have no factor in common */
        at += snprintf(line + at, sizeof line - (size_t)at, " %u,%u,%u", c.x, c.y, c.z);
    }
    snprintf(line + at, sizeof line - (size_t)at, "%s", count == servers - 1 ? " all" : "");
    double cpu = cpu_s();
    (void)mc_command(0, line, &r);
    mc_wait(&r, 1, CW_SEC(60));
    snprintf(what, sizeof what, "%ux%ux%u, %u members", dims.x, dims.y, dims.z, count);
    row(what, size, &r, 6 * 0.996, cpu_s() - cpu);
    mc_close();
}

static void three(bool apart)
{
    static struct fake_result r[3];
    static const cw_server from[] = {0, 13, 26};
    char line[64];
    mc_open((cw_dims){3, 3, 3}, 2, false);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    double cpu = cpu_s();
    for (unsigned i = 0; i < 3; i++) {
        (void)mc_command(apart ? from[i] : 0, line, &r[i]);
    }
    mc_wait(r, 3, CW_SEC(120));
    for (unsigned i = 0; i < 3; i++) {
        row(apart ? "three at once, three sources" : "three at once, one source", bytes, &r[i], 2 * 0.996,
            (cpu_s() - cpu) / 3);
    }
    mc_close();
}

/* ---- Deaths ------------------------------------------------------------------------------------------------------ */

/*
 * How many ways without a common link lead from 0 to a server over those that live: by so many links it can hear at a
 * time.
 */
static unsigned ways_to(const struct torus *t, const bool *dead, cw_server to)
{
    static bool used[MOST][CW_LINK_COUNT];
    memset(used, 0, sizeof used);
    for (unsigned ways = 0;; ways++) {
        cw_server from[MOST], queue[MOST];
        cw_link by[MOST];
        bool seen[MOST] = {[0] = true};
        unsigned head = 0, tail = 1;
        queue[0] = 0;
        while (head < tail && !seen[to]) {
            cw_server at = queue[head++];
            for (cw_links left = torus_links(t); left != 0; left &= (cw_links)(left - 1)) {
                cw_link link = (cw_link)__builtin_ctz(left);
                cw_server next = torus_neighbour(t, at, link);
                bool back = used[next][cw_link_opposite(link)]; /* a way that came from there can be turned */
                if (!dead[next] && !seen[next] && (!used[at][link] || back)) {
                    seen[next] = true;
                    from[next] = at;
                    by[next] = link;
                    queue[tail++] = next;
                }
            }
        }
        if (!seen[to]) {
            return ways;
        }
        for (cw_server at = to; at != 0; at = from[at]) {
            bool *back = &used[at][cw_link_opposite(by[at])];
            used[from[at]][by[at]] = !*back;
            *back = false;
        }
    }
}

static FILE *begin_curve(unsigned count)
{
    char name[40];
    snprintf(name, sizeof name, "deaths-%u", count);
    return curve_begin(folder, name, "A message to 26 servers of 3x3x3, some of which die",
                       "the slowest member that lives");
}

/* What the slowest member that lives has. */
static int64_t least_has(const bool *dead)
{
    int64_t least = INT64_MAX;
    for (cw_server s = 1; s < 27; s++) {
        int64_t has = dead[s] ? INT64_MAX : mc_has(s);
        least = has < least ? has : least;
    }
    return least;
}

static void deaths(unsigned count)
{
    static struct fake_result r;
    static const cw_server victims[] = {9, 4, 25, 1, 16, 20, 8, 12, 23};
    bool dead[MOST] = {false};
    char line[64], what[40];
    mc_open((cw_dims){3, 3, 3}, 3, false);
    snprintf(line, sizeof line, "send %llu to all", (unsigned long long)bytes);
    double cpu = cpu_s();
    (void)mc_command(0, line, &r);
    FILE *curve = begin_curve(count);
    const cw_span step = {(int64_t)(bytes / 750 / 100) * 1000};
    int64_t had = 0;
    unsigned gone = 0;
    for (unsigned i = 0; i < 10000 && !r.done; i++) {
        mc_run(step);
        if (gone < count && i % (66 / count) == 66 / count - 1) {
            dead[victims[gone]] = true;
            world_kill(mc_world, victims[gone++], false);
        }
        if (curve != NULL) {
            int64_t has = least_has(dead);
            fprintf(curve, "%.2f,%.4f,%u\n", (double)(i + 1) * (double)step.ns / 1e6,
                    (double)(has - had) * 8920 * 8 / (double)step.ns, gone);
            had = has;
        }
    }
    unsigned ways = CW_LINK_COUNT;
    for (cw_server s = 1; s < 27; s++) {
        unsigned n = dead[s] ? ways : ways_to(world_torus(mc_world), dead, s);
        ways = n < ways ? n : ways;
    }
    snprintf(what, sizeof what, "3x3x3, %u die (then %u ways)", count, ways);
    row(what, bytes, &r, 0.996 * ways, cpu_s() - cpu);
    if (curve != NULL && fclose(curve) != 0) {
        fprintf(stderr, "a curve cannot be written\n");
        exit(1);
    }
    mc_close();
}

static bool asked_for(const char *what)
{
    return only == NULL || strcmp(only, what) == 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            smoke = true;
            bytes = 1000000;
        } else if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--bytes") == 0 && i + 1 < argc) {
            bytes = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
            folder = argv[++i];
        } else {
            fprintf(stderr, "bench_multicast [--smoke] [--bytes N] [--only members|three|deaths|large] [--json] "
                            "[--folder DIRECTORY]\n");
            return 2;
        }
    }
    if (bytes < 1000000) {
        fprintf(stderr, "bench_multicast: --bytes is at least 1000000\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!json) {
        printf("%-34s %12s %8s %9s %9s %9s %8s\n", "", "bytes", "Gb/s", "wires", "complete", "again", "CPU s");
    }
    static const unsigned members[] = {1, 6, 13, 26};
    for (unsigned i = 0; i < 4 && asked_for("members"); i++) {
        to_members((cw_dims){3, 3, 3}, members[i]);
    }
    if (asked_for("three")) {
        three(false);
        three(true);
    }
    for (unsigned dead = 1; dead <= (smoke ? 1 : 9) && asked_for("deaths"); dead *= 3) {
        deaths(dead);
    }
    if (!smoke && asked_for("large")) {
        to_members((cw_dims){8, 8, 8}, 511);
    }
    printf("%s", json ? "]\n" : "");
    return 0;
}
