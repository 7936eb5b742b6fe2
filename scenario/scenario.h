/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - a run as a text file: the cluster, what happens and when, and what must be true in the end.
 *
 *     torus 3x3x3                          the first line that counts; what follows may name servers seed 7 rate 1gbit
 *     of a link timers fast                          or default; then `timer hello 2ms` for one of them at 100ms
 *     workload keys rate=1000     packets a second and server; also `all load=98%`, `neighbours` at 500ms kill 1,0,2 at
 *     900ms start 1,0,2 at 1s cut 0,0,0 +x                   `oneway`: only out of it at 1200ms pause 2,2,2 80ms from
 *     1s to 2s loss 5%                of all frames; `harm 0,0,0 +x loss=5% delay=2ms` for one direction of one cable
 *     service libhitcount.so               loaded on every server, besides ping and bench option hitcount patience_ms
 *     500       of a service that is loaded or built in grant 4096 -> 4096:*:0               what its job may send:
 *     job, processes and ports (semantics 7); else nothing at 2s tell 0,0,0 ping to 2,2,2       a command to a service;
 *     the answer is in the report at 2500ms stop                       the workload at 3s quiet
 *     all views agree, all packets have arrived: checked end 3s expect misdelivered = 0              a field of the
 *     report; = != < <= > >=
 *
 * docs/simulator.md has every word. A file that was read is plain values: it can be written again, and reads as the
 * same. At one instant workloads come first, then commands, then faults, each in the order of the file.
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "scenario/lines.h"
#include "scenario/plan.h"

#include <stdio.h>

enum {
    SCENARIO_LOADS_MAX = 64,
    SCENARIO_QUIETS_MAX = 64,
    SCENARIO_EXPECTS_MAX = 64,
    SCENARIO_CAPTURES_MAX = 64,
    SCENARIO_TELLS_MAX = 64,
    SCENARIO_SERVICES_MAX = 8,
    SCENARIO_GRANTS_MAX = 128,
    SCENARIO_FIELD_MAX = 48,
    SCENARIO_TELL_TEXT = 160,
    SCENARIO_TELL_WORDS = 16,
    SCENARIO_PATH = 256,
    SCENARIO_OPTIONS_MAX = 16,
    SCENARIO_MISTAKES = 10,                                 /* that are told of one file; the others are counted */
    SCENARIO_ERROR = (SCENARIO_MISTAKES + 1) * LINES_ERROR, /* bytes of all that is told */
};

struct scenario_load {
    cw_time at;
    bool stop;
    struct workload load;
};

enum scenario_relation { SCENARIO_EQUAL, SCENARIO_NOT, SCENARIO_LESS, SCENARIO_MOST, SCENARIO_MORE, SCENARIO_LEAST };
struct scenario_expect {
    unsigned line; /* of the file, for the message */
    char field[SCENARIO_FIELD_MAX];
    enum scenario_relation relation;
    int64_t millionths;
};

/* An option of a service, on every server (cw_option()). */
struct scenario_option {
    char service[32];
    char name[32];
    char value[160];
};

/* A command to a service of a server; text: its words, a blank between them. */
struct scenario_tell {
    cw_time at;
    cw_server server;
    char service[32];
    char text[SCENARIO_TELL_TEXT];
};

/* Job `from` may send to these processes of job `to`, on that port. */
struct scenario_grant {
    cw_job from, to;
    bool all_processes, any_port;
    cw_process first, last;
    cw_port port;
};

struct scenario_capture {
    cw_server server;
    cw_links links; /* both directions of each */
};

struct scenario {
    struct world_config config; /* services, grants and replay are filled in by the code that runs the scenario */
    cw_span boot;               /* servers start at random instants within this time */
    struct fault_plan plan;
    struct scenario_load load[SCENARIO_LOADS_MAX];
    cw_time quiet[SCENARIO_QUIETS_MAX];
    struct scenario_expect expect[SCENARIO_EXPECTS_MAX];
    struct scenario_capture capture[SCENARIO_CAPTURES_MAX];
    struct scenario_tell tell[SCENARIO_TELLS_MAX];
    char service[SCENARIO_SERVICES_MAX][SCENARIO_PATH]; /* files with services to load, besides ping and bench */
    unsigned service_line[SCENARIO_SERVICES_MAX];       /* where the scenario says so */
    struct scenario_option option[SCENARIO_OPTIONS_MAX];
    struct scenario_grant grant[SCENARIO_GRANTS_MAX]; /* besides what built-in services need */
    unsigned grants;
    unsigned loads, quiets, expects, captures, tells, services, options;
    cw_time end;
};

/* 3x3x3, boot within 10 ms, nothing happens, ends at 1 s. */
void scenario_init(struct scenario *s);
void scenario_free(struct scenario *s);

/*
 * Reads a scenario out of text[length]; errors call it `file`. 0: the caller frees *s. -EINVAL: error has a line for
 * each mistake (no newline behind the last), with the file, the line, what was found and what was expected; what no
 * single line can say is told where all lines are good, and behind a torus that cannot be read nothing is. -ENOMEM:
 * error says so. After an error *s needs no freeing.
 */
CW_MUST_CHECK int scenario_read(struct scenario *s, const char *file, const char *text, size_t length,
                                char error[static SCENARIO_ERROR]);
/* As above, from a file of at most 1 MiB; -EINVAL also when it cannot be read. */
CW_MUST_CHECK int scenario_load_file(struct scenario *s, const char *path, char error[static SCENARIO_ERROR]);

/* Writes what scenario_read() reads as the same scenario. -EIO. */
CW_MUST_CHECK int scenario_write(const struct scenario *s, FILE *out);

/* Reads one action of an "at" line, the words after the time, and adds it to the plan. For scenario.c. */
CW_MUST_CHECK int scenario_fault_read(struct lines *w, const struct torus *torus, cw_time from, cw_time to,
                                      struct fault_plan *plan);
/* True when the word begins a fault. */
bool scenario_fault_word(const struct word *word);
const char *scenario_fault_nth(const void *context, size_t i);
size_t scenario_fault_count(void);

const char *scenario_relation_name(enum scenario_relation relation);
bool scenario_relation_holds(enum scenario_relation relation, double value, int64_t millionths);

#endif
