/* SPDX-License-Identifier: Apache-2.0 */
/* Whoever writes to an entry is found out, whatever was written and wherever; and what becomes of the tables then. */
#include "sealed_world.h"

#include <string.h>

START_TEST(every_bit_of_every_entry)
{
    struct nmu n;
    world_open(&n, true);
    uint64_t bits = 0;
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        struct world_rows rows = world_rows(&n, (enum sealed)table);
        ck_assert_uint_eq(rows.count, n.seals.first[table + 1] - n.seals.first[table]);
        for (uint32_t i = 0; i < rows.count; i++) {
            ck_assert(seals_hold(&n.seals, &n.tables, rows.table, i));
            for (unsigned bit = 0; bit < 8 * rows.size; bit++, bits++) {
                uint8_t *byte = rows.row + i * rows.size + bit / 8;
                *byte ^= (uint8_t)(1 << bit % 8);
                uint64_t before = n.seals.found;
                ck_assert(!seals_hold(&n.seals, &n.tables, rows.table, i));
                ck_assert(n.seals.found == before + 1 && n.seals.bad_table == table && n.seals.bad_index == i);
                *byte ^= (uint8_t)(1 << bit % 8);
            }
        }
        ck_assert(!seals_hold(&n.seals, &n.tables, rows.table, rows.count)); /* there is no such entry */
    }
    ck_assert(seals_hold_all(&n.seals, &n.tables));
    ck_assert_uint_gt(bits, 7000);
    nmu_close(&n);
}
END_TEST

/* A whole round of the sweep meets every entry once, however it is cut. */
START_TEST(the_sweep_comes_round)
{
    struct nmu n;
    world_open(&n, true);
    uint32_t all = n.seals.first[SEALED_TABLES];
    for (uint32_t step = 1; step <= all; step += 6) {
        for (unsigned table = 0; table < SEALED_TABLES; table++) {
            struct world_rows rows = world_rows(&n, (enum sealed)table);
            uint8_t *byte = rows.row + (rows.count - 1) * rows.size;
            *byte ^= 1;
            n.seals.next = 0;
            uint32_t found = 0;
            for (uint32_t looked = 0; looked < all; looked += step) {
                found += nmu_sweep(&n, step);
            }
            ck_assert_uint_eq(found, 1);
            *byte ^= 1;
        }
    }
    nmu_close(&n);
}
END_TEST

/* Entries that are good elsewhere, with their seals or without. */
START_TEST(an_entry_is_good_in_its_place_only)
{
    struct nmu n;
    world_open(&n, true);
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        struct world_rows rows = world_rows(&n, (enum sealed)table);
        struct siphash_tag *tag = n.seals.tag + n.seals.first[table];
        for (uint32_t i = 1; i < rows.count; i++) {
            uint8_t kept[64];
            struct siphash_tag kept_tag = tag[i];
            memcpy(kept, rows.row + i * rows.size, rows.size);
            if (memcmp(kept, rows.row, rows.size) != 0) {
                memcpy(rows.row + i * rows.size, rows.row, rows.size);
                ck_assert(!seals_hold(&n.seals, &n.tables, rows.table, i));
                tag[i] = tag[0];
                ck_assert(!seals_hold(&n.seals, &n.tables, rows.table, i));
                memcpy(rows.row + i * rows.size, kept, rows.size);
            }
            tag[i] = kept_tag;
            ck_assert(seals_hold(&n.seals, &n.tables, rows.table, i));
        }
    }
    nmu_close(&n);
}
END_TEST

static bool may(struct nmu *n, uint32_t speaker, cw_job job)
{
    struct nmu_pass pass;
    return nmu_ask(n, speaker, &(struct nmu_to){.job = job, .process = 0}, &pass) == NMU_ALLOWED;
}

/* A change does not seal what somebody else wrote: it begins with empty tables, which can be filled again. */
START_TEST(a_change_empties_what_was_tampered_with)
{
    for (unsigned change = 0; change < 4; change++) {
        for (unsigned table = 0; table < SEALED_TABLES; table++) {
            struct nmu n;
            world_open(&n, true);
            ck_assert(may(&n, 0, 3));
            struct world_rows rows = world_rows(&n, (enum sealed)table);
            rows.row[(rows.count - 1) * rows.size] ^= 4;
            if (change == 0) {
                struct plain_job again = world_job(3);
                ck_assert_int_eq(world_put(&n, &again), 0); /* of no use to empty tables */
            } else if (change == 1) {
                nmu_job_drop(&n, 2);
            } else if (change == 2) {
                nmu_vacate(&n, 2);
            } else {
                ck_assert_int_eq(nmu_reside(&n, 0, 1, 0, 0), 0);
                nmu_vacate(&n, 0);
            }
            ck_assert_uint_gt(n.seals.found, 0);
            ck_assert(!may(&n, 0, 3) && nmu_job(&n, 1) == NULL && nmu_job(&n, 3) == NULL);
            ck_assert(seals_hold_all(&n.seals, &n.tables));
            world_fill(&n);
            ck_assert(may(&n, 0, 3) && may(&n, 2, 3));
            nmu_close(&n);
        }
    }
}
END_TEST

START_TEST(without_seals_nothing_is_looked_at)
{
    struct nmu n;
    world_open(&n, false);
    n.tables.access.entry[1].process ^= 1;
    ck_assert_uint_eq(nmu_sweep(&n, 1000), 0);
    ck_assert(may(&n, 0, 3));
    nmu_clear(&n);
    ck_assert(!may(&n, 0, 3));
    world_fill(&n);
    ck_assert(may(&n, 0, 3));
    for (unsigned table = 0; table < SEALED_TABLES; table++) {
        ck_assert_uint_gt(strlen(sealed_name((enum sealed)table)), 0);
    }
    nmu_close(&n);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_bit_of_every_entry),           SUITE_TEST(the_sweep_comes_round),
    SUITE_TEST(an_entry_is_good_in_its_place_only), SUITE_TEST(a_change_empties_what_was_tampered_with),
    SUITE_TEST(without_seals_nothing_is_looked_at),
};
SUITE_MAIN("seals", tests)
