/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds.h - the main program of a world: a simulation that draws everything from a seed, tried with one seed after
 * another until one fails.
 *
 *     test_x_world [--first SEED] [--seeds COUNT] [--seed SEED] [--all] [--say] [--inside] [the world's own options]
 *
 *     --first, --seeds   the first seed, and how many; --seed N is short for --first N --seeds 1
 *     --all              goes on after a seed that fails: how many seeds fail, and how?
 *     --say              one line about each seed, also about those that are well
 *     --inside           runs seeds in this process, for a debugger
 *
 * Each seed runs in a child process of its own, so that a CHECK which stops the product fails one seed and not the
 * program, and so that a leak is found at the seed that leaks. What the child has to say goes into a ledger, memory
 * that parent and child share; its member `wrong` says what was wrong first, as "rule: explanation", and is empty while
 * all is well. For each seed that fails the program prints "seed N: rule: explanation", and at the end "N seeds, S s: F
 * failed", in seconds of processor time. tests/sim/mutants.py reads both.
 */
#ifndef KIT_SEEDS_H
#define KIT_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEDS_WRONG_BYTES = 400 };

/* An option that only one world has. */
struct seeds_option {
    const char *name; /* "--span" */
    bool *flag;       /* set by the option; NULL: a number follows */
    int64_t *number;  /* where the number goes; NULL with a flag */
};

struct seeds {
    /* Filled in by the world before seeds_read(). Functions may be NULL, apart from run(). */
    uint64_t first, count;              /* seeds to try when the command line names none; `first` 0 stands for 1 */
    const struct seeds_option *options; /* ended by one without a name; NULL: none */
    void *ledger;                       /* seeds_share() */
    size_t ledger_bytes;                /* that are set to zero before each seed, from its first on */
    char *wrong;                        /* in these bytes: SEEDS_WRONG_BYTES of text */
    void (*run)(uint64_t seed);         /* runs a seed, in the child */
    void (*add)(void);                  /* adds the ledger of a seed to the world's sums, in the parent */
    void (*say)(void);                  /* --say: prints the rest of the line "seed N is well: ", without its end */

    /* Read from the command line. */
    bool all, say_each, inside;
    bool named; /* the command line names the seeds: a world that has fixed scenes too leaves them out */

    /* Counted by seeds_run(). */
    uint64_t tried, failed;
};

/* Memory that this process shares with its children, zeroed. Exits with 2 when there is none. Never given back. */
void *seeds_share(size_t bytes);

/* Reads the command line. Returns 0, or 2 after a usage message on standard error: the exit code for main(). */
int seeds_read(struct seeds *s, int argc, char **argv);

/* Runs the seeds and prints their count. Returns main()'s exit code: 0, or 1 when a seed failed. */
int seeds_run(struct seeds *s);

/*
 * Notes in a ledger what is wrong, unless something was wrong before: the first fault counts. rule is the word by which
 * tests/sim/mutants.py groups failures.
 */
__attribute__((format(printf, 3, 4))) void seeds_fail(char wrong[static SEEDS_WRONG_BYTES], const char *rule,
                                                      const char *format, ...);

#endif
