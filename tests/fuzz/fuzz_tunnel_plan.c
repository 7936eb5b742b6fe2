/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts that make a network's plan, one a line: subnet, subnet6, servers, gateways, what is outside; a line that is
 * empty or missing is not given. Behind a plan that can be made: every member's addresses are its own, and no address
 * is both inside and outside.
 */
#include "services/tunnel/address.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES = 5, SERVERS = 27 };

static void expect(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void look(const struct address_plan *plan)
{
    for (cw_server s = 0; s < SERVERS; s++) {
        for (uint8_t version = 4; version <= 6; version += 2) {
            struct ip_address a;
            address_of(plan, s, version, &a);
            expect(address_server(plan, &a) == (address_is_member(plan, s) ? s : CW_SERVER_NONE));
            expect(address_inside(plan, &a) && !address_is_outside(plan, &a));
        }
        expect(!address_is_gateway(plan, s) || address_is_member(plan, s));
    }
    for (unsigned i = 0; i < plan->prefixes; i++) {
        struct ip_address a = plan->prefix[i].base;
        expect(!address_is_outside(plan, &a) || !address_inside(plan, &a));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line[LINES] = {NULL};
    char why[ADDRESS_WHY_BYTES], *text = malloc(size + 1);
    enum address_fault fault;
    struct address_plan plan;
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    char *at = text;
    for (unsigned i = 0; i < LINES && at != NULL; i++) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        line[i] = at[0] != '\0' ? at : NULL;
        at = end != NULL ? end + 1 : NULL;
    }
    const struct address_wish wish = {.subnet4 = line[0],
                                      .subnet6 = line[1],
                                      .servers = line[2],
                                      .gateways = line[3],
                                      .outside = line[4],
                                      .dims = {3, 3, 3},
                                      .job = 9};
    if (address_plan_make(&plan, &wish, &fault, why) == 0) {
        look(&plan);
    } else {
        expect(why[0] != '\0');
    }
    free(text);
    return 0;
}
