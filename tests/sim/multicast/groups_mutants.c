/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups_mutants.c - which bugs of services/multicast/group/mutant.h are in: the numbers in CUBEWAY_GROUP_MUTANTS, as "5" or "5,6".
 */
#include "services/multicast/group/mutant.h"

#include <stdio.h>
#include <stdlib.h>

unsigned group_mutants_in;

__attribute__((constructor)) static void choose(void)
{
    const char *text = getenv("CUBEWAY_GROUP_MUTANTS");
    while (text != NULL && *text != '\0') {
        char *end;
        unsigned long number = strtoul(text, &end, 10);
        if (end == text || (*end != '\0' && *end != ',') || number >= 8 * sizeof group_mutants_in) {
            fprintf(stderr, "CUBEWAY_GROUP_MUTANTS: '%s' is no list of numbers of services/multicast/group/mutant.h\n",
                    text);
            exit(2);
        }
        group_mutants_in |= 1u << number;
        text = *end == ',' ? end + 1 : end;
    }
}
