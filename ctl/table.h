/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - rows as columns for people: aligned, with units, in colour where a terminal shows it.
 */
#ifndef CTL_TABLE_H
#define CTL_TABLE_H

#include "message/message.h"

enum table_kind {
    TABLE_TEXT,
    TABLE_STATE, /* a word that is good, bad or between: in colour */
    TABLE_COUNT,
    TABLE_SHORT, /* a count that may be large: 12.3 k */
    TABLE_SPAN,  /* nanoseconds */
    TABLE_BYTES,
    TABLE_RATE, /* bits a second; 0 is not known, and empty */
    TABLE_FLAG, /* yes or no, in colour */
    TABLE_MARK, /* yes as "yes", no as nothing */
};

struct table_column {
    const char *field, *title;
    enum table_kind kind;
};

struct table_style {
    bool colour;
};
/* Colour when out is a terminal and NO_COLOR is not set (no-color.org). */
struct table_style table_style_for(FILE *out);

/* What a field is for people; "" when the row has none. */
enum { TABLE_CELL = 256 };
void table_cell(const struct message *row, const struct table_column *column, char out[static TABLE_CELL]);

/* Columns in which no row has anything are left out. Columns end with field NULL. */
void table_print(struct message *const *rows, size_t count, const struct table_column *columns,
                 struct table_style style, FILE *out);
/* One row as lines "title  value"; a field it does not have is left out. */
void table_print_record(const struct message *row, const struct table_column *columns, struct table_style style,
                        FILE *out);

/* text in the colour of what it says: "up" green, "down" red, words it does not know plain. */
void table_state(const char *text, struct table_style style, FILE *out);
/* The escape sequence that begins bold, or red and so on, and ends it; "" without colour. */
const char *table_bold(struct table_style style);
const char *table_faint(struct table_style style);
const char *table_plain(struct table_style style);
/* Cells on a terminal that UTF-8 text takes: one a character. */
size_t table_width(const char *text);

#endif
