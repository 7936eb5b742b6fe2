/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    bool unopened; /* the section at hand has no {, which was told */
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

__attribute__((format(printf, 2, 3))) static int wrong(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, CONF_WHY, format, args);
    va_end(args);
    return -EINVAL;
}

__attribute__((format(printf, 2, 3))) static int lost(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, CONF_WHY, format, args);
    va_end(args);
    r->lost = true;
    return -EINVAL;
}

static bool at_end(const struct reader *r)
{
    return r->at == r->end;
}

static bool is_next(const struct reader *r, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0;
}

static void skip_line(struct reader *r)
{
    while (!at_end(r) && *r->at != '\n') {
        r->at++;
    }
}

static int skip_block(struct reader *r)
{
    unsigned line = r->line;
    r->at += 2;
    while (!is_next(r, "*/")) {
        if (at_end(r)) {
            r->line = line;
            return lost(r, "this comment is not ended by */");
        }
        r->line += *r->at++ == '\n';
    }
    r->at += 2;
    return 0;
}

/* Blanks and comments; newlines too when they mean nothing here. */
static int skip_blanks(struct reader *r, bool newlines)
{
    while (!at_end(r)) {
        char c = *r->at;
        if (c == '#' || is_next(r, "//")) {
            skip_line(r);
        } else if (is_next(r, "/*")) {
            int rc = skip_block(r);
            if (rc < 0) {
                return rc;
            }
        } else if (c == ' ' || c == '\t' || c == '\r') {
            r->at++;
        } else if (c == '\n' && newlines) {
            r->line++;
            r->at++;
        } else {
            return 0;
        }
    }
    return 0;
}

static bool is_bare(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f && strchr("{}[]=:;,\"'#", c) == NULL;
}

/* A value without quotes ends at a blank, and may hold = and : ("10.0.0.1:7001"). */
static bool is_bare_value(char c)
{
    return is_bare(c) || c == '=' || c == ':';
}

/* What stands behind a backslash inside quotes; 0: nothing that is known. */
static char unescaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '"':
    case '\'':
    case '\\':
    case '/':
        return c;
    default:
        return 0;
    }
}

static int take_quoted(struct reader *r, const char **out)
{
    char quote = *r->at++;
    char *to = r->string;
    for (;;) {
        if (at_end(r) || *r->at == '\n') {
            return wrong(r, "this text is not ended by %c", quote);
        }
        char c = *r->at++;
        if (c == quote) {
            break;
        }
        if (c == '\\' && quote == '"') {
            c = at_end(r) ? 0 : unescaped(*r->at);
            if (c == 0) {
                return wrong(r, "a \\ in a text is followed by n, t, \\, / or a quote");
            }
            r->at++;
        } else if ((unsigned char)c < ' ' && c != '\t') {
            return wrong(r, "a text holds no control characters");
        }
        *to++ = c;
    }
    *to++ = '\0';
    *out = r->string;
    r->string = to;
    return 0;
}

static int take_text(struct reader *r, bool (*holds)(char), const char *what, const char **out)
{
    if (!at_end(r) && (*r->at == '"' || *r->at == '\'')) {
        return take_quoted(r, out);
    }
    char *to = r->string;
    while (!at_end(r) && holds(*r->at) && !is_next(r, "//") && !is_next(r, "/*")) {
        *to++ = *r->at++;
    }
    if (to == r->string) {
        if (at_end(r)) {
            return wrong(r, "expected %s, found the end of the file", what);
        }
        if ((unsigned char)*r->at <= ' ') {
            return wrong(r, "expected %s, found the end of the line", what);
        }
        return wrong(r, "expected %s, found '%c'", what, *r->at);
    }
    *to++ = '\0';
    *out = r->string;
    r->string = to;
    return 0;
}

/* Gives the index of a new item, or -ENOMEM. */
static int64_t add_item(struct reader *r, const struct conf_item *item)
{
    struct conf *c = &r->conf;
    if (c->count == c->room) {
        uint32_t room = c->room == 0 ? 64 : c->room * 2;
        struct conf_item *more = realloc(c->item, room * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        c->item = more;
        c->room = room;
    }
    c->item[c->count] = *item;
    return c->count++;
}

/* Behind a value: ; or , or a newline, or what ends the section. */
static int end_value(struct reader *r)
{
    int rc = skip_blanks(r, false);
    if (rc < 0 || at_end(r) || *r->at == '\n' || *r->at == '}') {
        return rc;
    }
    if (*r->at != ';' && *r->at != ',') {
        return wrong(r, "expected ; or the end of the line after a value, found '%c'", *r->at);
    }
    r->at++;
    return 0;
}

static int read_section(struct reader *r, uint32_t self, unsigned depth, bool braces);

/* Behind a comma: a word that is no key, as only , or the end of a value follows. Gives its length, or 0. */
static size_t listed(const struct reader *r, const char **word)
{
    const char *at = r->at;
    if (at == r->end || *at != ',') {
        return 0;
    }
    do {
        at++;
    } while (at < r->end && (*at == ' ' || *at == '\t'));
    *word = at;
    while (at < r->end && is_bare(*at)) {
        at++;
    }
    size_t length = (size_t)(at - *word);
    while (at < r->end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at == r->end || strchr(",;\n}#", *at) != NULL ? length : 0;
}

/* "torus." of the sections that the item at hand is in. */
static void write_sections(const struct reader *r, char out[static CONF_PATH])
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 1; i < r->depth && used < CONF_PATH; i++) {
        const struct conf_item *in = &r->conf.item[r->inside[i]];
        bool named = in->name != NULL;
        used += (size_t)snprintf(out + used, CONF_PATH - used, "%s%s%s%s.", in->key, named ? " \"" : "",
                                 named ? in->name : "", named ? "\"" : "");
    }
}

/*
 * The value `0,0,0` without quotes: it is a mistake, as a comma ends a value, and is taken as it was meant, so that
 * nothing else is said of it.
 */
static int join_list(struct reader *r, const struct conf_item *item)
{
    const char *word;
    size_t length;
    bool any = false;
    for (; (length = listed(r, &word)) > 0; any = true) {
        r->string[-1] = ',';
        memcpy(r->string, word, length);
        r->string += length;
        *r->string++ = '\0';
        r->at = word + length;
        while (!at_end(r) && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) {
            r->at++;
        }
    }
    if (!any) {
        return 0;
    }
    char sections[CONF_PATH];
    write_sections(r, sections);
    return wrong(r, "%.40s%.40s: a value with commas stands in quotes: %.40s = \"%.40s\"", sections, item->key,
                 item->key, item->value);
}

/* Blanks at the beginning of the line; *first: the reader is at what stands behind them. */
static unsigned indent(const struct reader *r, bool *first)
{
    const char *line = r->at;
    while (line > r->begin && line[-1] != '\n') {
        line--;
    }
    unsigned blanks = 0;
    while (line + blanks < r->at && (line[blanks] == ' ' || line[blanks] == '\t')) {
        blanks++;
    }
    *first = line + blanks == r->at;
    return blanks;
}

/* The reader is at the end of a line, and the next one that says anything is deeper: this one is its heading. */
static bool is_headed(const struct reader *r)
{
    bool first;
    struct reader next = *r;
    unsigned outer = indent(r, &first);
    if (at_end(r) || *r->at != '\n') {
        return false;
    }
    while (!at_end(&next) && strchr(" \t\r\n#", *next.at) != NULL) {
        if (*next.at == '#') {
            skip_line(&next);
        } else {
            next.at++;
        }
    }
    return !at_end(&next) && *next.at != '}' && indent(&next, &first) > outer;
}

/* Tells of the mistake in `why`. False: nobody wants to know of more than the first. */
static bool tell(struct reader *r)
{
    if (r->mistake == NULL) {
        return false;
    }
    r->told++;
    r->mistake(r->context, r->line, r->why);
    return true;
}

/* key, and what it is: item->value, or a section that begins at the reader (*section). */
static int read_head(struct reader *r, struct conf_item *item, bool *section)
{
    item->line = r->line;
    int rc = take_text(r, is_bare, "a key", &item->key);
    rc = rc < 0 ? rc : skip_blanks(r, false);
    bool sign = rc >= 0 && !at_end(r) && (*r->at == '=' || *r->at == ':');
    if (sign) {
        r->at++;
        rc = skip_blanks(r, false);
    }
    if (rc < 0) {
        return rc;
    }
    if (!at_end(r) && *r->at == '[') {
        return wrong(r, "%.40s: lists are not read here", item->key);
    }
    *section = is_next(r, "{");
    if (*section) {
        return 0;
    }
    if (!sign && is_headed(r)) {
        int mistake = wrong(r, "%.40s is not followed by {, and what stands below belongs to it, it seems", item->key);
        *section = r->unopened = tell(r);
        return r->unopened ? 0 : mistake;
    }
    if (at_end(r) || *r->at == '\n' || *r->at == ';') {
        return wrong(r, "%.40s has no value", item->key);
    }
    bool bare = !at_end(r) && *r->at != '"' && *r->at != '\'';
    rc = take_text(r, is_bare_value, "a value", &item->value);
    rc = rc < 0 ? rc : skip_blanks(r, false);
    if (rc == 0 && sign && bare) {
        rc = join_list(r, item);
        r->joined = rc < 0;
    }
    if (rc == 0 && !sign && is_next(r, "{")) { /* it was the section's name */
        item->name = item->value;
        item->value = NULL;
        *section = true;
    }
    return rc;
}

static int read_item(struct reader *r, uint32_t *index, unsigned depth)
{
    struct conf_item item = {.key = NULL};
    bool section = false;
    r->joined = r->unopened = false;
    r->depth = depth;
    int rc = read_head(r, &item, &section);
    if (rc < 0 && !r->joined) {
        return rc;
    }
    item.listed = r->joined;
    int64_t at = add_item(r, &item);
    if (at < 0) {
        return (int)at;
    }
    *index = (uint32_t)at;
    if (rc < 0) {
        return rc;
    }
    if (!section) {
        return end_value(r);
    }
    if (depth == CONF_DEPTH) {
        return lost(r, "sections are at most %d deep", CONF_DEPTH);
    }
    r->at += !r->unopened;
    r->unopened = false;
    rc = read_section(r, *index, depth + 1, true);
    if (rc == 0 && !at_end(r) && (*r->at == ';' || *r->at == ',')) {
        r->at++;
    }
    return rc;
}

/* Tells of the mistake, and goes to where the next item may begin. False: the mistake ends the reading. */
static bool go_on(struct reader *r)
{
    if (!tell(r)) {
        return false;
    }
    while (!at_end(r) && *r->at != '\n' && *r->at != ';' && *r->at != '}') {
        r->at++;
    }
    r->at += !at_end(r) && *r->at == ';';
    return true;
}

/* A } where no section is open. False: the mistake ends the reading. */
static bool pass_brace(struct reader *r)
{
    r->stray++;
    (void)wrong(r, "a } that ends nothing");
    if (!go_on(r)) {
        return false;
    }
    r->at++;
    return true;
}

/*
 * Inside of a section whose first line has so many blanks before it: people write what is inside deeper, and the brace
 * behind it no less deep.
 */
static bool is_shallow(const struct reader *r, unsigned outer)
{
    bool first;
    unsigned blanks = indent(r, &first);
    return first && (*r->at == '}' ? blanks < outer : blanks <= outer);
}

/* True: here the section ends without a brace, as an earlier reading of the text found out. */
static bool is_missing(struct reader *r)
{
    if (r->missing_passed < r->missing_count && r->missing[r->missing_passed] == r->at) {
        r->missing_passed++;
        return true;
    }
    if (r->suspect == NULL) {
        r->suspect = r->at;
    }
    return false;
}

static void tell_missing(struct reader *r, unsigned line)
{
    unsigned here = r->line;
    (void)wrong(r, "this section is not ended by }; it seems to be missing before line %u", here);
    r->line = line;
    (void)tell(r);
    r->line = here;
}

/* Up to and with the brace that ends it, or the end of the file. */
static int read_section(struct reader *r, uint32_t self, unsigned depth, bool braces)
{
    uint32_t last = CONF_NONE;
    unsigned line = r->line;
    bool first;
    bool flat = false;
    unsigned outer = indent(r, &first);
    r->inside[depth - 1] = self;
    for (;;) {
        int rc = skip_blanks(r, true);
        if (rc < 0) {
            return rc;
        }
        /* Where the first line inside is no deeper, the layout says nothing. */
        bool shallow = braces && !at_end(r) && is_shallow(r, outer);
        flat |= shallow && last == CONF_NONE;
        if (shallow && !flat && is_missing(r)) {
            tell_missing(r, line);
            return 0;
        }
        if (at_end(r)) {
            if (braces) {
                r->line = line;
                return lost(r, "this section is not ended by }");
            }
            return 0;
        }
        if (*r->at == '}' && braces) {
            r->at++;
            return 0;
        }
        if (*r->at == '}') {
            if (!pass_brace(r)) {
                return -EINVAL;
            }
            continue;
        }
        uint32_t item = CONF_NONE;
        rc = read_item(r, &item, depth);
        if (item != CONF_NONE && last == CONF_NONE) {
            r->conf.item[self].first = item;
        } else if (item != CONF_NONE) {
            r->conf.item[last].next = item;
        }
        last = item != CONF_NONE ? item : last;
        if (rc < 0 && (rc != -EINVAL || r->lost || !go_on(r))) {
            return rc;
        }
    }
}

/* The whole may stand in braces, as JSON has it. */
static int read_file(struct reader *r)
{
    int rc = skip_blanks(r, true);
    bool braces = rc == 0 && is_next(r, "{");
    r->at += braces;
    rc = rc < 0 ? rc : read_section(r, 0, 1, braces);
    if (rc == 0 && braces) {
        rc = skip_blanks(r, true);
        if (rc == 0 && !at_end(r)) {
            rc = wrong(r, "something stands behind the brace that ends the file");
        }
    }
    return rc;
}

static int read_text(struct reader *r, const char *text, size_t length)
{
    r->begin = r->at = text;
    r->end = text + length;
    r->line = 1;
    r->why[0] = '\0';
    /* Every text is at least a byte of the file, and has a NUL here. */
    r->conf.strings = r->string = malloc(2 * length + 1);
    if (r->string == NULL || add_item(r, &(struct conf_item){.key = "", .line = 1}) < 0) {
        return -ENOMEM;
    }
    return read_file(r);
}

int conf_open(struct conf *out, const char *text, size_t length, unsigned *line, char why[static CONF_WHY])
{
    struct reader r = {.why = why};
    int rc = read_text(&r, text, length);
    if (rc < 0) {
        *line = r.line;
        conf_close(&r.conf);
        return rc;
    }
    *out = r.conf;
    return 0;
}

static void say_nothing(void *context, unsigned line, const char *why)
{
    (void)context;
    (void)line;
    (void)why;
}

/*
 * Reads the text again and again until each section ends: adds to `missing` where a brace was left out. Where that does
 * not help (a text whose lines are all at the margin), none is added. 0 or -ENOMEM.
 */
static int find_missing(struct reader *out, const char *text, size_t length)
{
    char why[CONF_WHY];
    struct reader r = {.why = why};
    unsigned count = 0, stray = 0;
    for (;;) {
        struct reader next = {.why = why, .mistake = say_nothing, .missing_count = count};
        memcpy(next.missing, r.missing, sizeof next.missing);
        int rc = read_text(&next, text, length);
        conf_close(&next.conf);
        if (rc == -ENOMEM) {
            return rc;
        }
        stray = count == 0 ? next.stray : stray;
        if (!next.lost && next.stray == stray) {
            memcpy(out->missing, next.missing, sizeof out->missing);
            out->missing_count = count;
            return 0;
        }
        if (!next.lost || next.suspect == NULL || count == MISSING_MOST) {
            return 0;
        }
        r.missing[count++] = next.suspect;
    }
}

int conf_open_most(struct conf *out, const char *text, size_t length, conf_mistake_fn *mistake, void *context)
{
    char why[CONF_WHY];
    struct reader r = {.why = why, .mistake = mistake, .context = context};
    int rc = find_missing(&r, text, length);
    if (rc < 0) {
        return rc;
    }
    rc = read_text(&r, text, length);
    if (rc == -ENOMEM) {
        conf_close(&r.conf);
        return rc;
    }
    if (rc < 0) { /* nobody has told of the mistake that ended the reading */
        r.told++;
        mistake(context, r.line, why);
    }
    *out = r.conf;
    return (int)r.told;
}

void conf_close(struct conf *conf)
{
    free(conf->item);
    free(conf->strings);
    *conf = (struct conf){.item = NULL};
}
