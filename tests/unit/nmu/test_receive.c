/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/receive.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

/* Against an array with a place for each port, in a table that is often full. */
START_TEST(a_port_has_its_template)
{
    enum { JOBS = 3, PROCESSES = 4, PORTS = 4, LIMIT = 20 };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng rng = {seed};
        uint32_t plain[JOBS][PROCESSES][PORTS] = {{{0}}}, used = 0;
        struct receive r;
        ck_assert_int_eq(receive_open(&r, LIMIT), 0);
        ck_assert_uint_gt(receive_bytes(&r), 0);
        for (unsigned step = 0; step < 5000; step++) {
            unsigned job = (unsigned)rng_below(&rng, JOBS), process = (unsigned)rng_below(&rng, PROCESSES);
            cw_port port = (cw_port)rng_below(&rng, PORTS);
            uint32_t *mine = &plain[job][process][port];
            if (rng_below(&rng, 30) == 0) {
                receive_end(&r, job + 1, process);
                for (unsigned i = 0; i < PORTS; i++) {
                    used -= plain[job][process][i] != 0;
                }
                memset(plain[job][process], 0, sizeof plain[job][process]);
            } else {
                uint32_t template_id = (uint32_t)rng_below(&rng, 3);
                bool full = template_id != 0 && *mine == 0 && used == LIMIT;
                ck_assert_int_eq(receive_set(&r, job + 1, process, port, template_id), full ? -ENOSPC : 0);
                if (!full) {
                    used += (template_id != 0) - (*mine != 0);
                    *mine = template_id;
                }
            }
            for (unsigned i = 0; i < JOBS * PROCESSES * PORTS; i++) {
                unsigned j = i / (PROCESSES * PORTS), p = i / PORTS % PROCESSES;
                if (receive_find(&r, j + 1, p, (cw_port)(i % PORTS)) != plain[j][p][i % PORTS]) {
                    ck_abort_msg("seed %lu step %u: %u", (unsigned long)seed, step, i);
                }
            }
        }
        receive_close(&r);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_port_has_its_template)};
SUITE_MAIN("receive", tests)
