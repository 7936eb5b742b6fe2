/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_nmu.c - what the check of one packet costs with 1, 100 and 10,000 grants, beside a SHA-1 of a 32-byte name and
 * an empty call of the same run: medians of alternating rounds. Each grant is for another job, and every packet for
 * another one of them in random order, so that with 10,000 the tables are as cold as they get. Then bytes for each job
 * and grant.
 */
#include "keyspace/key.h"
#include "nmu/nmu.h"
#include "rng.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 3, ROUNDS = 11, QUESTIONS = 16384, REPEATS = 40, SMOKE_REPEATS = 1, BYTES = 1 << 20, SERVERS = 4096 };

static const unsigned sizes[SIZES] = {1, 100, 10000};

struct bench {
    struct nmu nmu[SIZES];
    struct nmu_to ask[SIZES][QUESTIONS];
    uint8_t bytes[BYTES];
    unsigned refused;
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void demand(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "bench_nmu: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static void put(struct bench *b, struct nmu *n, cw_job job, unsigned grants, int want)
{
    struct job_record head = {.job = job, .version = 1, .generation = 1, .name = "job"};
    struct job_record_writer w;
    job_record_begin(&w, b->bytes, BYTES, &head);
    job_record_put_range(&w, &(struct job_range){0, SERVERS, 0});
    for (cw_job remote = 1; remote <= grants; remote++) {
        const cw_port port = (cw_port)(remote % 7);
        job_record_put_grant(&w, remote, NULL, 0, &port, 1);
    }
    size_t size;
    struct job_record record;
    demand(job_record_finish(&w, &size) == WIRE_OK && job_record_decode(b->bytes, size, &record) == WIRE_OK, "record");
    demand(nmu_job_put(n, &record) == want, "put");
}

/* A server where one job is resident that has so many grants. */
static void make(struct bench *b, unsigned i, struct rng *rng)
{
    unsigned grants = sizes[i];
    struct nmu_config c = nmu_config_default();
    c.jobs = grants + 1;
    c.privileges = grants;
    c.spans = c.ranges = 1;
    c.responses = 1;
    struct nmu *n = &b->nmu[i];
    demand(nmu_open(n, &c) == 0, "no memory");
    cw_job own = grants + 1;
    demand(nmu_reside(n, 0, own, 5, 0) == 0, "reside");
    put(b, n, own, grants, 1);
    for (cw_job job = 1; job <= grants; job++) {
        put(b, n, job, 0, 1);
    }
    for (unsigned k = 0; k < QUESTIONS; k++) {
        cw_job job = 1 + (cw_job)rng_below(rng, grants);
        b->ask[i][k] =
            (struct nmu_to){.job = job, .port = (cw_port)(job % 7), .process = (cw_process)rng_below(rng, SERVERS)};
    }
    struct needs {
        size_t privilege, map;
    } bytes = {privilege_bytes(&n->tables.privilege), map_bytes(&n->tables.map)};
    printf("%6u grants: privileges %8zu bytes (%.0f a grant), map %8zu (%.0f a job)\n", grants, bytes.privilege,
           (double)bytes.privilege / grants, bytes.map, (double)bytes.map / (grants + 1));
}

static double check_ns(struct bench *b, unsigned i, unsigned repeats)
{
    double start = now_ns();
    for (unsigned r = 0; r < repeats; r++) {
        for (unsigned k = 0; k < QUESTIONS; k++) {
            struct nmu_pass pass;
            b->refused += nmu_ask(&b->nmu[i], 0, &b->ask[i][k], &pass) != NMU_ALLOWED;
            __asm__ volatile("" : : "r"(&pass) : "memory");
        }
    }
    return (now_ns() - start) / repeats / QUESTIONS;
}

__attribute__((noinline)) static unsigned empty(const struct nmu *n, const struct nmu_to *to, struct nmu_pass *pass)
{
    __asm__ volatile("" : : "r"(n), "r"(to), "r"(pass) : "memory");
    return 0;
}

static double empty_ns(struct bench *b, unsigned repeats)
{
    double start = now_ns();
    for (unsigned r = 0; r < repeats; r++) {
        for (unsigned k = 0; k < QUESTIONS; k++) {
            struct nmu_pass pass;
            b->refused += empty(&b->nmu[2], &b->ask[2][k], &pass);
        }
    }
    return (now_ns() - start) / repeats / QUESTIONS;
}

/* One entry under a seal: the tag that is in use, and HMAC-SHA-256 for comparison, whose key is set once. */
static double seal_ns(unsigned repeats)
{
    const struct siphash_key key = {{1, 2}};
    uint8_t entry[24] = {0};
    double start = now_ns();
    for (unsigned k = 0; k < repeats * 1000; k++) {
        memcpy(entry, &k, sizeof k);
        struct siphash_tag tag = siphash(&key, entry, sizeof entry);
        __asm__ volatile("" : : "r"(&tag) : "memory");
    }
    return (now_ns() - start) / repeats / 1000;
}

static double hmac_ns(unsigned repeats)
{
    uint8_t entry[24] = {0}, secret[32] = {1}, tag[32];
    char digest[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                                 OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    demand(context != NULL && EVP_MAC_init(context, secret, sizeof secret, params) == 1, "no HMAC");
    double start = now_ns();
    for (unsigned k = 0; k < repeats * 100; k++) {
        size_t size;
        memcpy(entry, &k, sizeof k);
        demand(EVP_MAC_init(context, NULL, 0, NULL) == 1 && EVP_MAC_update(context, entry, sizeof entry) == 1 &&
                   EVP_MAC_final(context, tag, &size, sizeof tag) == 1,
               "HMAC");
    }
    double took = (now_ns() - start) / repeats / 100;
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
    return took;
}

/* The check that refuses: a flood to a job that no grant names. */
static double refused_ns(struct bench *b, unsigned repeats)
{
    double start = now_ns();
    for (unsigned k = 0; k < repeats * 1000; k++) {
        struct nmu_pass pass;
        struct nmu_to to = {.job = 99999, .port = (cw_port)(k % 8), .process = 3};
        demand(nmu_ask(&b->nmu[1], 0, &to, &pass) == NMU_NO_GRANT, "not refused");
    }
    return (now_ns() - start) / repeats / 1000;
}

static double put_ns(struct bench *b, unsigned i)
{
    double start = now_ns();
    put(b, &b->nmu[i], 1, 0, 0);
    return now_ns() - start;
}

static double sha_ns(unsigned repeats)
{
    uint8_t name[32] = {0};
    double start = now_ns();
    for (unsigned k = 0; k < repeats * 100; k++) {
        memcpy(name, &k, sizeof k);
        cw_key key = key_of_name(1, name, sizeof name);
        __asm__ volatile("" : : "r"(&key) : "memory");
    }
    return (now_ns() - start) / repeats / 100;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    unsigned repeats = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? SMOKE_REPEATS : REPEATS;
    struct bench *b = calloc(1, sizeof *b);
    demand(b != NULL, "no memory");
    struct rng rng = {1};
    for (unsigned i = 0; i < SIZES; i++) {
        make(b, i, &rng);
    }
    double ns[SIZES + 2][ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < SIZES; i++) {
            ns[i][round] = check_ns(b, i, repeats);
        }
        ns[SIZES][round] = empty_ns(b, repeats);
        ns[SIZES + 1][round] = sha_ns(repeats);
    }
    demand(b->refused == 0, "refused");
    for (unsigned i = 0; i < SIZES + 2; i++) {
        qsort(ns[i], ROUNDS, sizeof ns[i][0], ascending);
    }
    double call = ns[SIZES][ROUNDS / 2], sha = ns[SIZES + 1][ROUNDS / 2], one = ns[0][ROUNDS / 2];
    printf("an empty call %.2f ns, a SHA-1 of 32 bytes %.1f ns\n", call, sha);
    for (unsigned i = 0; i < SIZES; i++) {
        double median = ns[i][ROUNDS / 2];
        printf("%6u grants: %6.2f ns a packet, %.3f of a SHA-1, %.2f of the check with one grant\n", sizes[i], median,
               median / sha, median / one);
    }
    printf("refused, and counted in one of 8 rows: %.1f ns\n", refused_ns(b, repeats));
    printf("a seal on 24 bytes: %.1f ns; HMAC-SHA-256 of them: %.1f ns\n", seal_ns(repeats), hmac_ns(repeats));
    const struct siphash_key key = {{1, 2}};
    for (unsigned i = 0; i < SIZES; i++) {
        double plain = put_ns(b, i);
        demand(nmu_seal(&b->nmu[i], &key) == 0, "no memory");
        double sealed[ROUNDS];
        for (unsigned round = 0; round < ROUNDS; round++) {
            sealed[round] = check_ns(b, i, repeats > 1 ? repeats / 8 : 1);
        }
        qsort(sealed, ROUNDS, sizeof sealed[0], ascending);
        printf("%6u grants, sealed: %6.1f ns a packet, %8zu bytes of seals, a put %8.1f us more\n", sizes[i],
               sealed[ROUNDS / 2], seals_bytes(&b->nmu[i].seals), (put_ns(b, i) - plain) / 1e3);
        nmu_close(&b->nmu[i]);
    }
    free(b);
    return 0;
}
