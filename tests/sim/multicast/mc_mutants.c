/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mc_mutants.c - which bugs of services/multicast/cast/mutant.h are in: the numbers in CUBEWAY_MUTANTS, as "5" or "5,6".
 */
#include "services/multicast/cast/mutant.h"

#include <stdio.h>
#include <stdlib.h>

unsigned multicast_mutants_in;

__attribute__((constructor)) static void choose(void)
{
    const char *text = getenv("CUBEWAY_MUTANTS");
    while (text != NULL && *text != '\0') {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        if (end == text || (*end != '\0' && *end != ',') || number >= 8 * sizeof multicast_mutants_in) {
            fprintf(stderr, "CUBEWAY_MUTANTS: '%s' is no list of numbers of services/multicast/cast/mutant.h\n", text);
            exit(2);
        }
        multicast_mutants_in |= 1u << number;
        text = *end == ',' ? end + 1 : end;
    }
}
