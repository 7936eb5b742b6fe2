/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_words.h - how `cwctl job` names jobs, processes and ports on its command line:
 *
 *   JOB, JOB:PROCESSES:PORTS, JOB:PROCESS, JOB:PROCESS:PORT
 *
 * JOB is a number or a name; PROCESSES and PORTS are written as in job files. Pure: nothing is looked up here.
 */
#ifndef CTL_JOBS_JOB_WORDS_H
#define CTL_JOBS_JOB_WORDS_H

#include "cubeway/types.h"

enum { JOB_WORDS_TEXT = 1024, JOB_WORDS_WHY = 200 };

/* The parts of a word, which colons separate; NULL where it has fewer. They live in text. */
struct job_words {
    char text[JOB_WORDS_TEXT];
    const char *job, *processes, *ports;
};

/* Reads JOB[:PROCESSES[:PORTS]]. -EINVAL and why. */
CW_MUST_CHECK int job_words_target(const char *word, struct job_words *out, char why[static JOB_WORDS_WHY]);
/* Reads JOB:PROCESS; *process is the number. -EINVAL and why. */
CW_MUST_CHECK int job_words_process(const char *word, struct job_words *out, cw_process *process,
                                    char why[static JOB_WORDS_WHY]);
/*
 * Reads JOB:PROCESS:PORT, or JOB:*:PORT for the owner of a key (*key). The port is a number or a name. -EINVAL and why.
 */
CW_MUST_CHECK int job_words_door(const char *word, struct job_words *out, bool *key, cw_process *process,
                                 char why[static JOB_WORDS_WHY]);
/* The number that the text is; 0: it is no number of a job. */
cw_job job_words_number(const char *text);

#endif
