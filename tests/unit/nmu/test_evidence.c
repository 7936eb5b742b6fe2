/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealed tables answer as plain ones do; and with any one bit of any entry changed, every question is answered as
 * before, or refused as tampered with: never otherwise.
 */
#include "nmu/evidence.h"
#include "rng.h"
#include "sanitized.h"
#include "sealed_world.h"

#include <string.h>

enum { SPEAKERS = 5, JOBS = 5, PORTS = 3, PROCESSES = 12, QUESTIONS = SPEAKERS * JOBS * PORTS * (PROCESSES + 1) };

struct answer {
    enum nmu_cause cause;
    struct nmu_pass pass;
};

static struct nmu_to question(unsigned q, uint32_t *speaker)
{
    *speaker = q % SPEAKERS;
    q /= SPEAKERS;
    struct nmu_to to = {.job = q % JOBS};
    q /= JOBS;
    to.port = (cw_port)(q % PORTS);
    q /= PORTS;
    to.key = q == PROCESSES;
    to.process = to.key ? 0 : q;
    return to;
}

static struct answer ask(struct nmu *n, unsigned q)
{
    uint32_t speaker;
    struct nmu_to to = question(q, &speaker);
    struct answer answer = {.cause = NMU_ALLOWED};
    answer.cause = nmu_ask(n, speaker, &to, &answer.pass);
    return answer;
}

static bool same(struct answer a, struct answer b)
{
    return a.cause == b.cause && a.pass.job == b.pass.job && a.pass.process == b.pass.process &&
           a.pass.server == b.pass.server;
}

START_TEST(as_without_seals)
{
    struct nmu plain, sealed;
    world_open(&plain, false);
    world_open(&sealed, true);
    unsigned allowed = 0;
    for (unsigned q = 0; q < QUESTIONS; q++) {
        struct answer want = ask(&plain, q);
        ck_assert(same(ask(&sealed, q), want));
        allowed += want.cause == NMU_ALLOWED;
    }
    ck_assert_uint_gt(allowed, 20);
    ck_assert_uint_eq(sealed.seals.found, 0);
    nmu_close(&plain);
    nmu_close(&sealed);
}
END_TEST

START_TEST(as_before_or_tampered)
{
    static struct answer before[QUESTIONS];
    struct nmu n;
    world_open(&n, true);
    for (unsigned q = 0; q < QUESTIONS; q++) {
        before[q] = ask(&n, q);
    }
    unsigned noticed[SEALED_TABLES] = {0};
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        struct world_rows rows = world_rows(&n, (enum sealed)table);
        for (uint32_t bit = 0; bit < 8 * rows.size * rows.count; bit++) {
            rows.row[bit / 8] ^= (uint8_t)(1 << bit % 8);
            for (unsigned q = 0; q < QUESTIONS; q++) {
                struct answer now = ask(&n, q);
                noticed[table] += now.cause == NMU_TAMPERED;
                SUITE_HOLDS(now.cause == NMU_TAMPERED || same(now, before[q]), "table %u, bit %u, question %u", table,
                            bit, q);
            }
            rows.row[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        /* Jobs are found by number when records change, not when packets are checked. */
        ck_assert((noticed[table] > 0) == (table != SEALED_JOB_SLOT));
    }
    for (unsigned q = 0; q < QUESTIONS; q++) {
        ck_assert(same(ask(&n, q), before[q]));
    }
    nmu_close(&n);
}
END_TEST

/* Whole entries of chance: where they lead is not looked at. */
START_TEST(chance_leads_nowhere)
{
    static struct answer before[QUESTIONS];
    struct nmu n;
    struct rng rng = {7};
    world_open(&n, true);
    for (unsigned q = 0; q < QUESTIONS; q++) {
        before[q] = ask(&n, q);
    }
    for (unsigned round = 0; round < (SANITIZED ? 400 : 2000); round++) {
        struct world_rows rows = world_rows(&n, (enum sealed)rng_below(&rng, SEALED_TABLES));
        uint8_t kept[64], *row = rows.row + rng_below(&rng, rows.count) * rows.size;
        memcpy(kept, row, rows.size);
        for (size_t i = 0; i < rows.size; i++) {
            row[i] = (uint8_t)rng_next(&rng);
        }
        for (unsigned i = 0; i < 100; i++) {
            unsigned q = (unsigned)rng_below(&rng, QUESTIONS);
            struct answer now = ask(&n, q);
            SUITE_HOLDS(now.cause == NMU_TAMPERED || same(now, before[q]), "round %u, question %u", round, q);
        }
        memcpy(row, kept, rows.size);
    }
    nmu_close(&n);
}
END_TEST

/*
 * Old seals come back with their old entries, which hold and lead where nothing is any more: refused, and nothing
 * outside is read.
 */
START_TEST(old_entries_lead_nowhere)
{
    struct nmu n;
    world_open(&n, true);
    struct world_rows rows = world_rows(&n, SEALED_PRIVILEGE);
    for (uint32_t i = 0; i < rows.count; i++) { /* all taken: no search of these ends by itself */
        struct privilege_entry full = {.key = privilege_key(3, 77, i)};
        memcpy(rows.row + i * rows.size, &full, sizeof full);
    }
    n.tables.access.entry[3] = (struct access_entry){.job = 1, .home = 1000};
    n.tables.map.door[0].ranges = 60000;
    seals_write(&n.seals, &n.tables);
    for (unsigned q = 0; q < QUESTIONS; q++) {
        ck_assert_int_ne(ask(&n, q).cause, NMU_ALLOWED);
    }
    nmu_close(&n);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(as_without_seals),
    SUITE_TEST(as_before_or_tampered),
    SUITE_TEST(chance_leads_nowhere),
    SUITE_TEST(old_entries_lead_nowhere),
};
SUITE_MAIN("evidence", tests)
