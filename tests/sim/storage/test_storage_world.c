/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_storage_world.c - a store on a simulated disk through several lives, all drawn from a seed: batches of puts and
 * drops, reads, checkpoints, compaction; loss of power at any moment with any of the unsynced sectors and any habit of
 * names and lengths, or the death of the program alone; writes, syncs and reads that fail; bits that flip in what was
 * synced. Judged by kit/model/store_oracle.h.
 *
 * The seed modulo 4 says what may go wrong beside the power: 0, 1: nothing; 2: one order fails; 3: bits flip in a log
 * that had ended in quiet, so that recovery must tell all of it from a torn tail.
 */
#include "base/prng.h"
#include "sanitized.h"
#include "seeds.h"
#include "store_oracle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVES = 6, STEPS = 160 };

struct ledger {
    char wrong[SEEDS_WRONG_BYTES];
    uint64_t lives, batches, crashes, kills, failures, flips, renewed, compacted, checkpoints, dropped;
};
static struct ledger *ledger, sums;

static struct prng chance;
static struct oracle *oracle;
static struct sim_disk *disk;
static cw_time now;

static uint32_t below(uint32_t n)
{
    return (uint32_t)prng_below(&chance, n);
}

static struct storage_config draw_config(void)
{
    struct storage_config c = oracle_config();
    c.meta_segment = (8 + below(10)) * DISK_SECTOR;
    c.blob_segment = (4 + below(20)) * DISK_SECTOR;
    c.inline_max = below(2) == 0 ? 0 : below(500);
    c.checkpoint_every = (2 + below(60)) * DISK_SECTOR;
    c.compact_live = below(4) == 0 ? 0 : 30 + below(60);
    c.bytes_max = below(3) == 0 ? (uint64_t)(10 + below(10)) * c.meta_segment : 0;
    return c;
}

static void append_some(void)
{
    struct oracle_batch b = {.count = (uint8_t)(1 + below(ORACLE_PUTS))};
    for (unsigned i = 0; i < b.count; i++) {
        uint32_t most = below(3) == 0 ? oracle->config.blob_segment / 2 : 300;
        b.put[i].key = (uint8_t)below(ORACLE_KEYS);
        b.put[i].drop = below(5) == 0;
        b.put[i].size = b.put[i].drop ? 0 : below(most);
    }
    int rc = oracle_append(oracle, &b);
    ledger->batches += rc > 0;
    if (rc < 0 && rc != -EAGAIN && rc != -ENOSPC && rc != -EMSGSIZE && rc != -EIO) {
        seeds_fail(ledger->wrong, "append", "is refused with %d", rc);
    }
}

static void one_step(void)
{
    switch (below(8)) {
    case 0:
    case 1:
        append_some();
        break;
    case 2:
        storage_flush(oracle->s);
        break;
    case 3:
        now = cw_time_add(now, prng_span(&chance, CW_US(1), CW_MS(90)));
        storage_tick(oracle->s, now);
        break;
    case 4:
        if (below(10) == 0) {
            storage_checkpoint(oracle->s);
        } else {
            storage_scrub(oracle->s);
        }
        break;
    default:
        for (uint32_t n = 1 + below(6); n > 0 && sim_disk_step(disk); n--) {
        }
        break;
    }
}

/* The log ends in an empty group: everything before it is known to be synced. */
static void fall_quiet(void)
{
    for (int i = 0; i < 4; i++) {
        storage_flush(oracle->s);
        oracle_settle(oracle);
        now = cw_time_add(now, CW_MS(200));
        storage_tick(oracle->s, now);
    }
    oracle_settle(oracle);
}

static void lose_power(void)
{
    uint8_t keep[1024];
    for (size_t i = 0; i < sizeof keep; i++) {
        keep[i] = (uint8_t)prng_next(&chance);
    }
    uint32_t all = below(6); /* often: nothing stays, or everything */
    if (all < 2) {
        memset(keep, all == 0 ? 0 : 0xff, sizeof keep);
    }
    if (sim_disk_unsynced(disk) > 8 * sizeof keep) {
        seeds_fail(ledger->wrong, "test", "%u unsynced sectors", sim_disk_unsynced(disk));
        return;
    }
    sim_disk_crash(disk, keep, below(2) == 0 ? SIM_DISK_KEEPS : below(SIM_DISK_HABITS));
    ledger->crashes++;
}

static void flip_bits(void)
{
    uint32_t files = 0;
    while (sim_disk_file(disk, files) != NULL) {
        files++;
    }
    for (uint32_t n = 1 + below(2); n > 0; n--) {
        const struct disk_file *f = sim_disk_file(disk, below(files));
        if (f->size != 0) {
            sim_disk_flip(disk, f->name, prng_below(&chance, f->size * 8));
            ledger->flips++;
        }
    }
}

static void note_life(void)
{
    struct storage_status status;
    storage_status(oracle->s, &status);
    ledger->compacted += status.compacted;
    ledger->checkpoints += status.checkpoints;
    ledger->dropped += oracle->how.dropped;
    ledger->lives++;
}

/* A life: opened, judged, worked, judged, ended. False: the run is over. */
static bool live(uint64_t seed, bool flipped, bool died)
{
    enum storage_opened_as as = oracle_open(oracle, disk);
    if (as == STORAGE_RENEWED) {
        ledger->renewed++;
        oracle_judge_warm(oracle);
        if (!flipped && !died) {
            seeds_fail(ledger->wrong, "renewed", "for no reason: %s", oracle->how.why);
        }
        return false;
    }
    if (as != STORAGE_RECOVERED && as != STORAGE_FORMATTED) {
        seeds_fail(ledger->wrong, "opening", "refused: %s (%d)", oracle->how.why, oracle->how.error);
        return false;
    }
    if (died) {
        seeds_fail(ledger->wrong, "death", "the store id answers again");
        return false;
    }
    oracle_judge(oracle, false, flipped);
    if (seed % 4 == 2 && below(2) == 0) {
        unsigned kinds = 1u << (below(2) == 0 ? DISK_WRITE : below(2) == 0 ? DISK_SYNC : DISK_READ);
        sim_disk_fail_nth(disk, 1 + below(20), kinds, EIO);
    }
    for (uint32_t i = 0; i < STEPS && oracle->wrong[0] == '\0'; i++) {
        one_step();
        if (below(20) == 0) {
            oracle_judge(oracle, true, flipped || seed % 4 == 2);
        }
    }
    note_life();
    return !flipped;
}

static void run(uint64_t seed)
{
    chance = prng_stream(seed, 0, 1);
    struct storage_config config = draw_config();
    struct sim_disk_config faults = {.seed = seed,
                                     .sync = CW_US(120),
                                     .per_kib = CW_NS(600),
                                     .read = CW_US(20),
                                     .slow_in = below(3) * 10,
                                     .slow_by = 30};
    disk = sim_disk_open(&faults);
    oracle = oracle_new(&config);
    now = (cw_time){0};
    bool flipped = false, died = false;
    for (int life = 0; life < LIVES && ledger->wrong[0] == '\0' && oracle->wrong[0] == '\0'; life++) {
        if (!live(seed, flipped, died)) {
            break;
        }
        if (seed % 4 == 3 && below(2) == 0) {
            fall_quiet();
            flipped = true;
        } else if (below(4) == 0) {
            storage_stop(oracle->s);
            oracle_settle(oracle);
            if (!oracle->stopped) {
                seeds_fail(ledger->wrong, "liveness", "the store does not stop");
            }
        }
        struct storage_status status;
        storage_status(oracle->s, &status);
        died = status.dead;
        ledger->failures += died;
        if (died) {
            oracle_settle(oracle); /* that the death is on the disk is all that the next life knows of it */
        }
        sim_disk_fail_nth(disk, 0, 0, 0);
        oracle_end(oracle);
        if (!flipped && below(4) == 0) {
            ledger->kills++; /* the program alone dies: what it wrote can be read, synced or not */
        } else {
            lose_power();
        }
        if (flipped) {
            flip_bits();
        }
    }
    if (oracle->wrong[0] != '\0') {
        memcpy(ledger->wrong, oracle->wrong, sizeof ledger->wrong);
    }
    oracle_end(oracle);
    sim_disk_close(disk);
    oracle_free(oracle);
}

static void add(void)
{
    const uint64_t *from = &ledger->lives;
    uint64_t *to = &sums.lives;
    for (size_t i = 0; i < (sizeof sums - sizeof sums.wrong) / sizeof *to; i++) {
        to[i] += from[i];
    }
}

int main(int argc, char **argv)
{
    ledger = seeds_share(sizeof *ledger);
    struct seeds seeds = {.first = 1,
                          .count = getenv("CUBEWAY_SOAK") != NULL ? 50000
                                   : SANITIZED                    ? 60
                                                                  : 800,
                          .ledger = ledger,
                          .ledger_bytes = sizeof *ledger,
                          .wrong = ledger->wrong,
                          .run = run,
                          .add = add};
    int rc = seeds_read(&seeds, argc, argv);
    if (rc != 0) {
        return rc;
    }
    rc = seeds_run(&seeds);
    printf("%lu lives, %lu batches, %lu losses of power, %lu kills, %lu deaths, %lu flipped bits, %lu new store ids, ",
           (unsigned long)sums.lives, (unsigned long)sums.batches, (unsigned long)sums.crashes,
           (unsigned long)sums.kills, (unsigned long)sums.failures, (unsigned long)sums.flips,
           (unsigned long)sums.renewed);
    printf("%lu torn tails dropped, %lu segments compacted, %lu checkpoints\n", (unsigned long)sums.dropped,
           (unsigned long)sums.compacted, (unsigned long)sums.checkpoints);
    return rc;
}
