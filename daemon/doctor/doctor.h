/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what is wrong with a server, by cause: one sentence that says what was seen and what it means, and one
 * command (or one thing to do by hand) that mends it or leads on.
 *
 * It looks at what this one server knows: its links and interfaces, what is heard over them, the bootstrap, the
 * counters that stay 0 in a sound cluster. What several servers see of one fault is put together by who asks them all
 * (ctl/diagnosis/diagnosis.h), for which a finding also says in fields what was seen and what was expected.
 */
#ifndef DAEMON_DOCTOR_DOCTOR_H
#define DAEMON_DOCTOR_DOCTOR_H

#include "daemon/host/host.h"
#include "services/inquiry/rows.h"

/* 1 is the worst. */
enum doctor_severity {
    DOCTOR_GRAVE = 1, /* keys are not delivered here, or could be delivered twice */
    DOCTOR_BROKEN,    /* a link that should be up is not */
    DOCTOR_WARNING,   /* it works, and not as it should */
    DOCTOR_NOTE,      /* nothing is wrong: an operator may want to know of it */
};

/*
 * Writes a row about the server itself ("about": its version, its mtu), then one for each finding, to the reader.
 * Returns how many findings there are that are more than a note.
 */
unsigned doctor_look(struct host_server *s, const struct rows_reader *out);
/* The same for a server that has no place yet: what the search for one has found. */
unsigned doctor_search(struct host *h, const struct rows_reader *out);

#endif
