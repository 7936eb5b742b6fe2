/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ask/table.h"

#include "base/quantity.h"
#include "base/utf8.h"
#include "commandline/colour.h"
#include "commandline/units.h"

#include <string.h>

struct table_style table_style_for(FILE *out)
{
    return (struct table_style){.colour = colour_wanted(out)};
}

const char *table_bold(struct table_style style)
{
    return style.colour ? "\033[1m" : "";
}

const char *table_faint(struct table_style style)
{
    return style.colour ? "\033[2m" : "";
}

const char *table_plain(struct table_style style)
{
    return style.colour ? "\033[0m" : "";
}

size_t table_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

/* ---- Colours of words -------------------------------------------------------------------------------------------- */

static bool among(const char *text, const char *const words[])
{
    for (unsigned i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static const char *colour_of(const char *text)
{
    static const char *const good[] = {"up", "serving", "yes", "root", "self", NULL};
    static const char *const bad[] = {"down",          "no-carrier", "no-interface", "miswired", "fenced", "no",
                                      "supposed-dead", "half",       "grave",        "broken",   NULL};
    static const char *const between[] = {"init",    "exchange", "pending", "damped",    "joining", "searching",
                                          "leaving", "left",     "feared",  "root-then", "warning", NULL};
    if (among(text, good)) {
        return "\033[32m";
    }
    if (among(text, bad)) {
        return "\033[31m";
    }
    return among(text, between) ? "\033[33m" : "";
}

void table_state(const char *text, struct table_style style, FILE *out)
{
    const char *colour = style.colour ? colour_of(text) : "";
    fprintf(out, "%s%s%s", colour, text, colour[0] != '\0' ? "\033[0m" : "");
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static bool is_number(enum table_kind kind)
{
    return kind == TABLE_COUNT || kind == TABLE_SHORT || kind == TABLE_SPAN || kind == TABLE_BYTES ||
           kind == TABLE_RATE || kind == TABLE_SHARE;
}

static void number_cell(int64_t value, enum table_kind kind, char out[static TABLE_CELL])
{
    switch (kind) {
    case TABLE_SPAN:
        units_span(value, out);
        break;
    case TABLE_BYTES:
        units_bytes((uint64_t)value, out);
        break;
    case TABLE_RATE:
        units_rate((uint64_t)value, out);
        if (value == 0) {
            out[0] = '\0';
        }
        break;
    case TABLE_SHARE:
        quantity_share_format((uint32_t)value, out);
        if (value == 0) {
            out[0] = '\0';
        }
        break;
    case TABLE_SHORT:
        units_short((uint64_t)value, out);
        break;
    default:
        units_count(value, out);
    }
}

void table_cell(const struct message *row, const struct table_column *column, char out[static TABLE_CELL])
{
    char text[TABLE_CELL];
    out[0] = '\0';
    if (!message_show(row, column->field, text, TABLE_CELL)) {
        return;
    }
    for (char *c = text; *c != '\0'; c++) { /* no text may move the cursor */
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
    (void)utf8_show(text, strlen(text), out, TABLE_CELL); /* nor hide, nor turn the line around */
    if (is_number(column->kind)) {
        number_cell(message_get_integer(row, column->field, 0), column->kind, out);
    } else if (column->kind == TABLE_MARK && strcmp(out, "no") == 0) {
        out[0] = '\0';
    }
}

/* As a table shows it: a time that was not measured is not nothing, where others were. */
static void shown_cell(const struct message *row, const struct table_column *column, char out[static TABLE_CELL])
{
    table_cell(row, column, out);
    if (out[0] == '\0' && column->kind == TABLE_SPAN) {
        snprintf(out, TABLE_CELL, "-");
    }
}

static void pad(size_t cells, FILE *out)
{
    fprintf(out, "%*s", (int)cells, "");
}

static void print_cell(const char *text, const struct table_column *column, size_t width, bool last,
                       struct table_style style, FILE *out)
{
    size_t fill = width - table_width(text);
    bool number = is_number(column->kind);
    if (number) {
        pad(fill, out);
    }
    if (column->kind == TABLE_STATE || column->kind == TABLE_FLAG || column->kind == TABLE_MARK) {
        table_state(text, style, out);
    } else {
        fputs(text, out);
    }
    if (!last) {
        pad((number ? 0 : fill) + 2, out);
    }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Measures every column: 0 when it is empty. Gives how many columns there are. */
static unsigned measure(struct message *const *rows, size_t count, const struct table_column *columns,
                        size_t width[static TABLE_COLUMNS_MAX], unsigned *last)
{
    char cell[TABLE_CELL];
    unsigned n = 0;
    *last = 0;
    for (; columns[n].field != NULL && n < TABLE_COLUMNS_MAX; n++) {
        width[n] = 0;
        for (size_t i = 0; i < count; i++) {
            table_cell(rows[i], &columns[n], cell);
            size_t cells = table_width(cell);
            width[n] = cells > width[n] ? cells : width[n];
        }
        if (width[n] > 0) {
            size_t title = table_width(columns[n].title);
            width[n] = title > width[n] ? title : width[n];
            *last = n;
        }
    }
    return n;
}

/* The last column in which the row has something: nothing is padded after it. */
static unsigned last_of(const struct message *row, const struct table_column *columns, unsigned n,
                        const size_t width[static TABLE_COLUMNS_MAX])
{
    char cell[TABLE_CELL];
    unsigned last = 0;
    for (unsigned c = 0; c < n; c++) {
        shown_cell(row, &columns[c], cell);
        last = width[c] > 0 && cell[0] != '\0' ? c : last;
    }
    return last;
}

void table_print(struct message *const *rows, size_t count, const struct table_column *columns,
                 struct table_style style, FILE *out)
{
    size_t width[TABLE_COLUMNS_MAX];
    unsigned last, n = measure(rows, count, columns, width, &last);
    char cell[TABLE_CELL];
    if (count == 0) {
        return;
    }
    fputs(table_bold(style), out);
    for (unsigned c = 0; c < n; c++) {
        if (width[c] > 0) {
            struct table_column plain = {columns[c].field, columns[c].title,
                                         is_number(columns[c].kind) ? TABLE_COUNT : TABLE_TEXT};
            print_cell(columns[c].title, &plain, width[c], c == last, style, out);
        }
    }
    fprintf(out, "%s\n", table_plain(style));
    for (size_t i = 0; i < count; i++) {
        last = last_of(rows[i], columns, n, width);
        for (unsigned c = 0; c <= last; c++) {
            if (width[c] > 0) {
                shown_cell(rows[i], &columns[c], cell);
                print_cell(cell, &columns[c], width[c], c == last, style, out);
            }
        }
        fputc('\n', out);
    }
}

void table_print_record(const struct message *row, const struct table_column *columns, struct table_style style,
                        FILE *out)
{
    size_t width = 0;
    char cell[TABLE_CELL];
    for (unsigned c = 0; columns[c].field != NULL; c++) {
        size_t title = table_width(columns[c].title);
        width = message_has(row, columns[c].field) && title > width ? title : width;
    }
    for (unsigned c = 0; columns[c].field != NULL; c++) {
        table_cell(row, &columns[c], cell);
        if (cell[0] == '\0') {
            continue;
        }
        fputs(columns[c].title, out);
        pad(width - table_width(columns[c].title) + 2, out);
        if (columns[c].kind == TABLE_STATE || columns[c].kind == TABLE_FLAG) {
            table_state(cell, style, out);
        } else {
            fputs(cell, out);
        }
        fputc('\n', out);
    }
}
