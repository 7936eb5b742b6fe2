/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - may this packet enter the network? (NMU 4.1; nmu rules 1 to 3)
 *
 * Guarantee: NMU_ALLOWED only if a grant of the speaker's own job, in the version held here, names the destination's
 * job, port and process, and the process lives where the answer says. For a key, the grant must name the port on all
 * processes. Everything else is refused: default deny. The check reads three tables, changes nothing, and looks at
 * nothing that the speaker says about itself. It is asked once, at the sender; nobody asks again.
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
