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
/* Writes the bytes of the row's field "base64" to the output; on a terminal a line ends behind them. An exit code. */
int value_write(const struct call *call, const struct message *row);

#endif
