/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutants.c - which bugs are in, in a program that cubeway_world() builds with CW_MUTANTS: CUBEWAY_MUTANTS lists their
 * numbers in the part's mutant.h, as "5" or "5,6". MUTANTS_HEADER names that file and MUTANTS_IN the set that it
 * declares.
 */
#include MUTANTS_HEADER

#include <stdio.h>
#include <stdlib.h>

uint64_t MUTANTS_IN;

/* Before main(), so that a unit test need not know of it. */
__attribute__((constructor)) static void choose(void)
{
    const char *text = getenv("CUBEWAY_MUTANTS");
    while (text != NULL && *text != '\0') {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        if (end == text || (*end != '\0' && *end != ',') || number >= 8 * sizeof MUTANTS_IN) {
            fprintf(stderr, "CUBEWAY_MUTANTS: '%s' is no list of numbers of %s\n", text, MUTANTS_HEADER);
            exit(2);
        }
        MUTANTS_IN |= UINT64_C(1) << number;
        text = *end == ',' ? end + 1 : end;
    }
}
