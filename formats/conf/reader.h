/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.h - the words of a configuration's text: blanks and comments, keys and values, quotes. For conf.c, which makes
 * a tree of them; nobody else includes this.
 *
 * Functions that return an int give 0, or -EINVAL, and then r->why says what is wrong and r->line where.
 */
#ifndef CONF_READER_H
#define CONF_READER_H

#include "conf/conf.h"

enum { MISSING_MOST = 8 }; /* braces that were left out, and of which this file tells where */

struct reader {
    const char *begin, *at, *end;
    unsigned line;
    struct conf conf;
    char *string; /* where the next text goes */
    char *why;
    /* of conf_open_most(); NULL: the first mistake ends the reading */
    conf_mistake_fn *mistake;
    void *context;
    unsigned told;
    bool joined;   /* the value at hand was a list without quotes */
    bool unclosed; /* the text at hand has a quote that is not closed: what reader_take_text() gave it is a guess */
    bool guessed;  /* ... and that was told, of a text of the item at hand */
    bool unopened; /* the section at hand has no {, which was told */
    bool curly;    /* typographic quotes were told of */
    /* The sections that the item at hand is in, as indexes; 0 is the file. */
    uint32_t inside[CONF_DEPTH + 1];
    unsigned depth;
    bool lost; /* after this mistake nobody knows where the sections end */
    /*
     * Of a section without its }: where the layout of the lines says that the brace is missing, in the order of the
     * text, and how many of them were passed. suspect is the first such place that is not among them.
     */
    const char *missing[MISSING_MOST];
    unsigned missing_count, missing_passed;
    const char *suspect;
    unsigned stray; /* braces that end nothing */
};

/* Say what is wrong; return -EINVAL. After reader_lost() nobody knows where the sections end. */
__attribute__((format(printf, 2, 3))) int reader_wrong(struct reader *r, const char *format, ...);
__attribute__((format(printf, 2, 3))) int reader_lost(struct reader *r, const char *format, ...);

bool reader_at_end(const struct reader *r);
/* The text goes on with this word. */
bool reader_is_next(const struct reader *r, const char *word);
/* To the end of the line. */
void reader_skip_line(struct reader *r);
/* Blanks and comments; newlines too when they mean nothing here. */
CW_MUST_CHECK int reader_skip_blanks(struct reader *r, bool newlines);
/* Can stand in a key without quotes; in a value, which ends at a blank and may hold = and : ("10.0.0.1:7001"). */
bool reader_is_bare(char c);
bool reader_is_bare_value(char c);
/*
 * Takes a text in quotes, or one whose characters `holds` allows; `what`: what was expected. *out lives as r->conf.
 * Of a quote that is not closed, and of typographic ones, r->unclosed is set, *out is what was meant, and the reader is
 * behind that.
 */
CW_MUST_CHECK int reader_take_text(struct reader *r, bool (*holds)(char), const char *what, const char **out);

#endif
