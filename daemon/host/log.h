/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line an event on standard error, in logfmt: level=warn msg="no light" server=0,1,2 link=+x
 *
 * A line is written whole, with one system call, and never waits: what a full pipe refuses is counted and said later. A line whose
 * message repeats more than LOG_BURST times in a second is counted instead, and the count is told with the next one. Values are quoted
 * when they must be, and control characters never pass. Keys and other secrets are not given to it. Any thread.
 */
#ifndef DAEMON_HOST_LOG_H
#define DAEMON_HOST_LOG_H

#include "cubeway/service.h"
#include "cubeway/time.h"

enum { LOG_LINE = 1024, LOG_BURST = 10 };

struct log;

/* Borrows the descriptor. stamp: begin each line with time= (off under systemd, whose journal does). NULL: no memory. */
struct log *log_open(int fd, cw_level level, bool stamp);
/* Says what is still to be said. NULL is allowed. */
void log_close(struct log *log);
void log_set_level(struct log *log, cw_level level);
cw_level log_level(const struct log *log);

struct log_field {
    const char *key;   /* a literal; NULL ends the list */
    const char *value; /* borrowed; NULL: the field is left out */
};
/*
 * A message (a literal: it is what repetition is told by) and the fields behind it, up to key NULL; made by LOG(). Nothing is done below
 * the level. log may be NULL: nothing is said.
 */
void log_write(struct log *log, cw_level level, const char *message, const struct log_field *fields);

/* LOG(log, CW_LOG_WARN, "no light", {"link", "+x"}, {"server", text}); */
#define LOG(log, level, message, ...) \
    log_write(log, level, message, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){NULL, NULL}})

/* "error" .. "debug"; static. */
const char *log_level_name(cw_level level);
/* False when it is none; *out is then untouched. */
bool log_level_parse(const char *text, cw_level *out);

#endif
