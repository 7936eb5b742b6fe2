/* SPDX-License-Identifier: Apache-2.0 */
#include "jobfile/job_ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_ports_close(struct job_ports *ports)
{
    free(ports->port);
    *ports = (struct job_ports){.all = false};
}

int job_ports_copy(struct job_ports *to, const struct job_ports *from)
{
    *to = (struct job_ports){.all = from->all};
    if (from->count > 0) {
        to->port = malloc(from->count * sizeof *to->port);
        if (to->port == NULL) {
            return -ENOMEM;
        }
        memcpy(to->port, from->port, from->count * sizeof *to->port);
        to->count = from->count;
    }
    return 0;
}

/* Where the port is, or would be. */
static unsigned place_of(const struct job_ports *ports, cw_port port)
{
    unsigned from = 0, to = ports->count;
    while (from < to) {
        unsigned half = from + (to - from) / 2;
        if (ports->port[half] < port) {
            from = half + 1;
        } else {
            to = half;
        }
    }
    return from;
}

bool job_ports_hold(const struct job_ports *ports, cw_port port)
{
    unsigned at = place_of(ports, port);
    return ports->all || (at < ports->count && ports->port[at] == port);
}

int job_ports_add(struct job_ports *ports, cw_port port)
{
    if (job_ports_hold(ports, port)) {
        return 0;
    }
    unsigned at = place_of(ports, port);
    cw_port *more = realloc(ports->port, (ports->count + 1) * sizeof *more);
    if (more == NULL) {
        return -ENOMEM;
    }
    memmove(more + at + 1, more + at, (ports->count - at) * sizeof *more);
    more[at] = port;
    ports->port = more;
    ports->count++;
    return 0;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* Digits, all of word[length], as a port. False: they are none, or too large. */
static bool number_of(const char *word, size_t length, cw_port *out)
{
    uint32_t value = 0;
    for (size_t i = 0; i < length && value <= UINT16_MAX; i++) {
        if (word[i] < '0' || word[i] > '9') {
            return false;
        }
        value = value * 10 + (uint32_t)(word[i] - '0');
    }
    *out = (cw_port)value;
    return length > 0 && value <= UINT16_MAX;
}

/* "7", "1-3" or a name; word is changed no more than it must be. */
static int take_word(struct job_ports *ports, const char *word, size_t length, const struct job_port_names *names,
                     char why[static JOB_PORTS_WHY])
{
    char name[JOB_RECORD_NAME_BYTES] = "";
    const char *dash = memchr(word, '-', length);
    cw_port first, last;
    bool one = number_of(word, length, &first);
    bool range = dash != NULL && number_of(word, (size_t)(dash - word), &first) &&
                 number_of(dash + 1, length - (size_t)(dash + 1 - word), &last) && first <= last;
    if (one) {
        last = first;
    } else if (!range) {
        if (length < sizeof name) {
            memcpy(name, word, length);
        }
        if (name[0] == '\0' || names == NULL || !names->find(names->context, name, &first)) {
            snprintf(why, JOB_PORTS_WHY, "'%.*s': expected all, or ports 0 to 65535 such as 7 or 1-3%s",
                     (int)(length < 40 ? length : 40), word,
                     names != NULL ? ", or names of ports that the job has" : "");
            return -EINVAL;
        }
        last = first;
    }
    for (uint32_t port = first; port <= last; port++) {
        if (job_ports_add(ports, (cw_port)port) < 0) {
            snprintf(why, JOB_PORTS_WHY, "out of memory");
            return -ENOMEM;
        }
    }
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int job_ports_read(struct job_ports *ports, const char *text, const struct job_port_names *names,
                   char why[static JOB_PORTS_WHY])
{
    const char *at = text;
    why[0] = '\0';
    *ports = (struct job_ports){.all = strcmp(text, "all") == 0};
    while (!ports->all) {
        size_t length = strcspn(at, ","), from = 0, to = length;
        while (from < to && is_blank(at[from])) {
            from++;
        }
        while (to > from && is_blank(at[to - 1])) {
            to--;
        }
        int rc = take_word(ports, at + from, to - from, names, why);
        if (rc < 0) {
            job_ports_close(ports);
            return rc;
        }
        if (at[length] == '\0') {
            break;
        }
        at += length + 1;
    }
    return 0;
}

void job_ports_write(const struct job_ports *ports, FILE *out)
{
    if (ports->all) {
        fputs("all", out);
    }
    for (unsigned i = 0, end; i < ports->count; i = end) {
        for (end = i + 1; end < ports->count && ports->port[end] == ports->port[end - 1] + 1; end++) {
        }
        fprintf(out, end - i > 1 ? "%s%u-%u" : "%s%u", i > 0 ? "," : "", ports->port[i], ports->port[end - 1]);
    }
}
