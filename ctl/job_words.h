/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_words.h - how `cwctl job` names jobs, processes and ports on its command line: JOB, JOB:PROCESSES:PORTS, JOB:PROCESS, JOB:PROCESS:PORT.
 *
 * JOB is a number or a name, PROCESSES and PORTS are as in job files. Pure; nothing is looked up here.
 */
#ifndef CTL_JOB_WORDS_H
#define CTL_JOB_WORDS_H

#include "cubeway/types.h"

enum { JOB_WORDS_TEXT = 1024, JOB_WORDS_WHY = 200 };

/* The parts of a word between colons, NULL where it has fewer; they live in text. */
struct job_words {
    char text[JOB_WORDS_TEXT];
    const char *job, *processes, *ports;
};

/* JOB[:PROCESSES[:PORTS]]. -EINVAL and why. */
CW_MUST_CHECK int job_words_target(const char *word, struct job_words *out, char why[static JOB_WORDS_WHY]);
/* JOB:PROCESS; *process is its number. -EINVAL and why. */
CW_MUST_CHECK int job_words_process(const char *word, struct job_words *out, cw_process *process,
                                    char why[static JOB_WORDS_WHY]);
/* JOB:PROCESS:PORT, or JOB:*:PORT for whoever has a key (*key); the port is a number or a name. -EINVAL and why. */
CW_MUST_CHECK int job_words_door(const char *word, struct job_words *out, bool *key, cw_process *process,
                                 char why[static JOB_WORDS_WHY]);
/* 0: it is no number of a job. */
cw_job job_words_number(const char *text);

#endif
