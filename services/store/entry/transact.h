/* SPDX-License-Identifier: Apache-2.0 */
/* transact.h - transactions of operators, by words. */
#ifndef SERVICES_STORE_ENTRY_TRANSACT_H
#define SERVICES_STORE_ENTRY_TRANSACT_H

#include "services/store/internal.h"

/*
 * txn CLAUSE...: if NAME = VERSION, if NAME absent, if NAME exists, put NAME VALUE, delete NAME, get NAME, each of so
 * many words, or one with a blank between any two of them; behind a put flags=N and ttl_ms=N are its own; job=N,
 * wait_ms=N, key=base64 (all names are in base64), form=base64 (all values are). Answers with a row for each step, and
 * one for all. A command of command.c.
 */
int store_transact(struct store *s, cw_request *r, int argc, const char *const *argv);

#endif
