/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - shows rows to people, as columns: aligned, with units, and in colour where a terminal shows it. */
#ifndef CTL_ASK_TABLE_H
#define CTL_ASK_TABLE_H

#include "message/message.h"

enum table_kind {
    TABLE_TEXT,
    TABLE_STATE, /* a word that is good, bad or between, in colour */
    TABLE_COUNT,
    TABLE_SHORT, /* a count that may be large: 12.3 k */
    TABLE_SPAN,  /* nanoseconds */
    TABLE_BYTES,
    TABLE_SHARE, /* parts of a million, as percent; 0 is shown as nothing */
    TABLE_RATE,  /* bits a second; 0 means that it is not known, and is shown as nothing */
    TABLE_FLAG,  /* yes or no, in colour */
    TABLE_MARK,  /* yes as "yes", no as nothing */
};

enum { TABLE_COLUMNS_MAX = 24 };
struct table_column {
    const char *field, *title;
    enum table_kind kind;
};

struct table_style {
    bool colour;
};
/* Colour when out is a terminal and NO_COLOR is not set (no-color.org). */
struct table_style table_style_for(FILE *out);

/* Writes a field as people read it; "" when the row has none. */
enum { TABLE_CELL = 256 };
void table_cell(const struct message *row, const struct table_column *column, char out[static TABLE_CELL]);

/*
 * A column in which no row has anything is left out; in the others, "-" stands for a span that a row does not have.
 * Columns end with field NULL.
 */
void table_print(struct message *const *rows, size_t count, const struct table_column *columns,
                 struct table_style style, FILE *out);
/* Prints one row as lines "title  value"; a field that it lacks is left out. */
void table_print_record(const struct message *row, const struct table_column *columns, struct table_style style,
                        FILE *out);

/* Prints text in the colour of its meaning: "up" in green, "down" in red, words that it does not know in none. */
void table_state(const char *text, struct table_style style, FILE *out);
/* The escape sequences that begin bold, begin faint, and end both; "" without colour. */
const char *table_bold(struct table_style style);
const char *table_faint(struct table_style style);
const char *table_plain(struct table_style style);
/* How many cells of a terminal UTF-8 text takes: one for each character. */
size_t table_width(const char *text);

#endif
