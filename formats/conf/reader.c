/* SPDX-License-Identifier: Apache-2.0 */
#include "conf/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) int reader_wrong(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, CONF_WHY, format, args);
    va_end(args);
    return -EINVAL;
}

__attribute__((format(printf, 2, 3))) int reader_lost(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, CONF_WHY, format, args);
    va_end(args);
    r->lost = true;
    return -EINVAL;
}

bool reader_at_end(const struct reader *r)
{
    return r->at == r->end;
}

bool reader_is_next(const struct reader *r, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0;
}

void reader_skip_line(struct reader *r)
{
    while (!reader_at_end(r) && *r->at != '\n') {
        r->at++;
    }
}

static int skip_block(struct reader *r)
{
    unsigned line = r->line;
    r->at += 2;
    while (!reader_is_next(r, "*/")) {
        if (reader_at_end(r)) {
            r->line = line;
            return reader_lost(r, "this comment has no closing */");
        }
        r->line += *r->at++ == '\n';
    }
    r->at += 2;
    return 0;
}

int reader_skip_blanks(struct reader *r, bool newlines)
{
    while (!reader_at_end(r)) {
        char c = *r->at;
        if (c == '#' || reader_is_next(r, "//")) {
            reader_skip_line(r);
        } else if (reader_is_next(r, "/*")) {
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

bool reader_is_bare(char c)
{
    return (unsigned char)c > ' ' && c != 0x7f && strchr("{}[]()=:;,\"'#", c) == NULL;
}

bool reader_is_bare_value(char c)
{
    return reader_is_bare(c) || (c != '\0' && strchr("=:()", c) != NULL);
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

/* A comment behind a blank; without one it may be part of a path or an address. */
static bool begins_comment(const struct reader *r, const char *at)
{
    bool two = r->end - at > 1 && at[0] == '/' && (at[1] == '/' || at[1] == '*');
    return (at[-1] == ' ' || at[-1] == '\t') && (*at == '#' || two);
}

/* A typographic quote that stands at `at`: its bytes; 0: none does. Word processors make them of straight ones. */
static size_t curly_at(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    if (left >= 3 && memcmp(at, "\xe2\x80", 2) == 0 && (unsigned char)at[2] >= 0x98 && (unsigned char)at[2] <= 0x9f) {
        return 3;
    }
    bool angle = left >= 2 && (memcmp(at, "\xc2\xab", 2) == 0 || memcmp(at, "\xc2\xbb", 2) == 0);
    return angle ? 2 : 0;
}

/* Gives what stands from begin to end as the text at hand, which is a guess. */
static void guess(struct reader *r, const char *begin, const char *end, const char **out)
{
    size_t length = (size_t)(end - begin);
    memcpy(r->string, begin, length);
    r->string[length] = '\0';
    *out = r->string;
    r->string += length + 1;
    r->unclosed = true;
}

/*
 * A text in typographic quotes, of which begin[quote] is the first; the second may be missing, or a straight one. It is
 * taken as it was meant, and of a whole file they are told once.
 */
static int take_curly(struct reader *r, const char *begin, size_t quote, const char **out)
{
    const char *end = begin + quote;
    while (end < r->end && strchr("\n;{}\"", *end) == NULL && curly_at(end, r->end) == 0) {
        end++;
    }
    size_t closing = curly_at(end, r->end);
    r->at = end + (closing > 0 ? closing : (size_t)(end < r->end && *end == '"'));
    while (end > begin + quote && strchr(" \t\r", end[-1]) != NULL) {
        end--;
    }
    guess(r, begin + quote, end, out);
    if (r->curly) {
        return 0;
    }
    r->curly = true;
    return reader_wrong(r,
                        "the quotes around %.40s are typographic (as “ and ”), here and perhaps elsewhere: write "
                        "straight ones, \"%.40s\"",
                        *out, *out);
}

/*
 * A quote that is not closed: takes what it was meant to hold, up to what ends a value or a key (`holds` tells which of
 * them it is), so that nothing else is said of the line.
 */
static int take_unclosed(struct reader *r, const char *begin, bool (*holds)(char), const char **out)
{
    bool key = !holds('=');
    const char *end = begin + 1;
    while (end < r->end && strchr("\n;{}", *end) == NULL && !(key && strchr("=: \t", *end) != NULL) &&
           !begins_comment(r, end)) {
        if (curly_at(end, r->end) > 0) {
            return take_curly(r, begin, 1, out);
        }
        end++;
    }
    r->at = end;
    while (end > begin + 1 && strchr(" \t\r", end[-1]) != NULL) {
        end--;
    }
    guess(r, begin + 1, end, out);
    return reader_wrong(r, "the text that begins with %c%.60s has no closing quote", *begin, *out);
}

/*
 * The quote just passed does not end this text if it stands at the beginning of the next one: behind what may precede a
 * text, and in front of what may be in one.
 */
static bool is_within(const struct reader *r)
{
    return strchr("=: \t", r->at[-2]) != NULL && !reader_at_end(r) && reader_is_bare_value(*r->at) &&
           !reader_is_next(r, "//") && !reader_is_next(r, "/*") && *r->at != '=' && *r->at != ':';
}

static int take_quoted(struct reader *r, bool (*holds)(char), const char **out)
{
    const char *begin = r->at;
    char quote = *r->at++;
    char *to = r->string;
    bool key = !holds('=');
    bool far = false; /* it has passed what ends a key or a value outside of quotes */
    for (;;) {
        if (reader_at_end(r) || *r->at == '\n') {
            return take_unclosed(r, begin, holds, out);
        }
        char c = *r->at++;
        if (c == quote && far && is_within(r)) {
            return take_unclosed(r, begin, holds, out);
        }
        if (c == quote) {
            break;
        }
        far |= strchr(key ? ";{}=" : ";{}", c) != NULL;
        if (c == '\\' && quote == '"') {
            c = reader_at_end(r) ? 0 : unescaped(*r->at);
            if (c == 0) {
                return reader_wrong(r, "a \\ in a text is followed by n, t, \\, / or a quote");
            }
            r->at++;
        } else if ((unsigned char)c < ' ' && c != '\t') {
            return reader_wrong(r, "a text holds no control characters");
        }
        *to++ = c;
    }
    *to++ = '\0';
    *out = r->string;
    r->string = to;
    return 0;
}

/* A ) that ends a word: it stands where a } was meant. Within a word it is one of its letters. */
static bool is_last(const struct reader *r)
{
    return *r->at == ')' && (r->at + 1 == r->end || strchr(" \t\r\n;,)}", r->at[1]) != NULL);
}

int reader_take_text(struct reader *r, bool (*holds)(char), const char *what, const char **out)
{
    r->unclosed = false;
    if (!reader_at_end(r) && (*r->at == '"' || *r->at == '\'')) {
        return take_quoted(r, holds, out);
    }
    size_t curly = curly_at(r->at, r->end);
    if (curly > 0) {
        return take_curly(r, r->at, curly, out);
    }
    char *to = r->string;
    bool opened = false; /* a ( in it, which a ) may close */
    while (!reader_at_end(r) && holds(*r->at) && !reader_is_next(r, "//") && !reader_is_next(r, "/*") &&
           (opened || !is_last(r))) {
        opened |= *r->at == '(';
        *to++ = *r->at++;
    }
    if (to == r->string) {
        if (reader_at_end(r)) {
            return reader_wrong(r, "expected %s, found the end of the file", what);
        }
        if ((unsigned char)*r->at <= ' ') {
            return reader_wrong(r, "expected %s, found the end of the line", what);
        }
        return reader_wrong(r, "expected %s, found '%c'", what, *r->at);
    }
    *to++ = '\0';
    *out = r->string;
    r->string = to;
    return 0;
}
