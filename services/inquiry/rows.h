/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - rows of named fields as bytes of a packet: what a daemon has to say of itself, for another server's
 * operator.
 *
 *     field:  kind (1: whole number, 2: text), length of the name, name; 8 bytes, or 2 bytes of length and the text
 *     row:    fields, then a byte 0
 *
 * Numbers are in network order. The writer keeps rows whole: one that does not fit is not there at all. The reader
 * takes bytes from anybody, and stops at the first that make no sense. Pure functions.
 */
#ifndef SERVICES_INQUIRY_ROWS_H
#define SERVICES_INQUIRY_ROWS_H

#include "cubeway/types.h"

enum { ROWS_NAME = 32, ROWS_TEXT = 1024 }; /* bytes of a name and of a text, their NULs included */

struct rows_writer {
    uint8_t *bytes;
    size_t room, used; /* used: whole rows */
    size_t at;         /* behind the fields of the row under way */
    bool full;         /* that row did not fit */
};

struct rows_writer rows_begin(uint8_t *bytes, size_t room);
/* Names are cut to ROWS_NAME - 1 bytes, texts to ROWS_TEXT - 1. */
void rows_integer(struct rows_writer *w, const char *name, int64_t value);
void rows_text(struct rows_writer *w, const char *name, const char *text);
/* Ends the row. False: it does not fit, and nothing of it was written. */
bool rows_end(struct rows_writer *w);

/* Who hears of rows that are read. Names and texts are borrowed for the call. */
struct rows_reader {
    void *context;
    void (*integer)(void *context, const char *name, int64_t value);
    void (*text)(void *context, const char *name, const char *text);
    void (*row)(void *context); /* the row has ended */
};
/* Reads all rows. -EBADMSG: the bytes are no rows from some place on; what stood before was told. */
CW_MUST_CHECK int rows_read(const uint8_t *bytes, size_t length, const struct rows_reader *reader);

#endif
