/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_trees [--smoke]: what the trees cost to build and to ask.
 *
 * Build: the whole of trees_open() against planting the closed form alone (the cheapest valid answer) and against
 * one sweep. Questions: at random (tree, offset) of 16x16x16, against the SHA-1 of 32 bytes (what hashing one key
 * name costs). Medians of alternating rounds, in processor time of this thread: a busy machine must not look like a
 * slow build.
 */
#include "keyspace/trees_build.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MAX = 7, ASKED = 8192 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return value[count / 2];
}

static void die(const char *what)
{
    fprintf(stderr, "bench_trees: %s\n", what);
    exit(1);
}

static void bench_build(unsigned x, unsigned y, unsigned z, int rounds)
{
    struct torus torus;
    struct descent d;
    if (torus_init(&torus, (cw_dims){(uint16_t)x, (uint16_t)y, (uint16_t)z}) < 0 || descent_open(&d, &torus) < 0) {
        die("cannot prepare");
    }
    double plant[ROUNDS_MAX], first[ROUNDS_MAX], level[ROUNDS_MAX], whole[ROUNDS_MAX];
    unsigned sweeps = 0;
    struct trees_extent settled = {0}, extent = {0};
    size_t bytes = 0;
    for (int round = 0; round < rounds; round++) {
        double t0 = now_ns();
        descent_plant(&d);
        double t1 = now_ns();
        d.sweeps = 0;
        for (sweeps = 1; descent_sweep(&d, 0); sweeps++) {
        }
        double t2 = now_ns();
        settled = descent_extent(&d);
        double t3 = now_ns();
        descent_sweep(&d, 1);
        double t4 = now_ns();
        struct trees *trees;
        if (trees_open(&trees, &torus) < 0) {
            die("cannot build");
        }
        whole[round] = now_ns() - t4;
        plant[round] = t1 - t0;
        first[round] = t2 - t1;
        level[round] = t4 - t3;
        extent = trees_extent(trees);
        bytes = trees_bytes(trees);
        trees_close(trees);
    }
    double p = median(plant, rounds), f = median(first, rounds), l = median(level, rounds), w = median(whole, rounds);
    double pairs = d.trees * (double)(torus.servers - 1);
    printf("%ux%ux%u, %u servers: table %zu bytes\n", x, y, z, torus.servers, bytes);
    printf("  closed form      %9.3f ms          max %3u  mean %7.3f\n", p / 1e6, trees_closed_extent(&torus).max,
           (double)trees_closed_extent(&torus).total / pairs);
    printf("  first descent    %9.3f ms  %6.1fx  max %3u  mean %7.3f  (%u sweeps, %.3f ms a sweep)\n", f / 1e6, f / p,
           settled.max, (double)settled.total / pairs, sweeps, f / sweeps / 1e6);
    printf("  one full sweep   %9.3f ms  %6.1fx  %.0f ns a server\n", l / 1e6, l / p, l / torus.servers);
    printf("  trees_open()     %9.3f ms  %6.1fx  max %3u  mean %7.3f\n", w / 1e6, w / p, extent.max,
           (double)extent.total / pairs);
    descent_close(&d);
}

struct asked {
    cw_server offset;
    cw_link tree;
};

typedef unsigned (*question)(const struct trees *, const struct torus *, struct asked);

static unsigned ask_parent(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)torus;
    return trees_parent(trees, a.tree, a.offset);
}

static unsigned ask_children(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)torus;
    return trees_children(trees, a.tree, a.offset);
}

static unsigned ask_translated(const struct trees *trees, const struct torus *torus, struct asked a)
{
    return trees_children(trees, a.tree, torus_offset(torus, 1234, a.offset));
}

static unsigned ask_branch(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)torus;
    return trees_branch(trees, a.tree, 1, a.offset);
}

static unsigned ask_index(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)torus;
    return trees_vertex_index(trees, a.tree, a.offset);
}

static unsigned ask_closed_parent(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)trees;
    return trees_closed_parent(torus, a.tree, a.offset);
}

static unsigned ask_closed_children(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)trees;
    return trees_closed_children(torus, a.tree, a.offset);
}

static unsigned ask_sha1(const struct trees *trees, const struct torus *torus, struct asked a)
{
    (void)trees;
    (void)torus;
    static EVP_MD *sha1;
    static EVP_MD_CTX *context;
    if (sha1 == NULL) {
        sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
        context = EVP_MD_CTX_new();
    }
    unsigned char text[32] = {0}, digest[EVP_MAX_MD_SIZE];
    memcpy(text, &a.offset, sizeof a.offset);
    if (EVP_DigestInit_ex2(context, sha1, NULL) != 1 || EVP_DigestUpdate(context, text, sizeof text) != 1 ||
        EVP_DigestFinal_ex(context, digest, NULL) != 1) {
        die("SHA-1");
    }
    return digest[0];
}

static void bench_questions(int rounds, int repeats)
{
    const struct {
        const char *name;
        question ask;
    } rows[] = {
        {"SHA-1 of 32 bytes", ask_sha1},
        {"parent", ask_parent},
        {"children", ask_children},
        {"children, from server ids", ask_translated},
        {"branch to a member", ask_branch},
        {"vertex index", ask_index},
        {"closed-form parent", ask_closed_parent},
        {"closed-form children", ask_closed_children},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    static struct asked asked[ASKED];
    static volatile unsigned sink;
    double ns[ROWS][ROUNDS_MAX], medians[ROWS];
    struct torus torus;
    struct trees *trees;
    if (torus_init(&torus, (cw_dims){16, 16, 16}) < 0 || trees_open(&trees, &torus) < 0) {
        die("cannot build");
    }
    uint32_t random = 1;
    for (int i = 0; i < ASKED; i++) {
        random = random * 1664525u + 1013904223u;
        asked[i] = (struct asked){(random >> 8) % torus.servers, (cw_link)((random >> 24) % CW_LINK_COUNT)};
    }
    for (int round = 0; round < rounds; round++) {
        for (int row = 0; row < ROWS; row++) {
            unsigned sum = 0;
            double start = now_ns();
            for (int repeat = 0; repeat < repeats; repeat++) {
                for (int i = 0; i < ASKED; i++) {
                    sum += rows[row].ask(trees, &torus, asked[i]);
                }
            }
            ns[row][round] = (now_ns() - start) / ((double)ASKED * repeats);
            sink = sum;
        }
    }
    (void)sink;
    printf("16x16x16, random (tree, offset)       ns   of a SHA-1\n");
    for (int row = 0; row < ROWS; row++) {
        medians[row] = median(ns[row], rounds);
        printf("  %-28s %9.1f   %.3f\n", rows[row].name, medians[row], medians[row] / medians[0]);
    }
    trees_close(trees);
}

int main(int argc, char **argv)
{
    bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    int rounds = smoke ? 1 : 5;
    bench_build(3, 3, 3, rounds);
    bench_build(8, 8, 8, rounds);
    if (!smoke) {
        bench_build(16, 16, 16, rounds);
        bench_build(32, 32, 32, 1);
    }
    bench_questions(smoke ? 1 : ROUNDS_MAX, smoke ? 1 : 50);
    return 0;
}
