/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - a text file line by line and word by word, with errors that say where, what was found and what was expected.
 *
 * Words are separated by blanks; '#' begins a comment. Every reader takes the next word of the line, or fails: then the error is
 * written, once, and -EINVAL goes up through all callers.
 *
 *     shop.txt:7: found 'kil', expected an action (kill, power, ...); did you mean kill?
 */
#ifndef SCENARIO_LINES_H
#define SCENARIO_LINES_H

#include "base/setting.h"
#include "cubeway/time.h"
#include "keyspace/torus.h"

enum { LINES_WORDS_MAX = 24, LINES_ERROR = 400 };

struct word {
    const char *text; /* not ended by NUL */
    size_t length;
};

struct lines {
    const char *file; /* its name, for errors */
    const char *rest, *end;
    unsigned line; /* from 1; 0: none was read */
    struct word word[LINES_WORDS_MAX];
    unsigned count, at; /* of this line; the next to take */
    char *error;        /* LINES_ERROR bytes */
};

/* Borrows everything. *error becomes "". */
void lines_open(struct lines *w, const char *file, const char *text, size_t length, char error[static LINES_ERROR]);
/* The next line that has a word. 1, 0 at the end, -EINVAL when it has too many words. */
CW_MUST_CHECK int lines_line(struct lines *w);

bool lines_more(const struct lines *w);
/* True, and taken, when the next word is this one. */
bool lines_skip(struct lines *w, const char *word);
/* The next word as a string of at most room - 1 bytes, none of them a control character; -EINVAL and nothing is said. */
CW_MUST_CHECK int lines_take(struct lines *w, char *out, size_t room);
bool word_is(const struct word *word, const char *text);

/* The word at hand is not what was expected: -EINVAL. near: a word that was perhaps meant, or NULL. */
int lines_unexpected(struct lines *w, const char *expected, const char *near);
/* Something is wrong with the line as a whole: -EINVAL. */
__attribute__((format(printf, 2, 3))) int lines_wrong(struct lines *w, const char *format, ...);
/* -EINVAL when words are left. */
CW_MUST_CHECK int lines_done(struct lines *w);

/* Readers of one word. expected: what the error says, NULL for the usual. */
CW_MUST_CHECK int lines_server(struct lines *w, const struct torus *torus, cw_server *out);
CW_MUST_CHECK int lines_link(struct lines *w, cw_link *out);
CW_MUST_CHECK int lines_axis(struct lines *w, uint8_t *out);
CW_MUST_CHECK int lines_span(struct lines *w, cw_span *out);
CW_MUST_CHECK int lines_count(struct lines *w, uint64_t most, uint64_t *out);
CW_MUST_CHECK int lines_ppm(struct lines *w, uint32_t most, uint32_t *out);

/* The next word is the setting's value, and goes into base. */
CW_MUST_CHECK int lines_setting(struct lines *w, const struct setting *setting, void *base);
/* The next word is the name of one of the table's settings, and the word behind it is that setting's value. */
CW_MUST_CHECK int lines_named(struct lines *w, const struct setting *table, void *base);
/* name=value: 1 and the value is in base; 0: the next word gives none of the table's settings a value, nothing is taken. */
CW_MUST_CHECK int lines_assigned(struct lines *w, const struct setting *table, void *base);

/*
 * key=value: the next word is "<key>=" and something. 1 and only the value is left as the next word; 0 it is another word,
 * nothing taken.
 */
CW_MUST_CHECK int lines_key(struct lines *w, const char *key);

#endif
