/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/lines.h"

#include "base/quantity.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lines_open(struct lines *w, const char *file, const char *text, size_t length, char error[static LINES_ERROR])
{
    *w = (struct lines){.file = file, .rest = text, .end = text + length, .error = error};
    error[0] = '\0';
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int split(struct lines *w, const char *line, const char *end)
{
    w->count = w->at = 0;
    for (const char *c = line; c < end;) {
        if (blank(*c)) {
            c++;
            continue;
        }
        if (*c == '#') {
            break;
        }
        const char *start = c;
        while (c < end && !blank(*c) && *c != '#') {
            c++;
        }
        if (w->count == LINES_WORDS_MAX) {
            return lines_wrong(w, "more than %d words on this line", LINES_WORDS_MAX);
        }
        w->word[w->count++] = (struct word){start, (size_t)(c - start)};
    }
    return 0;
}

int lines_line(struct lines *w)
{
    while (w->rest < w->end) {
        const char *newline = memchr(w->rest, '\n', (size_t)(w->end - w->rest));
        const char *end = newline != NULL ? newline : w->end;
        w->line++;
        int rc = split(w, w->rest, end);
        w->rest = newline != NULL ? newline + 1 : w->end;
        if (rc < 0) {
            return rc;
        }
        if (w->count > 0) {
            return 1;
        }
    }
    return 0;
}

bool lines_more(const struct lines *w)
{
    return w->at < w->count;
}

bool lines_word_is(const struct word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

bool lines_skip(struct lines *w, const char *word)
{
    if (!lines_more(w) || !lines_word_is(&w->word[w->at], word)) {
        return false;
    }
    w->at++;
    return true;
}

int lines_take(struct lines *w, char *out, size_t room)
{
    if (!lines_more(w) || w->word[w->at].length >= room) {
        return -EINVAL;
    }
    const struct word *word = &w->word[w->at];
    for (size_t i = 0; i < word->length; i++) {
        if ((unsigned char)word->text[i] < ' ' || word->text[i] == 127) {
            return -EINVAL;
        }
    }
    memcpy(out, word->text, word->length);
    out[word->length] = '\0';
    w->at++;
    return 0;
}

/* What can be shown of a word: files may hold anything. */
static void quote(const struct word *word, char *out, size_t room)
{
    size_t n = word->length < room - 4 ? word->length : room - 4;
    for (size_t i = 0; i < n; i++) {
        out[i] = word->text[i] >= ' ' && word->text[i] < 127 ? word->text[i] : '?';
    }
    snprintf(out + n, room - n, "%s", n < word->length ? "..." : "");
}

int lines_unexpected(struct lines *w, const char *expected, const char *near)
{
    char found[48] = "the end of the line";
    bool there = lines_more(w);
    if (there) {
        quote(&w->word[w->at], found, sizeof found);
    }
    if (w->error[0] == '\0') {
        const char *mark = there ? "'" : "";
        int n = snprintf(w->error, LINES_ERROR, "%s:%u: found %s%s%s, expected %s", w->file, w->line, mark, found, mark,
                         expected);
        if (near != NULL && n > 0 && n < LINES_ERROR) {
            snprintf(w->error + n, (size_t)(LINES_ERROR - n), "; did you mean %s?", near);
        }
    }
    return -EINVAL;
}

int lines_wrong(struct lines *w, const char *format, ...)
{
    if (w->error[0] != '\0') {
        return -EINVAL;
    }
    int n = w->line == 0 ? snprintf(w->error, LINES_ERROR, "%s: ", w->file)
                         : snprintf(w->error, LINES_ERROR, "%s:%u: ", w->file, w->line);
    if (n > 0 && n < LINES_ERROR) {
        va_list args;
        va_start(args, format);
        vsnprintf(w->error + n, (size_t)(LINES_ERROR - n), format, args);
        va_end(args);
    }
    return -EINVAL;
}

int lines_done(struct lines *w)
{
    return lines_more(w) ? lines_unexpected(w, "the end of the line", NULL) : 0;
}

int lines_server(struct lines *w, const struct torus *torus, cw_server *out)
{
    cw_coord c;
    char expected[96];
    cw_dims d = torus_dims(torus);
    snprintf(expected, sizeof expected, "a server x,y,z inside %ux%ux%u (0,0,0 to %u,%u,%u)", d.x, d.y, d.z, d.x - 1u,
             d.y - 1u, d.z - 1u);
    if (!lines_more(w) || torus_parse(torus, w->word[w->at].text, w->word[w->at].length, &c) < 0) {
        return lines_unexpected(w, expected, NULL);
    }
    w->at++;
    *out = torus_id(torus, c);
    return 0;
}

int lines_link(struct lines *w, cw_link *out)
{
    if (!lines_more(w) || quantity_link(w->word[w->at].text, w->word[w->at].length, out) < 0) {
        return lines_unexpected(w, "a link: +x -x +y -y +z or -z", NULL);
    }
    w->at++;
    return 0;
}

int lines_axis(struct lines *w, uint8_t *out)
{
    static const char *const names[CW_AXES] = {"x", "y", "z"};
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        if (lines_skip(w, names[axis])) {
            *out = (uint8_t)axis;
            return 0;
        }
    }
    return lines_unexpected(w, "an axis: x, y or z", NULL);
}

int lines_setting(struct lines *w, const struct setting *setting, void *base)
{
    char expected[SETTING_WHY];
    if (lines_more(w) && setting_read(setting, w->word[w->at].text, w->word[w->at].length, base) == 0) {
        w->at++;
        return 0;
    }
    setting_expected(setting, expected);
    return lines_unexpected(w, expected, NULL);
}

int lines_named(struct lines *w, const struct setting *table, void *base)
{
    const struct word *word = lines_more(w) ? &w->word[w->at] : &(struct word){"", 0};
    const struct setting *s = setting_find(table, word->text, word->length);
    if (s == NULL) {
        char names[SETTING_WHY];
        setting_names(table, names);
        return lines_unexpected(w, names, setting_nearest(table, word->text, word->length));
    }
    w->at++;
    return lines_setting(w, s, base);
}

int lines_assigned(struct lines *w, const struct setting *table, void *base)
{
    for (const struct setting *s = table; s->name != NULL; s++) {
        if (lines_key(w, s->name) == 1) {
            return lines_setting(w, s, base) < 0 ? -EINVAL : 1;
        }
    }
    return 0;
}

int lines_span(struct lines *w, cw_span *out)
{
    static const struct setting span = {.kind = SETTING_SPAN, .size = sizeof(cw_span), .most = SETTING_ANY};
    return lines_setting(w, &span, out);
}

int lines_count(struct lines *w, uint64_t most, uint64_t *out)
{
    const struct setting count = {.kind = SETTING_COUNT, .size = sizeof(uint64_t), .most = most};
    return lines_setting(w, &count, out);
}

int lines_ppm(struct lines *w, uint32_t most, uint32_t *out)
{
    const struct setting share = {.kind = SETTING_PPM, .size = sizeof(uint32_t), .most = most};
    return lines_setting(w, &share, out);
}

int lines_key(struct lines *w, const char *key)
{
    size_t length = strlen(key);
    if (!lines_more(w)) {
        return 0;
    }
    struct word *word = &w->word[w->at];
    if (word->length <= length || memcmp(word->text, key, length) != 0 || word->text[length] != '=') {
        return 0;
    }
    *word = (struct word){word->text + length + 1, word->length - length - 1};
    return 1;
}
