/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inorder.h - lines of several sources as one stream, in the order of their times, while they still come.
 *
 * Sources are read one after the other, so a line of the next one may be older than a line that is here already. Lines
 * therefore wait, until their reader knows that every source has told all that is older than a certain time, or until
 * they have waited too long. What comes later than a younger line that was given already is called late: lines that are
 * not late are in the order of their times, always. Pure but for memory.
 */
#ifndef COMMANDLINE_INORDER_H
#define COMMANDLINE_INORDER_H

#include "cubeway/time.h"
#include "cubeway/types.h"

struct inorder;

struct inorder *inorder_open(void);
/* drop: ends each line that still waits; NULL: nothing is to be done. */
void inorder_close(struct inorder *o, void (*drop)(void *line));
/*
 * Takes a line of that time of day, in us, which was heard at the instant `heard`; instants do not fall from one call
 * to the next. Lines of one time are given in the order in which they were added.
 */
void inorder_add(struct inorder *o, int64_t at_us, cw_time heard, void *line);
/* How many lines wait. */
size_t inorder_count(const struct inorder *o);
/* Drops the lines that wait, but for the `last` latest ones. */
void inorder_keep(struct inorder *o, size_t last, void (*drop)(void *line));
/* Who gets the lines: takes each. */
typedef void inorder_fn(void *context, void *line, bool late);
/*
 * Gives the lines up to until_us, that time included, up to which every source has told everything; INT64_MAX: all. A
 * line that was heard before `patience` is given all the same, with those that are older than it: the clock of its
 * source is ahead, or a source is silent.
 */
void inorder_give(struct inorder *o, int64_t until_us, cw_time patience, inorder_fn *give, void *context);

#endif
