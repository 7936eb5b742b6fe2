/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finding.h - one finding of the doctor's: a message whose fields are compared, changed and left out while the findings
 * of several servers are put together (diagnosis.h).
 *
 * A field that is not there is "". All strings that are given are the message's: they live until it is changed.
 */
#ifndef CTL_DIAGNOSIS_FINDING_H
#define CTL_DIAGNOSIS_FINDING_H

#include "ctl/ask/call.h"

const char *finding_text(const struct message *m, const char *name);
/* Is the field `name` of m this value? */
bool finding_is(const struct message *m, const char *name, const char *value);
/* Is it one of these values, which end with NULL? */
bool finding_is_any(const struct message *m, const char *name, const char *const *values);
/* Is the field x of a there, and the same as y of b? */
bool finding_same(const struct message *a, const char *x, const struct message *b, const char *y);
/* The server and the port that one finding names are those of the other. */
bool finding_same_end(const struct message *a, const char *server, const char *port, const struct message *b,
                      const char *other_server, const char *other_port);
/* The names are words between spaces; a name that is not known ("") counts as told. */
bool finding_has_name(const char *names, const char *name);

/* Sets a field to a text, which is cut at 599 bytes. */
__attribute__((format(printf, 3, 4))) void finding_put(struct message *m, const char *name, const char *format, ...);

/* Leaves row i out: it is NULL from then on, and keeps its place until findings_close_ranks(). */
void findings_drop(struct rows *rows, size_t i);
void findings_close_ranks(struct rows *rows);

#endif
