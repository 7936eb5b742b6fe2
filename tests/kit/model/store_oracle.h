/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_oracle.h - what a store on a disk must hold, by a rule too simple to be wrong: batches of writes are numbered
 * in the order of their appends, and what is found is what stands there after the first m of them, for one m that is at
 * least the number that was acknowledged, and at most the number that was appended. Values follow from (batch, put), so
 * that any byte that is given out can be judged.
 *
 * An oracle lives through many lives of a store: oracle_open() begins one on a disk, oracle_end() ends it as a loss of
 * power does. What is wrong is noted in `wrong`, first fault only.
 */
#ifndef KIT_STORE_ORACLE_H
#define KIT_STORE_ORACLE_H

#include "simulator/disk.h"
#include "storage/storage.h"

enum { ORACLE_KEYS = 12, ORACLE_PUTS = 3, ORACLE_BATCHES = 2000, ORACLE_WRONG = 400 };

struct oracle_batch {
    uint32_t life; /* that it was appended in */
    uint8_t count;
    struct {
        uint8_t key;
        bool drop;
        uint32_t size;
    } put[ORACLE_PUTS];
};

struct oracle {
    struct storage_config config;
    struct oracle_batch batch[ORACLE_BATCHES]; /* number n is batch[n - 1] */
    uint32_t appended, acked, lives;
    bool judges_sums_only;    /* history is not known: a value is right when its checksum is */
    char wrong[ORACLE_WRONG]; /* "rule: explanation" */

    /* The life. */
    struct sim_disk *disk; /* borrowed */
    struct storage *s;
    struct storage_opened how;
    bool opened, stopped, room, failed;
    int stop_result;
    uint32_t damaged; /* events */
    struct {
        bool told;
        int result;
    } reading[ORACLE_KEYS];
    uint8_t *values[ORACLE_BATCHES][ORACLE_PUTS]; /* borrowed by the store until it tells */
};

/* Small segments, blocks of one sector: everything happens soon. */
struct storage_config oracle_config(void);
struct oracle *oracle_new(const struct storage_config *config);
void oracle_free(struct oracle *o);
/* Copies history and counts, without the life. */
void oracle_copy(struct oracle *o, const struct oracle *from);

/* Opens the store on a disk and carries out orders until it says how. Returns that. */
enum storage_opened_as oracle_open(struct oracle *o, struct sim_disk *disk);
/* The store is gone, with all orders of the disk; the disk stays, to be crashed. */
void oracle_end(struct oracle *o);
/* Appends a batch; its number on success, else the error. The last batch of history may be drawn by the caller. */
int oracle_append(struct oracle *o, const struct oracle_batch *batch);
/* Carries out orders until there is none. */
void oracle_settle(struct oracle *o);

/*
 * Judges what the store holds: every register, name and byte. exact: it must be the acknowledged batches, no more (a
 * life goes on); else history ends with what was found. values_may_break: a value may be refused as damaged, though
 * never given out wrong.
 */
void oracle_judge(struct oracle *o, bool exact, bool values_may_break);
/* After STORAGE_RENEWED: each register is as some batch left it. History begins anew with what is there. */
void oracle_judge_warm(struct oracle *o);

#endif
