/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/tally.h"

#include "base/prng.h"
#include "services/store/held/table.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { JOBS = 40, NAMES = 60, STEPS = 20000 };

static struct store_register *make(cw_job job, unsigned number, size_t length, bool deleted)
{
    char text[24];
    const struct store_name name = {job, (const uint8_t *)text, (size_t)snprintf(text, sizeof text, "n%u", number)};
    struct store_register *r = store_register_new(&name, length);
    ck_assert_ptr_nonnull(r);
    r->deleted = deleted;
    return r;
}

/* Registers come, change, are deleted and go, in two tables; a count that is too simple to be wrong beside. */
START_TEST(what_tables_hold_is_counted)
{
    static size_t held[2][JOBS][NAMES]; /* bytes; 0: none */
    struct store_tally tally = {.used = NULL};
    struct store_table table[2];
    uint64_t step = 0;
    for (unsigned i = 0; i < 2; i++) {
        store_table_open(&table[i], 7);
        table[i].tally = &tally;
    }
    for (; step < STEPS; step++) {
        uint64_t m = prng_mix(9, step);
        unsigned in = m & 1, job = (unsigned)(m >> 8) % JOBS, number = (unsigned)(m >> 16) % NAMES;
        bool deleted = (m >> 24 & 3) == 0, drops = (m >> 26 & 7) == 0;
        struct store_register *r = make(job + 1, number, deleted ? 0 : m >> 32 & 63, deleted);
        const struct store_name name = store_register_name(r);
        held[in][job][number] = deleted || drops ? 0 : (size_t)r->name_length + r->value_length;
        if (drops) {
            store_table_drop(&table[in], &name);
            free(r);
        } else {
            ck_assert_int_eq(store_table_put(&table[in], r), 0);
        }
    }
    for (unsigned job = 0; job < JOBS; job++) {
        uint64_t bytes = 0, names = 0;
        for (unsigned i = 0; i < 2 * NAMES; i++) {
            bytes += held[i % 2][job][i / 2];
            names += held[i % 2][job][i / 2] > 0;
        }
        const struct store_used u = store_tally_of(&tally, job + 1);
        ck_assert_uint_eq(u.bytes, bytes);
        ck_assert_uint_eq(u.names, names);
    }
    store_table_close(&table[0]);
    store_table_close(&table[1]);
    ck_assert_uint_eq(tally.count, 0); /* who holds nothing takes no room */
    ck_assert_uint_eq(store_tally_of(&tally, 5).names, 0);
    store_tally_close(&tally);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_tables_hold_is_counted)};
SUITE_MAIN("store tally", tests)
