/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asked.h - what follows of a server's having answered: nobody need be sent there to ask it again, and what
 * others suspect of it goes where it gives the reason itself. For diagnosis.c.
 */
#ifndef CTL_DIAGNOSIS_ASKED_H
#define CTL_DIAGNOSIS_ASKED_H

#include "ctl/ask/call.h"

/* The names of the servers that have answered, with spaces between, to be freed; NULL: no memory. */
char *diagnosis_answered(const struct rows *rows);
/* A server of which no link tells, and that has answered itself, runs: what is said of it changes. NULL: nothing. */
void diagnosis_tell_reached(struct rows *rows, const char *answered);
/* Takes "cwctl doctor" out of the remedies for servers that have answered. answered: NULL does nothing. */
void diagnosis_leave_asked(struct rows *rows, const char *answered);
/* Nobody hears a server, or one end of a cable does not, and that server says itself that it stood still. */
bool diagnosis_is_said(const struct rows *rows, const struct message *finding);

#endif
