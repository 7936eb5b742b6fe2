/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why a packet was not let into the network. "Speaker" is the sender, as the access table names it.
 */
#ifndef NMU_CAUSE_H
#define NMU_CAUSE_H

enum nmu_cause {
    NMU_ALLOWED = 0,
    NMU_NO_SPEAKER, /* no such process of the job is on that server */
    NMU_NO_RECORD,  /* no record of the speaker's job is here: none came, or there is no room for it */
    NMU_DESTROYED,  /* the speaker's job was destroyed */
    NMU_STALE,      /* the speaker's job is of another generation than the one it was let in with */
    NMU_NO_GRANT,   /* no grant names that job and port */
    NMU_NO_REACH,   /* a grant names job and port, but not that process; for a key: not all processes */
    NMU_NO_JOB,     /* the remote job is not known here, or was destroyed */
    NMU_NO_PROCESS, /* the remote job has no such process */
    NMU_TAMPERED,   /* an entry does not bear its seal: somebody else wrote to the tables (seals.h) */
    NMU_CAUSES,
};

/* A sentence for people; one word for programs ("no-grant"). */
const char *cause_text(enum nmu_cause cause);
const char *cause_name(enum nmu_cause cause);

#endif
