/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_conditions.h - what must be true for a packet to be sent, as `cwctl job explain` lists it: there are two jobs of
 * these names; and then, in the order in which the NMU asks (nmu/check.h), what it names as the cause of a refusal,
 * which is the first that is not true.
 */
#ifndef CTL_JOBS_JOB_CONDITIONS_H
#define CTL_JOBS_JOB_CONDITIONS_H

#include "ctl/jobs/job_words.h"
#include "ctl/jobs/job_world.h"

enum condition {
    HAS_JOBS,
    HAS_SPEAKER,
    HAS_RECORD,
    NOT_DESTROYED,
    NOT_STALE,
    HAS_GRANT,
    HAS_REACH,
    HAS_JOB,
    HAS_PROCESS,
    CONDITIONS
};

/* OPEN: nobody asked so far, or there is nobody to ask. */
enum truth { OPEN, YES, NO };

/* May this process send there? */
struct question {
    struct job_words from_words, to_words;
    cw_job from, to;
    cw_process from_process, to_process;
    cw_port port;
    bool key;
    /* The first of the two names that no job bears, borrowed from the words; NULL: both are known. */
    const char *unknown;
    bool nameless;      /* the port was given by a name, and its job, which was destroyed, has no names any more */
    char port_name[24]; /* the port as a number, or as it was written where that number is not known */
    char from_name[JOB_RECORD_NAME_BYTES], to_name[JOB_RECORD_NAME_BYTES];
};

/* Does the answer name this cause of a refusal? */
bool conditions_cause(const struct message *answer, const char *cause);
/* The cause of a refusal where this condition is the first that is not true. Static. */
const char *conditions_name(enum condition which);
/*
 * What the NMU's answer says of the conditions: all before the cause hold, and it did not come to those behind. False:
 * the cause is none of them, so the NMU knows one that we do not.
 */
bool conditions_of_answer(const struct message *answer, enum truth is[static CONDITIONS]);
/*
 * What the records of the two jobs say, where no NMU can be asked. NULL: there is no record of the job, which may still
 * be a service, with a process on each server. What an NMU alone could say stays OPEN.
 */
void conditions_of_records(const struct job_world *w, const struct question *q, const struct job_plan *from,
                           const struct job_plan *to, enum truth is[static CONDITIONS]);
/*
 * Adds to the answer the list "conditions": each with "condition", a sentence, and "holds", which is null where it is
 * open; the one that is the cause of the refusal has the answer's "remedy".
 */
void conditions_add(const struct question *q, struct message *answer, const enum truth is[static CONDITIONS]);
/* One line for each condition of the answer: yes, no, or "-" where it is open; the remedy below its condition. */
void conditions_show(const struct call *call, const struct message *answer);

#endif
