/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paper's own examples (NMU, McDonald and Dally 2013): tables 1 and 2, and the three-way transaction of figure 3 at
 * its four time stamps.
 */
#include "jobs.h"
#include "nmu/nmu.h"
#include "suite.h"

enum { A = 1, B = 2, C = 3 };
enum { PSI, DELTA, THETA, LAMBDA, PI, SIGMA, UPSILON, PHI, OMEGA };

static int put(struct nmu *n, const struct plain_job *job)
{
    uint8_t bytes[JOBS_BYTES];
    struct job_record record = plain_record(job, bytes, sizeof bytes);
    return nmu_job_put(n, &record);
}

static void open_here(struct nmu *n)
{
    struct nmu_config c = nmu_config_default();
    c.salt = 1;
    ck_assert_int_eq(nmu_open(n, &c), 0);
}

/* Offers the jobs until the NMU needs none of them any more. */
static void offer(struct nmu *n, const struct plain_job *jobs)
{
    uint32_t from = 0;
    for (cw_job job; (job = nmu_missing(n, &from)) != 0; from = 0) {
        ck_assert_int_eq(put(n, &jobs[job - 1]), 1);
    }
}

/* Table 1. */
static const struct plain_job table_1[] = {
    {.job = A, .version = 1, .generation = 1, .ranges = 2, .range = {{0, 3, 10}, {3, 3, 10}}},
    {.job = B, .version = 1, .generation = 1, .ranges = 1, .range = {{0, 4, 20}}},
    {.job = C,
     .version = 1,
     .generation = 1,
     .ranges = 5,
     .range = {{0, 1, 20}, {1, 1, 22}, {2, 1, 24}, {3, 1, 26}, {4, 1, 28}},
     /* Table 2 */
     .grants = 2,
     .grant = {{.job = B, .spans = 1, .span = {{2, 3}}, .ports = 2, .port = {PI, SIGMA}},
               {.job = C, .spans = 1, .span = {{0, 4}}, .ports = 1, .port = {UPSILON}}}},
};

START_TEST(tables_1_and_2)
{
    static const cw_server lives_on[3][6] = {
        {10, 11, 12, 10, 11, 12},
        {20, 21, 22, 23, CW_SERVER_NONE, CW_SERVER_NONE},
        {20, 22, 24, 26, 28, CW_SERVER_NONE},
    };
    struct nmu n;
    open_here(&n);
    /* C:2, on server 24. */
    ck_assert_int_eq(nmu_reside(&n, 0, C, 2, 0), 0);
    offer(&n, table_1);
    ck_assert_ptr_null(nmu_job(&n, A)); /* not a remote job of C: unknown to this server */
    for (cw_job job = A; job <= C; job++) {
        for (cw_process process = 0; process < 6; process++) {
            for (cw_port port = PSI; port <= OMEGA; port++) {
                bool in_table_2 = (job == B && (process == 2 || process == 3) && (port == PI || port == SIGMA)) ||
                                  (job == C && process <= 4 && port == UPSILON);
                struct nmu_pass pass;
                struct nmu_to to = {.job = job, .process = process, .port = port};
                ck_assert_int_eq(nmu_ask(&n, 0, &to, &pass) == NMU_ALLOWED, in_table_2);
                if (in_table_2) {
                    ck_assert_uint_eq(pass.server, lives_on[job - 1][process]);
                    ck_assert_uint_eq(pass.job, C);
                    ck_assert_uint_eq(pass.process, 2);
                }
            }
        }
    }
    nmu_close(&n);
}
END_TEST

START_TEST(table_1_maps_every_process)
{
    static const cw_server lives_on[] = {10, 11, 12, 10, 11, 12};
    struct nmu n;
    open_here(&n);
    struct plain_job jobs[3] = {table_1[0], table_1[1], table_1[2]};
    jobs[2].grants = 1;
    jobs[2].grant[0] = (struct plain_grant){.job = A, .all_processes = true, .ports = 1, .port = {PSI}};
    ck_assert_int_eq(nmu_reside(&n, 0, C, 2, 0), 0);
    offer(&n, jobs);
    for (cw_process process = 0; process < 6; process++) {
        struct nmu_pass pass;
        ck_assert_uint_eq(nmu_ask(&n, 0, &(struct nmu_to){.job = A, .process = process}, &pass), NMU_ALLOWED);
        ck_assert_uint_eq(pass.server, lives_on[process]);
    }
    nmu_close(&n);
}
END_TEST

/* ---- Figure 3 ---------------------------------------------------------------------------------------------------- */

/* Figure 3: A may reach B:2:phi and C:3:omega; B and C nothing. */
static const struct plain_job figure_3[] = {
    {.job = A,
     .version = 1,
     .generation = 1,
     .ranges = 1,
     .range = {{0, 6, 10}},
     .grants = 2,
     .grant = {{.job = B, .spans = 1, .span = {{2, 2}}, .ports = 1, .port = {PHI}},
               {.job = C, .spans = 1, .span = {{3, 3}}, .ports = 1, .port = {OMEGA}}}},
    {.job = B, .version = 1, .generation = 1, .ranges = 1, .range = {{0, 4, 20}}},
    {.job = C, .version = 1, .generation = 1, .ranges = 1, .range = {{0, 5, 30}}},
};

/* The right column of figure 3: which of the two doors are open to the speaker of an NMU, by its static privileges. */
static void expect(struct nmu *n, bool phi, bool omega)
{
    struct nmu_pass pass;
    ck_assert_int_eq(nmu_ask(n, 0, &(struct nmu_to){.job = B, .process = 2, .port = PHI}, &pass) == NMU_ALLOWED, phi);
    ck_assert_int_eq(nmu_ask(n, 0, &(struct nmu_to){.job = C, .process = 3, .port = OMEGA}, &pass) == NMU_ALLOWED,
                     omega);
}

START_TEST(the_transaction_of_figure_3)
{
    static const struct {
        cw_job job;
        cw_process process;
    } who[3] = {{A, 1}, {B, 2}, {C, 3}};
    struct nmu nmu[3];
    for (unsigned i = 0; i < 3; i++) {
        open_here(&nmu[i]);
        ck_assert_int_eq(nmu_reside(&nmu[i], 0, who[i].job, who[i].process, 0), 0);
        offer(&nmu[i], figure_3);
    }
    struct nmu *a = &nmu[0], *b = &nmu[1], *c = &nmu[2];

    /* 1: A:1 asks B:2:phi, the answer to C:3:omega. Its NMU checks both and translates both. */
    expect(a, true, true);
    expect(b, false, false);
    expect(c, false, false);
    struct nmu_pass to_b, to_c;
    ck_assert_uint_eq(nmu_ask(a, 0, &(struct nmu_to){.job = B, .process = 2, .port = PHI}, &to_b), NMU_ALLOWED);
    ck_assert_uint_eq(nmu_ask(a, 0, &(struct nmu_to){.job = C, .process = 3, .port = OMEGA}, &to_c), NMU_ALLOWED);
    ck_assert_uint_eq(to_b.server, 22);
    ck_assert_uint_eq(to_c.server, 33);

    /* 2: B's NMU opens the right. B:2 may answer C:3:omega by its handle, and still has no static privilege. */
    struct ext_request request = {.job = C, .process = 3, .port = OMEGA, .server = {0, 0, 33}, .call = 5};
    struct response_requester requester = {.job = to_b.job, .process = to_b.process, .server = 11};
    struct response_right *right = response_open_right(&b->responses, 0, &requester, &request, CW_NEVER);
    ck_assert_ptr_nonnull(right);
    uint32_t handle = right->item.handle;
    expect(b, false, false);

    /* 3: the answer. Where it goes and who asked stand in the right, which is then used up; nothing is translated. */
    right = response_find(&b->responses, 0, handle);
    ck_assert_ptr_nonnull(right);
    ck_assert_uint_eq(right->request.job, C);
    ck_assert_uint_eq(right->request.process, 3);
    ck_assert_uint_eq(right->request.port, OMEGA);
    ck_assert_uint_eq(right->request.server.z, to_c.server);
    ck_assert_uint_eq(right->requester.job, A);
    ck_assert_uint_eq(right->requester.process, 1);
    ck_assert_ptr_null(nmu_job(b, C));
    response_end(&b->responses, right);
    ck_assert_ptr_null(response_find(&b->responses, 0, handle));
    expect(b, false, false);

    /* 4: C:3 has it, and nobody's privileges have changed. */
    expect(a, true, true);
    expect(b, false, false);
    expect(c, false, false);
    for (unsigned i = 0; i < 3; i++) {
        nmu_close(&nmu[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(tables_1_and_2),
    SUITE_TEST(table_1_maps_every_process),
    SUITE_TEST(the_transaction_of_figure_3),
};
SUITE_MAIN("paper", tests)
