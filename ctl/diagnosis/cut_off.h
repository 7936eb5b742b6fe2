/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_off.h - servers that reach nobody, beside who has answered: those of their neighbours that are silent for all of
 * them are the ones to be started. For diagnosis.c.
 */
#ifndef CTL_DIAGNOSIS_CUT_OFF_H
#define CTL_DIAGNOSIS_CUT_OFF_H

#include "ctl/ask/call.h"

/*
 * Looks at the findings cut-off, whose field `silent` names the neighbours that are not heard. Where two or more such
 * servers have answered, and nobody whom they miss has, they are one finding, which names in `start` whom to start. A
 * neighbour that has answered is said to live: the cables between the two are to be looked at.
 * answered: names with spaces between; NULL: does nothing.
 */
void diagnose_cut_off(struct rows *rows, const char *answered);

#endif
