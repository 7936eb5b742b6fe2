/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/conf.h"
#include "conf/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* What ends a section, and what is typed in its place. */
static bool is_closing(char c)
{
    return c == '}' || c == ')' || c == ']';
}

/* Behind a value: ; or , or a newline, or what ends the section. */
static int end_value(struct reader *r)
{
    int rc = reader_skip_blanks(r, false);
    if (rc < 0 || reader_at_end(r) || *r->at == '\n' || is_closing(*r->at)) {
        return rc;
    }
    if (*r->at != ';' && *r->at != ',') {
        return reader_wrong(r, "expected ; or the end of the line after a value, found '%c'", *r->at);
    }
    r->at++;
    return 0;
}

static int read_section(struct reader *r, uint32_t self, unsigned depth, char opened);

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
    while (at < r->end && reader_is_bare(*at)) {
        at++;
    }
    size_t length = (size_t)(at - *word);
    while (at < r->end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at == r->end || strchr(",;\n})]#", *at) != NULL ? length : 0;
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
        while (!reader_at_end(r) && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) {
            r->at++;
        }
    }
    if (!any) {
        return 0;
    }
    char sections[CONF_PATH];
    write_sections(r, sections);
    return reader_wrong(r, "%.40s%.40s: a value with commas stands in quotes: %.40s = \"%.40s\"", sections, item->key,
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
    if (reader_at_end(r) || *r->at != '\n') {
        return false;
    }
    while (!reader_at_end(&next) && strchr(" \t\r\n#", *next.at) != NULL) {
        if (*next.at == '#') {
            reader_skip_line(&next);
        } else {
            next.at++;
        }
    }
    return !reader_at_end(&next) && *next.at != '}' && indent(&next, &first) > outer;
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

/* As reader_take_text(). A quote that is not closed is told here, and the text is taken as it was meant. */
static int take_text(struct reader *r, bool (*holds)(char), const char *what, const char **out)
{
    int rc = reader_take_text(r, holds, what, out);
    r->guessed |= r->unclosed;
    return rc < 0 && r->unclosed && tell(r) ? 0 : rc;
}

/* A ( that was typed for a {. */
static int round_bracket(struct reader *r, const struct conf_item *item, bool *section)
{
    int mistake = reader_wrong(r, "this ( should be a {: it begins the section %.40s", item->key);
    *section = tell(r);
    return *section ? 0 : mistake;
}

/* key, and what it is: item->value, or a section that begins at the reader (*section). */
static int read_head(struct reader *r, struct conf_item *item, bool *section)
{
    item->line = r->line;
    int rc = take_text(r, reader_is_bare, "a key", &item->key);
    rc = rc < 0 ? rc : reader_skip_blanks(r, false);
    bool sign = rc >= 0 && !reader_at_end(r) && (*r->at == '=' || *r->at == ':');
    if (sign) {
        r->at++;
        rc = reader_skip_blanks(r, false);
    }
    if (rc < 0) {
        return rc;
    }
    if (!reader_at_end(r) && *r->at == '[') {
        return reader_wrong(r, "%.40s: lists are not read here", item->key);
    }
    *section = reader_is_next(r, "{");
    if (*section) {
        return 0;
    }
    if (!sign && reader_is_next(r, "(")) {
        return round_bracket(r, item, section);
    }
    if (!sign && is_headed(r)) {
        int mistake =
            reader_wrong(r, "%.40s is not followed by {, and what stands below belongs to it, it seems", item->key);
        *section = r->unopened = tell(r);
        return r->unopened ? 0 : mistake;
    }
    if (reader_at_end(r) || *r->at == '\n' || *r->at == ';') {
        return reader_wrong(r, "%.40s has no value", item->key);
    }
    bool bare = !reader_at_end(r) && *r->at != '"' && *r->at != '\'';
    rc = take_text(r, reader_is_bare_value, "a value", &item->value);
    rc = rc < 0 ? rc : reader_skip_blanks(r, false);
    if (rc == 0 && sign && bare) {
        rc = join_list(r, item);
        r->joined = rc < 0;
    }
    bool round = rc == 0 && !sign && reader_is_next(r, "(");
    if (round || (rc == 0 && !sign && reader_is_next(r, "{"))) { /* it was the section's name */
        item->name = item->value;
        item->value = NULL;
        *section = true;
    }
    return round ? round_bracket(r, item, section) : rc;
}

static int read_item(struct reader *r, uint32_t *index, unsigned depth)
{
    struct conf_item item = {.key = NULL};
    bool section = false;
    r->joined = r->unopened = r->guessed = false;
    r->depth = depth;
    int rc = read_head(r, &item, &section);
    if (rc < 0 && !r->joined) {
        return rc;
    }
    item.guessed = r->joined || r->guessed;
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
        return reader_lost(r, "sections are at most %d deep", CONF_DEPTH);
    }
    char opened = r->unopened ? '{' : *r->at++;
    r->unopened = false;
    rc = read_section(r, *index, depth + 1, opened);
    if (rc == 0 && !reader_at_end(r) && (*r->at == ';' || *r->at == ',')) {
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
    while (!reader_at_end(r) && *r->at != '\n' && *r->at != ';' && *r->at != '}' &&
           !(r->joined && is_closing(*r->at))) {
        r->at++;
    }
    r->at += !reader_at_end(r) && *r->at == ';';
    return true;
}

/* A } where no section is open. False: the mistake ends the reading. */
static bool pass_brace(struct reader *r)
{
    r->stray += *r->at == '}';
    (void)reader_wrong(r, "a %c that ends nothing", *r->at);
    if (!tell(r)) {
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
    return first && (is_closing(*r->at) ? blanks < outer : blanks <= outer);
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
    (void)reader_wrong(r, "this section has no closing }, which seems to be missing before line %u", here);
    r->line = line;
    (void)tell(r);
    r->line = here;
}

/* Takes what ends the section that `opened` has begun. False: it was another bracket, and that ends the reading. */
static bool take_closing(struct reader *r, uint32_t self, char opened)
{
    char c = *r->at;
    if (c != '}' && !(c == ')' && opened == '(')) {
        const struct conf_item *section = &r->conf.item[self];
        (void)reader_wrong(r, "this %c should be a }: it ends the section %.40s%s%.40s, which begins in line %u", c,
                           section->key, section->name != NULL ? " " : "", section->name != NULL ? section->name : "",
                           section->line);
        if (!tell(r)) {
            return false;
        }
    }
    r->at++;
    return true;
}

/* Up to and with the brace that ends it, or the end of the file. opened: by which bracket; 0: it is the file. */
static int read_section(struct reader *r, uint32_t self, unsigned depth, char opened)
{
    bool braces = opened != 0;
    uint32_t last = CONF_NONE;
    unsigned line = r->line;
    bool first;
    bool flat = false;
    unsigned outer = indent(r, &first);
    r->inside[depth - 1] = self;
    for (;;) {
        int rc = reader_skip_blanks(r, true);
        if (rc < 0) {
            return rc;
        }
        /* Where the first line inside is no deeper, the layout says nothing. */
        bool shallow = braces && !reader_at_end(r) && is_shallow(r, outer);
        flat |= shallow && last == CONF_NONE;
        if (shallow && !flat && is_missing(r)) {
            tell_missing(r, line);
            return 0;
        }
        if (reader_at_end(r)) {
            if (braces) {
                r->line = line;
                return reader_lost(r, "this section has no closing }");
            }
            return 0;
        }
        if (is_closing(*r->at) && braces) {
            return take_closing(r, self, opened) ? 0 : -EINVAL;
        }
        if (is_closing(*r->at)) {
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
    int rc = reader_skip_blanks(r, true);
    bool braces = rc == 0 && reader_is_next(r, "{");
    r->at += braces;
    rc = rc < 0 ? rc : read_section(r, 0, 1, braces ? '{' : 0);
    if (rc == 0 && braces) {
        rc = reader_skip_blanks(r, true);
        if (rc == 0 && !reader_at_end(r)) {
            rc = reader_wrong(r, "something stands behind the brace that ends the file");
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
