/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - reads a text file line by line and word by word, with errors that say where, what was found and what was
 * expected.
 *
 * Words are separated by blanks; '#' begins a comment. Every reader takes the next word of the line, or fails: it then
 * writes the error, unless one is written already, and gives -EINVAL, which goes up through all callers.
 *
 *     shop.txt:7: found 'kil', expected an action (kill, power, ...); did you mean kill?
 */
#ifndef SCENARIO_LINES_H
#define SCENARIO_LINES_H

#include "cubeway/time.h"
#include "keyspace/torus.h"
#include "setting/setting.h"

enum {
    LINES_WORDS_MAX = 24, /* of one line */
    LINES_ERROR = 400,    /* bytes of an error, its NUL included */
};

struct word {
    const char *text; /* not ended by NUL */
    size_t length;
};

struct lines {
    const char *file; /* its name, for errors */
    const char *rest, *end;
    unsigned line; /* its number, from 1; 0: no line was read */
    struct word word[LINES_WORDS_MAX];
    unsigned count; /* words of this line */
    unsigned at;    /* the next word to take */
    char *error;    /* LINES_ERROR bytes */
};

/* Borrows everything. *error becomes "". */
void lines_open(struct lines *w, const char *file, const char *text, size_t length, char error[static LINES_ERROR]);
/* Goes to the next line that has a word. 1; 0 at the end; -EINVAL: it has too many words, and another call goes on. */
CW_MUST_CHECK int lines_line(struct lines *w);

/* True when the line has a word that was not taken. */
bool lines_more(const struct lines *w);
/* Takes the next word if it is this one; false: it is not. */
bool lines_skip(struct lines *w, const char *word);
/*
 * Takes the next word as a string of at most room - 1 bytes, none of them a control character. -EINVAL, and no error is
 * written.
 */
CW_MUST_CHECK int lines_take(struct lines *w, char *out, size_t room);
bool lines_word_is(const struct word *word, const char *text);

/*
 * Writes that the next word is not what was expected, and gives -EINVAL. near: a word that was perhaps meant, or NULL.
 */
int lines_unexpected(struct lines *w, const char *expected, const char *near);
/* Writes what is wrong with the line as a whole, and gives -EINVAL. */
__attribute__((format(printf, 2, 3))) int lines_wrong(struct lines *w, const char *format, ...);
/* -EINVAL when words are left. */
CW_MUST_CHECK int lines_done(struct lines *w);

/* Readers of one word. */
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
/*
 * "name=value": 1, and the value is in base. 0: the next word is of another form, or names no setting of the table;
 * nothing is taken.
 */
CW_MUST_CHECK int lines_assigned(struct lines *w, const struct setting *table, void *base);

/*
 * "key=value": 1, and the next word is now the value alone. 0: the next word is another one, and nothing was taken.
 */
CW_MUST_CHECK int lines_key(struct lines *w, const char *key);

#endif
