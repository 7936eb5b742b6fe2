/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/jobs/job_words.h"

#include "base/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse(const char *word, const char *expected, char why[static JOB_WORDS_WHY])
{
    snprintf(why, JOB_WORDS_WHY, "'%.60s': expected %s", word, expected);
    return -EINVAL;
}

/* Counts the parts, none of which may be empty; 0: it is no such word, or too long. */
static unsigned split(const char *word, struct job_words *out)
{
    *out = (struct job_words){.job = NULL};
    const char **part[] = {&out->job, &out->processes, &out->ports};
    unsigned parts = 0;
    if ((size_t)snprintf(out->text, sizeof out->text, "%s", word) >= sizeof out->text) {
        return 0;
    }
    for (char *at = out->text; at != NULL && parts < 3; parts++) {
        char *colon = strchr(at, ':');
        *part[parts] = at;
        if (colon != NULL) {
            *colon = '\0';
        }
        if (*at == '\0' || (colon != NULL && parts == 2)) {
            return 0;
        }
        at = colon != NULL ? colon + 1 : NULL;
    }
    return parts;
}

int job_words_target(const char *word, struct job_words *out, char why[static JOB_WORDS_WHY])
{
    return split(word, out) > 0 ? 0
                                : refuse(word, "JOB, JOB:PROCESSES or JOB:PROCESSES:PORTS, as store:0-3,7:get", why);
}

static bool read_process(const char *text, cw_process *out)
{
    uint64_t number;
    bool good = words_number(text, 0, UINT32_MAX, &number) == 0;
    *out = good ? (cw_process)number : 0;
    return good;
}

int job_words_process(const char *word, struct job_words *out, cw_process *process, char why[static JOB_WORDS_WHY])
{
    bool good = split(word, out) == 2 && read_process(out->processes, process);
    return good ? 0 : refuse(word, "JOB:PROCESS, the one that sends, as web:3", why);
}

int job_words_door(const char *word, struct job_words *out, bool *key, cw_process *process,
                   char why[static JOB_WORDS_WHY])
{
    bool whole = split(word, out) == 3;
    *key = whole && strcmp(out->processes, "*") == 0;
    *process = 0;
    bool good = whole && (*key || read_process(out->processes, process));
    return good ? 0 : refuse(word, "JOB:PROCESS:PORT, or JOB:*:PORT for packets to keys, as store:7:get", why);
}

cw_job job_words_number(const char *text)
{
    uint64_t number;
    return words_number(text, 1, UINT32_MAX, &number) == 0 ? (cw_job)number : 0;
}
