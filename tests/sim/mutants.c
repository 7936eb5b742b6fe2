/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutants.c - which bugs are in, in programs that are built with CW_MUTANTS: the numbers of linkstate/mutant.h in CUBEWAY_MUTANTS, as "5" or "5,6".
 */
#include "linkstate/mutant.h"

#include <stdio.h>
#include <stdlib.h>

unsigned mutants_in;

/* Before main(), so that a unit test need not know of it. */
__attribute__((constructor)) static void choose(void)
{
    const char *text = getenv("CUBEWAY_MUTANTS");
    while (text != NULL && *text != '\0') {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        if (end == text || (*end != '\0' && *end != ',') || number >= 8 * sizeof mutants_in) {
            fprintf(stderr, "CUBEWAY_MUTANTS: '%s' is no list of numbers of runtime/linkstate/mutant.h\n", text);
            exit(2);
        }
        mutants_in |= 1u << number;
        text = *end == ',' ? end + 1 : end;
    }
}
