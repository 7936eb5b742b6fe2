/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_job_right.c - grants and revocations against a table of truths; each plan is a record, and equal rights are
 * equal bytes.
 */
#include "jobfile/job_right.h"
#include "rng.h"
#include "sanitized.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { JOBS = 3, PORTS = 5, PROCESSES = 6, OTHER = PROCESSES, KEY, COLUMNS, ANY = PORTS };

/* May send to [job][port, or ANY: all ports][process, one far away, or keys]. */
struct truth {
    bool may[JOBS][PORTS + 1][COLUMNS];
};

struct change {
    unsigned job;
    struct job_ports ports;
    struct processes who;
    bool column[COLUMNS];
};

static void draw(struct rng *rng, struct change *c)
{
    *c = (struct change){.job = (unsigned)rng_below(rng, JOBS)};
    c->ports.all = rng_below(rng, 4) == 0;
    for (unsigned i = 0; i < PORTS && !c->ports.all; i++) {
        if (rng_below(rng, 2) == 0) {
            ck_assert_int_eq(job_ports_add(&c->ports, (cw_port)(10 * i)), 0);
        }
    }
    bool all = rng_below(rng, 4) == 0;
    if (all) {
        processes_add_all(&c->who);
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        c->column[i] = all || (i < PROCESSES && rng_below(rng, 3) == 0);
        if (c->column[i] && !all) {
            ck_assert_int_eq(processes_add(&c->who, i, i), 0);
        }
    }
}

static bool touches(const struct change *c, unsigned port)
{
    return c->ports.all ? port == ANY : port != ANY && job_ports_hold(&c->ports, (cw_port)(10 * port));
}

static bool covers(const bool *row, const struct change *c)
{
    bool all = true;
    for (unsigned i = 0; i < COLUMNS; i++) {
        all = all && (row[i] || !c->column[i]);
    }
    return all;
}

static int model_grant(struct truth *t, const struct change *c)
{
    bool(*job)[COLUMNS] = t->may[c->job];
    int changed = 0;
    for (unsigned port = 0; port <= PORTS && !covers(job[ANY], c); port++) {
        if (touches(c, port) && !covers(job[port], c)) {
            changed = 1;
            for (unsigned i = 0; i < COLUMNS; i++) {
                job[port][i] = job[port][i] || c->column[i];
            }
        }
    }
    return changed;
}

static bool meets(const bool *row, const struct change *c)
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (row[i] && c->column[i]) {
            return true;
        }
    }
    return false;
}

static int model_revoke(struct truth *t, const struct change *c)
{
    bool(*job)[COLUMNS] = t->may[c->job];
    int changed = 0;
    if (!c->ports.all && meets(job[ANY], c)) {
        return -ENOTSUP;
    }
    for (unsigned port = 0; port <= PORTS; port++) {
        if ((c->ports.all || touches(c, port)) && meets(job[port], c)) {
            changed = 1;
            for (unsigned i = 0; i < COLUMNS; i++) {
                job[port][i] = job[port][i] && !c->column[i] && i != KEY; /* what lost one has not all any more */
            }
        }
    }
    return changed;
}

static bool model_allows(const struct truth *t, unsigned job, unsigned port, unsigned column)
{
    return t->may[job][ANY][column] || t->may[job][port][column];
}

/* In the order in which a set that is granted at once would be: the rights of the model, row by row. */
static void rebuild(const struct truth *t, struct job_plan *p)
{
    job_plan_open(p, 7, "seven");
    for (unsigned job = 0; job < JOBS; job++) {
        for (unsigned row = PORTS + 1; row-- > 0;) {
            struct job_ports ports = {.all = row == ANY};
            struct processes who = {0};
            if (t->may[job][row][KEY]) {
                processes_add_all(&who);
            }
            for (unsigned i = 0; i < PROCESSES; i++) {
                SUITE_HOLDS(!t->may[job][row][i] || processes_add(&who, i, i) == 0);
            }
            if (t->may[job][row][OTHER]) { /* all but some */
                ck_assert_int_eq(processes_add(&who, PROCESSES, UINT32_MAX), 0);
            }
            ck_assert(ports.all || job_ports_add(&ports, (cw_port)(10 * row)) == 0);
            /* Beside what all ports have; so that the same rows come about as by single changes. */
            struct job_right *right = realloc(p->right, (p->rights + 1) * sizeof *right);
            ck_assert_ptr_nonnull(right);
            p->right = right;
            right[p->rights++] = (struct job_right){.job = 100 + job, .ports = ports, .who = who};
        }
    }
    ck_assert_int_eq(job_plan_normalize(p), 0);
}

static void same_record(const struct job_plan *a, const struct job_plan *b)
{
    uint8_t *one, *other;
    size_t size, length;
    char why[JOB_PLAN_WHY];
    ck_assert_msg(job_plan_record(a, &one, &size, why) == 0, "%s", why);
    ck_assert_msg(job_plan_record(b, &other, &length, why) == 0, "%s", why);
    ck_assert_uint_eq(size, length);
    ck_assert_int_eq(memcmp(one, other, size), 0);
    struct job_record record;
    struct job_plan again;
    ck_assert_int_eq(job_record_decode(one, size, &record), WIRE_OK);
    ck_assert_int_eq(job_plan_from(&again, &record), 0);
    free(other);
    ck_assert_int_eq(job_plan_record(&again, &other, &length, why), 0);
    ck_assert_uint_eq(size, length);
    ck_assert_int_eq(memcmp(one, other, size), 0);
    job_plan_close(&again);
    free(one);
    free(other);
}

START_TEST(as_a_table_of_truths)
{
    enum { RUNS = SANITIZED ? 8 : 60, CHANGES = 120 };
    struct rng rng = {5};
    for (unsigned run = 0; run < RUNS; run++) {
        struct truth t = {0};
        struct job_plan p, built;
        job_plan_open(&p, 7, "seven");
        for (unsigned n = 0; n < CHANGES; n++) {
            struct change c;
            draw(&rng, &c);
            if (rng_below(&rng, 2) == 0) {
                int rc = model_grant(&t, &c);
                ck_assert_int_eq(job_plan_grant(&p, 100 + c.job, &c.ports, &c.who), rc);
            } else {
                int rc = model_revoke(&t, &c);
                ck_assert_int_eq(job_plan_revoke(&p, 100 + c.job, &c.ports, &c.who), rc);
            }
            for (unsigned job = 0; job < JOBS; job++) {
                for (unsigned i = 0; i < PORTS * COLUMNS; i++) {
                    unsigned port = i / COLUMNS, column = i % COLUMNS;
                    cw_process process = column == OTHER ? 1000 : column;
                    bool may = job_plan_allows(&p, 100 + job, column == KEY, process, (cw_port)(10 * port)) != NULL;
                    SUITE_HOLDS(may == model_allows(&t, job, port, column), "job %u", job);
                }
            }
            rebuild(&t, &built);
            same_record(&p, &built);
            job_plan_close(&built);
            job_ports_close(&c.ports);
            processes_close(&c.who);
        }
        job_plan_close(&p);
    }
}
END_TEST

START_TEST(more_ports_than_a_grant_holds)
{
    struct job_plan p, again;
    struct job_ports ports = {0};
    struct processes who = {0};
    uint8_t *bytes;
    size_t size;
    char why[JOB_PLAN_WHY];
    struct job_record record;
    for (unsigned i = 0; i < 1000; i++) {
        ck_assert_int_eq(job_ports_add(&ports, (cw_port)(999 - i)), 0);
    }
    processes_add_all(&who);
    job_plan_open(&p, 7, "seven");
    ck_assert_int_eq(job_plan_grant(&p, 8, &ports, &who), 1);
    ck_assert_uint_eq(p.rights, 4);
    ck_assert_int_eq(job_plan_grant(&p, 8, &ports, &who), 0);
    ck_assert_int_eq(job_plan_record(&p, &bytes, &size, why), 0);
    ck_assert_int_eq(job_record_decode(bytes, size, &record), WIRE_OK);
    ck_assert_int_eq(job_plan_from(&again, &record), 0);
    for (unsigned i = 0; i < 1002; i++) {
        ck_assert((job_plan_allows(&again, 8, true, 0, (cw_port)i) != NULL) == (i < 1000));
    }
    ck_assert_int_eq(job_plan_revoke(&again, 8, &ports, &who), 1);
    ck_assert_uint_eq(again.rights, 0);
    job_plan_close(&again);
    job_plan_close(&p);
    job_ports_close(&ports);
    processes_close(&who);
    free(bytes);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(as_a_table_of_truths),
    SUITE_TEST(more_ports_than_a_grant_holds),
};
SUITE_MAIN("job_right", tests)
