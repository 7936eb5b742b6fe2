/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - may this packet enter the network? (NMU 4.1; semantics 7.4)
 *
 * Guarantee: NMU_ALLOWED only if a grant of the speaker's own job, in the version held here, names the destination's
 * job, port and process
 * - for a key, the port on all processes - and the process lives where the answer says. Everything else is refused:
 *   default deny. Reads three tables, changes nothing, looks at nothing the speaker says about itself. Asked once, at
 *   the sender's; nobody asks again.
 */
#ifndef NMU_CHECK_H
#define NMU_CHECK_H

#include "nmu/access.h"
#include "nmu/cause.h"
#include "nmu/map.h"
#include "nmu/privilege.h"

struct nmu_tables {
    struct access access;
    struct privilege privilege;
    struct map map;
};

struct nmu_to {
    cw_job job;
    cw_port port;
    bool key;           /* to whatever process has a key */
    cw_process process; /* else: to this one */
};

struct nmu_pass {
    cw_job job; /* who sends: what receivers are told */
    cw_process process;
    cw_server server; /* where the destination lives; CW_SERVER_NONE for a key */
};

/* *pass only when allowed. */
CW_MUST_CHECK enum nmu_cause nmu_check(const struct nmu_tables *t, uint32_t speaker, const struct nmu_to *to,
                                       struct nmu_pass *pass);

#endif
