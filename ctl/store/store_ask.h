/* SPDX-License-Identifier: Apache-2.0 */
/* store_ask.h - questions to the store, by the daemon's service of that name, for all commands about it. */
#ifndef CTL_STORE_STORE_ASK_H
#define CTL_STORE_STORE_ASK_H

#include "ctl/ask/value.h"
#include "cubeway/store.h"

enum {
    STORE_CURSOR = 4 * CW_STORE_NAME_MAX / 3 + 16, /* a name in base64 */
    STORE_NAME_TEXT = 4 * CW_STORE_NAME_MAX + 1,   /* a name as it is shown */
    EXIT_NONE = 1,
    EXIT_OTHER = 2,
    EXIT_UNKNOWN = 5
};

/* "service store COMMAND KEY", without KEY where it is NULL. To be closed, or taken by one of those below. */
struct request_draft *store_request(const struct call *call, const char *command, const char *key);
/* Behind all other words: the word KEY is a name in base64, which may be any bytes. */
#define STORE_KEY_BASE64 "key=base64"

/* Adds NAME=VALUE for an option, if it was given. */
void store_option(const struct call *call, struct request_draft *r, const char *option, const char *name);

/* Sends the request, which it takes. Gives the exit code; EXIT_FINE: there are rows, and nobody has interrupted it. */
int store_ask(const struct call *call, struct request_draft *r, struct rows *rows);
/*
 * An operation on a name, which is shown as `key`: asks, and says what is wrong, as the last row has it. Takes the
 * request, and adds the job that was given to it.
 */
int store_operate(const struct call *call, struct request_draft *r, const char *key, struct rows *rows);
/* The same; but nothing is said where it ends so, which store_says() tells. */
int store_try(const struct call *call, struct request_draft *r, const char *key, cw_store_status expected,
              struct rows *rows);
/* Did it end so? False also where there was no answer: exit codes alone are those of other mistakes, too. */
bool store_says(const struct rows *rows, cw_store_status status);

/*
 * Adds a value of up to CW_STORE_VALUE_MAX bytes, behind the words that come before it; a long one is brought to the
 * daemon first. An exit code.
 */
int store_value(const struct call *call, struct request_draft *r, const uint8_t *bytes, size_t length);

/* A name as it is asked for. */
struct store_key {
    const char *word;  /* borrowed */
    const char *shown; /* the same, in messages */
    bool base64;       /* the word is in base64 */
};

/*
 * Gets a value whole, by as many answers as it takes, all of one version: its row has "version", "bytes" and "flags".
 * EXIT_FINE: to be closed; else an exit code, after a line on errors unless it ended as `expected` (CW_STORE_OK:
 * nothing else is), which *met says (NULL: nobody asks).
 */
int store_fetch(const struct call *call, const struct store_key *key, cw_store_status expected, struct value *v,
                bool *met);

/* A name as it is shown, in out. */
void store_name_text(const uint8_t *bytes, size_t length, char out[static STORE_NAME_TEXT]);
/* Adds the row's name ("base64") as it is shown: the bytes that are no plain letters as \xNN. */
void store_name_row(struct message *row);
/*
 * A page of names behind `after` (base64; "": from the first one), which becomes the last of these. Each row has
 * "name" and "base64". *more: there are others.
 */
int store_page(const struct call *call, const char *prefix, char after[static STORE_CURSOR], int64_t limit,
               struct rows *rows, bool *more);

#endif
