/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line for each event on standard error, in logfmt: level=warn msg="no light" server=0,1,2 link=+x
 *
 * A line is written whole, by one system call that never waits: lines that a full pipe refuses are counted, and the
 * count is logged later. When a message repeats more than LOG_BURST times in a second, the lines after that are left
 * out, but for the newest: it says how things are now, so it is written when the second is over (log_settle()), behind
 * a line that counts the others. Values are quoted where they must be, and control characters are never
 * written. Callers give it no keys and no other secrets. Any thread may call it.
 */
#ifndef DAEMON_MACHINE_LOG_H
#define DAEMON_MACHINE_LOG_H

#include "cubeway/service.h"
#include "cubeway/time.h"

enum { LOG_LINE = 1024, LOG_BURST = 10 };

struct log;

/*
 * Borrows the descriptor. stamp: each line begins with time= (off under systemd, whose journal has the time). NULL: no
 * memory.
 */
struct log *log_open(int fd, cw_level level, bool stamp);
/* Writes what was held back. NULL is allowed. */
void log_close(struct log *log);
/* Writes the newest of the repeats that were left out in seconds before now. To be called once a second. */
void log_settle(struct log *log, cw_time now);
void log_set_level(struct log *log, cw_level level);
cw_level log_level(const struct log *log);

struct log_field {
    const char *key;   /* a literal; NULL ends the list */
    const char *value; /* borrowed; NULL: the field is left out */
};
/*
 * Logs a message and the fields behind it, which end with key NULL; LOG() writes that list. The message is a literal:
 * repetition is told by its address. A message below the level costs nothing. log may be NULL: nothing is logged.
 */
void log_write(struct log *log, cw_level level, const char *message, const struct log_field *fields);

/* LOG(log, CW_LOG_WARN, "no light", {"link", "+x"}, {"server", text}); */
#define LOG(log, level, message, ...) \
    log_write(log, level, message, (const struct log_field[]){__VA_ARGS__ __VA_OPT__(, ){NULL, NULL}})

/* "error" .. "debug"; static. */
const char *log_level_name(cw_level level);
/* False: the text names no level, and *out is untouched. */
bool log_level_parse(const char *text, cw_level *out);

#endif
