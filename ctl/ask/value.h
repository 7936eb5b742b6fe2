/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - values of the cache and of the store, any bytes, in and out as they are. */
#ifndef CTL_ASK_VALUE_H
#define CTL_ASK_VALUE_H

#include "ctl/ask/call.h"

/*
 * Reads a file, or standard input for "-": at most `most` bytes. Gives them, to be freed, and *length; NULL after a
 * line on errors, which calls that many bytes `most_text`.
 */
uint8_t *value_read(const struct call *call, const char *file, size_t most, const char *most_text, size_t *length);
enum { VALUE_PIECE = 30 * 1024 }; /* bytes of a value in one request, which is in base64 */

/* Adds the bytes, at most VALUE_PIECE, as a word in base64. */
void value_word(struct request_draft *r, const uint8_t *bytes, size_t length);
/*
 * Brings a value that is too long for one request to a service of the daemon, in pieces: a request with "stage=*id"
 * puts it. An exit code; where it is not EXIT_FINE, or the command is to end, the service has been told to forget it.
 */
int value_bring(const struct call *call, const char *service, const uint8_t *bytes, size_t length, uint64_t *id);

/* A value that came in pieces. All zero is empty. */
struct value {
    uint8_t *bytes;
    size_t length;
    struct message *row; /* the first piece's: its "base64" is that piece */
};

void value_close(struct value *v);
/*
 * Adds the piece that an answer's last row tells, and takes the row if it is the first one; `shown` names the value in
 * messages, and its "bytes" are `most` at most. *more: other pieces follow. An exit code, after a line on errors.
 */
int value_add(const struct call *call, const char *shown, size_t most, struct value *v, struct rows *rows, bool *more);

/* Writes the bytes to the output, on a terminal a line ends behind them; with --json the row with all of the value. */
int value_show(const struct call *call, const struct value *v);

#endif
