/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check against the reference of jobs.h: every combination on a universe of three jobs, then large random universes
 * that change.
 */
#include "jobs.h"
#include "nmu/nmu.h"
#include "rng.h"
#include "suite.h"

static struct nmu_config config_of(uint32_t jobs, uint32_t privileges)
{
    struct nmu_config c = nmu_config_default();
    c.jobs = jobs;
    c.privileges = privileges;
    c.spans = c.ranges = privileges;
    c.responses = 1;
    return c;
}

/* One question to both. */
static void compare(const struct nmu *n, const struct plain_job *jobs, unsigned count, unsigned me, uint64_t generation,
                    const struct nmu_to *to)
{
    cw_server want_server = CW_SERVER_NONE;
    enum nmu_cause want = plain_check(jobs, count, me, generation, to, &want_server);
    struct nmu_pass pass = {.job = 0};
    enum nmu_cause got = nmu_check(&n->tables, me, to, &pass);
    bool same = got == want;
    if (same && got == NMU_ALLOWED) {
        same = pass.job == jobs[me].job && pass.process == me + 40 && pass.server == want_server;
    }
    if (!same) {
        ck_abort_msg("job %u to %u:%u:%u key %d: %s, not %s", jobs[me].job, to->job, to->process, to->port, to->key,
                     cause_text(got), cause_text(want));
    }
}

/* ---- Every combination ------------------------------------------------------------------------------------------- */

enum { CHOICES = 17, STATES = 3, UNIVERSE = 3 };

/* Choice 0: no grant; else one of 4 sets of processes and one of 4 sets of ports. */
static void choose(struct plain_job *me, cw_job remote, unsigned choice)
{
    if (choice == 0) {
        return;
    }
    unsigned processes = (choice - 1) / 4, ports = (choice - 1) % 4;
    struct plain_grant *g = &me->grant[me->grants++];
    *g = (struct plain_grant){.job = remote, .all_processes = processes == 3, .all_ports = ports == 3};
    if (processes < 3) {
        g->spans = 1;
        g->span[0] = (struct job_span){processes == 1, processes != 0};
    }
    for (cw_port port = 0; port < 2 && ports < 3; port++) {
        if (ports == 2 || ports == port) {
            g->port[g->ports++] = port;
        }
    }
}

static void put(struct nmu *n, const struct plain_job *job)
{
    uint8_t bytes[JOBS_BYTES];
    struct job_record record = plain_record(job, bytes, sizeof bytes);
    ck_assert_int_ge(nmu_job_put(n, &record), 0);
}

static void ask_all(const struct nmu *n, const struct plain_job *jobs, uint64_t generation)
{
    for (cw_job job = 1; job <= UNIVERSE + 1; job++) {
        for (cw_port port = 0; port < 3; port++) {
            for (cw_process process = 0; process < 4; process++) {
                struct nmu_to to = {.job = job, .port = port, .process = process, .key = process == 3};
                compare(n, jobs, UNIVERSE, 0, generation, &to);
            }
        }
    }
}

/*
 * Job 1 is resident, with every domain over jobs 1..3 of processes 0 and 1 and ports 0 and 1; each job known, destroyed
 * or absent.
 */
START_TEST(every_combination_of_three_jobs)
{
    struct nmu_config c = config_of(4, 8);
    uint64_t version = 0;
    struct nmu n;
    ck_assert_int_eq(nmu_open(&n, &c), 0);
    ck_assert_int_eq(nmu_reside(&n, 0, 1, 40, 0), 0);
    for (unsigned domain = 0; domain < CHOICES * CHOICES * CHOICES; domain++) {
        for (unsigned state = 0; state < STATES * STATES * STATES; state++) {
            struct plain_job jobs[UNIVERSE] = {{0}};
            version++;
            for (cw_job j = 1; j <= UNIVERSE; j++) {
                unsigned is = state / (j == 1 ? 1 : j == 2 ? STATES : STATES * STATES) % STATES;
                jobs[j - 1] = (struct plain_job){
                    .job = j, .version = version, .generation = 1, .destroyed = is == 1, .ranges = 1};
                jobs[j - 1].range[0] = (struct job_range){.first = 0, .count = 2, .server = 10 * j};
            }
            choose(&jobs[0], 1, domain % CHOICES);
            choose(&jobs[0], 2, domain / CHOICES % CHOICES);
            choose(&jobs[0], 3, domain / CHOICES / CHOICES);
            for (cw_job j = 1; j <= UNIVERSE; j++) {
                unsigned is = state / (j == 1 ? 1 : j == 2 ? STATES : STATES * STATES) % STATES;
                if (is == 2) {
                    nmu_job_drop(&n, j);
                    jobs[j - 1].job = 0;
                } else {
                    put(&n, &jobs[j - 1]);
                }
            }
            ask_all(&n, jobs, 0);
        }
    }
    nmu_close(&n);
}
END_TEST

/* ---- Random ------------------------------------------------------------------------------------------------------ */

enum { JOBS = 24, PROCESSES = 64, PORTS = 6 };

static unsigned draw_spans(struct rng *rng, struct job_span *span)
{
    unsigned count = 0;
    cw_process next = 0;
    unsigned most = 1 + (unsigned)rng_below(rng, JOBS_SPANS);
    while (count < most && next < PROCESSES) {
        cw_process first = next + (cw_process)rng_below(rng, 10);
        cw_process last = first + (cw_process)rng_below(rng, 6);
        span[count++] = (struct job_span){first, last};
        next = last + 2;
    }
    return count;
}

/* Each port of the remote job in no grant or in one of three; a grant of all ports perhaps before them. */
static void draw_grants(struct rng *rng, struct plain_job *me, cw_job remote)
{
    unsigned row_of[PORTS], first_of[4] = {PORTS, PORTS, PORTS, PORTS};
    for (unsigned p = 0; p < PORTS; p++) {
        row_of[p] = (unsigned)rng_below(rng, 4);
        if (first_of[row_of[p]] == PORTS) {
            first_of[row_of[p]] = p;
        }
    }
    bool all_ports = rng_below(rng, 3) == 0;
    for (unsigned p = 0; p <= PORTS; p++) {
        unsigned row = p == 0 ? 0 : row_of[p - 1];
        bool starts = p == 0 ? all_ports : row != 0 && first_of[row] == p - 1;
        if (!starts || me->grants == JOBS_GRANTS) {
            continue;
        }
        struct plain_grant *g = &me->grant[me->grants++];
        *g = (struct plain_grant){.job = remote, .all_ports = p == 0, .all_processes = rng_below(rng, 4) == 0};
        if (!g->all_processes) {
            g->spans = draw_spans(rng, g->span);
        }
        for (unsigned i = 0; i < PORTS && p > 0; i++) {
            if (row_of[i] == row) {
                g->port[g->ports++] = (cw_port)(i * 1000);
            }
        }
    }
}

static void draw_job(struct rng *rng, struct plain_job *job)
{
    job->version++;
    job->generation += job->destroyed;
    job->destroyed = rng_below(rng, 8) == 0;
    job->ranges = job->grants = 0;
    if (job->destroyed) {
        return;
    }
    cw_process next = 0;
    unsigned ranges = (unsigned)rng_below(rng, JOBS_RANGES + 1);
    for (unsigned i = 0; i < ranges; i++) {
        struct job_range *r = &job->range[job->ranges++];
        *r = (struct job_range){next + (cw_process)rng_below(rng, 4), 1 + (uint32_t)rng_below(rng, 9), 0};
        r->server = (cw_server)(rng_below(rng, 100) * 100);
        next = r->first + r->count + 1;
    }
    for (cw_job remote = 1; remote <= JOBS; remote++) {
        if (rng_below(rng, 6) == 0) {
            draw_grants(rng, job, remote * 7);
        }
    }
}

/* All jobs are offered every time, so the NMU takes what it wants; what it does not hold it must not need. */
static void offer(struct nmu *n, const struct plain_job *jobs)
{
    uint32_t from = 0;
    for (cw_job job; (job = nmu_missing(n, &from)) != 0;) {
        if (job % 7 == 0 && job / 7 <= JOBS) {
            put(n, &jobs[job / 7 - 1]);
            from = 0;
        }
    }
}

START_TEST(random_universes_that_change)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct rng rng = {seed};
        struct plain_job jobs[JOBS] = {{0}};
        struct nmu_config c = config_of(64, 8192);
        struct nmu n;
        ck_assert_int_eq(nmu_open(&n, &c), 0);
        for (unsigned i = 0; i < JOBS; i++) {
            jobs[i].job = (i + 1) * 7;
            jobs[i].generation = 1;
            draw_job(&rng, &jobs[i]);
        }
        /* The first half is resident, of any generation or, every other, of the first. */
        for (unsigned i = 0; i < JOBS / 2; i++) {
            ck_assert_int_eq(nmu_reside(&n, i, jobs[i].job, i + 40, i % 2), 0);
        }
        for (unsigned step = 0; step < 60; step++) {
            offer(&n, jobs);
            for (unsigned k = 0; k < 4000; k++) {
                unsigned me = (unsigned)rng_below(&rng, JOBS / 2);
                struct nmu_to to = {
                    .job = (cw_job)rng_below(&rng, JOBS + 2) * 7,
                    .port = (cw_port)(rng_below(&rng, PORTS + 1) * 1000),
                    .process = (cw_process)rng_below(&rng, PROCESSES),
                    .key = rng_below(&rng, 5) == 0,
                };
                compare(&n, jobs, JOBS, me, me % 2, &to);
            }
            unsigned changed = (unsigned)rng_below(&rng, JOBS);
            draw_job(&rng, &jobs[changed]);
            put(&n, &jobs[changed]);
        }
        nmu_close(&n);
    }
}
END_TEST

START_TEST(nobody_speaks_from_outside)
{
    struct nmu_config c = config_of(4, 4);
    struct nmu n;
    struct nmu_pass pass;
    ck_assert_int_eq(nmu_open(&n, &c), 0);
    for (uint32_t speaker = 0; speaker < 200; speaker++) {
        ck_assert_uint_eq(nmu_check(&n.tables, speaker, &(struct nmu_to){.job = 1}, &pass), NMU_NO_SPEAKER);
    }
    nmu_close(&n);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_combination_of_three_jobs),
    SUITE_TEST(random_universes_that_change),
    SUITE_TEST(nobody_speaks_from_outside),
};
SUITE_MAIN("check", tests)
